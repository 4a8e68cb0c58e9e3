package admit_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/wire"
)

func TestProblemOfEveryCode(t *testing.T) {
	t.Parallel()
	for _, code := range wire.Codes() {
		w := httptest.NewRecorder()
		admit.WriteProblem(w, wire.Errorf(code, "because"))
		if w.Code < 400 || w.Code > 599 {
			t.Errorf("%s: status %d", code.Name(), w.Code)
		}
		if got := w.Header().Get("Content-Type"); got != admit.ProblemType {
			t.Errorf("%s: content type %q", code.Name(), got)
		}
		var p map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatalf("%s: %v", code.Name(), err)
		}
		if p["type"] != "urn:gatehouse:problem:"+code.Name() || p["title"] != code.Text() || p["detail"] != "because" || p["status"] != float64(w.Code) {
			t.Errorf("%s: %v", code.Name(), p)
		}
		if code != wire.CodeNone && p["code"] != float64(code) {
			t.Errorf("%s: code %v", code.Name(), p["code"])
		}
		if retry := w.Code == http.StatusServiceUnavailable; retry && !code.Retry() {
			t.Errorf("%s: status %d invites to return, the code does not", code.Name(), w.Code)
		}
	}
}

func TestEqualSecrets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		presented string
		want      bool
	}{{"secret", true}, {"", false}, {"secre", false}, {"secrets", false}, {"Secret", false}} {
		if got := admit.Equal("secret", c.presented); got != c.want {
			t.Errorf("%q: %v", c.presented, got)
		}
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{"": "", "Bearer abc": "abc", "bearer abc": "abc", "Basic abc": "", "Bearer": "", "Bearer  abc ": "abc"} {
		r := httptest.NewRequest("GET", "http://x/", nil)
		r.Header.Set("Authorization", header)
		if got := admit.Bearer(r); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

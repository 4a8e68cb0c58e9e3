package signaling_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/signaling"
	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// oracle answers every offer with its own words, and remembers who asked.
type oracle struct {
	mu    sync.Mutex
	asked []netip.AddrPort
	open  map[string]bool
	fault error
}

func (o *oracle) Answer(_ context.Context, offer string, remote netip.AddrPort) (id, answer string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fault != nil {
		return "", "", o.fault
	}
	o.asked = append(o.asked, remote)
	o.open = map[string]bool{"some-id": true}
	return "some-id", "answer to " + offer, nil
}

func (o *oracle) End(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.open[id]
	delete(o.open, id)
	return was
}

func serve(a signaling.Answerer, o signaling.Options) http.Handler {
	e := echo.New()
	signaling.Register(e.Group("/v1"), a, o)
	return e
}

func request(method, path, body string, header ...string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func ask(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestOfferIsAnswered(t *testing.T) {
	t.Parallel()
	a := &oracle{}
	h := serve(a, signaling.Options{})
	resp := ask(h, request("POST", "/v1/rtc", "v=0", "Content-Type", "application/sdp; charset=utf-8"))
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusCreated || string(body) != "answer to v=0" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/sdp", "Location": "/v1/rtc/some-id",
		"Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(a.asked) != 1 || a.asked[0].String() != "192.0.2.1:1234" {
		t.Errorf("asked by %v", a.asked)
	}
	if resp := ask(h, request("PATCH", "/v1/rtc/some-id", "a=candidate:1")); resp.StatusCode != http.StatusNoContent {
		t.Errorf("PATCH: %d", resp.StatusCode)
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if resp := ask(h, request("DELETE", "/v1/rtc/some-id", "")); resp.StatusCode != want {
			t.Errorf("DELETE: %d, want %d", resp.StatusCode, want)
		}
	}
}

func TestRefusalsAreProblems(t *testing.T) {
	t.Parallel()
	token := func(r *http.Request) *wire.Error {
		if r.Header.Get("Authorization") != "Bearer good" {
			return wire.Errorf(wire.CodeUnauthorized, "no good token")
		}
		return nil
	}
	sdp := []string{"Content-Type", "application/sdp"}
	tests := []struct {
		name   string
		opts   signaling.Options
		fault  error
		method string
		path   string
		body   string
		header []string
		status int
		code   wire.Code
	}{
		{name: "wrong type", method: "POST", path: "/v1/rtc", body: "{}", header: []string{"Content-Type", "application/json"}, status: 415},
		{name: "no type", method: "POST", path: "/v1/rtc", body: "v=0", status: 415},
		{name: "too long", method: "POST", path: "/v1/rtc", body: strings.Repeat("x", signaling.MaxOffer+1), header: sdp, status: 413, code: wire.CodeTooBig},
		{name: "too long a PATCH", method: "PATCH", path: "/v1/rtc/x", body: strings.Repeat("x", signaling.MaxOffer+1), status: 413, code: wire.CodeTooBig},
		{name: "no token", opts: signaling.Options{Authorize: token}, method: "POST", path: "/v1/rtc", header: sdp, status: 401, code: wire.CodeUnauthorized},
		{name: "a page", method: "POST", path: "/v1/rtc", header: append([]string{"Origin", "https://a.example"}, sdp...), status: 403, code: wire.CodeForbidden},
		{name: "a page's preflight", method: "OPTIONS", path: "/v1/rtc", header: []string{"Origin", "https://a.example"}, status: 403, code: wire.CodeForbidden},
		{name: "a page's DELETE", method: "DELETE", path: "/v1/rtc/x", header: []string{"Origin", "https://a.example"}, status: 403, code: wire.CodeForbidden},
		{name: "bad offer", fault: wire.Errorf(wire.CodeProtocol, "two sections"), method: "POST", path: "/v1/rtc", header: sdp, status: 400, code: wire.CodeProtocol},
		{name: "overloaded", fault: wire.Errorf(wire.CodeOverloaded, "full"), method: "POST", path: "/v1/rtc", header: sdp, status: 503, code: wire.CodeOverloaded},
		{name: "unknown fault", fault: errors.New("a secret"), method: "POST", path: "/v1/rtc", header: sdp, status: 500, code: wire.CodeInternal},
		{name: "unknown id", method: "DELETE", path: "/v1/rtc/x", status: 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var told []*wire.Error
			test.opts.Refused = func(_ *http.Request, e *wire.Error) { told = append(told, e) }
			resp := ask(serve(&oracle{fault: test.fault}, test.opts), request(test.method, test.path, test.body, test.header...))
			body, _ := io.ReadAll(resp.Body)
			var p admit.Problem
			if err := json.Unmarshal(body, &p); err != nil {
				t.Fatalf("%d %q: %v", resp.StatusCode, body, err)
			}
			if resp.StatusCode != test.status || p.Status != test.status || p.Code != test.code {
				t.Errorf("%d %+v, want status %d, code %d", resp.StatusCode, p, test.status, test.code)
			}
			if test.status == 404 { // not refused: there is nothing to do
				told = append(told, wire.Errorf(test.code, ""))
			}
			if len(told) != 1 || test.code != 0 && told[0].Code != test.code {
				t.Errorf("told of %v, want one with code %d", told, test.code)
			}
			if ct := resp.Header.Get("Content-Type"); ct != admit.ProblemType {
				t.Errorf("Content-Type %q", ct)
			}
			if strings.Contains(string(body), "secret") {
				t.Errorf("an inner error is shown: %s", body)
			}
		})
	}
}

func TestOtherMethodsAreToldWhichThereAre(t *testing.T) {
	t.Parallel()
	e := admit.NewRouter(admit.Proxies{})
	v1 := e.Group("/v1")
	signaling.Register(v1, &oracle{}, signaling.Options{})
	v1.Any("/*", func(echo.Context) error { return echo.ErrNotFound })
	for path, allowed := range map[string]string{"/v1/rtc": "OPTIONS, POST", "/v1/rtc/some-id": "DELETE, OPTIONS, PATCH"} {
		for _, method := range []string{"GET", "PUT"} {
			resp := ask(e, request(method, path, ""))
			if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != allowed || resp.Header.Get("Content-Type") != admit.ProblemType {
				t.Errorf("%s %s: %d %v", method, path, resp.StatusCode, resp.Header)
			}
		}
	}
}

func TestAdmittedPages(t *testing.T) {
	t.Parallel()
	origins, err := admit.NewOrigins([]string{"https://play.example"}, admit.Proxies{}, false)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(&oracle{}, signaling.Options{Allowed: origins.Allowed})
	for _, test := range []struct {
		origin string
		status int
	}{
		{"https://play.example", http.StatusCreated},
		{"https://play.example:443", http.StatusCreated},
		{"http://example.com", http.StatusCreated}, // the server's own
		{"", http.StatusCreated},
		{"http://play.example", http.StatusForbidden},
		{"https://play.example:8443", http.StatusForbidden},
		{"https://play.example.evil", http.StatusForbidden},
		{"null", http.StatusForbidden},
	} {
		r := request("POST", "/v1/rtc", "v=0", "Content-Type", "application/sdp")
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		resp := ask(h, r)
		if resp.StatusCode != test.status {
			t.Errorf("%q: status %d, want %d", test.origin, resp.StatusCode, test.status)
		}
		allowed := resp.Header.Get("Access-Control-Allow-Origin")
		if want := test.origin; test.status == http.StatusForbidden && allowed != "" || test.status != http.StatusForbidden && allowed != want {
			t.Errorf("%q: Access-Control-Allow-Origin %q", test.origin, allowed)
		}
		if resp.Header.Get("Vary") != "Origin" {
			t.Errorf("%q: Vary %q", test.origin, resp.Header.Get("Vary"))
		}
	}
	resp := ask(h, request("OPTIONS", "/v1/rtc/some-id", "", "Origin", "https://play.example",
		"Access-Control-Request-Method", "DELETE"))
	if resp.StatusCode != http.StatusNoContent || !strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "DELETE") ||
		!strings.Contains(resp.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("preflight: %d %v", resp.StatusCode, resp.Header)
	}
}

func TestLocationStaysUnderItsPrefix(t *testing.T) {
	t.Parallel()
	e := echo.New()
	signaling.Register(e.Group("/games/v1"), &oracle{}, signaling.Options{})
	resp := ask(e, request("POST", "/games/v1/rtc", "v=0", "Content-Type", "application/sdp"))
	if got := resp.Header.Get("Location"); got != "/games/v1/rtc/some-id" {
		t.Errorf("Location %q", got)
	}
}

// TestBodyThatNeverEnds holds a request open; the handler gives it up.
func TestBodyThatNeverEnds(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(serve(&oracle{}, signaling.Options{BodyTimeout: 200 * time.Millisecond}))
	defer web.Close()
	c, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST /v1/rtc HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\nContent-Length: 100\r\n\r\nv=0")
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 400 ") {
		t.Errorf("got %q, %v", all, err)
	}
}

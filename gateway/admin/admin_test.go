package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/admin"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "an-operators-token"

// house is an admin listener with real rooms and sessions behind it.
type house struct {
	t        *testing.T
	url      string
	http     *http.Client
	sessions *session.Manager
	ready    atomic.Bool
}

type everyone struct{}

func (everyone) Admit(h wire.Hello, _ netip.AddrPort) (session.Grant, *wire.Error) {
	return session.Grant{Identity: h.Identity, Name: h.Identity}, nil
}

func newHouse(t *testing.T, change func(*admin.Options)) *house {
	t.Helper()
	m := metrics.New()
	worker := room.NewWorker(room.Options{
		OnDemand:  true,
		Games:     map[string]authority.Game{arena.Name: arena.New()},
		Templates: []room.Template{{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindRelay}}},
		CheckName: admit.RoomName,
		Observer:  m,
	})
	h := &house{t: t, http: &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}}
	h.ready.Store(true)
	h.sessions = session.NewManager(session.Options{Rooms: worker, Admit: everyone{}, Observer: m})
	origins, err := admit.NewOrigins(nil, admit.Proxies{}, true)
	if err != nil {
		t.Fatal(err)
	}
	o := admin.Options{
		Rooms: worker, Sessions: h.sessions, Token: token, Origins: origins,
		Failures: admit.NewRate(1, 100), Ready: h.ready.Load, Metrics: m.Handler(slog.New(slog.DiscardHandler)),
	}
	if change != nil {
		change(&o)
	}
	server := httptest.NewServer(admin.New(o))
	h.url = server.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.sessions.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := worker.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		h.http.CloseIdleConnections()
		server.Close()
	})
	return h
}

func (h *house) join(room, identity string) *client.Client {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	c, err := client.Join(ctx, client.Options{
		Dialers: []client.Dialer{client.Memory(h.sessions, link.Options{}, link.Options{})},
		Room:    room, Identity: identity,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(c.Close)
	return c
}

// request is one request; header is name, value, ...
type request struct {
	method, path, body string
	header             []string
}

// answer is what came back: status, the body as JSON if it is, and as text.
type answer struct {
	status int
	header http.Header
	json   map[string]any
	text   string
}

func (h *house) send(q request) answer {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), q.method, h.url, strings.NewReader(q.body))
	if err != nil {
		h.t.Fatal(err)
	}
	// As it is written: the client's own library would tidy the path.
	path, query, _ := strings.Cut(q.path, "?")
	r.URL.RawQuery = query
	r.URL.Opaque = path
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(q.header); i += 2 {
		if q.header[i] == "Host" {
			r.Host = q.header[i+1]
			continue
		}
		r.Header.Set(q.header[i], q.header[i+1])
	}
	w, err := h.http.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	a := answer{status: w.StatusCode, header: w.Header, text: string(body)}
	_ = json.Unmarshal(body, &a.json)
	return a
}

// expect sends a request and checks the status, and for errors that they are
// problems with the code (0: without one).
func (h *house) expect(q request, status int, code wire.Code) answer {
	h.t.Helper()
	a := h.send(q)
	if a.status != status {
		h.t.Fatalf("%s %s: status %d, want %d: %s", q.method, q.path, a.status, status, a.text)
	}
	if status < 400 {
		return a
	}
	if got := a.header.Get("Content-Type"); got != admit.ProblemType {
		h.t.Errorf("%s %s: content type %q", q.method, q.path, got)
	}
	got, _ := a.json["code"].(float64)
	if wire.Code(got) != code || a.json["status"] != float64(status) || a.json["title"] == "" {
		h.t.Errorf("%s %s: problem %s, want code %d", q.method, q.path, a.text, code)
	}
	return a
}

func TestRoomsLiveAndEndByTheirName(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for _, name := range []string{"arena", "Δοκιμή", "部屋1", "na\u00efve", "a:b.c_d-e", "admin", "metrics", "healthz", "rooms", strings.Repeat("x", 64)} {
		body, _ := json.Marshal(map[string]any{"name": name, "kind": "authority", "game": "arena", "tick_rate": 20, "cap": 5, "empty_timeout": "never"})
		created := h.expect(request{method: "POST", path: "/admin/v1/rooms", body: string(body)}, http.StatusCreated, 0)
		path := created.header.Get("Location")
		if want := "/admin/v1/rooms/" + url.PathEscape(name); path != want {
			t.Errorf("location %q, want %q", path, want)
		}
		h.expect(request{method: "POST", path: "/admin/v1/rooms", body: string(body)}, http.StatusConflict, 0)
		got := h.expect(request{method: "GET", path: path}, http.StatusOK, 0)
		if got.json["name"] != name || got.json["cap"] != 5.0 || got.json["tick_rate"] != 20.0 || got.json["instance"] == "" {
			t.Errorf("%s: %s", name, got.text)
		}
		if list := h.expect(request{method: "GET", path: "/admin/v1/rooms"}, http.StatusOK, 0); !contains(list, "rooms", "name", name) {
			t.Errorf("%s is not in the list: %s", name, list.text)
		}
		if changed := h.expect(request{method: "PATCH", path: path, body: `{"cap":7}`}, http.StatusOK, 0); changed.json["cap"] != 7.0 {
			t.Errorf("%s: %s", name, changed.text)
		}
		h.expect(request{method: "DELETE", path: path + "?reason=over"}, http.StatusNoContent, 0)
		h.expect(request{method: "GET", path: path}, http.StatusNotFound, wire.CodeNoRoom)
		h.expect(request{method: "DELETE", path: path}, http.StatusNotFound, wire.CodeNoRoom)
	}
}

func contains(a answer, list, key, value string) bool {
	all, _ := a.json[list].([]any)
	for _, one := range all {
		if m, ok := one.(map[string]any); ok && m[key] == value {
			return true
		}
	}
	return false
}

func TestNamesThatAreRefusedAreRefusedAlike(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for _, name := range []string{"a/b", "..", ".", "", " ", "%2F", "<b>x</b>", "a\nb", "a\x00b", "nai\u0308ve", strings.Repeat("x", 65), strings.Repeat("x", 200)} {
		body, _ := json.Marshal(map[string]any{"name": name})
		h.expect(request{method: "POST", path: "/admin/v1/rooms", body: string(body)}, http.StatusBadRequest, wire.CodeBadName)
		path := "/admin/v1/rooms/" + url.PathEscape(name)
		for _, method := range []string{"GET", "DELETE"} {
			h.expect(request{method: method, path: path}, http.StatusBadRequest, wire.CodeBadName)
		}
	}
	// As they stand, without the encoding that a URL asks for, and a surrogate
	// that JSON can write and Unicode does not know.
	h.expect(request{method: "GET", path: "/admin/v1/rooms/a/b"}, http.StatusBadRequest, wire.CodeBadName)
	h.expect(request{method: "GET", path: "/admin/v1/rooms/../sessions"}, http.StatusBadRequest, wire.CodeBadName)
	h.expect(request{method: "GET", path: "/admin/v1/rooms/%252F"}, http.StatusBadRequest, wire.CodeBadName)
	h.expect(request{method: "POST", path: "/admin/v1/rooms", body: `{"name":"a\ud800b"}`}, http.StatusBadRequest, wire.CodeBadName)
}

func TestBodiesAreReadStrictly(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for _, c := range []struct {
		body   string
		status int
		code   wire.Code
		names  string // what the detail must name
	}{
		{`{"name":"a","capp":3}`, 400, wire.CodeProtocol, "capp"},
		{`{"name":"a","cap":"3"}`, 400, wire.CodeProtocol, "cap"},
		{`{"name":"a","cap":-1}`, 400, 0, "cap"},
		{`{"name":"a","cap":10001}`, 400, 0, "cap"},
		{`{"name":"a","kind":"mesh"}`, 400, 0, "kind"},
		{`{"name":"a","kind":"authority","game":"chess"}`, 400, 0, "game"},
		{`{"name":"a","kind":"authority","game":"arena","tick_rate":121}`, 400, 0, "tick_rate"},
		{`{"name":"a","empty_timeout":"10"}`, 400, wire.CodeProtocol, "empty_timeout"},
		{`{"name":"a","empty_timeout":"-1s"}`, 400, wire.CodeProtocol, "empty_timeout"},
		{`{"name":"a"} {}`, 400, wire.CodeProtocol, "after"},
		{`{"name":`, 400, wire.CodeProtocol, "body"},
		{``, 400, wire.CodeProtocol, "body"},
		{`[]`, 400, wire.CodeProtocol, "body"},
		{`{"name":"` + strings.Repeat("x", 17<<10) + `"}`, 413, wire.CodeTooBig, "16384"},
	} {
		a := h.expect(request{method: "POST", path: "/admin/v1/rooms", body: c.body}, c.status, c.code)
		if detail, _ := a.json["detail"].(string); !strings.Contains(detail, c.names) {
			t.Errorf("%.60s: detail %q does not name %s", c.body, detail, c.names)
		}
	}
}

func TestSessionsAreSeenAndKicked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	ann, bob := h.join("r", "ann"), h.join("r", "bob")
	id := ann.Welcome().Session
	if list := h.expect(request{method: "GET", path: "/admin/v1/sessions"}, http.StatusOK, 0); !contains(list, "sessions", "id", id) || !contains(list, "sessions", "identity", "bob") {
		t.Errorf("list: %s", list.text)
	}
	if got := h.expect(request{method: "GET", path: "/admin/v1/sessions/" + id}, http.StatusOK, 0); got.json["identity"] != "ann" || got.json["room"] != "r" {
		t.Errorf("inspect: %s", got.text)
	}
	if got := h.expect(request{method: "GET", path: "/admin/v1/rooms/r"}, http.StatusOK, 0); !contains(got, "roster", "session", id) {
		t.Errorf("the roster lacks the session: %s", got.text)
	}
	h.expect(request{method: "DELETE", path: "/admin/v1/sessions/" + id + "?reason=a%0Ab"}, http.StatusBadRequest, wire.CodeProtocol)
	h.expect(request{method: "DELETE", path: "/admin/v1/sessions/" + id + "?reason=" + strings.Repeat("x", 121)}, http.StatusRequestEntityTooLarge, wire.CodeTooBig)
	got := h.expect(request{method: "DELETE", path: "/admin/v1/sessions/" + id + "?reason=swearing"}, http.StatusOK, 0)
	if got.json["banned"] != false || got.json["reason"] != "swearing" || got.json["note"] == "" {
		t.Errorf("kick: %s", got.text)
	}
	select {
	case <-ann.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the kicked client goes on")
	}
	if e, ok := ann.Err().(*wire.Error); !ok || e.Code != wire.CodeKicked || e.Reason != "swearing" {
		t.Errorf("the kicked client was told %v", ann.Err())
	}
	if bob.State() != client.Synchronized {
		t.Errorf("the other is %s", bob.State())
	}
	for _, method := range []string{"GET", "DELETE"} {
		h.expect(request{method: method, path: "/admin/v1/sessions/" + id}, http.StatusNotFound, 0)
	}
}

func TestSecretsAreInNoList(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	ann := h.join("r", "ann")
	for _, path := range []string{"/admin/v1/sessions", "/admin/v1/sessions/" + ann.Welcome().Session, "/admin/v1/rooms/r", "/admin/v1/rooms", "/metrics"} {
		if got := h.expect(request{method: "GET", path: path}, http.StatusOK, 0); strings.Contains(got.text, "secret") || strings.Contains(got.text, token) {
			t.Errorf("%s: %s", path, got.text)
		}
	}
}

func TestOperatorsShowTheirToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for _, path := range []string{"/admin/v1/rooms", "/admin/v1/sessions", "/metrics"} {
		for _, value := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Bearer " + token + "x", "Basic " + token, token} {
			a := h.expect(request{method: "GET", path: path, header: []string{"Authorization", value}}, http.StatusUnauthorized, wire.CodeUnauthorized)
			if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%q: no WWW-Authenticate", value)
			}
		}
		h.expect(request{method: "GET", path: path}, http.StatusOK, 0)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		h.expect(request{method: "GET", path: path, header: []string{"Authorization", ""}}, http.StatusOK, 0)
	}
}

// Another address per request in a header must not buy more guesses.
func TestWrongTokensAreLimitedByTheRealAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *admin.Options) { o.Failures = admit.NewRate(0.001, 3) })
	for i, status := range []int{401, 401, 401, 429, 429} {
		forged := netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}).String()
		code := wire.CodeUnauthorized
		if status == 429 {
			code = wire.CodeRateLimited
		}
		h.expect(request{method: "GET", path: "/admin/v1/rooms", header: []string{
			"Authorization", "Bearer wrong", "X-Forwarded-For", forged, "X-Real-IP", forged, "Forwarded", "for=" + forged,
		}}, status, code)
	}
	h.expect(request{method: "GET", path: "/admin/v1/rooms"}, http.StatusOK, 0) // the right one still works
}

func TestForeignPagesAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *admin.Options) { o.Token = "" }) // dev: nothing else guards it
	for _, header := range [][]string{{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Host", "evil.example"}} {
		h.expect(request{method: "DELETE", path: "/admin/v1/rooms/r", header: header}, http.StatusForbidden, wire.CodeForbidden)
		h.expect(request{method: "GET", path: "/metrics", header: header}, http.StatusForbidden, wire.CodeForbidden)
	}
	h.expect(request{method: "GET", path: "/admin/v1/rooms", header: []string{"Host", "localhost"}}, http.StatusOK, 0)
}

func TestDrainingServerTakesNoRooms(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.ready.Store(false)
	h.expect(request{method: "GET", path: "/healthz"}, http.StatusOK, 0)
	h.expect(request{method: "HEAD", path: "/healthz"}, http.StatusOK, 0)
	h.expect(request{method: "GET", path: "/readyz"}, http.StatusServiceUnavailable, wire.CodeGoingAway)
	h.expect(request{method: "POST", path: "/admin/v1/rooms", body: `{"name":"a"}`}, http.StatusServiceUnavailable, wire.CodeGoingAway)
}

func TestWhatIsNotThereIsAProblemToo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.expect(request{method: "GET", path: "/admin/v1/nothing"}, http.StatusNotFound, 0)
	h.expect(request{method: "GET", path: "/"}, http.StatusNotFound, 0)
	h.expect(request{method: "PUT", path: "/admin/v1/rooms"}, http.StatusMethodNotAllowed, 0)
	h.expect(request{method: "GET", path: "/admin/v1/sessions/nobody"}, http.StatusNotFound, 0)
}

// An operator's changes are told, each with who and what.
func TestChangesAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer // requests come one after another
	h := newHouse(t, func(o *admin.Options) { o.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	ann := h.join("r", "ann")
	h.expect(request{method: "GET", path: "/admin/v1/rooms"}, http.StatusOK, 0)
	h.expect(request{method: "POST", path: "/admin/v1/rooms", body: `{"name":"x","game":"arena"}`}, http.StatusCreated, 0)
	h.expect(request{method: "PATCH", path: "/admin/v1/rooms/x", body: `{"cap":7}`}, http.StatusOK, 0)
	h.expect(request{method: "DELETE", path: "/admin/v1/rooms/x?reason=over"}, http.StatusNoContent, 0)
	h.expect(request{method: "DELETE", path: "/admin/v1/rooms/x"}, http.StatusNotFound, wire.CodeNoRoom)
	h.expect(request{method: "DELETE", path: "/admin/v1/sessions/" + ann.Welcome().Session + "?reason=swearing"}, http.StatusOK, 0)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	want := [][]string{
		{`"room made"`, `"room":"x"`, `"kind":"authority"`, `"game":"arena"`},
		{`"room changed"`, `"room":"x"`, `"cap":7`},
		{`"room closed"`, `"room":"x"`, `"reason":"over"`},
		{`"session kicked"`, ann.Welcome().Session, `"reason":"swearing"`},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), log.String())
	}
	for i, parts := range want {
		for _, part := range append(parts, `"level":"INFO"`, `"by":"admin"`, `"address":"127.0.0.1:`) {
			if !strings.Contains(lines[i], part) {
				t.Errorf("no %s in %s", part, lines[i])
			}
		}
	}
}

// Who makes a mistake is told what would be right.
func TestProblemsSayTheNextStep(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	a := h.expect(request{method: "GET", path: "/admin/v1/rooms", header: []string{"Authorization", ""}}, http.StatusUnauthorized, wire.CodeUnauthorized)
	if a.json["title"] != "an operator's token is needed" || a.json["type"] == "urn:gatehouse:problem:unauthorized" {
		t.Errorf("without a token: %s", a.text)
	}
	const fields = "name, kind, game, tick_rate, cap, seed, empty_timeout"
	for _, c := range []struct {
		body string
		code wire.Code
		want []string
	}{
		{`{"name":"a","capp":3}`, wire.CodeProtocol, []string{`"capp"`, fields}},
		{`{"name":"a","cap":"3"}`, wire.CodeProtocol, []string{"cap: can not be a string", fields}},
		{`[1]`, wire.CodeProtocol, []string{"is a JSON array", fields}},
		{``, wire.CodeProtocol, []string{"empty", fields}},
		{`{"name":`, wire.CodeProtocol, []string{"the body", fields}},
		{`{"name":"a","game":"chess"}`, 0, []string{"chess", "arena"}},
	} {
		a := h.expect(request{method: "POST", path: "/admin/v1/rooms", body: c.body}, http.StatusBadRequest, c.code)
		for _, want := range c.want {
			if detail, _ := a.json["detail"].(string); !strings.Contains(detail, want) || strings.Contains(detail, "Go ") {
				t.Errorf("%s: detail %q, want %q in it", c.body, detail, want)
			}
		}
	}
}

package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/gateway/ws"
	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for what takes milliseconds when all is well.
const patience = 15 * time.Second

// edge is a running gateway on free ports of this machine.
type edge struct {
	*gateway.Gateway
	t      *testing.T
	http   *http.Client
	stop   context.CancelFunc
	ended  chan error
	config *configs.Config
}

// load reads a dev configuration on free ports, changed by key=value.
func load(t testing.TB, set ...string) *configs.Config {
	t.Helper()
	s := configs.Sources{Set: []configs.Override{
		{Flag: "test", Path: "dev", Value: "true"},
		{Flag: "test", Path: "http.listen", Value: "127.0.0.1:0"},
		{Flag: "test", Path: "admin.listen", Value: "127.0.0.1:0"},
		{Flag: "test", Path: "enet.listen", Value: "127.0.0.1:0"},
		{Flag: "test", Path: "rtc.udp_listen", Value: "127.0.0.1:0"},
		{Flag: "test", Path: "rtc.tcp_listen", Value: "127.0.0.1:0"},
		{Flag: "test", Path: "web.dir", Value: ""},
		{Flag: "test", Path: "rooms.templates", Value: `[{match: "*", kind: relay}]`},
	}}
	for _, pair := range set {
		if env, ok := strings.CutPrefix(pair, "env:"); ok {
			s.Environ = append(s.Environ, env)
			continue
		}
		path, value, _ := strings.Cut(pair, "=")
		s.Set = append(s.Set, configs.Override{Flag: "test", Path: path, Value: value})
	}
	c, err := configs.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newEdge(t *testing.T, set ...string) *edge {
	t.Helper()
	c, m := load(t, set...), metrics.New()
	worker := room.NewWorker(room.Options{
		OnDemand: true, CheckName: admit.RoomName, Observer: m,
		Templates: []room.Template{{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindRelay}}},
	})
	g, err := gateway.New(gateway.Options{Config: c, Rooms: worker, Control: worker, Metrics: m, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &edge{Gateway: g, t: t, stop: stop, ended: make(chan error, 1), config: c,
		http: &http.Client{Transport: &http.Transport{}, Timeout: patience}}
	go func() { e.ended <- g.Run(ctx) }()
	t.Cleanup(func() {
		e.http.CloseIdleConnections()
		stop()
		if err := e.wait(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := worker.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "ready", func() bool { return e.status("/readyz") == http.StatusOK })
	return e
}

// wait returns what Run has returned.
func (e *edge) wait() error {
	select {
	case err := <-e.ended:
		e.ended <- err
		return err
	case <-time.After(patience):
		return errors.New("the gateway does not end")
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never %s", what)
		}
	}
}

func (e *edge) base() string { return "http://" + e.Addresses().HTTP.String() }

func (e *edge) get(path string, header ...string) (*http.Response, string) {
	e.t.Helper()
	return e.do("GET", e.base()+path, "", header...)
}

func (e *edge) do(method, url, body string, header ...string) (*http.Response, string) {
	e.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w, err := e.http.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return w, string(text)
}

func (e *edge) status(path string) int {
	w, _ := e.get(path)
	return w.StatusCode
}

// dialers of every transport.
func (e *edge) dialers(token string) map[string]client.Dialer {
	a := e.Addresses()
	return map[string]client.Dialer{
		"ws":   client.WS(e.base()+"/v1/ws", ws.DialOptions{}),
		"rtc":  client.RTC(e.base(), rtc.DialOptions{Token: token, HTTPClient: e.http}),
		"enet": client.ENet(a.ENet.String(), enet.DialOptions{}),
	}
}

func (e *edge) join(o client.Options) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Join(ctx, o)
	if err == nil {
		e.t.Cleanup(c.Close)
	}
	return c, err
}

func TestPlayersOfEveryTransportMeet(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	var last *client.Client
	for name, d := range e.dialers("") {
		c, err := e.join(client.Options{Dialers: []client.Dialer{d}, Room: "r", Identity: name, Name: name})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Transport() != name {
			t.Errorf("transport %s, want %s", c.Transport(), name)
		}
		last = c
	}
	eventually(t, "three members", func() bool { return len(last.Peers()) == 3 })
	eventually(t, "a public list with them", func() bool {
		_, body := e.get("/v1/rooms")
		var list struct{ Rooms []gateway.PublicRoom }
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		want := gateway.PublicRoom{Name: "r", Kind: "relay", Members: 3, Cap: 64}
		return len(list.Rooms) == 1 && list.Rooms[0] == want
	})
	_, page := e.do("GET", "http://"+e.Addresses().Admin.String()+"/metrics", "")
	for _, line := range []string{
		`gatehouse_links{transport="ws"} 1`, `gatehouse_links{transport="rtc"} 1`, `gatehouse_links{transport="enet"} 1`,
		`gatehouse_sessions 3`, `gatehouse_room_members_sum 3`, `gatehouse_rtc_pending 0`, `gatehouse_enet_connects_shed_total 0`,
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no metric %s", line)
		}
	}
}

func TestTokensAdmitOnEveryTransport(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	e := newEdge(t, "env:GATEHOUSE_AUTH_SECRET="+secret)
	tokens, err := admit.NewTokens([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	mint := func(room string, expires time.Duration) string {
		s, err := tokens.Mint(admit.Grant{Identity: "ann", Room: room, Name: "Ann", Expires: time.Now().Add(expires)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name, room, token string
		want              wire.Code
	}{
		{"none", "r", "", wire.CodeUnauthorized},
		{"forged", "r", mint("r", time.Hour) + "x", wire.CodeUnauthorized},
		{"other room", "r", mint("s", time.Hour), wire.CodeUnauthorized},
		{"expired", "r", mint("r", -time.Hour), wire.CodeExpired},
		{"bad room", "../r", mint("*", time.Hour), wire.CodeBadName},
		{"good", "r", mint("r", time.Hour), 0},
		{"any room", "r2", mint("*", time.Hour), 0},
	} {
		for transport, d := range e.dialers(c.token) {
			got, err := e.join(client.Options{Dialers: []client.Dialer{d}, Room: c.room, Token: c.token, Identity: "mallory"})
			var refused *wire.Error
			switch {
			case c.want == 0 && err != nil:
				t.Errorf("%s, %s: %v", c.name, transport, err)
			case c.want == 0:
				if name := got.Peers()[got.You()].Name; name != "Ann" {
					t.Errorf("%s, %s: joined as %q, not as the token says", c.name, transport, name)
				}
				got.Close()
			case !errors.As(err, &refused) || refused.Code != c.want:
				t.Errorf("%s, %s: %v, want %s", c.name, transport, err, c.want.Name())
			}
		}
	}
}

func TestNamesAreJudgedAtTheJoin(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	for _, o := range []client.Options{
		{Room: "a/b"}, {Room: ".."}, {Room: "a b"},
		{Room: "r", Name: "a\nb"}, {Room: "r", Name: " "}, {Room: "r", Name: strings.Repeat("x", 65)},
		{Room: "r", Identity: "a b"}, {Room: "r", Identity: strings.Repeat("x", 129)},
	} {
		for transport, d := range e.dialers("") {
			o.Dialers = []client.Dialer{d}
			_, err := e.join(o)
			var refused *wire.Error
			if !errors.As(err, &refused) || refused.Code != wire.CodeBadName {
				t.Errorf("%s: room %q, name %q, identity %q: %v, want bad_name", transport, o.Room, o.Name, o.Identity, err)
			}
		}
	}
	// An identity may be longer than a name: shown is what fits, whole letters.
	c, err := e.join(client.Options{Dialers: []client.Dialer{e.dialers("")["ws"]}, Room: "部屋1", Identity: strings.Repeat("é", 60)})
	if err != nil {
		t.Fatal(err)
	}
	if name := c.Peers()[c.You()].Name; name != strings.Repeat("é", 32) {
		t.Errorf("shown as %q", name)
	}
	if got := c.Welcome().Room.Name; got != "部屋1" {
		t.Errorf("room %q", got)
	}
}

// A new forged address per request must not be a new client.
func TestConnectionsAreLimitedByTheRealAddress(t *testing.T) {
	t.Parallel()
	for _, proxied := range []bool{false, true} {
		set := []string{"limits.connects_per_second=1", "limits.connects_burst=3"}
		if proxied {
			set = append(set, "http.trusted_proxies=127.0.0.1")
		}
		e := newEdge(t, set...)
		statuses := map[int]int{}
		for i := range 8 {
			header := []string{"X-Forwarded-For", netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}).String(), "X-Real-IP", "203.0.113.200"}
			path, method := "/v1/ws", "GET"
			if i%2 == 1 {
				path, method = "/v1/rtc", "POST"
			}
			w, _ := e.do(method, e.base()+path, "", header...)
			statuses[w.StatusCode]++
			if w.StatusCode == http.StatusTooManyRequests && w.Header.Get("Content-Type") != admit.ProblemType {
				t.Errorf("content type %q", w.Header.Get("Content-Type"))
			}
		}
		if limited := statuses[http.StatusTooManyRequests]; proxied && limited != 0 || !proxied && limited != 5 {
			t.Errorf("proxied %v: %v", proxied, statuses)
		}
	}
}

func TestForeignPagesGetNothing(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	for _, path := range []string{"/v1/ws", "/v1/rooms"} {
		if w, body := e.get(path, "Origin", "http://evil.example"); w.StatusCode != http.StatusForbidden || w.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %s", path, w.StatusCode, body)
		}
	}
	if w, body := e.do("POST", e.base()+"/v1/rtc", "v=0", "Content-Type", "application/sdp", "Origin", "http://evil.example"); w.StatusCode != http.StatusForbidden {
		t.Errorf("rtc: %d %s", w.StatusCode, body)
	}
	if w, _ := e.get("/v1/rooms", "Origin", "http://localhost:5173"); w.StatusCode != http.StatusOK || w.Header.Get("Access-Control-Allow-Origin") != "http://localhost:5173" {
		t.Errorf("own page: %d, allowed origin %q", w.StatusCode, w.Header.Get("Access-Control-Allow-Origin"))
	}
}

func TestWhatIsNotThereIsAProblem(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	for _, path := range []string{"/v1/nothing", "/v1/", "/nothing", "/metrics", "/admin/v1/rooms"} {
		if w, body := e.get(path); w.StatusCode != http.StatusNotFound || w.Header.Get("Content-Type") != admit.ProblemType {
			t.Errorf("%s: %d %q %s", path, w.StatusCode, w.Header.Get("Content-Type"), body)
		}
	}
}

func TestTakenAddressLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"http.listen", "admin.listen", "enet.listen", "rtc.udp_listen", "rtc.tcp_listen"} {
		network := "tcp"
		if key == "enet.listen" || key == "rtc.udp_listen" {
			network = "udp"
		}
		address, free := take(t, network)
		worker := room.NewWorker(room.Options{})
		_, err := gateway.New(gateway.Options{Config: load(t, key+"="+address), Rooms: worker, Control: worker,
			Metrics: metrics.New(), Logger: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), strings.Split(key, ".")[0]) {
			t.Errorf("%s: %v", key, err)
		}
		free()
	}
}

// take binds an address and returns it.
func take(t *testing.T, network string) (address string, free func() error) {
	t.Helper()
	if network == "udp" {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return c.LocalAddr().String(), c.Close
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l.Addr().String(), l.Close
}

func TestDrainLetsPlayersFinish(t *testing.T) {
	t.Parallel()
	e := newEdge(t, "sessions.drain_deadline=1m")
	warned := make(chan time.Duration, 1)
	c, err := e.join(client.Options{Dialers: []client.Dialer{e.dialers("")["ws"]}, Room: "r", Identity: "ann",
		Handler: client.Handler{Draining: func(in time.Duration) { warned <- in }}})
	if err != nil {
		t.Fatal(err)
	}
	e.stop()
	select {
	case in := <-warned:
		if in != time.Minute {
			t.Errorf("told of %s, want 1m", in)
		}
	case <-time.After(patience):
		t.Fatal("the client was not told")
	}
	if status := e.status("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz %d while draining", status)
	}
	if status := e.status("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz %d while draining", status)
	}
	_, err = e.join(client.Options{Dialers: []client.Dialer{e.dialers("")["enet"]}, Room: "r", Identity: "bob"})
	var refused *wire.Error
	if !errors.As(err, &refused) || !refused.Code.Retry() {
		t.Errorf("a new join: %v, want a code that invites to retry", err)
	}
	if c.State() != client.Synchronized {
		t.Errorf("the player is %s", c.State())
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Leave(ctx); err != nil {
		t.Error(err)
	}
	if err := e.wait(); err != nil { // long before the deadline
		t.Error(err)
	}
}

func TestDrainEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	e := newEdge(t, "sessions.drain_deadline=200ms")
	ended := map[string]chan error{}
	for name, d := range e.dialers("") {
		told := make(chan error, 8)
		ended[name] = told
		c, err := e.join(client.Options{Dialers: []client.Dialer{d}, Room: "r", Identity: name, Handler: client.Handler{
			State: func(s client.State, err error) {
				if s == client.Away || s == client.Closed {
					told <- err
				}
			}}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	e.stop()
	if err := e.wait(); err != nil {
		t.Error(err)
	}
	for name, told := range ended {
		select {
		case err := <-told:
			var e *wire.Error
			if !errors.As(err, &e) || e.Code != wire.CodeGoingAway {
				t.Errorf("%s: ended with %v, want going_away", name, err)
			}
		case <-time.After(patience):
			t.Errorf("%s was not told", name)
		}
	}
}

func TestNetsimIsOnEveryLink(t *testing.T) {
	t.Parallel()
	e := newEdge(t, "netsim=latency=100ms")
	for name, d := range e.dialers("") {
		c, err := e.join(client.Options{Dialers: []client.Dialer{d}, Room: "r", Identity: name, PingEvery: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "slow over "+name, func() bool { return c.Stats().RTT >= 190*time.Millisecond })
	}
}

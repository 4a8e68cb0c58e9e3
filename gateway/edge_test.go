package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
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
	log    *journal
}

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) lines(with string) (found []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
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
	c, m, log := load(t, set...), metrics.New(), &journal{}
	worker := room.NewWorker(room.Options{
		OnDemand: true, CheckName: admit.RoomName, Observer: m,
		Templates: []room.Template{{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindRelay}}},
	})
	g, err := gateway.New(gateway.Options{Config: c, Rooms: worker, Control: worker, Metrics: m, Logger: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &edge{Gateway: g, t: t, stop: stop, ended: make(chan error, 1), config: c, log: log,
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

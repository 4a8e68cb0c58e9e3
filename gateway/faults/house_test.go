package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/gateway/session"
)

// parallel is how many of these tests run at a time, unless the command line says:
// they wait for timers and for the network, not for a processor.
const parallel = 12 / slowdown

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience bounds waits for what must come, where nothing tighter is asked.
const patience = slowdown * 20 * time.Second

// Knobs of a server whose sense of time is under test, see hasty.
const (
	pingInterval = slowdown * 300 * time.Millisecond
	pingTimeout  = slowdown * 900 * time.Millisecond
	resumeGrace  = slowdown * 2 * time.Second
)

// hasty makes a server notice at once what takes others seconds.
func hasty(c *configs.Config) {
	c.Sessions.PingInterval, c.Sessions.PingTimeout = configs.Duration(pingInterval), configs.Duration(pingTimeout)
	c.Sessions.ResumeGrace = configs.Duration(resumeGrace)
}

// house is a gateway with a worker, on free ports of this machine.
type house struct {
	t       testing.TB
	gateway *gateway.Gateway
	worker  *room.Worker
	zoo     *zoo
	at      gateway.Addresses
	web     *http.Client
	logs    logs
}

// start runs a server until the test ends. Rooms are made on demand: those named
// relay… forward, those named arena… play the arena, those named park… have
// inhabitants from the start, all others are an empty zoo.
func start(t testing.TB, knobs func(*configs.Config)) *house {
	t.Helper()
	c := configs.Default(true)
	c.HTTP.Listen, c.RTC.UDPListen, c.RTC.TCPListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c.Admin.Listen = "127.0.0.1:0"
	if c.ENet.Listen = "off"; slices.Contains(transports(), "enet") {
		c.ENet.Listen = "127.0.0.1:0"
	}
	c.ENet.MaxPeers = 128
	c.Web.Dir = ""
	s := &c.Sessions
	s.PingInterval, s.PingTimeout = configs.Duration(pingInterval), configs.Duration(patience)
	s.ResumeGrace, s.DrainDeadline = configs.Duration(patience), 0
	s.Outbox, s.MessagesPerSecond = 128<<10, 100_000
	c.Limits.ConnectsPerSecond, c.Limits.ConnectsBurst = 100_000, 100_000
	if knobs != nil {
		knobs(c)
	}

	h := &house{t: t, zoo: newZoo(), web: &http.Client{Transport: &http.Transport{}, Timeout: patience}}
	log := slog.New(slog.NewJSONHandler(&h.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	m := metrics.New()
	h.worker = room.NewWorker(room.Options{
		Games:    map[string]authority.Game{"zoo": h.zoo, "park": park{h.zoo}, "arena": arena.New()},
		OnDemand: true,
		Templates: []room.Template{
			{Pattern: "relay*", Spec: authority.RoomSpec{Kind: authority.KindRelay}},
			{Pattern: "arena*", Spec: authority.RoomSpec{Kind: authority.KindAuthority, Game: "arena"}},
			{Pattern: "park*", Spec: authority.RoomSpec{Kind: authority.KindAuthority, Game: "park"}},
			{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindAuthority, Game: "zoo"}},
		},
		Observer: m,
		Logger:   log,
	})
	g, err := gateway.New(gateway.Options{Config: c, Rooms: h.worker, Control: h.worker, Metrics: m, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	h.gateway, h.at = g, g.Addresses()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	t.Cleanup(func() {
		h.web.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the gateway ended: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.worker.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the server is ready", patience, func() bool {
		status, _ := h.get("http://" + h.at.Admin.String() + "/readyz")
		return status == http.StatusOK
	})
	return h
}

// eventually polls a condition of the server, which nobody is told of.
func eventually(t testing.TB, what string, within time.Duration, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(within); !is(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

func (h *house) do(method, url, contentType, body string) (status int, answer []byte) {
	h.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := h.web.Do(req)
	if err != nil {
		h.t.Errorf("%s %s: %v", method, url, err)
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		h.t.Errorf("%s %s: %v", method, url, err)
	}
	return resp.StatusCode, answer
}

func (h *house) get(url string) (int, []byte) { h.t.Helper(); return h.do("GET", url, "", "") }

func (h *house) admin(method, path string) (int, []byte) {
	h.t.Helper()
	return h.do(method, "http://"+h.at.Admin.String()+"/admin/v1/"+path, "", "")
}

// roster returns the members of a room as operators see them.
func (h *house) roster(name string) (members []authority.Member) {
	h.t.Helper()
	status, body := h.admin("GET", "rooms/"+name)
	var state authority.RoomState
	if err := json.Unmarshal(body, &state); err != nil || status != http.StatusOK {
		h.t.Fatalf("room %s: status %d, %v: %s", name, status, err, body)
	}
	return state.Roster
}

func (h *house) sessions() []session.State {
	h.t.Helper()
	status, body := h.admin("GET", "sessions")
	var list struct{ Sessions []session.State }
	if err := json.Unmarshal(body, &list); err != nil || status != http.StatusOK {
		h.t.Fatalf("sessions: status %d, %v: %s", status, err, body)
	}
	return list.Sessions
}

// metric sums the series of a metric that have all of the labels, each as
// name="value".
func (h *house) metric(name string, labels ...string) (sum float64) {
	h.t.Helper()
	status, body := h.get("http://" + h.at.Admin.String() + "/metrics")
	if status != http.StatusOK {
		h.t.Fatalf("metrics: status %d", status)
	}
lines:
	for line := range strings.Lines(string(body)) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if base, _, _ := strings.Cut(series, "{"); !ok || base != "gatehouse_"+name {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(series, l) {
				continue lines
			}
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			h.t.Fatalf("metrics: %s", line)
		}
		sum += v
	}
	return sum
}

func label(name, value string) string { return fmt.Sprintf("%s=%q", name, value) }

// logs is everything that the server has logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

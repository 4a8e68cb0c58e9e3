package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/gateway/session"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait for time to pass more than for a processor.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience bounds waits for what must come, on a machine that has much to do.
const patience = 30 * time.Second

// house is a whole server: rooms whose names begin with "arena" play the arena,
// all others relay.
type house struct {
	*gateway.Gateway
	addresses gateway.Addresses
	game      *recorder
}

// openHouse opens a server for the length of a test. set are keys of the
// configuration, as in "sessions.ping_timeout=1s".
func openHouse(t *testing.T, set ...string) *house {
	t.Helper()
	cfg, err := configs.Load(configs.Sources{Set: overrides(set)})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	h := &house{game: newRecorder()}
	worker := room.NewWorker(room.Options{
		Games:     map[string]authority.Game{arena.Name: h.game},
		OnDemand:  true,
		CheckName: admit.RoomName,
		Templates: []room.Template{
			{Pattern: "arena*", Spec: authority.RoomSpec{Kind: authority.KindAuthority, Game: arena.Name, Seed: 1}},
			{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindRelay}},
		},
	})
	h.Gateway, err = gateway.New(gateway.Options{Config: cfg, Rooms: worker, Control: worker, Metrics: metrics.New(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	h.addresses = h.Addresses()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the gateway ended with %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := worker.Shutdown(ctx); err != nil {
			t.Errorf("the rooms ended with %v", err)
		}
	})
	return h
}

func overrides(set []string) []configs.Override {
	base := []string{
		"dev=true", "http.listen=127.0.0.1:0", "rtc.udp_listen=127.0.0.1:0", "rtc.tcp_listen=127.0.0.1:0",
		"enet.listen=127.0.0.1:0", "admin.listen=127.0.0.1:0", "sessions.drain_deadline=0s", "web.dir=",
	}
	var all []configs.Override
	for _, pair := range append(base, set...) {
		path, value, _ := strings.Cut(pair, "=")
		all = append(all, configs.Override{Flag: "test", Path: path, Value: value})
	}
	return all
}

// visitor makes HTTP requests and keeps no connection.
var visitor = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}

// ask reads an answer of the operators' API into v.
func (h *house) ask(path string, v any) error {
	resp, err := visitor.Get(fmt.Sprintf("http://%s/admin/v1/%s", h.addresses.Admin, path))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

// listed returns the sessions that operators see.
func (h *house) listed() ([]session.State, error) {
	var answer struct{ Sessions []session.State }
	err := h.ask("sessions", &answer)
	return answer.Sessions, err
}

// within returns a context for one step of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// await fails the test if ok does not come true in time.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !eventually(ok) {
		t.Fatalf("%s: not within %s", what, patience)
	}
}

// eventually reports whether ok came true in time.
func eventually(ok func() bool) bool {
	deadline := time.After(patience)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-deadline:
			return false
		}
	}
	return true
}

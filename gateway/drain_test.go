package gateway_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/wire"
)

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
		var l *gateway.ListenError
		if !errors.As(err, &l) || l.Key != key {
			t.Errorf("%s: %v", key, err)
		}
		free()
	}
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
	if lines := e.log.lines(`"msg":"draining"`); len(lines) != 1 || !strings.Contains(lines[0], `"deadline":"1m0s"`) {
		t.Errorf("logged: %q", lines)
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

package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a server that does what a test says, frame by frame: it knows the
// wire only, so that it can break every rule.
type script struct {
	t     *testing.T
	links chan *end
}

// end is the server's end of one link.
type end struct {
	t      *testing.T
	link   *link.Link
	frames chan frame
	over   chan error
	deaf   atomic.Bool // what comes is not looked at
}

type frame struct {
	kind wire.Kind
	body []byte
}

func newScript(t *testing.T) *script {
	return &script{t: t, links: make(chan *end, 64)}
}

func (s *script) dialer() client.Dialer {
	return client.Memory(s, link.Options{}, link.Options{})
}

func (s *script) Opened(l *link.Link) {
	e := &end{t: s.t, link: l, frames: make(chan frame, 4096), over: make(chan error, 1)}
	l.Owner = e
	s.links <- e
}

func (s *script) Receive(l *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	e := l.Owner.(*end)
	for len(msg) > 0 && !e.deaf.Load() {
		k, body, rest, err := wire.NextFrame(msg)
		if err != nil || k.Lane() != lane && !l.Info().OneStream {
			s.t.Errorf("the client sent %s on the %s lane: %v", k, lane, err)
			return wire.Errorf(wire.CodeProtocol, "bad frame")
		}
		e.frames <- frame{k, append([]byte(nil), body...)}
		msg = rest
	}
	return nil
}

func (s *script) Ended(l *link.Link, err error) { l.Owner.(*end).over <- err }

// accept waits for the next link.
func (s *script) accept() *end {
	s.t.Helper()
	select {
	case e := <-s.links:
		return e
	case <-time.After(time.Minute):
		s.t.Fatal("no link was opened within a minute")
		return nil
	}
}

// next returns the next frame that is not of the kinds that come by the clock.
func (e *end) next() frame {
	e.t.Helper()
	for {
		select {
		case f := <-e.frames:
			if f.kind == wire.KindPing || f.kind == wire.KindAck {
				continue
			}
			return f
		case <-time.After(time.Minute):
			e.t.Fatal("no frame within a minute")
		}
	}
}

// expect returns the body of the next frame of a kind, and skips others.
func (e *end) expect(k wire.Kind) []byte {
	e.t.Helper()
	for {
		select {
		case f := <-e.frames:
			if f.kind == k {
				return f.body
			}
		case <-time.After(time.Minute):
			e.t.Fatalf("no %s within a minute", k)
		}
	}
}

func (e *end) hello() wire.Hello {
	e.t.Helper()
	f := e.next()
	if f.kind != wire.KindHello {
		e.t.Fatalf("first frame is %s, want hello", f.kind)
	}
	var h wire.Hello
	if err := json.Unmarshal(f.body, &h); err != nil {
		e.t.Fatal(err)
	}
	return h
}

// say sends a frame.
func (e *end) say(k wire.Kind, body []byte) { e.link.Send(wire.CopyFrame(k, body)) }

// tell sends a frame with a JSON body.
func (e *end) tell(k wire.Kind, v any) { e.link.Send(wire.JSONFrame(k, v)) }

// cut breaks the link as a dead network does.
func (e *end) cut() { link.Cut(e.link) }

// relayWelcome welcomes to a room without simulation.
func relayWelcome() wire.Welcome {
	return wire.Welcome{
		Version: 1, Session: "s1",
		Resume: &wire.ResumeGrant{Secret: "secret-0", GraceMS: 30_000},
		Room:   wire.RoomInfo{Name: "hall", Kind: "relay"},
		You:    1, Peers: []wire.Peer{{ID: 1, Name: "ann"}, {ID: 2, Name: "bob"}},
		Limits: wire.Limits{ReliableBytes: wire.MaxReliablePayload, UnreliableBytes: wire.MaxUnreliablePayload, PingMS: 5000, TimeoutMS: 15_000},
	}
}

// resumedWelcome answers the n-th resume.
func resumedWelcome(n int, received uint64) wire.Welcome {
	w := relayWelcome()
	w.Resumed, w.Received = true, received
	w.Resume.Secret = fmt.Sprintf("secret-%d", n)
	return w
}

// join joins a client to a script that welcomes it.
func (s *script) join(o client.Options, w wire.Welcome) (*client.Client, *end) {
	s.t.Helper()
	o.Room = "hall"
	if o.Dialers == nil {
		o.Dialers = []client.Dialer{s.dialer()}
	}
	got := make(chan *end, 1)
	go func() {
		e := s.accept()
		e.hello()
		e.tell(wire.KindWelcome, w)
		got <- e
	}()
	c, err := client.Join(s.t.Context(), o)
	if err != nil {
		s.t.Fatalf("join: %v", err)
	}
	return c, <-got
}

// inBubble runs a test in its own time.
func inBubble(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, run)
}

// within bounds a wait in a test's own time.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// waitFor lets time pass until a condition holds.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 60_000 {
		synctest.Wait()
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("within a minute: %s", what)
}

// pause lets everything that is under way arrive.
func pause() {
	time.Sleep(time.Millisecond)
	synctest.Wait()
}

//go:build !noenet

package enet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits for what must come.
const patience = 10 * time.Second

// ends is a link.Handler that remembers everything, by link.
type ends struct {
	onReceive func(l *link.Link, lane wire.Lane, msg []byte) *wire.Error

	mu       sync.Mutex
	changed  chan struct{}
	opened   []*link.Link
	received map[*link.Link][]received
	ended    map[*link.Link][]error
}

type received struct {
	lane wire.Lane
	msg  []byte
}

func newEnds() *ends {
	return &ends{
		changed:  make(chan struct{}),
		received: make(map[*link.Link][]received),
		ended:    make(map[*link.Link][]error),
	}
}

// change runs fn and lets those who wait look again.
func (e *ends) change(fn func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fn()
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *ends) Opened(l *link.Link) { e.change(func() { e.opened = append(e.opened, l) }) }

func (e *ends) Receive(l *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	if e.onReceive != nil {
		return e.onReceive(l, lane, msg)
	}
	e.change(func() { e.received[l] = append(e.received[l], received{lane, bytes.Clone(msg)}) })
	return nil
}

func (e *ends) Ended(l *link.Link, err error) {
	e.change(func() { e.ended[l] = append(e.ended[l], err) })
}

// await waits until ok, which is called under the lock.
func (e *ends) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		e.mu.Lock()
		changed, good := e.changed, ok()
		e.mu.Unlock()
		if good {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("no %s within %s", what, patience)
		}
	}
}

// link returns the i-th link that was opened.
func (e *ends) link(t *testing.T, i int) *link.Link {
	t.Helper()
	e.await(t, "link", func() bool { return len(e.opened) > i })
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opened[i]
}

// frames returns the bodies of all frames that l received on a lane.
func (e *ends) frames(l *link.Link, lane wire.Lane) (bodies [][]byte) {
	for _, r := range e.received[l] {
		for rest := r.msg; r.lane == lane && len(rest) > 0; {
			_, body, next, err := wire.NextFrame(rest)
			if err != nil {
				panic(err)
			}
			bodies, rest = append(bodies, body), next
		}
	}
	return bodies
}

// awaitEnd returns why l ended.
func (e *ends) awaitEnd(t *testing.T, l *link.Link) error {
	t.Helper()
	e.await(t, "end", func() bool { return len(e.ended[l]) > 0 })
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.ended[l]); n != 1 {
		t.Fatalf("Ended was called %d times", n)
	}
	return e.ended[l][0]
}

func listen(t *testing.T, o enet.Options, h link.Handler) *enet.Listener {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	l, err := enet.Listen(o, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// dial opens a link and closes it at the end of the test.
func dial(t *testing.T, l *enet.Listener, h *ends) *link.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := enet.Dial(ctx, l.Addr().String(), h, enet.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close(wire.Errorf(wire.CodeLeft, "the test is over"))
		h.awaitEnd(t, c)
	})
	return c
}

// pair is a listener with one link, and both ends of that.
func pair(t *testing.T) (server, client *ends, at, to *link.Link) {
	t.Helper()
	server, client = newEnds(), newEnds()
	l := listen(t, enet.Options{}, server)
	to = dial(t, l, client)
	return server, client, server.link(t, 0), to
}

func numbered(k wire.Kind, i, size int) *wire.Frame {
	body := make([]byte, max(size, 4))
	binary.LittleEndian.PutUint32(body, uint32(i))
	for j := 4; j < len(body); j++ {
		body[j] = byte(i + j)
	}
	return wire.CopyFrame(k, body)
}

func code(err error) wire.Code {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return wire.CodeNone
}

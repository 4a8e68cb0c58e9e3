package link

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a handler that keeps what it is told.
type recorder struct {
	refuse *wire.Error // what Receive answers
	ended  chan struct{}

	mu       sync.Mutex
	opened   bool
	busy     bool
	frames   []got
	messages int
	err      error
	fault    string
}

type got struct {
	kind wire.Kind
	body string
}

func newRecorder() *recorder { return &recorder{ended: make(chan struct{})} }

func (r *recorder) Opened(*Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = true
}

func (r *recorder) Receive(l *Link, lane wire.Lane, msg []byte) *wire.Error {
	r.mu.Lock()
	if !r.opened {
		r.fault = "Receive was called before Opened"
	}
	if r.busy {
		r.fault = "Receive was called by two goroutines at a time"
	}
	if r.err != nil {
		r.fault = "Receive was called after Ended"
	}
	r.busy = true
	r.messages++
	r.mu.Unlock()
	var frames []got
	for rest := msg; len(rest) > 0; {
		var k wire.Kind
		var body []byte
		var err error
		if k, body, rest, err = wire.NextFrame(rest); err != nil {
			return wire.Errorf(wire.CodeProtocol, "%v", err)
		}
		frames = append(frames, got{k, string(body)})
	}
	r.mu.Lock()
	r.frames = append(r.frames, frames...)
	r.busy = false
	r.mu.Unlock()
	return r.refuse
}

func (r *recorder) Ended(l *Link, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		r.fault = "Ended was called twice"
	case r.busy:
		r.fault = "Ended was called during Receive"
	case err == nil:
		err = errors.New("Ended without a reason")
	}
	r.err = err
	close(r.ended)
}

// of returns the bodies received of one kind.
func (r *recorder) of(k wire.Kind) (bodies []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.frames {
		if f.kind == k {
			bodies = append(bodies, f.body)
		}
	}
	return bodies
}

func (r *recorder) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != "" {
		t.Error(r.fault)
	}
}

// counters is an Observer.
type counters struct {
	mu       sync.Mutex
	drops    map[DropReason]int
	messages [2]map[wire.Lane]int // out, in
}

func newCounters() *counters {
	return &counters{drops: map[DropReason]int{}, messages: [2]map[wire.Lane]int{{}, {}}}
}

func (c *counters) Message(_ string, in bool, lane wire.Lane, _ int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	direction := 0
	if in {
		direction = 1
	}
	c.messages[direction][lane]++
}

func (c *counters) Dropped(_ string, reason DropReason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops[reason]++
}

func (c *counters) dropped(reason DropReason) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drops[reason]
}

// stub is a Conn that does nothing but count, for tests that call Pack.
type stub struct {
	info   Info
	mu     sync.Mutex
	wakes  int
	closes []wire.Code
}

func (s *stub) Info() Info { return s.info }

func (s *stub) Wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes++
}

func (s *stub) Close(code wire.Code, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closes = append(s.closes, code)
}

func frame(k wire.Kind, body string) *wire.Frame { return wire.CopyFrame(k, []byte(body)) }

func keyed(k wire.Kind, key uint32, body string) *wire.Frame {
	f := frame(k, body)
	f.Key = key
	return f
}

func numbered(k wire.Kind, n uint32) *wire.Frame {
	return wire.CopyFrame(k, binary.LittleEndian.AppendUint32(nil, n))
}

// packed returns the bodies of the next message of a lane.
func packed(t *testing.T, l *Link, lane wire.Lane) (bodies []string) {
	t.Helper()
	for rest := l.Pack(lane, nil); len(rest) > 0; {
		var body []byte
		var err error
		if _, body, rest, err = wire.NextFrame(rest); err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

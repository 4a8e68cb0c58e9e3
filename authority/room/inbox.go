package room

import (
	"sync"

	"github.com/gatehouse/gatehouse/wire"
)

// item is one thing posted to a room: a frame from a seat, or something to be
// done on the room's goroutine.
type item struct {
	seat  *seat
	frame *wire.Frame
	do    func()
}

// inbox is the one door of a room. Many post, the room's goroutine takes. It is
// bounded by what each seat may have waiting ([MaxWaiting]) and by the callers
// of do, who each wait for their answer.
type inbox struct {
	wake chan struct{} // one slot

	mu     sync.Mutex
	items  []item
	closed bool
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// post adds items and reports false if the room has closed. Without urgent the
// items wait for the room's next turn.
func (b *inbox) post(urgent bool, items ...item) bool {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return false
	}
	b.items = append(b.items, items...)
	b.mu.Unlock()
	if urgent {
		b.signal()
	}
	return true
}

// frames is post for frames of one seat.
func (b *inbox) frames(s *seat, urgent bool, frames []*wire.Frame) bool {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return false
	}
	for _, f := range frames {
		b.items = append(b.items, item{seat: s, frame: f})
	}
	b.mu.Unlock()
	if urgent {
		b.signal()
	}
	return true
}

func (b *inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take swaps what was posted for an emptied slice.
func (b *inbox) take(emptied []item) []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = emptied
	return items
}

// close refuses further posts and returns what was still waiting.
func (b *inbox) close() []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	items := b.items
	b.items = nil
	return items
}

package client

import (
	"sync"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// inboxBytes bounds the messages that wait for the client's goroutine.
const inboxBytes = 1 << 20

// keepBytes is how large a drained buffer may be to be used again.
const keepBytes = 256 << 10

// inbox brings what happens elsewhere to the client's goroutine. Messages are
// copied into one buffer, which is swapped whole: no allocation per message.
type inbox struct {
	wake chan struct{} // of capacity 1

	mu    sync.Mutex
	items []item
	data  []byte
}

// item is one thing that happened: exactly one of its groups is set.
type item struct {
	at *attempt
	// a message of size bytes in the batch's data
	message bool
	lane    wire.Lane
	size    int
	// the end of a link, or the result of a dial
	ended, dialed bool
	link          *link.Link
	err           error
	// a request of another goroutine
	call func()
}

// message copies a message in. It reports false if the inbox is full.
func (in *inbox) message(a *attempt, lane wire.Lane, msg []byte) bool {
	in.mu.Lock()
	if len(in.data)+len(msg) > inboxBytes {
		in.mu.Unlock()
		return false
	}
	in.data = append(in.data, msg...)
	in.items = append(in.items, item{at: a, message: true, lane: lane, size: len(msg)})
	in.mu.Unlock()
	in.signal()
	return true
}

// put adds anything else; there are few of those, so they are not bounded.
func (in *inbox) put(i item) {
	in.mu.Lock()
	in.items = append(in.items, i)
	in.mu.Unlock()
	in.signal()
}

func (in *inbox) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// take returns what has come in and leaves the given, drained buffers in its
// place.
func (in *inbox) take(items []item, data []byte) ([]item, []byte) {
	clear(items)
	if cap(data) > keepBytes {
		data = nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	taken, bytes := in.items, in.data
	in.items, in.data = items[:0], data[:0]
	return taken, bytes
}

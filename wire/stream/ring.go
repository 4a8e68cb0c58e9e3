package stream

import (
	"errors"
	"sync"

	"github.com/gatehouse/gatehouse/wire"
)

// ErrFull means that a push would exceed the ring's bound: the receiver reads
// too slowly, or has been away for too long.
var ErrFull = errors.New("stream: queued and unacknowledged frames exceed the bound")

// ErrAck means that a receiver acknowledged what was never sent.
var ErrAck = errors.New("stream: acknowledgement of a frame that was never sent")

// frameOverhead is what a frame costs in memory beyond its bytes, for the bound.
const frameOverhead = 64

// Ring holds numbered frames until they are acknowledged. Queued and
// unacknowledged frames share one bound. Safe for concurrent use.
type Ring struct {
	limit int

	mu     sync.Mutex
	retain bool
	frames []*wire.Frame // circular; len is a power of two
	head   int           // index of the oldest
	count  int
	first  uint64 // number of the oldest kept frame
	bytes  int
}

// NewRing returns an empty ring for at most limit bytes. A ring that does not
// retain forgets a frame once it is packed: for clients that never acknowledge.
func NewRing(limit int, retain bool) *Ring {
	return &Ring{limit: limit, retain: retain, frames: make([]*wire.Frame, 8), first: 1}
}

// Push appends a frame and takes over the caller's reference, on failure too.
// The errors are ErrFull, and wire.ErrTooBig for a body that no receiver would
// take.
func (r *Ring) Push(f *wire.Frame) error {
	if len(f.Body()) > wire.MaxReliableBody {
		f.Release()
		return wire.ErrTooBig
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	cost := f.Size() + frameOverhead
	if r.bytes+cost > r.limit {
		f.Release()
		return ErrFull
	}
	if r.count == len(r.frames) {
		r.grow()
	}
	r.frames[(r.head+r.count)&(len(r.frames)-1)] = f
	r.count++
	r.bytes += cost
	return nil
}

func (r *Ring) grow() {
	bigger := make([]*wire.Frame, 2*len(r.frames))
	for i := range r.count {
		bigger[i] = r.frames[(r.head+i)&(len(r.frames)-1)]
	}
	r.frames, r.head = bigger, 0
}

// Pack appends whole frames from number *cursor on to dst while dst stays within
// limit bytes, and moves the cursor behind them. A first frame is always taken
// when dst is empty, whatever its size. It returns the number of frames packed.
//
// A cursor before the oldest kept frame skips to it: the receiver has
// acknowledged what lies between over another link.
func (r *Ring) Pack(dst []byte, cursor *uint64, limit int) ([]byte, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	packed := 0
	*cursor = max(*cursor, r.first)
	for *cursor < r.first+uint64(r.count) {
		i := int(*cursor - r.first)
		f := r.frames[(r.head+i)&(len(r.frames)-1)]
		if len(dst) > 0 && len(dst)+f.Size() > limit {
			break
		}
		dst = wire.AppendFrame(dst, f.Kind, f.Body())
		*cursor++
		packed++
		if !r.retain {
			r.dropOldest()
		}
	}
	return dst, packed
}

// Ack releases every frame up to number received. An old acknowledgement is
// harmless; one of the future is ErrAck and changes nothing.
func (r *Ring) Ack(received uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ack(received)
}

func (r *Ring) ack(received uint64) error {
	if received >= r.first+uint64(r.count) {
		return ErrAck
	}
	for r.first <= received {
		r.dropOldest()
	}
	return nil
}

// dropOldest requires r.count > 0.
func (r *Ring) dropOldest() {
	f := r.frames[r.head]
	r.frames[r.head] = nil
	r.head = (r.head + 1) & (len(r.frames) - 1)
	r.count--
	r.first++
	r.bytes -= f.Size() + frameOverhead
	f.Release()
}

// Rewind returns the cursor from which to send again to a receiver that has had
// received frames. It acknowledges those. ok is false if the ring can not serve
// it: what is missing was forgotten, or never sent.
func (r *Ring) Rewind(received uint64) (cursor uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ack(received) != nil {
		return 0, false
	}
	return r.first, r.first == received+1
}

// Clear releases everything and restarts the numbering at 1.
func (r *Ring) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.count > 0 {
		r.dropOldest()
	}
	r.first = 1
}

// Behind returns the frames and bytes from cursor on: what a link has still to
// write. Bytes include frames before the cursor that are not acknowledged.
func (r *Ring) Behind(cursor uint64) (frames, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := r.first + uint64(r.count)
	if cursor >= end {
		return 0, r.bytes
	}
	return int(end - max(cursor, r.first)), r.bytes
}

// Sent returns the number of the newest frame pushed, 0 if there was none.
func (r *Ring) Sent() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first + uint64(r.count) - 1
}

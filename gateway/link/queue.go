package link

import (
	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

// maxControl bounds link control frames in the queue. A peer that makes us
// queue more (pongs, acks) than it reads is not served all of them.
const maxControl = 64

// queue is what a link has still to send. Guarded by the link's mutex.
type queue struct {
	control    []*wire.Frame
	ring       *stream.Ring
	cursor     uint64
	unreliable []*wire.Frame
	sealed     bool
	last       *wire.Frame // the close frame, once sealed, until it is packed
}

// push takes over one reference. It returns a frame that had to go, and false if
// the reliable lane is full.
func (q *queue) push(f *wire.Frame, limit int) (dropped *wire.Frame, reason DropReason, ok bool) {
	switch {
	case q.sealed:
		return f, DropClosed, true
	case f.Kind.Control():
		if len(q.control) >= maxControl {
			return f, DropOldest, true
		}
		q.control = append(q.control, f)
	case f.Lane() == wire.Reliable:
		return nil, "", q.ring.Push(f) == nil
	case f.Size() > wire.MaxDatagram:
		return f, DropOversize, true
	default:
		dropped, reason = q.pushUnreliable(f, limit)
	}
	return dropped, reason, true
}

func (q *queue) pushUnreliable(f *wire.Frame, limit int) (dropped *wire.Frame, reason DropReason) {
	if f.Key == wire.SnapshotKey {
		for i, old := range q.unreliable {
			if old.Key == wire.SnapshotKey {
				q.unreliable[i] = f
				return old, DropSuperseded
			}
		}
	}
	if len(q.unreliable) >= limit {
		at, why := 0, DropOldest
		for i, old := range q.unreliable {
			if old.Key == f.Key {
				at, why = i, DropSenderOldest
				break
			}
		}
		dropped, reason = q.unreliable[at], why
		q.unreliable = append(q.unreliable[:at], q.unreliable[at+1:]...)
	}
	q.unreliable = append(q.unreliable, f)
	return dropped, reason
}

func (q *queue) packReliable(dst []byte, max int) []byte {
	taken := 0
	for _, f := range q.control {
		if len(dst) > 0 && len(dst)+f.Size() > max {
			break
		}
		dst = wire.AppendFrame(dst, f.Kind, f.Body())
		f.Release()
		taken++
	}
	q.control = shift(q.control, taken)
	if len(q.control) > 0 {
		return dst
	}
	dst, _ = q.ring.Pack(dst, &q.cursor, max)
	if q.last == nil || len(dst) > 0 && len(dst)+q.last.Size() > max {
		return dst
	}
	if behind, _ := q.ring.Behind(q.cursor); behind == 0 {
		dst = wire.AppendFrame(dst, q.last.Kind, q.last.Body())
		q.last.Release()
		q.last = nil
	}
	return dst
}

func (q *queue) packUnreliable(dst []byte, max int) []byte {
	taken := 0
	for _, f := range q.unreliable {
		if len(dst) > 0 && len(dst)+f.Size() > max {
			break
		}
		dst = wire.AppendFrame(dst, f.Kind, f.Body())
		f.Release()
		taken++
	}
	q.unreliable = shift(q.unreliable, taken)
	return dst
}

// seal makes last the last frame of the link, behind what the reliable lane
// still holds.
func (q *queue) seal(last *wire.Frame) {
	wire.ReleaseAll(q.unreliable)
	q.unreliable = q.unreliable[:0]
	q.last, q.sealed = last, true
}

// clear releases everything that the queue itself owns and returns how many
// frames that were. Frames in an attached ring stay the session's.
func (q *queue) clear() int {
	n := len(q.control) + len(q.unreliable)
	if q.last != nil {
		q.last.Release()
		q.last = nil
	}
	wire.ReleaseAll(q.control)
	wire.ReleaseAll(q.unreliable)
	q.control, q.unreliable, q.sealed = nil, nil, true
	return n
}

// shift drops the first n frames and keeps the backing array.
func shift(frames []*wire.Frame, n int) []*wire.Frame {
	if n == 0 {
		return frames
	}
	left := copy(frames, frames[n:])
	clear(frames[left:])
	return frames[:left]
}

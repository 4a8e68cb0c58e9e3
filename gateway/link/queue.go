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
	// immutable
	frames int // bound of unreliable, in frames
	bytes  int // bound of one unreliable frame with its header

	control    []*wire.Frame
	ring       *stream.Ring
	owned      bool // the ring is the link's own, nothing is attached
	cursor     uint64
	unreliable []*wire.Frame
	sealed     bool        // nothing more is taken
	last       *wire.Frame // the close frame, once sealed, until it is packed
}

func newQueue(o Options, info Info) queue {
	q := queue{frames: o.UnreliableFrames, bytes: wire.MaxDatagram, owned: true, cursor: 1}
	if info.OneStream {
		// No datagram bounds it: the JSON dialect sends whole worlds.
		q.bytes = wire.MaxReliableBody + wire.MaxHeader
	}
	q.ring = stream.NewRing(o.ReliableBytes, false)
	return q
}

// push takes over one reference. It returns a frame that had to go, and false if
// the reliable lane is full.
func (q *queue) push(f *wire.Frame) (dropped *wire.Frame, reason DropReason, ok bool) {
	switch {
	case q.sealed:
		return f, DropClosed, true
	case f.Kind.Control():
		switch {
		case len(f.Body()) > wire.MaxReliableBody:
			return f, DropOversize, true
		case len(q.control) >= maxControl:
			return f, DropOldest, true
		}
		q.control = append(q.control, f)
	case f.Lane() == wire.Reliable:
		return nil, "", q.ring.Push(f) == nil
	case f.Size() > q.bytes:
		return f, DropOversize, true
	default:
		dropped, reason = q.pushUnreliable(f)
	}
	return dropped, reason, true
}

func (q *queue) pushUnreliable(f *wire.Frame) (dropped *wire.Frame, reason DropReason) {
	if f.Key == wire.SnapshotKey {
		for i, old := range q.unreliable {
			if old.Key == wire.SnapshotKey {
				q.unreliable[i] = f
				return old, DropSuperseded
			}
		}
	}
	if len(q.unreliable) >= q.frames {
		at := 0
		at, reason = q.victim(f.Key)
		dropped = q.unreliable[at]
		q.unreliable = append(q.unreliable[:at], q.unreliable[at+1:]...)
	}
	q.unreliable = append(q.unreliable, f)
	return dropped, reason
}

// victim chooses what makes room in a full queue: the sender's own oldest, else
// the oldest of all, but never the snapshot while there is anything else.
func (q *queue) victim(key uint32) (at int, reason DropReason) {
	at = -1
	for i, old := range q.unreliable {
		switch {
		case old.Key == key:
			return i, DropSenderOldest
		case at < 0 && old.Key != wire.SnapshotKey:
			at = i
		}
	}
	return max(at, 0), DropOldest
}

// packReliable packs link control, then the ring, then the close frame, and says
// whether some of it had to stay.
func (q *queue) packReliable(dst []byte, max int) (msg []byte, more bool) {
	dst, q.control = pack(dst, q.control, max)
	if len(q.control) > 0 {
		return dst, true
	}
	dst, _ = q.ring.Pack(dst, &q.cursor, max)
	if behind, _ := q.ring.Behind(q.cursor); behind > 0 {
		return dst, true
	}
	if q.last == nil {
		return dst, false
	}
	if len(dst) > 0 && len(dst)+q.last.Size() > max {
		return dst, true
	}
	dst = wire.AppendFrame(dst, q.last.Kind, q.last.Body())
	q.last.Release()
	q.last = nil
	return dst, false
}

func (q *queue) packUnreliable(dst []byte, max int) []byte {
	dst, q.unreliable = pack(dst, q.unreliable, max)
	return dst
}

// pack appends and releases whole frames while dst stays within max bytes; the
// first is taken into an empty dst whatever its size. It returns what is left,
// on the same backing array.
func pack(dst []byte, frames []*wire.Frame, max int) ([]byte, []*wire.Frame) {
	taken := 0
	for _, f := range frames {
		if len(dst) > 0 && len(dst)+f.Size() > max {
			break
		}
		dst = wire.AppendFrame(dst, f.Kind, f.Body())
		f.Release()
		taken++
	}
	if taken == 0 {
		return dst, frames
	}
	left := copy(frames, frames[taken:])
	clear(frames[left:])
	return dst, frames[:left]
}

// attach replaces the ring, and returns how many frames the own one still held.
func (q *queue) attach(ring *stream.Ring, cursor uint64) (dropped int) {
	if q.sealed {
		return 0
	}
	dropped = q.disown()
	q.ring, q.owned, q.cursor = ring, false, cursor
	return dropped
}

// seal makes last the last frame of the link: behind what the reliable lane still
// holds, or alone. It returns how many frames it discarded.
func (q *queue) seal(last *wire.Frame, alone bool) (dropped int) {
	if q.sealed { // ended in between
		last.Release()
		return 0
	}
	dropped = len(q.unreliable)
	wire.ReleaseAll(q.unreliable)
	q.unreliable, q.last, q.sealed = q.unreliable[:0], last, true
	if alone {
		dropped += q.disown()
	}
	return dropped
}

// clear releases everything that the queue itself owns and returns how many
// frames that were. Frames in an attached ring stay the session's.
func (q *queue) clear() (dropped int) {
	dropped = len(q.control) + len(q.unreliable)
	if q.last != nil {
		q.last.Release()
		q.last = nil
	}
	wire.ReleaseAll(q.control)
	wire.ReleaseAll(q.unreliable)
	q.control, q.unreliable, q.sealed = nil, nil, true
	return dropped + q.disown()
}

// disown leaves the queue with an empty ring, and empties the one it had if that
// was its own.
func (q *queue) disown() (dropped int) {
	if q.owned {
		dropped, _ = q.ring.Behind(q.cursor)
		q.ring.Clear()
	}
	q.ring, q.owned, q.cursor = stream.NewRing(0, false), true, 1
	return dropped
}

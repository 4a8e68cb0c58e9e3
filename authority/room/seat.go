package room

import (
	"sync/atomic"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/wire"
)

// Bounds of what one seat may make a room hold.
const (
	// MaxWaiting is how many of its frames may wait in the inbox, and
	// maxWaitingBytes their bytes. What a client may send in a burst must fit.
	MaxWaiting      = 4096
	maxWaitingBytes = 4 << 20
	// maxOut is how many frames may wait for a turn's end, or behind a full
	// snapshot that is being paced out.
	maxOut = 4096
)

// seat is a member's place. The upper fields may be used from any goroutine, the
// lower ones belong to the room's.
type seat struct {
	// immutable
	room *Room
	id   uint32
	join authority.Join

	waiting atomic.Int32 // frames in the inbox
	bytes   atomic.Int64 // of them
	gone    atomic.Bool

	// owned by the room's goroutine
	away    bool
	choked  bool          // it had too much in out: expelled at the turn's end
	stamp   uint16        // of its relayed messages on the unreliable lane
	out     []*wire.Frame // for this turn
	replica replicaState  // in rooms that simulate
	calls   calls
}

var _ authority.Seat = (*seat)(nil)

// Deliver implements authority.Seat.
func (s *seat) Deliver(frames ...*wire.Frame) bool {
	if s.gone.Load() {
		wire.ReleaseAll(frames)
		return true
	}
	count, bytes := int32(len(frames)), int64(0)
	for _, f := range frames {
		bytes += int64(f.Size())
	}
	if s.waiting.Add(count) > MaxWaiting || s.bytes.Add(bytes) > maxWaitingBytes {
		wire.ReleaseAll(frames)
		return false // for good: the session ends, so the counts do not matter any more
	}
	if !s.room.inbox.frames(s, s.room.urgent, frames) {
		wire.ReleaseAll(frames)
	}
	return true
}

// Presence implements authority.Seat.
func (s *seat) Presence(p authority.Presence) {
	s.room.inbox.post(true, item{do: func() { s.room.presence(s, p) }})
}

// Leave implements authority.Seat.
func (s *seat) Leave(reason wire.Code) {
	s.room.inbox.post(true, item{do: func() { s.room.leave(s, reason) }})
}

// send queues a frame for the end of the turn and takes over one reference.
func (s *seat) send(f *wire.Frame) {
	if s.choked = s.choked || len(s.out) >= maxOut; s.choked {
		f.Release()
		return
	}
	s.out = append(s.out, f)
}

// flush hands everything to the outbox. A full snapshot that is being paced out
// goes first, and what follows waits for its end.
func (s *seat) flush() {
	if front := s.replica.front; len(front) > 0 {
		n := min(len(front), chunksPerTurn)
		s.join.Outbox.Send(front[:n])
		s.replica.front = front[n:]
	}
	if len(s.replica.front) > 0 || len(s.out) == 0 {
		return
	}
	s.join.Outbox.Send(s.out)
	clear(s.out)
	s.out = s.out[:0]
}

// drop releases what was not sent.
func (s *seat) drop() {
	wire.ReleaseAll(s.out)
	s.out = nil
	s.replica.drop()
	s.calls.drop()
}

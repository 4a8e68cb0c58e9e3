package session

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

// Session is one player's presence in one room.
type Session struct {
	// immutable
	mgr       *Manager
	id        string
	identity  string
	name      string
	joining   string // the room that the hello named
	json      bool
	acks      bool // the client acknowledges
	resumable bool
	created   time.Time
	ring      *stream.Ring // has its own lock

	// for what a room sends, without a lock
	live atomic.Pointer[link.Link]
	gap  atomic.Bool // kept messages were lost; until the next resume

	rtt     atomic.Int64 // ns, 0: not measured
	resumes atomic.Int32

	mu        sync.Mutex // guards the rest
	link      *link.Link // nil while away
	seat      authority.Seat
	you       uint32
	room      wire.RoomInfo
	version   int
	admission authority.Admission
	counter   stream.Counter
	secrets   secrets
	proven    bool // a frame has followed the hello on this link
	awaySince time.Time
	pinged    time.Time
	bucket    bucket
	batch     []*wire.Frame
	closed    bool
	closeCode *wire.Error
}

var _ authority.Outbox = (*Session)(nil)

// Send implements authority.Outbox. Reliable frames go into the ring, which the
// live link reads and which outlives it; the others go to the live link or
// nowhere.
func (s *Session) Send(frames []*wire.Frame) {
	l := s.live.Load()
	for _, f := range frames {
		switch {
		case f.Lane() == wire.Unreliable && l != nil:
			l.Enqueue(f)
		case f.Lane() == wire.Unreliable || s.gap.Load():
			f.Release()
		case s.ring.Push(f) != nil:
			s.overflow(l)
		}
	}
	if l != nil {
		l.Flush()
	}
}

// overflow: the ring is full. What did not fit is lost, so whoever resumes is
// told of a gap; a client that has a link and reads too slowly loses that.
func (s *Session) overflow(l *link.Link) {
	s.gap.Store(true)
	s.ring.Clear()
	if l != nil {
		s.mgr.opts.Observer.GivenUp(wire.CodeSlowConsumer)
		l.Close(wire.Errorf(wire.CodeSlowConsumer, "more than %d bytes wait unacknowledged", s.mgr.opts.OutboxBytes))
		s.detach(l)
	}
}

// Close implements authority.Outbox: the room has ended this session.
func (s *Session) Close(e *wire.Error) { s.end(e, false) }

// end finishes the session for good. With leave it gives its seat up too.
func (s *Session) end(e *wire.Error, leave bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed, s.closeCode = true, e
	l, seat := s.link, s.seat
	s.link = nil
	s.live.Store(nil)
	secrets := s.secrets.all()
	s.mu.Unlock()
	s.mgr.forget(s, secrets)
	if leave && seat != nil {
		seat.Leave(e.Code)
	}
	if l != nil {
		l.Close(e)
	} else {
		s.ring.Clear()
	}
	s.mgr.opts.Observer.Ended(e.Code)
	s.mgr.journal.ended(s, e)
}

// detach notes that a link has gone. A session that can be resumed is away from
// then on; another ends, and one whose link was closed with a terminal code by
// the link itself: too much came for that already.
func (s *Session) detach(l *link.Link) {
	s.mu.Lock()
	if s.link != l || s.closed {
		s.mu.Unlock()
		return
	}
	if e := l.Closed(); e != nil && !e.Code.Retry() {
		s.mu.Unlock()
		s.mgr.opts.Observer.Invalid(e.Code)
		s.end(e, true)
		return
	}
	s.link = nil
	s.live.Store(nil)
	s.awaySince = time.Now()
	if s.resumable {
		// Under the mutex, so that a resume can not slip in between and the
		// room believe the player away for ever.
		s.seat.Presence(authority.Away)
	}
	s.mu.Unlock()
	s.mgr.journal.away(s)
	if !s.resumable {
		s.end(wire.Errorf(wire.CodeTimeout, "the connection ended"), true)
	}
}

// welcome describes the session to its client. The caller holds s.mu.
func (s *Session) welcome() wire.Welcome {
	o := &s.mgr.opts
	w := wire.Welcome{
		Version: s.version, Session: s.id, Received: s.counter.Received(),
		Room: s.room, You: s.you, Tick: s.admission.Tick, TickRate: s.admission.TickRate,
		Schema: s.admission.Schema,
		Limits: wire.Limits{
			ReliableBytes: wire.MaxReliablePayload, UnreliableBytes: wire.MaxUnreliablePayload,
			PingMS: int(o.PingInterval.Milliseconds()), TimeoutMS: int(o.PingTimeout.Milliseconds()),
			MessagesPerSecond: max(o.MessagesPerSecond, 0),
		},
	}
	if s.resumable {
		w.Resume = &wire.ResumeGrant{Secret: s.secrets.offered(), GraceMS: int(o.ResumeGrace.Milliseconds())}
	}
	return w
}

// forget takes an ended session off the manager's books.
func (m *Manager) forget(s *Session, secrets []string) {
	m.mu.Lock()
	_, listed := m.sessions[s.id]
	delete(m.sessions, s.id)
	for _, secret := range secrets {
		delete(m.secrets, hashSecret(secret))
	}
	m.mu.Unlock()
	if listed {
		m.opts.Observer.Sessions(-1)
	}
}

// State is what operators see of a session. It holds no secret.
type State struct {
	ID        string    `json:"id"`
	Identity  string    `json:"identity"`
	Name      string    `json:"name"`
	Room      string    `json:"room"`
	Peer      uint32    `json:"peer"`
	Created   time.Time `json:"created"`
	Away      bool      `json:"away"`
	Transport string    `json:"transport,omitempty"`
	Address   string    `json:"address,omitempty"`
	JSON      bool      `json:"json,omitempty"`
	// RTTMillis is the last measured round trip, 0 if none was.
	RTTMillis float64 `json:"rtt_ms"`
	// Queued frames wait to be written; Kept bytes wait or are unacknowledged.
	QueuedReliable   int `json:"queued_reliable"`
	QueuedUnreliable int `json:"queued_unreliable"`
	KeptBytes        int `json:"kept_bytes"`
	Resumes          int `json:"resumes"`
}

// State returns the session's state. Safe for concurrent use.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{
		ID: s.id, Identity: s.identity, Name: s.name, Room: s.room.Name, Peer: s.you,
		Created: s.created, Away: s.link == nil, JSON: s.json,
		RTTMillis: float64(s.rtt.Load()) / 1e6, Resumes: int(s.resumes.Load()),
	}
	if s.link != nil {
		st.Transport = s.link.Info().Transport
		if remote := s.link.Info().Remote; remote.IsValid() {
			st.Address = remote.String()
		}
		st.QueuedReliable, st.KeptBytes, st.QueuedUnreliable = s.link.Queued()
	} else {
		_, st.KeptBytes = s.ring.Behind(0)
	}
	return st
}

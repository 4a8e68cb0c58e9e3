package session

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

// Admitter decides whether a hello may join. It must not block for long: it
// runs on the goroutine of the join.
type Admitter interface {
	Admit(h wire.Hello, remote netip.AddrPort) (Grant, *wire.Error)
}

// Grant is who an admitted hello is.
type Grant struct {
	Identity string
	Name     string
}

// maxProfile bounds the profile of a hello, in bytes.
const maxProfile = 4 << 10

// guest is a link without a session. It is the link's Owner for life; once it
// has a session, that receives.
type guest struct {
	session atomic.Pointer[Session]
	since   time.Time

	mu    sync.Mutex
	said  bool // hello was received
	ended bool // the link has
}

// Opened implements link.Handler.
func (m *Manager) Opened(l *link.Link) {
	g := &guest{since: time.Now()}
	l.Owner = g
	m.mu.Lock()
	closed := m.closed
	if !closed {
		m.guests[l] = g
	}
	m.mu.Unlock()
	m.opts.Observer.Links(l.Info().Transport, 1)
	if closed {
		l.Close(wire.Errorf(wire.CodeGoingAway, "the server is going away"))
	}
}

// Receive implements link.Handler.
func (m *Manager) Receive(l *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	g := l.Owner.(*guest)
	if s := g.session.Load(); s != nil {
		return s.receive(l, lane, msg)
	}
	if lane != wire.Reliable {
		return m.refuse(l, wire.Errorf(wire.CodeProtocol, "a message on the %s lane before the welcome", lane))
	}
	return m.greet(l, g, msg)
}

// Ended implements link.Handler.
func (m *Manager) Ended(l *link.Link, _ error) {
	g := l.Owner.(*guest)
	g.mu.Lock()
	g.ended = true
	s := g.session.Load()
	g.mu.Unlock()
	m.forgetGuest(l)
	m.opts.Observer.Links(l.Info().Transport, -1)
	if s != nil {
		s.detach(l)
	}
}

func (m *Manager) forgetGuest(l *link.Link) {
	m.mu.Lock()
	delete(m.guests, l)
	m.mu.Unlock()
}

// greet takes the first message of a link, which must be a hello and no more.
func (m *Manager) greet(l *link.Link, g *guest, msg []byte) *wire.Error {
	k, body, rest, err := wire.NextFrame(msg)
	switch {
	case err != nil:
		return m.refuse(l, wire.Errorf(wire.CodeProtocol, "%v", err))
	case g.said:
		return m.refuse(l, wire.Errorf(wire.CodeProtocol, "%s before the welcome", k))
	case k != wire.KindHello || len(rest) > 0:
		return m.refuse(l, wire.Errorf(wire.CodeProtocol, "the first message must hold one hello frame and nothing else; it begins with %s", k))
	}
	g.said = true
	var h wire.Hello
	if err := wire.DecodeJSON(k, body, &h); err != nil {
		return m.refuse(l, wire.Errorf(wire.CodeProtocol, "%v", err))
	}
	version, err := wire.Negotiate(h.Versions)
	m.opts.Observer.Hello(cmp.Or(version, best(h.Versions)), err == nil)
	if err != nil {
		return m.refuse(l, asWire(err))
	}
	if len(h.Profile) > maxProfile {
		return m.refuse(l, wire.Errorf(wire.CodeTooBig, "profile has %d bytes, the limit is %d", len(h.Profile), maxProfile))
	}
	if h.Resume != nil {
		return m.resume(l, g, h, version)
	}
	m.mu.Lock()
	full := len(m.sessions)+m.reserved >= m.opts.MaxSessions
	draining := m.draining
	if !full && !draining {
		m.reserved++
		m.wg.Go(func() { m.join(l, g, h, version) })
	}
	m.mu.Unlock()
	switch {
	case draining:
		return m.refuse(l, wire.Errorf(wire.CodeGoingAway, "the server takes no new sessions"))
	case full:
		return m.refuse(l, wire.Errorf(wire.CodeOverloaded, "the limit of %d sessions is reached", m.opts.MaxSessions))
	}
	return nil
}

func best(versions []int) int {
	if len(versions) == 0 {
		return 0
	}
	return versions[0]
}

func (m *Manager) refuse(l *link.Link, e *wire.Error) *wire.Error {
	m.opts.Observer.Refused(e.Code)
	m.journal.refused(l, e)
	return e
}

// join seats a new session. It runs on its own goroutine.
func (m *Manager) join(l *link.Link, g *guest, h wire.Hello, version int) {
	ctx, cancel := context.WithTimeout(m.base, m.opts.JoinTimeout)
	defer cancel()
	s, welcome, e := m.seat(ctx, l, h, version)
	m.mu.Lock()
	m.reserved--
	if e == nil && m.closed {
		e = wire.Errorf(wire.CodeGoingAway, "the server is going away")
	}
	if e == nil {
		m.sessions[s.id] = s
		if s.resumable {
			m.secrets[hashSecret(s.secrets.current)] = s
		}
		delete(m.guests, l)
	}
	m.mu.Unlock()
	if e != nil {
		if s != nil {
			s.seat.Leave(e.Code)
		}
		l.Close(m.refuse(l, e))
		return
	}
	m.opts.Observer.Sessions(1)
	m.journal.joined(s, l)
	g.mu.Lock()
	ended := g.ended
	if !ended {
		s.start(l, g, welcome)
	}
	g.mu.Unlock()
	if ended { // nobody ever learnt of this session
		s.end(wire.Errorf(wire.CodeJoinTimeout, "the connection ended during the join"), true)
	}
	// The room may have ended the session before it was on the books: then
	// nobody else takes it off.
	if secrets, closed := s.over(); closed {
		m.forget(s, secrets)
	}
}

// over reports whether the session has ended, and the secrets it had.
func (s *Session) over() (secrets []string, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secrets.all(), s.closed
}

// seat admits the hello and takes a seat for it. If an error comes with a
// session, that has a seat already.
func (m *Manager) seat(ctx context.Context, l *link.Link, h wire.Hello, version int) (*Session, wire.Welcome, *wire.Error) {
	grant, e := m.opts.Admit.Admit(h, l.Info().Remote)
	if e != nil {
		return nil, wire.Welcome{}, e
	}
	s := newSession(m, l.Info(), h, grant)
	seat, a, err := m.opts.Rooms.Join(ctx, authority.Join{
		Room: h.Room, Identity: grant.Identity, Name: grant.Name, Profile: h.Profile,
		Session: s.id, JSON: s.json, Outbox: s,
	})
	if err != nil {
		return nil, wire.Welcome{}, asWire(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seat, s.you, s.room, s.version = seat, a.You, a.Room, version
	s.admission = a
	w := s.welcome()
	w.Peers = a.Peers
	return s, w, nil
}

// start puts a new session on its link: welcome first, then its stream. The
// client's answer waits for the session's mutex.
func (s *Session) start(l *link.Link, g *guest, w wire.Welcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed { // expelled by the room between its seat and its welcome
		l.Close(s.closeCode)
		return
	}
	s.link = l
	g.session.Store(s)
	l.Send(wire.JSONFrame(wire.KindWelcome, w)) // the room bounds all that is long in it
	l.Attach(s.ring, 1)
	s.live.Store(l)
}

func newSession(m *Manager, info link.Info, h wire.Hello, g Grant) *Session {
	acks := !info.JSON
	if h.Acks != nil {
		acks = *h.Acks
	}
	s := &Session{
		mgr: m, id: "s_" + randomText(9), identity: g.Identity, name: g.Name, joining: h.Room,
		json: info.JSON, acks: acks, resumable: acks && m.opts.ResumeGrace > 0,
		created: time.Now(), bucket: newBucket(m.opts.MessagesPerSecond),
	}
	s.awaySince = s.created // it has no link before its welcome: the sweeper may look in between
	s.ring = stream.NewRing(m.opts.OutboxBytes, acks)
	s.secrets.current = randomText(32)
	return s
}

func asWire(err error) *wire.Error {
	var e *wire.Error
	if errors.As(err, &e) {
		return e
	}
	return wire.Errorf(wire.CodeInternal, "%v", err)
}

package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// secrets are what may resume a session. The one presented stays good until the
// client has shown that it holds the next, or a lost welcome would lose the
// session.
type secrets struct {
	current string
	next    string // offered and not proven; empty if none
}

// offered returns the secret to be told to the client.
func (s *secrets) offered() string {
	if s.next != "" {
		return s.next
	}
	return s.current
}

func (s *secrets) all() []string {
	if s.next != "" {
		return []string{s.current, s.next}
	}
	return []string{s.current}
}

// secretHash is how secrets are looked up: the map's timing says nothing of them.
type secretHash [sha256.Size]byte

func hashSecret(s string) secretHash { return sha256.Sum256([]byte(s)) }

func randomText(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// expired is the one answer to every resume that can not be: whether the secret
// is wrong, spent or too late is nobody's business.
func expired() *wire.Error { return wire.Errorf(wire.CodeSessionExpired, "join afresh") }

// resume puts a session on a new link. It runs on the link's reader.
func (m *Manager) resume(l *link.Link, g *guest, h wire.Hello, version int) *wire.Error {
	hash := hashSecret(h.Resume.Secret)
	m.mu.Lock()
	s := m.secrets[hash]
	m.mu.Unlock()
	if s == nil {
		return m.refuse(l, expired())
	}
	if s.json != l.Info().JSON {
		return m.refuse(l, wire.Errorf(wire.CodeProtocol, "a session keeps the encoding it was joined with"))
	}
	old, gap, e := s.take(l, h.Resume, version)
	if e != nil {
		return m.refuse(l, e)
	}
	m.forgetGuest(l)
	g.mu.Lock()
	g.session.Store(s)
	ended := g.ended
	g.mu.Unlock()
	if old != nil {
		old.Close(wire.Errorf(wire.CodeReplaced, "the session went on over another connection"))
	}
	s.resumes.Add(1)
	m.opts.Observer.Resumed(l.Info().Transport, gap)
	m.journal.resumed(s, l, gap)
	if ended {
		s.detach(l)
	}
	return nil
}

// take exchanges the session's link and returns the old one, by then a stranger.
func (s *Session) take(l *link.Link, r *wire.ResumeRequest, version int) (old *link.Link, gap bool, e *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.advanceSecret(r.Secret) {
		return nil, false, expired()
	}
	old, s.link = s.link, l
	s.live.Store(nil)
	s.proven, s.version = false, version
	cursor, ok := s.ring.Rewind(r.Received)
	gap = s.gap.Load() || !ok
	if gap {
		s.ring.Clear()
		s.counter.Reset()
		s.gap.Store(false)
		cursor = 1
	}
	s.counter.Acked()
	w := s.welcome()
	w.Resumed, w.Gap = true, gap
	l.Send(wire.JSONFrame(wire.KindWelcome, w))
	l.Attach(s.ring, cursor)
	s.live.Store(l)
	presence := authority.Back
	if gap {
		presence = authority.BackWithGap
	}
	s.seat.Presence(presence)
	return old, gap, nil
}

// advanceSecret checks the presented secret and has a next one ready. The caller
// holds s.mu.
func (s *Session) advanceSecret(presented string) bool {
	switch presented {
	case s.secrets.current:
	case s.secrets.next: // its welcome did arrive
		s.retire(s.secrets.current)
		s.secrets.current, s.secrets.next = s.secrets.next, ""
	default: // spent between the look-up and now
		return false
	}
	if s.secrets.next == "" {
		s.secrets.next = randomText(32)
		m := s.mgr
		m.mu.Lock()
		m.secrets[hashSecret(s.secrets.next)] = s
		m.mu.Unlock()
	}
	return true
}

// settleSecret retires the presented secret: the client has shown that it got
// the welcome which carried the next. The caller holds s.mu.
func (s *Session) settleSecret() {
	if s.secrets.next == "" {
		return
	}
	s.retire(s.secrets.current)
	s.secrets.current, s.secrets.next = s.secrets.next, ""
}

func (s *Session) retire(secret string) {
	s.mgr.mu.Lock()
	delete(s.mgr.secrets, hashSecret(secret))
	s.mgr.mu.Unlock()
}

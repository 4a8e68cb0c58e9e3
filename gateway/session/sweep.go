package session

import (
	"encoding/binary"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Bounds of the sweeper's period.
const (
	maxSweep = 100 * time.Millisecond // acknowledgements are due within 250 ms
	minSweep = 5 * time.Millisecond
)

// sweep does everything that is a matter of time, for all links and sessions:
// one goroutine and one timer in place of four per session.
func (m *Manager) sweep() {
	o := &m.opts
	period := min(o.PingInterval, o.PingTimeout, o.JoinTimeout, maxSweep)
	if o.ResumeGrace > 0 {
		period = min(period, o.ResumeGrace)
	}
	period = max(period/2, minSweep)
	tick := time.NewTicker(period)
	defer tick.Stop()
	last := time.Now()
	var pardon time.Time // no link is given up for its silence until then
	for {
		select {
		case <-m.base.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		// If this process itself was paused, the silence was ours.
		if now.Sub(last) > 10*period+time.Second {
			pardon = now.Add(o.PingTimeout)
		}
		last = now
		m.sweepGuests(now)
		for _, s := range m.all() {
			s.attend(now, now.Before(pardon))
		}
	}
}

func (m *Manager) sweepGuests(now time.Time) {
	var late []*link.Link
	m.mu.Lock()
	for l, g := range m.guests {
		if now.Sub(g.since) > m.opts.JoinTimeout {
			late = append(late, l)
			delete(m.guests, l)
		}
	}
	m.mu.Unlock()
	for _, l := range late {
		l.Close(m.refuse(l, wire.Errorf(wire.CodeJoinTimeout, "no hello within %v", m.opts.JoinTimeout)))
	}
}

// attend looks after one session: expiry while away; silence, pings and
// acknowledgements while it has a link. Links of the JSON dialect are probed by
// their transport.
func (s *Session) attend(now time.Time, pardoned bool) {
	o := &s.mgr.opts
	s.mu.Lock()
	l := s.link
	switch {
	case s.closed:
	case l == nil:
		if now.Sub(s.awaySince) > o.ResumeGrace {
			s.mu.Unlock()
			s.end(wire.Errorf(wire.CodeSessionExpired, "away for longer than %v", o.ResumeGrace), true)
			return
		}
	case !s.json && !pardoned && now.Sub(l.LastHeard()) > o.PingTimeout:
		s.mu.Unlock()
		s.detach(l)
		o.Observer.GivenUp(wire.CodeTimeout)
		l.Close(wire.Errorf(wire.CodeTimeout, "nothing was heard for %v", o.PingTimeout))
		return
	default:
		if s.counter.Owing() && s.acks {
			s.sendAck(l)
		}
		if !s.json && now.Sub(s.pinged) >= o.PingInterval {
			s.pinged = now
			var body [8]byte
			binary.LittleEndian.PutUint64(body[:], uint64(now.Sub(s.created)))
			l.Send(wire.CopyFrame(wire.KindPing, body[:]))
		}
	}
	s.mu.Unlock()
}

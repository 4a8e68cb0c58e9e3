package session

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// receive takes one link message. It holds the session's mutex throughout, so
// that a link which was replaced meanwhile delivers nothing more, and what the
// old and the new link bring reaches the room in order.
func (s *Session) receive(l *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	s.mu.Lock()
	if s.link != l {
		s.mu.Unlock()
		return wire.Errorf(wire.CodeReplaced, "the session went on over another connection")
	}
	e := s.split(l, lane, msg)
	s.mu.Unlock()
	if e == nil {
		return nil
	}
	switch {
	case e == errClientClosed:
		s.detach(l)
		return e
	case e.Code == wire.CodeLeft:
	default:
		s.mgr.opts.Observer.Invalid(e.Code)
	}
	if !e.Code.Retry() {
		s.end(e, true)
	}
	return e
}

// errClientClosed ends a link that the client closed; the session is away.
var errClientClosed = wire.Errorf(wire.CodeGoingAway, "closed by the client")

// split takes a message apart, answers link control and delivers the rest. The
// caller holds s.mu.
func (s *Session) split(l *link.Link, lane wire.Lane, msg []byte) (e *wire.Error) {
	if !s.proven {
		s.proven = true
		s.settleSecret()
	}
	defer func() {
		if len(s.batch) > 0 && !s.seat.Deliver(s.batch...) && e == nil {
			e = wire.Errorf(wire.CodeRateLimited, "too many messages wait in the room")
		}
		clear(s.batch)
		s.batch = s.batch[:0]
	}()
	for len(msg) > 0 {
		k, body, rest, err := wire.NextFrame(msg)
		if err != nil {
			return decodeError(err)
		}
		msg = rest
		if !l.Info().OneStream && k.Lane() != lane {
			return wire.Errorf(wire.CodeProtocol, "%s on the %s lane", k, lane)
		}
		if allowed, over := s.bucket.take(time.Now()); !allowed {
			s.mgr.opts.Observer.Limited(k)
			if over || k.Lane() == wire.Reliable {
				return wire.Errorf(wire.CodeRateLimited, "more than %d messages a second", s.mgr.opts.MessagesPerSecond)
			}
			continue
		}
		if s.counter.Count(k, len(body)) {
			s.sendAck(l)
		}
		if k.Control() {
			if e := s.control(l, k, body); e != nil {
				return e
			}
			continue
		}
		if k == wire.KindLeave {
			return wire.Errorf(wire.CodeLeft, "bye")
		}
		if fromClient(k) {
			s.batch = append(s.batch, wire.CopyFrame(k, body))
		}
	}
	return nil
}

// fromClient lists what a seat may be given. Other known kinds only go the
// other way, and unknown ones are skipped.
func fromClient(k wire.Kind) bool {
	switch k {
	case wire.KindRequest, wire.KindRelay, wire.KindResync, wire.KindInput, wire.KindRelayFast:
		return true
	}
	return false
}

// control answers link control. The caller holds s.mu.
func (s *Session) control(l *link.Link, k wire.Kind, body []byte) *wire.Error {
	switch k {
	case wire.KindAck:
		received, err := wire.ParseAck(body)
		if err != nil {
			return decodeError(err)
		}
		if err := s.ring.Ack(received); err != nil && !s.gap.Load() {
			return wire.Errorf(wire.CodeProtocol, "ack: %d frames received, fewer were sent", received)
		}
	case wire.KindPing:
		if len(body) > 8 {
			return wire.Errorf(wire.CodeProtocol, "ping: %d bytes, the limit is 8", len(body))
		}
		l.Send(wire.CopyFrame(wire.KindPong, body))
	case wire.KindPong:
		if len(body) == 8 {
			sent := time.Duration(binary.LittleEndian.Uint64(body))
			if d := time.Since(s.created) - sent; d >= 0 && d < s.mgr.opts.PingTimeout {
				s.rtt.Store(int64(d))
			}
		}
	case wire.KindClose:
		return errClientClosed
	case wire.KindHello, wire.KindWelcome:
		return wire.Errorf(wire.CodeProtocol, "%s inside a session", k)
	}
	return nil
}

func (s *Session) sendAck(l *link.Link) {
	f := wire.NewFrame(wire.KindAck, 10)
	f.Append(func(dst []byte) []byte { return wire.AppendAck(dst, s.counter.Acked()) })
	l.Send(f)
}

func decodeError(err error) *wire.Error {
	if errors.Is(err, wire.ErrTooBig) {
		return wire.Errorf(wire.CodeTooBig, "%v", err)
	}
	return wire.Errorf(wire.CodeProtocol, "%v", err)
}

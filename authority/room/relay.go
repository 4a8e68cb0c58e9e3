package room

import (
	"errors"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/wire"
)

// relay is the behaviour of rooms that forward and do not simulate.
type relay struct{ r *Room }

func (relay) joined(*seat)                       {}
func (relay) presence(*seat, authority.Presence) {}
func (relay) left(*seat)                         {}
func (relay) tick()                              {}

// deliver forwards a message to one, some or all other members. The sender's id
// takes the place of the addressees in the very same bytes.
func (b relay) deliver(s *seat, f *wire.Frame) {
	switch f.Kind {
	case wire.KindRelay, wire.KindRelayFast:
		b.forward(s, f)
	case wire.KindRequest:
		b.refuse(s, f)
	default: // inputs and resyncs mean nothing here
		b.r.obs.Ignored(f.Kind)
		f.Release()
	}
}

func (b relay) forward(s *seat, f *wire.Frame) {
	lane := f.Lane()
	m, err := wire.ParseRelay(lane, f.Body())
	if err != nil {
		f.Release()
		b.r.expel(s, protocolError(err))
		return
	}
	// The targets are read before the body is readdressed in place.
	var targets [wire.MaxRelayTargets]*seat
	n := 0
	m.Each(func(id uint32) {
		if to := b.r.byID(id); to != nil && to != s {
			targets[n] = to
			n++
		}
	})
	all := m.All()
	var prefix [8]byte
	if lane == wire.Unreliable {
		s.stamp++
		f.Kind, f.Key = wire.KindRelayedFast, s.id
	} else {
		f.Kind = wire.KindRelayed
	}
	f.Readdress(len(f.Body())-len(m.Payload), wire.AppendRelayedPrefix(prefix[:0], lane, s.id, s.stamp))
	if all {
		b.toOthers(s, f)
		return
	}
	for _, to := range targets[:n] {
		if to.away && lane == wire.Unreliable || to.gone.Load() {
			continue
		}
		f.Retain(1)
		to.send(f)
	}
	f.Release()
}

func (b relay) toOthers(s *seat, f *wire.Frame) {
	if f.Lane() == wire.Reliable {
		b.r.broadcast(f, s)
		return
	}
	for _, to := range b.r.seats {
		if to != s && !to.away {
			f.Retain(1)
			to.send(f)
		}
	}
	f.Release()
}

func (b relay) refuse(s *seat, f *wire.Frame) {
	defer f.Release()
	q, err := parseRequest(f)
	if err != nil {
		b.r.expel(s, protocolError(err))
		return
	}
	s.send(responseFrame(wire.Response{ID: q.ID, Code: wire.CodeUnknownRequest}))
}

// protocolError is what a member that sent malformed bytes is closed with.
func protocolError(err error) *wire.Error {
	if errors.Is(err, wire.ErrTooBig) {
		return wire.Errorf(wire.CodeTooBig, "%v", err)
	}
	return wire.Errorf(wire.CodeProtocol, "%v", err)
}

func responseFrame(r wire.Response) *wire.Frame {
	f := wire.NewFrame(wire.KindResponse, len(r.Payload)+10)
	f.Append(func(dst []byte) []byte { return wire.AppendResponse(dst, r) })
	return f
}

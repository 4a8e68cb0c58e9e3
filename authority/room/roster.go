package room

import (
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/wire"
)

// admit seats a session. Of two equal identities the newcomer wins: the other is
// closed with a terminal code before, so that no roster ever shows both.
func (r *Room) admit(j authority.Join) (*seat, authority.Admission, *wire.Error) {
	if r.closing != nil {
		return nil, authority.Admission{}, wire.Errorf(wire.CodeRoomClosed, "room %s is closing", r.spec.Name)
	}
	if twin := r.find(j.Identity); twin != nil {
		r.expel(twin, wire.Errorf(wire.CodeDuplicate, "identity joined from elsewhere"))
	}
	if len(r.seats) >= r.cap {
		return nil, authority.Admission{}, wire.Errorf(wire.CodeRoomFull, "room %s has %d members, its cap", r.spec.Name, r.cap)
	}
	r.nextID++
	s := &seat{room: r, id: r.nextID, join: j}
	r.announce(wire.PeerNotice{Event: wire.PeerJoined, ID: s.id, Name: j.Name, Profile: j.Profile}, nil)
	r.seats = append(r.seats, s)
	r.obs.Members(r.spec.Kind, 1)
	r.behave.joined(s)
	return s, r.admission(s), nil
}

func (r *Room) admission(s *seat) authority.Admission {
	a := authority.Admission{
		Room: wire.RoomInfo{Name: r.spec.Name, Instance: r.instance, Kind: r.spec.Kind, Game: r.spec.Game},
		You:  s.id, TickRate: r.spec.TickRate,
	}
	var rest []wire.Peer
	a.Peers, rest = r.peers()
	s.introduce(rest)
	if r.sim != nil {
		a.Tick, a.Schema, a.Room.Config = r.sim.now, r.sim.schema, r.sim.world.ClientConfig()
	}
	return a
}

func (r *Room) find(identity string) *seat {
	for _, s := range r.seats {
		if s.join.Identity == identity {
			return s
		}
	}
	return nil
}

// byID returns a member, or nil. Seats are in order of their ids.
func (r *Room) byID(id uint32) *seat {
	i, ok := slices.BinarySearchFunc(r.seats, id, func(s *seat, id uint32) int { return int(s.id) - int(id) })
	if !ok {
		return nil
	}
	return r.seats[i]
}

// presence notes that a session's link has gone, or that it is back.
func (r *Room) presence(s *seat, p authority.Presence) {
	if s.gone.Load() || r.closing != nil {
		return
	}
	away := p == authority.Away
	if away != s.away {
		s.away = away
		event := wire.PeerBack
		if away {
			event = wire.PeerAway
		}
		r.announce(wire.PeerNotice{Event: event, ID: s.id}, s)
	}
	if p == authority.BackWithGap {
		first, rest := r.peers()
		s.send(wire.JSONFrame(wire.KindPeer, wire.PeerNotice{Event: wire.PeerRoster, Peers: first}))
		s.introduce(rest)
	}
	r.behave.presence(s, p)
}

// rosterBytes bounds the part of a roster that one frame carries.
const rosterBytes = 32 << 10

// peers returns the roster: what fits a frame, and the rest.
func (r *Room) peers() (first, rest []wire.Peer) {
	const fields = 64 // of JSON around an id
	peers := make([]wire.Peer, 0, len(r.seats))
	bytes, fit := 0, 0
	for _, s := range r.seats {
		peers = append(peers, wire.Peer{ID: s.id, Name: s.join.Name, Away: s.away, Profile: s.join.Profile})
		// A name may grow sixfold by JSON's escapes.
		if bytes += fields + 6*len(s.join.Name) + len(s.join.Profile); bytes <= rosterBytes {
			fit = len(peers)
		}
	}
	return peers[:fit], peers[fit:]
}

// introduce tells a member of others that were there before it.
func (s *seat) introduce(peers []wire.Peer) {
	for _, p := range peers {
		s.send(wire.JSONFrame(wire.KindPeer, wire.PeerNotice{Event: wire.PeerJoined, ID: p.ID, Name: p.Name, Profile: p.Profile}))
		if p.Away {
			s.send(wire.JSONFrame(wire.KindPeer, wire.PeerNotice{Event: wire.PeerAway, ID: p.ID}))
		}
	}
}

// leave takes a member off the roster; its session already knows.
func (r *Room) leave(s *seat, reason wire.Code) {
	if s.gone.Swap(true) {
		return
	}
	i := slices.Index(r.seats, s)
	r.seats = slices.Delete(r.seats, i, i+1)
	s.drop()
	r.obs.Members(r.spec.Kind, -1)
	if len(r.seats) == 0 {
		r.vacant = time.Now()
	}
	if r.closing != nil {
		return
	}
	r.announce(wire.PeerNotice{Event: wire.PeerLeft, ID: s.id, Reason: reason.Name()}, nil)
	r.behave.left(s)
}

// expel ends a member's session from the room's side. What was already queued
// for it still goes out, before the close.
func (r *Room) expel(s *seat, e *wire.Error) {
	if s.gone.Load() {
		return
	}
	s.flush()
	r.leave(s, e.Code)
	s.join.Outbox.Close(e)
}

// announce tells all members but one of a member.
func (r *Room) announce(n wire.PeerNotice, except *seat) {
	if len(r.seats) == 0 {
		return
	}
	r.broadcast(wire.JSONFrame(wire.KindPeer, n), except)
}

// broadcast queues a frame for all but one and takes over the reference.
func (r *Room) broadcast(f *wire.Frame, except *seat) {
	for _, s := range r.seats {
		if s != except {
			f.Retain(1)
			s.send(f)
		}
	}
	f.Release()
}

package replica

import (
	"errors"
	"testing"
)

func TestAckIsBelievedOnlyIfItCanBeTrue(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s) // tick 1
	for range 70 {
		s.Commit(s.Tick() + 2) // odd ticks
		p.apply(p.delta())
	}
	newest := s.Tick()
	s.Commit(newest + 2)
	for _, c := range []struct {
		name string
		tick uint32
		want error
	}{
		{"nothing", 0, nil},
		{"never sent", newest - 1, ErrAckNeverSent},
		{"not sent yet", newest + 2, ErrAckFuture},
		{"far future", 1<<32 - 1, ErrAckFuture},
		{"before the window", newest - 2*window, ErrAckTooOld},
		{"first of all", 1, ErrAckTooOld},
		{"oldest in the window", newest - 2*(window-1), nil},
		{"newest", newest, nil},
		{"newest again", newest, nil},
		{"older after newer", newest - 2, nil},
	} {
		before := p.peer.applied
		err := p.peer.Ack(c.tick, 1<<63)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err != nil && p.peer.applied != before {
			t.Errorf("%s: believed", c.name)
		}
	}
	s.Set(id, 0, 1)
	p.send()
	p.same()
}

func TestAckBeforeAnythingWasSent(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	s.Commit(5)
	p := NewPeer(s)
	if err := p.Ack(3, ^uint64(0)); !errors.Is(err, ErrAckFuture) {
		t.Errorf("got %v", err)
	}
	var bogus AckError
	if err := p.Ack(3, 0); !errors.As(err, &bogus) || bogus.Reason() != "ack_future" {
		t.Errorf("got %v", err)
	}
}

// The mask alone tells of a snapshot whose own acknowledgement was lost.
func TestMaskAcknowledgesEarlierSnapshots(t *testing.T) {
	t.Parallel()
	for _, back := range []uint32{1, 2, 63, 64} {
		s := NewStore(testSchema())
		id := s.Spawn(0)
		p := joined(t, s)
		s.Set(id, 0, 1)
		p.send()
		carried := s.Tick()
		s.Commit(carried + back)
		p.peer.picks.all = nil
		p.peer.dirty.unset(id) // so that only the first carries it
		p.apply(p.delta())
		p.ack()
		if p.peer.base[id] != carried {
			t.Errorf("%d ticks back: baseline %d, want %d", back, p.peer.base[id], carried)
		}
	}
}

func TestMissedSnapshotsAreNoBaseline(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Set(id, 0, 1)
	p.lose()
	p.send()
	base := p.peer.base[id]
	p.ack()
	if p.peer.base[id] != s.Tick() {
		t.Errorf("baseline %d, want %d", p.peer.base[id], s.Tick())
	}
	if base == p.peer.base[id] {
		t.Error("nothing was acknowledged")
	}
	// A late acknowledgement can not bring the lost one back.
	if err := p.peer.Ack(s.Tick()-1, 0); err != nil {
		t.Fatal(err)
	}
	if p.peer.applied != s.Tick() || p.peer.base[id] != s.Tick() {
		t.Error("an older acknowledgement moved a baseline")
	}
}

func TestInputIsToldUntilItIsKnownToBeKnown(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := joined(t, s)
	tell := func(seq uint16) Applied {
		p.tick()
		body, _ := p.peer.Delta(nil, Meta{HasInput: true, InputSeq: seq}, 100)
		return p.apply(body)
	}
	for _, c := range []struct {
		seq  uint16
		ack  bool
		told bool
	}{{65535, false, true}, {65535, true, true}, {65535, true, false}, {0, false, true}, {0, true, true}, {0, false, false}} {
		a := tell(c.seq)
		if a.HasInput != c.told || c.told && a.InputSeq != c.seq {
			t.Errorf("input %d: told %+v, want %v", c.seq, a.Meta, c.told)
		}
		if c.ack {
			p.ack()
		}
	}
}

package replica

import (
	"errors"
	"slices"
	"testing"
)

func TestNoDeltaBeforeTheFullSnapshotIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := newPair(t, s)
	s.Commit(1)
	none := func(when string) {
		t.Helper()
		s.Commit(s.Tick() + 1)
		if body, stats := p.peer.Delta([]byte("x"), Meta{}, 1000); stats != (DeltaStats{}) || string(body) != "x" {
			t.Errorf("%s: %d bytes, %+v", when, len(body)-1, stats)
		}
	}
	none("before it was sent")
	p.full()
	none("before it was acknowledged")
	p.ack()
	p.send()
	p.peer.Resync()
	none("after a resync")
	if !p.peer.NeedsFull() || p.peer.stage == following {
		t.Error("needs no full snapshot")
	}
	p.full()
	if p.peer.NeedsFull() || p.peer.stage == following {
		t.Error("needs one again")
	}
	p.ack()
	p.send()
	p.same()
}

func TestResyncReplacesAFullSnapshotOnItsWay(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := newPair(t, s)
	s.Commit(1)
	p.full()
	tick, mask := p.view.Ack()
	p.peer.Resync()
	if err := p.peer.Ack(tick, mask); err != nil {
		t.Fatal(err)
	}
	if !p.peer.NeedsFull() {
		t.Fatal("the acknowledgement of the first ended the second")
	}
	s.Set(id, 0, 5)
	s.Commit(2)
	p.full()
	if err := p.peer.Ack(tick, mask); err != nil {
		t.Fatal(err)
	}
	if p.peer.stage == following {
		t.Fatal("the acknowledgement of the first was taken for the second's")
	}
	p.ack()
	p.send()
	p.same()
	if p.stats.Entities != 0 {
		t.Errorf("sent again what the full snapshot had: %+v", p.stats)
	}
}

// An acknowledgement names a tick: it must not be able to mean two snapshots.
func TestATickIsSentOnce(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := joined(t, s)
	p.send()
	if _, stats := p.peer.Delta(nil, Meta{}, 100); stats.Bytes != 0 {
		t.Error("two deltas")
	}
	p.peer.Resync()
	if p.peer.Full(Meta{}, MaxChunkBytes, func([]byte) {}) != 0 || !p.peer.NeedsFull() {
		t.Error("a full snapshot after a delta")
	}
	p.tick()
	p.full()
}

func TestResyncForgetsWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id, other := s.Spawn(0), s.Spawn(0)
	p := joined(t, s)
	s.Despawn(id, 1)
	s.Set(other, 0, 3)
	p.lose()
	p.peer.Resync()
	p.tick()
	a := p.full()
	if len(a.Despawned) != 1 || !slices.Equal(a.Changed, []ID{other}) {
		t.Errorf("applied %+v", a)
	}
	p.ack()
	p.send()
	if p.stats.Despawns+p.stats.Entities != 0 {
		t.Errorf("repeated what the full snapshot had settled: %+v", p.stats)
	}
	p.same()
}

func TestViewAsksForAResync(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Set(id, 0, 1)
	p.tick()
	built := p.delta()
	p.lose()
	// The server thinks that the client has what it lost.
	if err := p.peer.Ack(s.Tick(), 0); err != nil {
		t.Fatal(err)
	}
	s.Set(id, 0, 2)
	p.tick()
	if _, err := p.view.Apply(p.delta()); !errors.Is(err, ErrResync) {
		t.Errorf("baseline never applied: got %v", err)
	}
	fresh := NewView(s.Schema())
	if _, err := fresh.Apply(built); !errors.Is(err, ErrResync) {
		t.Errorf("nothing held: got %v", err)
	}
	if _, err := fresh.Apply(withoutBaseline(t, built)); !errors.Is(err, ErrResync) {
		t.Errorf("delta record of an unknown entity: got %v", err)
	}
	if tick, _ := p.view.Ack(); tick != 1 || fresh.Tick() != 0 {
		t.Error("a refused snapshot moved the acknowledgement")
	}
	p.peer.Resync()
	p.tick()
	p.full()
	p.same()
}

// With no acknowledgement getting through, the baseline becomes older than any
// mask; the deltas stay right.
func TestAnOldBaselineServesOn(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	for i := range int32(300) {
		s.Set(id, 0, i)
		p.send()
		p.same()
	}
	p.ack()
	p.send()
	p.same()
	if p.stats.Entities != 0 {
		t.Errorf("still repeated: %+v", p.stats)
	}
}

// What the client held before is no concern of its next owner.
func TestResyncForgetsTheDead(t *testing.T) {
	t.Parallel()
	s := haste()
	id := s.Spawn(0)
	p := joined(t, s)
	s.Despawn(id, 1)
	p.peer.Resync()
	p.tick()
	p.full()
	p.ack()
	s.Spawn(0)
	p.send()
	p.same()
	if p.stats.Full != 1 || p.stats.Despawns != 0 {
		t.Errorf("stats %+v", p.stats)
	}
}

func TestBaselinesThatTheViewCanJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		back   uint32
		missed bool
		want   error
	}{{1, true, ErrResync}, {63, true, ErrResync}, {64, true, ErrResync}, {64, false, nil}, {65, true, nil}} {
		s := NewStore(testSchema())
		p := joined(t, s)
		p.tick()
		base := p.delta()
		if !c.missed {
			p.apply(base)
		}
		s.Commit(2 + c.back)
		p.apply(p.delta())
		p.peer.applied = 2 // as the server believes
		p.tick()
		if _, err := p.view.Apply(p.delta()); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func TestABaselineBeforeTheFullSnapshotIsNone(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := joined(t, s)
	p.peer.Resync()
	s.Commit(100)
	p.full()
	p.ack()
	p.peer.applied = 1
	p.tick()
	if _, err := p.view.Apply(p.delta()); !errors.Is(err, ErrResync) {
		t.Errorf("got %v", err)
	}
}

package replica

import (
	"slices"
	"testing"
)

func TestSpawnArrivesWhole(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := joined(t, s)
	id := s.Spawn(0)
	s.Set(id, 3, -7)
	mark := s.Spawn(2) // no fields at all
	a := p.send()
	p.same()
	if !slices.Equal(a.Spawned, []ID{id, mark}) || len(a.Changed) != 0 || p.stats.Full != 2 {
		t.Errorf("applied %+v, stats %+v", a, p.stats)
	}
	if p.view.Get(id, 3) != -7 || p.view.Type(mark) != 2 || p.view.Generation(mark) != s.Generation(mark) {
		t.Error("not as it was spawned")
	}
}

func TestSpawnIsRepeatedUntilAcknowledged(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := joined(t, s)
	id := s.Spawn(0)
	p.lose()
	if a := p.send(); len(a.Spawned) != 1 {
		t.Fatalf("applied %+v", a)
	}
	s.Set(id, 0, 9)
	if a := p.send(); len(a.Spawned) != 0 || !slices.Equal(a.Changed, []ID{id}) || p.stats.Full != 1 {
		t.Errorf("a repeated spawn: applied %+v, stats %+v", a, p.stats)
	}
	p.same()
	if a := p.send(); len(a.Spawned)+len(a.Changed) != 0 || p.stats.Full != 1 {
		t.Errorf("a repeated spawn that changes nothing: applied %+v, stats %+v", a, p.stats)
	}
	p.ack()
	p.send()
	if p.stats.Entities != 0 {
		t.Errorf("repeated after its acknowledgement: %+v", p.stats)
	}
}

func TestSpawnAndDespawnBetweenTwoCommitsIsNeverSeen(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := joined(t, s)
	s.Despawn(s.Spawn(0), 1)
	a := p.send()
	p.same()
	if len(a.Spawned)+len(a.Despawned) != 0 || p.stats.Entities+p.stats.Despawns != 0 {
		t.Errorf("applied %+v, stats %+v", a, p.stats)
	}
}

package replica

import (
	"slices"
	"testing"
)

func TestChangeCarriesOnlyChangedFields(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Set(id, 2, 77)
	a := p.send()
	p.same()
	// 2 flags and ticks, 5+5 counts, 5 id, 1+5 record, 8 yaw: 29 bits.
	if p.stats != (DeltaStats{Bytes: 3 + 4, Entities: 1}) {
		t.Errorf("stats %+v", p.stats)
	}
	if !slices.Equal(a.Changed, []ID{id}) || len(a.Spawned)+len(a.Despawned) != 0 {
		t.Errorf("applied %+v", a)
	}
}

func TestUnchangedEntitiesCostNothing(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	for range 1000 {
		s.Spawn(0)
	}
	p := joined(t, s)
	p.send()
	if p.stats.Bytes > 8 || p.stats.Entities != 0 {
		t.Errorf("idle snapshot %+v", p.stats)
	}
	s.Set(5, 0, s.Get(5, 0))
	p.send()
	if p.stats.Entities != 0 {
		t.Errorf("a field set to what it was: %+v", p.stats)
	}
}

func TestChangeIsRepeatedUntilAcknowledged(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Set(id, 0, 1000)
	p.lose()
	s.Set(id, 1, 2000)
	p.lose()
	p.send()
	p.same()
	if p.stats.Entities != 1 {
		t.Errorf("not repeated: %+v", p.stats)
	}
	p.ack()
	p.send()
	if p.stats.Entities != 0 {
		t.Errorf("repeated after its acknowledgement: %+v", p.stats)
	}
}

// The second snapshot is built on the first being lost; the client has it.
func TestChangeIsRightOnAnyNewerState(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Set(id, 0, 1)
	p.send()
	s.Set(id, 0, 0)
	s.Set(id, 1, 5)
	p.send()
	p.same()
	p.ack()
	s.Set(id, 0, 1)
	p.send()
	p.same()
}

func TestStaleSnapshotsChangeNothing(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Set(id, 0, 1)
	p.tick()
	old := p.delta()
	s.Set(id, 0, 2)
	p.send()
	if a := p.apply(old); !a.Stale || len(a.Changed) != 0 {
		t.Errorf("applied %+v", a)
	}
	p.same()
	tick, mask := p.view.Ack()
	if tick != 3 || mask != 1<<1 {
		t.Errorf("acknowledges %d with mask %b", tick, mask)
	}
}

package replica

import (
	"slices"
	"testing"
)

func TestDespawnTellsItsReason(t *testing.T) {
	t.Parallel()
	for set, want := range map[uint8]uint8{0: 0, 7: 7, 15: 15, 16: 15, 255: 15} {
		s := NewStore(testSchema())
		id := s.Spawn(1)
		p := joined(t, s)
		gone := Despawned{ID: id, Generation: s.Generation(id), Type: 1, Reason: want}
		s.Despawn(id, set)
		if a := p.send(); !slices.Equal(a.Despawned, []Despawned{gone}) {
			t.Errorf("reason %d: applied %+v", set, a)
		}
		p.same()
	}
}

func TestDespawnIsRepeatedUntilAcknowledged(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Despawn(id, 1)
	p.lose()
	if a := p.send(); len(a.Despawned) != 1 {
		t.Fatalf("applied %+v", a)
	}
	if a := p.send(); len(a.Despawned) != 0 || p.stats.Despawns != 1 {
		t.Errorf("a repeated despawn: applied %+v, stats %+v", a, p.stats)
	}
	p.ack()
	p.send()
	if p.stats.Despawns != 0 {
		t.Errorf("repeated after its acknowledgement: %+v", p.stats)
	}
}

// The server can not know whether the spawn arrived.
func TestDespawnFollowsASpawnThatWasNeverAcknowledged(t *testing.T) {
	t.Parallel()
	for _, arrives := range []bool{true, false} {
		s := NewStore(testSchema())
		p := joined(t, s)
		id := s.Spawn(0)
		if arrives {
			p.send()
		} else {
			p.lose()
		}
		s.Despawn(id, 3)
		if a := p.send(); (len(a.Despawned) == 1) != arrives || p.stats.Despawns != 1 {
			t.Errorf("spawn arrived %v: applied %+v, stats %+v", arrives, a, p.stats)
		}
		p.same()
	}
}

func TestLateAcknowledgementOfASpawnDoesNotUndoADespawn(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := joined(t, s)
	id := s.Spawn(0)
	p.send()
	tick, mask := p.view.Ack()
	s.Despawn(id, 3)
	p.lose()
	if err := p.peer.Ack(tick, mask); err != nil {
		t.Fatal(err)
	}
	p.send()
	p.same()
}

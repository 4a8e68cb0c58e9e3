package replica

import (
	"slices"
	"testing"
)

// haste returns a store that uses ids again at once: harder than it ever gets.
func haste() *Store {
	s := NewStore(testSchema())
	s.rest = 0
	return s
}

func TestReusedIDIsAnotherEntity(t *testing.T) {
	t.Parallel()
	s := haste()
	old := s.Spawn(0)
	p := joined(t, s)
	gone := Despawned{ID: old, Generation: s.Generation(old), Type: 0, Reason: 4}
	s.Despawn(old, 4)
	s.Commit(s.Tick() + 1)
	if id := s.Spawn(1); id != old {
		t.Fatalf("got id %d, want %d again", id, old)
	}
	a := p.send()
	if !slices.Equal(a.Despawned, []Despawned{{ID: old, Generation: gone.Generation}}) || p.stats.Deferred != 1 {
		t.Errorf("applied %+v, stats %+v", a, p.stats)
	}
	p.ack() // until then the new owner waits
	if a := p.send(); !slices.Equal(a.Spawned, []ID{old}) {
		t.Errorf("applied %+v", a)
	}
	p.same()
}

func TestReasonSurvivesTheReuseOfTheID(t *testing.T) {
	t.Parallel()
	s := haste()
	id := s.Spawn(0)
	p := joined(t, s)
	s.Despawn(id, 4)
	p.lose()
	s.Spawn(1)
	if a := p.send(); len(a.Despawned) != 1 || a.Despawned[0].Reason != 4 {
		t.Errorf("applied %+v", a)
	}
}

// The despawn of one owner is acknowledged twice, the second time when the id
// has been through another: that one's despawn must go on.
func TestLateAcknowledgementOfADespawnIsForItsOwnGeneration(t *testing.T) {
	t.Parallel()
	s := haste()
	id := s.Spawn(0)
	p := joined(t, s)
	s.Despawn(id, 1)
	p.send()
	first, firstMask := p.view.Ack()
	p.send() // carries the despawn again
	second, secondMask := p.view.Ack()
	if err := p.peer.Ack(first, firstMask); err != nil {
		t.Fatal(err)
	}
	s.Spawn(0)
	p.send()
	s.Despawn(id, 2)
	p.lose()
	if err := p.peer.Ack(second, secondMask); err != nil {
		t.Fatal(err)
	}
	p.send()
	p.same()
}

// A full record with another generation replaces, even where no despawn came:
// docs/protocol.md leaves that to other servers.
func TestViewReplacesAnEntityOfAnotherGeneration(t *testing.T) {
	t.Parallel()
	s := haste()
	id := s.Spawn(0)
	p := joined(t, s)
	held := s.Generation(id)
	s.Despawn(id, 1)
	s.Commit(s.Tick() + 1)
	s.Spawn(1)
	s.Commit(s.Tick() + 1)
	other := joined(t, s) // whose peer never knew the old one
	s.Set(id, 0, 1)
	s.Despawn(id, 1)
	s.Commit(s.Tick() + 1)
	s.Spawn(1)
	other.ack()
	other.peer.state[id] = absent // as if the despawn were acknowledged
	s.Commit(s.Tick() + 1)
	a := p.apply(withoutBaseline(t, other.delta()))
	if !slices.Equal(a.Spawned, []ID{id}) || len(a.Despawned) != 1 || a.Despawned[0].Generation != held {
		t.Errorf("applied %+v", a)
	}
}

// withoutBaseline takes the baseline out of a delta with one-byte ticks.
func withoutBaseline(t *testing.T, body []byte) []byte {
	t.Helper()
	body[2] = 0
	return body
}

// 256 owners later an id comes back with the generation that the client holds.
func TestGenerationsThatWrapAreNotConfused(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	held := s.Generation(id)
	for ok := true; ok; ok = s.Generation(id) != held {
		s.Despawn(id, 1)
		s.Commit(s.Tick() + 1)
		s.Commit(s.Tick() + rest)
		if again := s.Spawn(0); again != id {
			t.Fatalf("got id %d, want %d again", again, id)
		}
	}
	s.Set(id, 0, 5)
	p.tick()
	if !p.peer.NeedsFull() {
		t.Error("the peer takes the new owner for the old one")
	}
}

func TestDespawnThatIsNeverAcknowledgedEndsInAFullSnapshot(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	p := joined(t, s)
	s.Despawn(id, 1)
	for range maxAbsence {
		p.tick()
		if _, stats := p.peer.Delta(nil, Meta{}, 1000); stats.Despawns != 1 {
			t.Fatalf("tick %d: %+v", s.Tick(), stats)
		}
	}
	p.tick()
	if _, stats := p.peer.Delta(nil, Meta{}, 1000); stats.Bytes != 0 || !p.peer.NeedsFull() {
		t.Errorf("still served by deltas: %+v", stats)
	}
}

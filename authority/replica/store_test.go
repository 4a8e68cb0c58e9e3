package replica

import (
	"encoding/json"
	"slices"
	"testing"
)

func testSchema() *Schema {
	return MustSchema(
		Type{Name: "player", Fields: []Field{
			{Name: "x", Min: 0, Max: 102400, Unit: 0.01},
			{Name: "y", Min: 0, Max: 102400, Unit: 0.01},
			{Name: "yaw", Max: 255},
			{Name: "health", Min: -10, Max: 100},
			{Name: "speed", Min: -30, Max: 30, Step: 7},
		}},
		Type{Name: "door", Fields: []Field{{Name: "open", Max: 1}}},
		Type{Name: "mark"},
		Type{Name: "shard", Fields: []Field{{Name: "all", Min: -1 << 31, Max: 1<<31 - 1}, {Name: "five", Min: 5, Max: 9}}},
	)
}

func TestStoreClampsAndRoundsDownToSteps(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p, shard := s.Spawn(0), s.Spawn(3)
	for _, c := range []struct {
		id       ID
		field    int
		set, get int32
	}{
		{p, 0, -1, 0}, {p, 0, 102401, 102400}, {p, 3, -11, -10},
		{p, 4, -30, -30}, {p, 4, -24, -30}, {p, 4, -23, -23}, {p, 4, 30, 26},
		{shard, 0, -1 << 31, -1 << 31}, {shard, 0, 1<<31 - 1, 1<<31 - 1}, {shard, 1, 4, 5},
	} {
		if s.Set(c.id, c.field, c.set); s.Get(c.id, c.field) != c.get {
			t.Errorf("field %d of %d: set %d, got %d, want %d", c.field, c.id, c.set, s.Get(c.id, c.field), c.get)
		}
	}
}

func TestSpawnStartsAtZeroOrMin(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p, shard := s.Spawn(0), s.Spawn(3)
	s.Set(p, 0, 7)
	if s.Get(p, 3) != 0 || s.Get(shard, 0) != 0 || s.Get(shard, 1) != 5 {
		t.Errorf("got %d, %d, %d, want 0, 0, 5", s.Get(p, 3), s.Get(shard, 0), s.Get(shard, 1))
	}
}

func TestIDsRestAndReturnWithAnotherGeneration(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	a := s.Spawn(0)
	s.Commit(1)
	first := s.Generation(a)
	s.Despawn(a, 1)
	s.Despawn(a, 2)
	s.Commit(2)
	if b := s.Spawn(0); b == a {
		t.Fatal("an id was used again at once")
	}
	s.Commit(2 + rest)
	if b := s.Spawn(1); b != a || s.Generation(b) == first || s.Type(b) != 1 {
		t.Errorf("got id %d generation %d type %d", b, s.Generation(b), s.Type(b))
	}
}

func TestSpawnReturnsZeroWhenFull(t *testing.T) {
	t.Parallel()
	s := NewStore(MustSchema(Type{Name: "mark"}))
	for range MaxEntities {
		if s.Spawn(0) == 0 {
			t.Fatal("refused below the limit")
		}
	}
	if s.Spawn(0) != 0 || s.Len() != MaxEntities {
		t.Error("spawned above the limit")
	}
	s.Despawn(9, 0)
	s.Commit(1)
	if s.Spawn(0) != 0 {
		t.Error("an id that rests was used")
	}
	s.Commit(1 + rest)
	if id := s.Spawn(0); id != 9 {
		t.Errorf("got %d, want the id that has rested, 9", id)
	}
}

func TestStoreIgnoresTheDead(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	id := s.Spawn(0)
	s.Despawn(id, 0)
	s.Set(id, 0, 5)
	s.Despawn(0, 0)
	s.Set(99, 0, 5)
	s.Commit(1)
	if s.Get(id, 0) != 0 || s.Alive(id) || s.Alive(99) || s.Len() != 0 || s.Hash() != 0 {
		t.Error("a dead entity shows")
	}
}

func TestAllAscendsAndAllowsDespawning(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	for range 200 {
		s.Spawn(2)
	}
	var seen []ID
	for id := range s.All() {
		if seen = append(seen, id); id%3 == 0 {
			s.Despawn(id, 0)
		}
	}
	if len(seen) != 200 || !slices.IsSorted(seen) || s.Len() != 200-66 {
		t.Errorf("saw %d, left %d", len(seen), s.Len())
	}
}

func TestAppendJSONHasNamesAndUnits(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	p := s.Spawn(0)
	s.Set(p, 0, 35)
	s.Set(p, 3, -3)
	s.Spawn(2)
	array, whole := s.AppendJSON(nil, 1<<20)
	got := string(array)
	const want = `[{"id":1,"type":"player","x":0.35,"y":0,"yaw":0,"health":-3,"speed":-2},{"id":2,"type":"mark"}]`
	if got != want || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if short, all := s.AppendJSON(nil, len(array)-1); !whole || all || !json.Valid(short) || len(short) >= len(array) {
		t.Errorf("cut at %d bytes: %s", len(array)-1, short)
	}
	if got, _ := NewStore(testSchema()).AppendJSON([]byte("[1,"), 2); string(got) != "[1,[]" {
		t.Errorf("empty: %s", got)
	}
}

func TestStoreAllocatesNothingInSteadyState(t *testing.T) {
	s := NewStore(testSchema())
	tick := uint32(0)
	var ids [100]ID
	turn := func() {
		for i := range ids {
			s.Despawn(ids[i], 1)
			ids[i] = s.Spawn(0)
			s.Set(ids[i], 0, int32(tick))
		}
		tick++
		s.Commit(tick)
	}
	for range 3 * rest {
		turn()
	}
	if n := testing.AllocsPerRun(200, turn); n != 0 {
		t.Errorf("%v allocations per tick", n)
	}
}

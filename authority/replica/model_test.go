package replica

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is a store as one would write it first.
type model struct {
	entities map[ID]*modelEntity
	died     map[ID]uint32 // tick in which it was despawned
	owners   map[ID]uint8
}

type modelEntity struct {
	typ    int
	values []int32
}

// rounded is what a field makes of a value.
func rounded(f Field, v int32) int32 {
	if v < f.Min {
		v = f.Min
	}
	if v > f.Max {
		v = f.Max
	}
	below := (int64(v) - int64(f.Min)) % int64(f.Step)
	return int32(int64(v) - below)
}

// hash follows docs/protocol.md word by word.
func (m *model) hash(schema *Schema) uint32 {
	sum := uint32(0)
	for id, e := range m.entities {
		words := []uint32{uint32(id), uint32(m.owners[id]), uint32(e.typ)}
		for i, v := range e.values {
			f := schema.Types[e.typ].Fields[i]
			words = append(words, uint32((int64(v)-int64(f.Min))/int64(f.Step)))
		}
		h := uint32(2166136261)
		for _, w := range words {
			h = (h ^ w) * 16777619
			h ^= h >> 15
		}
		h ^= h >> 16
		h *= 0x85ebca6b
		h ^= h >> 13
		h *= 0xc2b2ae35
		h ^= h >> 16
		sum += h
	}
	return sum
}

func TestStoreIsAsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(testSchema())
		m := &model{entities: map[ID]*modelEntity{}, died: map[ID]uint32{}, owners: map[ID]uint8{}}
		id := func() ID { return ID(rapid.Uint32Range(0, 20).Draw(t, "id")) }
		t.Repeat(map[string]func(*rapid.T){
			"spawn": func(t *rapid.T) {
				if len(m.entities) == 20 {
					return
				}
				typ := rapid.IntRange(0, 3).Draw(t, "type")
				id := s.Spawn(typ)
				if m.entities[id] != nil || id == 0 {
					t.Fatalf("id %d is taken", id)
				}
				if at, ok := m.died[id]; ok && s.Tick()+1-at < rest {
					t.Fatalf("id %d is used again after %d ticks", id, s.Tick()+1-at)
				}
				m.owners[id]++
				e := &modelEntity{typ: typ}
				for _, f := range s.Schema().Types[typ].Fields {
					e.values = append(e.values, rounded(f, 0))
				}
				m.entities[id] = e
			},
			"despawn": func(t *rapid.T) {
				id := id()
				s.Despawn(id, 1)
				if m.entities[id] != nil {
					m.died[id] = s.Tick() + 1
				}
				delete(m.entities, id)
			},
			"set": func(t *rapid.T) {
				id, v := id(), rapid.Int32().Draw(t, "value")
				e := m.entities[id]
				if e == nil {
					s.Set(id, 0, v) // does nothing
					return
				}
				if len(e.values) == 0 {
					return
				}
				field := rapid.IntRange(0, len(e.values)-1).Draw(t, "field")
				s.Set(id, field, v)
				e.values[field] = rounded(s.Schema().Types[e.typ].Fields[field], v)
			},
			"commit": func(t *rapid.T) {
				s.Commit(s.Tick() + rapid.Uint32Range(1, rest).Draw(t, "ticks"))
				if s.Hash() != m.hash(s.Schema()) {
					t.Fatal("the hash differs")
				}
			},
			"": func(t *rapid.T) {
				if got := slices.Collect(s.All()); !slices.Equal(got, slices.Sorted(maps.Keys(m.entities))) || s.Len() != len(got) {
					t.Fatalf("%v are alive", got)
				}
				for id, e := range m.entities {
					if s.Type(id) != e.typ || s.Generation(id) != m.owners[id] {
						t.Fatalf("entity %d: type %d, generation %d", id, s.Type(id), s.Generation(id))
					}
					for i, v := range e.values {
						if s.Get(id, i) != v {
							t.Fatalf("entity %d, field %d: got %d, want %d", id, i, s.Get(id, i), v)
						}
					}
				}
			},
		})
	})
}

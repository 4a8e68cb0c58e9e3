package replica

import (
	"iter"
	"slices"
)

// ID names an entity of a store, from 1. Ids are reused; an id with another
// generation is another entity.
type ID uint32

// Bounds of a world.
const (
	// MaxEntities is the greatest id. Ids that wait to be reused count.
	MaxEntities = 1<<16 - 1
	// MaxReason is the largest reason of a despawn.
	MaxReason = 15
)

// table holds entities as columns, indexed by id. Row 0 is not used. Server and
// client hold the same table; they differ in who may change it.
type table struct {
	schema *Schema
	stride int // values per row

	count      int
	alive      bitset
	generation []uint8
	typ        []uint8
	values     []uint32 // quantized; row id starts at id*stride
}

func newTable(s *Schema) table {
	t := table{schema: s}
	for i := range s.Types {
		t.stride = max(t.stride, len(s.Types[i].Fields))
	}
	t.grow(1)
	return t
}

// grow makes room for ids below n.
func (t *table) grow(n int) {
	if n <= len(t.typ) {
		return
	}
	t.alive = t.alive.grow(n)
	t.generation = extend(t.generation, n)
	t.typ = extend(t.typ, n)
	t.values = extend(t.values, n*t.stride)
}

// extend returns s with at least n elements, the new ones zero.
func extend[T any](s []T, n int) []T {
	old := len(s)
	if n <= old {
		return s
	}
	s = slices.Grow(s, n-old)[:n]
	clear(s[old:])
	return s
}

// row returns the values of an entity's own fields.
func (t *table) row(id ID) []uint32 {
	start := int(id) * t.stride
	return t.values[start : start+len(t.fields(id))]
}

func (t *table) fields(id ID) []Field { return t.schema.Types[t.typ[id]].Fields }

// Schema returns the schema of the entities.
func (t *table) Schema() *Schema { return t.schema }

// Len returns how many entities are alive.
func (t *table) Len() int { return t.count }

// Alive reports whether an entity of that id exists.
func (t *table) Alive(id ID) bool { return t.alive.has(id) }

// Type returns the index of an entity's type, 0 if it is not alive.
func (t *table) Type(id ID) int {
	if !t.alive.has(id) {
		return 0
	}
	return int(t.typ[id])
}

// Generation tells entities apart that had the same id one after the other.
// It is 0 if the entity is not alive.
func (t *table) Generation(id ID) uint8 {
	if !t.alive.has(id) {
		return 0
	}
	return t.generation[id]
}

// Get returns a field's value as clients see it: clamped and rounded down to
// its step. It is 0 if the entity is not alive; it panics if its type has no
// such field.
func (t *table) Get(id ID, field int) int32 {
	if !t.alive.has(id) {
		return 0
	}
	f := &t.fields(id)[field]
	return f.value(t.values[int(id)*t.stride+field])
}

// All yields the ids of all entities, ascending. The entity just yielded may be
// despawned meanwhile; whether one spawned meanwhile is yielded is not said.
func (t *table) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := t.alive.after(0); id != 0; id = t.alive.after(id) {
			if !yield(id) {
				return
			}
		}
	}
}

// hashEntity is an entity's share of the world's hash: docs/protocol.md, Hash.
func (t *table) hashEntity(id ID) uint32 {
	h := uint32(2166136261)
	h = mix(h, uint32(id))
	h = mix(h, uint32(t.generation[id]))
	h = mix(h, uint32(t.typ[id]))
	for _, v := range t.row(id) {
		h = mix(h, v)
	}
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

func mix(h, w uint32) uint32 {
	h = (h ^ w) * 16777619
	return h ^ h>>15
}

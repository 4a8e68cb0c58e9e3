package replica

// ID names an entity of a store, from 1. Ids are reused; an id with another
// generation is another entity.
type ID uint32

// Bounds of a store.
const (
	// MaxEntities is the most entities alive at once.
	MaxEntities = 1 << 16
	// MaxReason is the largest reason of a despawn.
	MaxReason = 15
)

// Store holds the entities of one world. It is not safe for concurrent use: the
// room's goroutine owns it.
type Store struct {
	schema *Schema
	tick   uint32 // last committed; changes are stamped with the one that comes

	slots []slot // by ID; slot 0 is unused
	free  []ID   // sorted use: last in, first out, so runs are repeatable
	alive int
	gone  []despawn // since the last commit... kept by peers afterwards
}

type slot struct {
	alive      bool
	generation uint8
	typ        uint8
	born       uint32 // tick of its spawn
	changed    uint32 // newest of at
	values     []uint32
	at         []uint32 // tick at which each value last changed
}

type despawn struct {
	id         ID
	generation uint8
	reason     uint8
	tick       uint32
}

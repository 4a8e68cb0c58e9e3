package replica

const (
	// history is how many commits a store remembers the changes of. A peer that
	// looks less often has to compare the whole world.
	history = 64
	// rest is for how many ticks an id is not used again: with 256 generations
	// the same id and generation can not come back within rest * 256 ticks, so
	// a peer that is served more often never takes one for the other.
	rest = 64
)

// Store holds the replicated entities of one world. The zero value is not
// usable; see [NewStore]. It is not safe for concurrent use: the room's
// goroutine owns it. The same calls give the same ids, values and hashes, and
// in a steady state nothing is allocated.
//
// Methods that change it may be called in any number between two commits;
// readers see the change at once, peers with the next [Store.Commit].
type Store struct {
	table
	tick uint32 // last committed
	sum  uint32 // of hashes
	rest uint32 // ticks between two uses of an id

	// columns by id
	at     []uint32 // tick at which each value last changed; rows as values
	newest []uint32 // tick of the entity's spawn or last change
	hashes []uint32 // what the entity adds to sum
	reason []uint8  // of the last despawn
	dirty  []uint32 // fields changed since the last commit, a bit each
	wakes  []uint32 // tick from which a dead id may be used again

	touched bitset // changed, spawned or despawned since the last commit
	resting queue  // dead ids, the longest dead first
	recent  [history]changes
}

// changes are the ids that one commit changed.
type changes struct {
	tick uint32
	ids  bitset
}

// NewStore returns an empty store at tick 0.
func NewStore(schema *Schema) *Store {
	s := &Store{table: newTable(schema), rest: rest}
	s.growStore(1)
	return s
}

func (s *Store) growStore(n int) {
	s.grow(n)
	s.at = extend(s.at, n*s.stride)
	s.newest = extend(s.newest, n)
	s.hashes = extend(s.hashes, n)
	s.reason = extend(s.reason, n)
	s.dirty = extend(s.dirty, n)
	s.wakes = extend(s.wakes, n)
	s.touched = s.touched.grow(n)
}

// Tick returns the last committed tick.
func (s *Store) Tick() uint32 { return s.tick }

// Hash returns the hash of the world at the last commit: docs/protocol.md, Hash.
func (s *Store) Hash() uint32 { return s.sum }

// Spawn makes an entity of the type with that index. Its fields are 0, or their
// Min where 0 is out of range. It returns 0 when no id is free: [MaxEntities]
// are alive or have died within the last 64 ticks.
func (s *Store) Spawn(typ int) ID {
	fields := s.schema.Types[typ].Fields
	id := s.freshID()
	if id == 0 {
		return 0
	}
	s.generation[id]++
	s.typ[id] = uint8(typ)
	s.alive.set(id)
	s.count++
	row := s.values[int(id)*s.stride:]
	for i := range fields {
		row[i] = fields[i].quantize(0)
	}
	s.dirty[id] = ^uint32(0)
	s.touched.set(id)
	return id
}

// freshID takes the id that has been dead the longest, if it has rested, else
// one never used.
func (s *Store) freshID() ID {
	if id, ok := s.resting.head(); ok && s.wakes[id] <= s.tick {
		s.resting.pop()
		return id
	}
	if id := len(s.typ); id <= MaxEntities {
		s.growStore(id + 1)
		return ID(id)
	}
	return 0
}

// Despawn ends an entity. Clients are told the reason, 0 to [MaxReason], larger
// ones count as MaxReason. It does nothing if the entity is not alive: what dies
// twice in a tick dies once.
func (s *Store) Despawn(id ID, reason uint8) {
	if !s.alive.has(id) {
		return
	}
	s.alive.unset(id)
	s.count--
	s.reason[id] = min(reason, MaxReason)
	s.touched.set(id)
	s.wakes[id] = s.tick + 1 + s.rest
	s.resting.push(id)
}

// Set gives a field a value, clamped to its range and rounded down to its step.
// Only a difference that a client could see counts as a change. It does nothing
// if the entity is not alive; it panics if its type has no such field.
func (s *Store) Set(id ID, field int, v int32) {
	if !s.alive.has(id) {
		return
	}
	q := s.fields(id)[field].quantize(v)
	at := &s.values[int(id)*s.stride+field]
	if *at == q {
		return
	}
	*at = q
	s.dirty[id] |= 1 << field
	s.touched.set(id)
}

// Commit stamps what has changed since the last commit with tick, which must be
// above the last one.
func (s *Store) Commit(tick uint32) {
	if tick <= s.tick {
		panic("replica: ticks must ascend")
	}
	s.tick = tick
	log := &s.recent[tick%history]
	log.tick, log.ids = tick, append(log.ids[:0], s.touched...)
	for id := s.touched.after(0); id != 0; id = s.touched.after(id) {
		s.stamp(id)
	}
	clear(s.touched)
}

func (s *Store) stamp(id ID) {
	s.newest[id] = s.tick
	s.sum -= s.hashes[id]
	s.hashes[id] = 0
	if s.alive.has(id) {
		s.hashes[id] = s.hashEntity(id)
		s.sum += s.hashes[id]
		at := s.at[int(id)*s.stride:]
		for i := range s.fields(id) {
			if s.dirty[id]>>i&1 != 0 {
				at[i] = s.tick
			}
		}
	}
	s.dirty[id] = 0
}

// queue of ids, first in, first out, in a ring that grows.
type queue struct {
	ring  []ID
	first int
	count int
}

func (q *queue) head() (ID, bool) {
	if q.count == 0 {
		return 0, false
	}
	return q.ring[q.first], true
}

func (q *queue) pop() {
	q.first = (q.first + 1) % len(q.ring)
	q.count--
}

func (q *queue) push(id ID) {
	if q.count == len(q.ring) {
		grown := make([]ID, max(16, 2*len(q.ring)))
		n := copy(grown, q.ring[q.first:])
		copy(grown[n:], q.ring[:q.first])
		q.ring, q.first = grown, 0
	}
	q.ring[(q.first+q.count)%len(q.ring)] = id
	q.count++
}

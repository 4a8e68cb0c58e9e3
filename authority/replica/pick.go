package replica

// pick is a record that a snapshot should carry.
type pick struct {
	id     ID
	fields uint32 // a bit per changed field; delta records only
	bits   uint16 // without the gap to the id before
	record record
	chosen bool
}

type record uint8

const (
	delta record = iota
	whole
	despawn
)

// picks are the records that wait for one snapshot, ids ascending, and the means
// to choose among them.
type picks struct {
	all      []pick
	despawns int
	bits     int // of all records with their gaps

	scores []uint8
	order  []int32   // indices of all, the most urgent first
	sets   [2]bitset // ids chosen: entities, despawns
}

// gather lists what the client may not hold, and settles what has changed hands:
// an entity that it was offered or holds and that has died is leaving.
func (p *Peer) gather() {
	k := &p.picks
	k.all, k.despawns, k.bits = k.all[:0], 0, 0
	var last [2]ID
	for w, word := range p.dirty {
		for ; word != 0; word &= word - 1 {
			x := pick{id: lowest(w, word)}
			if !p.inspect(&x) {
				p.dirty.unset(x.id)
				continue
			}
			list := 0
			if x.record == despawn {
				list = 1
				k.despawns++
			}
			k.bits += int(x.bits) + gapBits(last[list], x.id)
			last[list] = x.id
			k.all = append(k.all, x)
		}
	}
}

// inspect fills in the record that the entity needs; false if it needs none.
func (p *Peer) inspect(x *pick) bool {
	s, id := p.store, x.id
	alive := s.alive.has(id)
	switch at := p.state[id]; {
	case at == absent && !alive:
		return false
	case at == leaving:
		if s.tick-p.base[id] >= maxAbsence {
			p.stage = needsFull
		}
	case at != absent && !(alive && s.generation[id] == p.generation[id]):
		p.state[id], p.base[id] = leaving, s.tick
		p.reason[id] = 0
		if s.generation[id] == p.generation[id] {
			p.reason[id] = s.reason[id]
		}
	case at == held:
		return p.inspectFields(x)
	default:
		x.record, x.bits = whole, uint16(1+s.wholeBits(id))
		return true
	}
	x.record, x.bits = despawn, generationBits+reasonBits
	return true
}

func (p *Peer) inspectFields(x *pick) bool {
	s, base := p.store, p.base[x.id]
	fields := s.fields(x.id)
	at := s.at[int(x.id)*s.stride:]
	at = at[:len(fields)]
	n := 1 + uint(len(fields))
	for i := range at {
		if at[i] > base {
			x.fields |= 1 << i
			n += fields[i].bits
		}
	}
	x.record, x.bits = delta, uint16(n)
	return x.fields != 0
}

// The urgency of a record. What was never sent as it is now weighs twice its
// age; what was, and is not acknowledged yet, its age. A despawn that is late
// shows as a ghost, so it goes a little ahead.
const (
	maxScore     = 255
	oldest       = 120 // ticks; beyond, age makes no difference
	despawnBonus = 6
)

func (p *Peer) score(x *pick) uint8 {
	if x.id == p.focus {
		return maxScore
	}
	age := min(p.store.tick-p.queued[x.id], oldest)
	if p.store.newest[x.id] > p.queued[x.id] {
		age *= 2
	}
	if x.record == despawn {
		age += despawnBonus
	}
	return uint8(age)
}

// choose takes the most urgent records that fit in room bits. The first is
// taken whatever its size: otherwise it might never go.
func (p *Peer) choose(room int) {
	k := &p.picks
	p.rank()
	for i := range k.sets {
		k.sets[i] = k.sets[i].grow(len(p.store.typ))
	}
	for n, i := range k.order {
		x := &k.all[i]
		set := k.sets[0]
		if x.record == despawn {
			set = k.sets[1]
		}
		before, after := set.before(x.id), set.after(x.id)
		cost := int(x.bits) + gapBits(before, x.id)
		if after != 0 {
			cost += gapBits(x.id, after) - gapBits(before, after)
		}
		if x.chosen = cost <= room || n == 0; x.chosen {
			set.set(x.id)
			room -= cost
		}
	}
	for i := range k.sets {
		clear(k.sets[i])
	}
}

// rank orders the records by score, then by id.
func (p *Peer) rank() {
	k := &p.picks
	var first [maxScore + 1]int32
	k.scores = k.scores[:0]
	for i := range k.all {
		score := maxScore - p.score(&k.all[i])
		k.scores = append(k.scores, score)
		first[score]++
	}
	at := int32(0)
	for i, n := range first {
		first[i] = at
		at += n
	}
	k.order = extend(k.order[:0], len(k.all))
	for i, score := range k.scores {
		k.order[first[score]] = int32(i)
		first[score]++
	}
}

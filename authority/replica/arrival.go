package replica

import (
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/wire"
)

// arrival is a full snapshot whose chunks are coming in. The reliable lane keeps
// their order, so what is expected next is all that needs remembering.
type arrival struct {
	table
	tick  uint32
	count uint32 // of chunks, 0 if none is expected
	next  uint32 // index of the chunk expected
}

// ApplyFull applies the body of one chunk of a full snapshot. With the last one
// it returns done, and what the whole snapshot changed: it replaces everything
// held, also by an older tick. Slices in the result are good until the next
// call. An error discards the chunks before; it wraps [ErrResync] for a
// chunk out of turn, else one of package wire.
func (v *View) ApplyFull(body []byte) (a Applied, done bool, err error) {
	x := &v.arriving
	h := header{rest: body}
	flags, tick, index, count := h.byte(), h.uvarint(), h.uvarint(), h.uvarint()
	meta := h.meta(flags)
	switch {
	case h.err != nil:
		err = h.err
	case tick == 0 || index >= count:
		err = malformed("has a tick or chunk out of range")
	case index == 0:
		x.begin(v.schema, tick, count)
	case tick != x.tick || count != x.count || index != x.next:
		err = fmt.Errorf("%w: chunk %d of %d of tick %d comes out of turn", ErrResync, index, count, tick)
	}
	if err == nil {
		err = x.read(h.rest)
	}
	if err != nil {
		x.count = 0
		return Applied{}, false, err
	}
	if x.next++; x.next < count {
		return Applied{}, false, nil
	}
	x.count = 0
	return v.replace(tick, meta), true, nil
}

func (x *arrival) begin(s *Schema, tick, count uint32) {
	if x.schema == nil {
		x.table = newTable(s)
	}
	clear(x.alive)
	x.table.count = 0
	x.tick, x.count, x.next = tick, count, 0
}

func (x *arrival) read(b []byte) error {
	r := wire.NewBitReader(b)
	count := r.Uvarint()
	if r.Err() == nil && int64(count)*(minGroup+generationBits) > int64(r.Left()) {
		return malformed("counts more records than it has")
	}
	last := uint64(0)
	for range count {
		last += 1 + uint64(r.Uvarint())
		if last > MaxEntities {
			return malformed("has an id out of range")
		}
		if err := x.readEntity(&r, ID(last)); err != nil {
			return err
		}
	}
	return end(&r)
}

func (x *arrival) readEntity(r *wire.BitReader, id ID) error {
	generation, typ := uint8(r.Read(generationBits)), uint8(r.Read(x.schema.typeBits))
	switch {
	case r.Err() != nil:
		return r.Err()
	case int(typ) >= len(x.schema.Types):
		return malformed("has an unknown type")
	case x.alive.has(id):
		return malformed("has an entity twice")
	}
	x.grow(int(id) + 1)
	x.alive.set(id)
	x.table.count++
	x.generation[id], x.typ[id] = generation, typ
	fields := x.fields(id)
	for i, row := 0, x.row(id); i < len(row); i++ {
		row[i] = min(r.Read(fields[i].bits), fields[i].top)
	}
	return r.Err()
}

// replace puts the arrived world in the place of the one held.
func (v *View) replace(tick uint32, m Meta) Applied {
	v.begin(tick, m)
	a, next := &v.applied, &v.arriving.table
	for id := range v.All() {
		if !next.alive.has(id) || next.generation[id] != v.generation[id] || next.typ[id] != v.typ[id] {
			v.remove(id, 0)
		}
	}
	for id := range next.All() {
		switch {
		case !v.alive.has(id):
			a.Spawned = append(a.Spawned, id)
		case !slices.Equal(v.row(id), next.row(id)):
			a.Changed = append(a.Changed, id)
		}
	}
	v.table, v.arriving.table = v.arriving.table, v.table
	v.tick, v.mask, v.origin = tick, 0, tick
	return *a
}

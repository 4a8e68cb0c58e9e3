package replica

import (
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/wire"
)

// ErrResync is wrapped in the error of a snapshot that builds on something this
// client does not have: it must ask for a full one.
var ErrResync = errors.New("snapshot builds on a state not held: resync")

// Applied tells what a snapshot changed. Its slices are good until the next call
// of the view.
type Applied struct {
	Tick uint32
	// Stale snapshots are older than what is held and change nothing.
	Stale bool
	// Meta has the last input applied, if the snapshot says: it does not
	// repeat what the client has acknowledged.
	Meta
	// Spawned and Changed are ascending. An entity is in one of them at most;
	// an id that one entity lost and another got is in Despawned and Spawned.
	Spawned   []ID
	Despawned []Despawned
	Changed   []ID
}

// Despawned is an entity that has gone.
type Despawned struct {
	ID         ID
	Generation uint8
	Type       int
	// Reason as the server gave it; 0 also if it was never told.
	Reason uint8
}

// View is a client's copy of a world, as far as it has been told. It is not safe
// for concurrent use. A snapshot that returns an error has changed nothing.
type View struct {
	table
	tick   uint32 // newest applied, 0 for none
	mask   uint64 // bit i: tick-1-i was applied
	origin uint32 // tick of the last full snapshot

	reader  wire.BitReader
	records []viewRecord // of the snapshot being read
	numbers []uint32     // their values
	applied Applied

	arriving arrival // a full snapshot that is not complete yet
}

// viewRecord is one record of a delta snapshot, read but not applied.
type viewRecord struct {
	id         ID
	record     record
	generation uint8
	typ        uint8
	reason     uint8
	fields     uint32 // a bit per value in numbers
}

// NewView returns an empty view of a world with that schema.
func NewView(schema *Schema) *View { return &View{table: newTable(schema)} }

// Tick returns the newest tick applied, 0 for none.
func (v *View) Tick() uint32 { return v.tick }

// Ack returns what the next input frame acknowledges: the newest tick applied,
// and bit i set if the snapshot of tick-1-i was applied.
func (v *View) Ack() (tick uint32, mask uint64) { return v.tick, v.mask }

// Hash returns the hash of the world as held: docs/protocol.md, Hash.
func (v *View) Hash() uint32 {
	sum := uint32(0)
	for id := range v.All() {
		sum += v.hashEntity(id)
	}
	return sum
}

// Apply applies the body of a delta snapshot. Slices in the result are good
// until the next call. Errors wrap [ErrResync], or one of package wire.
func (v *View) Apply(body []byte) (Applied, error) {
	if len(body) > wire.MaxDatagram {
		return Applied{}, fmt.Errorf("%w: snapshot of %d bytes, the limit is %d", wire.ErrTooBig, len(body), wire.MaxDatagram)
	}
	h := header{rest: body}
	flags, tick, back := h.byte(), h.uvarint(), h.uvarint()
	meta := h.meta(flags)
	switch {
	case h.err != nil:
		return Applied{}, h.err
	case tick == 0 || back >= tick:
		return Applied{}, malformed("has a tick out of range")
	case tick <= v.tick:
		return Applied{Tick: tick, Stale: true}, nil
	case back != 0 && !v.has(tick-back):
		return Applied{}, ErrResync
	}
	if err := v.read(h.rest); err != nil {
		return Applied{}, err
	}
	v.begin(tick, meta)
	v.advance(tick)
	v.perform()
	return v.applied, nil
}

func (h *header) meta(flags byte) (m Meta) {
	if flags&^flagInput != 0 {
		h.fail("has unknown flags")
	}
	if flags&flagInput != 0 {
		m = Meta{InputSeq: h.uint16(), HasInput: true}
	}
	return m
}

// has reports whether a tick may be a baseline. Of those further back than the
// mask only the server can know.
func (v *View) has(tick uint32) bool {
	switch {
	case tick > v.tick || tick < v.origin:
		return false
	case tick == v.tick || v.tick-tick > 64:
		return true
	}
	return v.mask>>(v.tick-tick-1)&1 != 0
}

// begin starts what is told of a snapshot.
func (v *View) begin(tick uint32, m Meta) {
	a := &v.applied
	*a = Applied{Tick: tick, Meta: m, Spawned: a.Spawned[:0], Despawned: a.Despawned[:0], Changed: a.Changed[:0]}
}

// advance moves the acknowledgement on to a newer tick.
func (v *View) advance(tick uint32) {
	forward := tick - v.tick
	v.mask <<= forward
	if v.tick != 0 && forward <= 64 {
		v.mask |= 1 << (forward - 1)
	}
	v.tick = tick
}

// read reads the bits of a delta snapshot into records, and refuses what could
// not be applied.
func (v *View) read(b []byte) error {
	v.records, v.numbers = v.records[:0], v.numbers[:0]
	v.reader = wire.NewBitReader(b)
	if err := v.readList(minGroup+generationBits+reasonBits, v.readDespawn); err != nil {
		return err
	}
	if err := v.readList(minGroup+1, v.readEntity); err != nil {
		return err
	}
	return end(&v.reader)
}

// readList reads a count and that many records, each after its id. least is the
// length of the shortest, so that a count can not lie much.
func (v *View) readList(least int, record func(ID) error) error {
	r := &v.reader
	count := r.Uvarint()
	if r.Err() == nil && int64(count)*int64(least) > int64(r.Left()) {
		return malformed("counts more records than it has")
	}
	last := uint64(0)
	for range count {
		last += 1 + uint64(r.Uvarint())
		if last > MaxEntities {
			return malformed("has an id out of range")
		}
		if err := record(ID(last)); err != nil {
			return err
		}
		if r.Err() != nil {
			break
		}
	}
	return r.Err()
}

func end(r *wire.BitReader) error {
	switch {
	case r.Err() != nil:
		return r.Err()
	case r.Left() >= 8:
		return malformed("goes on after its last record")
	}
	return nil
}

func (v *View) readDespawn(id ID) error {
	x := viewRecord{id: id, record: despawn}
	x.generation = uint8(v.reader.Read(generationBits))
	x.reason = uint8(v.reader.Read(reasonBits))
	v.records = append(v.records, x)
	return nil
}

func (v *View) readEntity(id ID) error {
	r := &v.reader
	x := viewRecord{id: id, record: delta}
	if r.Bool() {
		x.record = whole
		x.generation = uint8(r.Read(generationBits))
		x.typ = uint8(r.Read(v.schema.typeBits))
		if int(x.typ) >= len(v.schema.Types) {
			return malformed("has an unknown type")
		}
		x.fields = 1<<len(v.schema.Types[x.typ].Fields) - 1
	} else {
		if !v.holds(id) {
			return ErrResync
		}
		x.typ = v.typ[id]
		x.fields = r.Read(uint(len(v.fields(id))))
	}
	fields := v.schema.Types[x.typ].Fields
	for i := range fields {
		if x.fields>>i&1 != 0 {
			v.numbers = append(v.numbers, min(r.Read(fields[i].bits), fields[i].top))
		}
	}
	v.records = append(v.records, x)
	return nil
}

// holds reports whether the entity is there once the despawns already read are
// applied: they come first.
func (v *View) holds(id ID) bool {
	if !v.alive.has(id) {
		return false
	}
	for i := range v.records {
		x := &v.records[i]
		if x.record != despawn || x.id > id {
			break
		}
		if x.id == id && x.generation == v.generation[id] {
			return false
		}
	}
	return true
}

// perform applies the records.
func (v *View) perform() {
	a, numbers := &v.applied, v.numbers
	for i := range v.records {
		x := &v.records[i]
		switch x.record {
		case despawn:
			if v.alive.has(x.id) && v.generation[x.id] == x.generation {
				v.remove(x.id, x.reason)
			}
			continue
		case whole:
			v.renew(x)
		}
		row := v.row(x.id)
		changed := false
		for f := range row {
			if x.fields>>f&1 == 0 {
				continue
			}
			changed = changed || row[f] != numbers[0]
			row[f], numbers = numbers[0], numbers[1:]
		}
		if n := len(a.Spawned); changed && (n == 0 || a.Spawned[n-1] != x.id) {
			a.Changed = append(a.Changed, x.id)
		}
	}
}

// renew prepares an entity that was sent whole: one held already is refreshed.
func (v *View) renew(x *viewRecord) {
	if v.alive.has(x.id) {
		if v.generation[x.id] == x.generation && v.typ[x.id] == x.typ {
			return
		}
		v.remove(x.id, 0)
	}
	v.grow(int(x.id) + 1)
	v.alive.set(x.id)
	v.count++
	v.generation[x.id], v.typ[x.id] = x.generation, x.typ
	v.applied.Spawned = append(v.applied.Spawned, x.id)
}

func (v *View) remove(id ID, reason uint8) {
	v.alive.unset(id)
	v.count--
	v.applied.Despawned = append(v.applied.Despawned, Despawned{
		ID: id, Generation: v.generation[id], Type: int(v.typ[id]), Reason: reason,
	})
}

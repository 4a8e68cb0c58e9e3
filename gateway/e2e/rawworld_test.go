package e2e

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
)

// This file and rawclient_test.go are a client made of docs/protocol.md alone. They
// share no code with the server: what both get wrong in the same way is not
// proven by a client that imports the server's codec.

var errRaw = errors.New("the server broke the protocol")

// rawReader takes bytes off the front. The first fault stays.
type rawReader struct {
	rest []byte
	bad  bool
}

func (r *rawReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.bad = true
		return make([]byte, max(n, 0)%8)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *rawReader) byte() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	return r.take(1)[0]
}

func (r *rawReader) uint16() uint16 {
	lo, hi := r.byte(), r.byte()
	return uint16(lo) | uint16(hi)<<8
}

func (r *rawReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// rawBits reads bits, the least significant of each byte first.
type rawBits struct {
	bytes []byte
	at    int
	bad   bool
}

func (r *rawBits) take(n int) (v uint32) {
	for i := range n {
		if r.at/8 >= len(r.bytes) {
			r.bad = true
			return 0
		}
		v |= uint32(r.bytes[r.at/8]>>(r.at%8)&1) << i
		r.at++
	}
	return v
}

// bitvar reads groups of four bits, each followed by whether there are more.
func (r *rawBits) bitvar() (v uint32) {
	for group := range 8 {
		g := r.take(5)
		v |= g & 15 << (4 * group)
		if g&16 == 0 || r.bad {
			return v
		}
	}
	r.bad = true
	return v
}

// rawField and rawType are the schema of a welcome.
type rawField struct {
	Name           string
	Min, Max, Step int64
}

func (f rawField) bits() int { return bits.Len64(uint64((f.Max - f.Min) / max(f.Step, 1))) }

type rawType struct {
	Name   string
	Fields []rawField
}

type rawEntity struct {
	generation, kind uint32
	fields           []uint32
}

// rawWorld is what snapshots have built.
type rawWorld struct {
	types    []rawType
	entities map[uint32]*rawEntity
	tick     uint32
	missed   uint64 // bit i: the snapshot of tick-1-i was not applied
	spawned  int
	vanished int

	coming map[uint32]*rawEntity // of a full snapshot
	next   uint64                // its next chunk
}

func (w *rawWorld) schema(text json.RawMessage) error {
	var s struct{ Types []rawType }
	err := json.Unmarshal(text, &s)
	w.types, w.entities = s.Types, map[uint32]*rawEntity{}
	return err
}

// whole reads generation, type and every field.
func (w *rawWorld) whole(r *rawBits) *rawEntity {
	e := &rawEntity{generation: r.take(8), kind: r.take(bits.Len(uint(len(w.types) - 1)))}
	if int(e.kind) >= len(w.types) {
		r.bad = true
		return e
	}
	for _, f := range w.types[e.kind].Fields {
		e.fields = append(e.fields, r.take(f.bits()))
	}
	return e
}

// advance notes that the snapshot of a tick is applied.
func (w *rawWorld) advance(tick uint32) {
	forward := tick - w.tick
	// Those between were missed, the one before was applied.
	w.missed = w.missed<<forward | (1<<forward-1)&^(1<<(forward-1))
	w.tick = tick
}

// delta applies the body of a snapshot frame (§6). It returns false for a stale
// one.
func (w *rawWorld) delta(body []byte) (applied bool, err error) {
	h := rawReader{rest: body}
	flags, tick := h.byte(), uint32(h.uvarint())
	h.uvarint() // the baseline: on one ordered stream every one is held
	if flags&1 != 0 {
		h.uint16()
	}
	if h.bad {
		return false, errRaw
	}
	if tick <= w.tick {
		return false, nil
	}
	r := &rawBits{bytes: h.rest}
	for id, n := uint32(0), r.bitvar(); n > 0 && !r.bad; n-- {
		id += r.bitvar() + 1
		generation := r.take(8)
		r.take(4) // the reason
		if e := w.entities[id]; e != nil && e.generation == generation {
			delete(w.entities, id)
			w.vanished++
		}
	}
	for id, n := uint32(0), r.bitvar(); n > 0 && !r.bad; n-- {
		id += r.bitvar() + 1
		if r.take(1) == 1 {
			w.appear(id, w.whole(r))
			continue
		}
		e := w.entities[id]
		if e == nil {
			return false, errRaw // nothing was lost, so nothing may be unknown
		}
		changed := r.take(len(e.fields))
		for i, f := range w.types[e.kind].Fields {
			if changed>>i&1 != 0 {
				e.fields[i] = r.take(f.bits())
			}
		}
	}
	if r.bad {
		return false, errRaw
	}
	w.advance(tick)
	return true, nil
}

func (w *rawWorld) appear(id uint32, e *rawEntity) {
	old := w.entities[id]
	w.entities[id] = e
	if old == nil || old.generation != e.generation {
		w.spawned++
		if old != nil {
			w.vanished++
		}
	}
}

// full applies a chunk of a full snapshot; complete with the last.
func (w *rawWorld) full(body []byte) (complete bool, err error) {
	h := rawReader{rest: body}
	flags, tick, index, count := h.byte(), uint32(h.uvarint()), h.uvarint(), h.uvarint()
	if flags&1 != 0 {
		h.uint16()
	}
	if index == 0 {
		w.coming, w.next = map[uint32]*rawEntity{}, 0
	}
	if h.bad || index != w.next || index >= count {
		return false, errRaw
	}
	w.next++
	r := &rawBits{bytes: h.rest}
	for id, n := uint32(0), r.bitvar(); n > 0 && !r.bad; n-- {
		id += r.bitvar() + 1
		w.coming[id] = w.whole(r)
	}
	if r.bad {
		return false, errRaw
	}
	if w.next < count {
		return false, nil
	}
	w.entities, w.tick, w.missed = w.coming, tick, 1<<64-1
	return true, nil
}

// hash is that of §6, Hash.
func (w *rawWorld) hash() (sum uint32) {
	for id, e := range w.entities {
		sum += hashWords(append([]uint32{id, e.generation, e.kind}, e.fields...))
	}
	return sum
}

package replica

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gatehouse/gatehouse/wire"
)

// The layout of snapshots, in the words of docs/protocol.md, Snapshots.
const (
	flagInput = 1 << 0

	generationBits = 8
	reasonBits     = 4
	// minGroup is the shortest bitvar.
	minGroup = 5

	// maxFullHeader is what may come before the bits of a chunk.
	maxFullHeader = 1 + 5 + 5 + 5 + 2
)

// Meta is what a snapshot tells besides entities.
type Meta struct {
	// InputSeq numbers the last input of the client that the world has applied.
	InputSeq uint16
	// HasInput is false as long as there was none.
	HasInput bool
}

// gapBits is the length of the bitvar of an id that follows previous.
func gapBits(previous, id ID) int { return bitvarBits(uint32(id - previous - 1)) }

func bitvarBits(v uint32) int { return minGroup * max(1, (bits.Len32(v)+3)/4) }

func writeGap(w *wire.BitWriter, previous, id ID) { w.Uvarint(uint32(id - previous - 1)) }

// writeWhole writes generation, type and every field.
func (t *table) writeWhole(w *wire.BitWriter, id ID) {
	w.Write(uint32(t.generation[id]), generationBits)
	w.Write(uint32(t.typ[id]), t.schema.typeBits)
	fields := t.fields(id)
	for i, v := range t.row(id) {
		w.Write(v, fields[i].bits)
	}
}

// wholeBits is the length of what writeWhole writes.
func (t *table) wholeBits(id ID) int {
	return generationBits + int(t.schema.typeBits) + int(t.schema.Types[t.typ[id]].bits)
}

// header reads the byte-aligned part of a snapshot. Its first fault sticks.
type header struct {
	rest []byte
	err  error
}

func (h *header) byte() byte {
	if len(h.rest) < 1 {
		h.fail("ends in its header")
		return 0
	}
	b := h.rest[0]
	h.rest = h.rest[1:]
	return b
}

func (h *header) uint16() uint16 {
	low := h.byte()
	return uint16(low) | uint16(h.byte())<<8
}

func (h *header) uvarint() uint32 {
	v, n := binary.Uvarint(h.rest)
	if n <= 0 || v > 1<<32-1 {
		h.fail("has a bad number in its header")
		return 0
	}
	h.rest = h.rest[n:]
	return uint32(v)
}

func (h *header) fail(what string) {
	if h.err == nil {
		h.err = malformed(what)
	}
	h.rest = nil
}

func malformed(what string) error {
	return fmt.Errorf("%w: snapshot %s", wire.ErrMalformed, what)
}

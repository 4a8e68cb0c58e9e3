package replica

import (
	"errors"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// The view of these tests is at tick 1 and holds a player 1, a door 2, a mark 3
// and a shard 4, each of generation 1.
func TestHostileDeltas(t *testing.T) {
	t.Parallel()
	list := func(w *wire.BitWriter, ids ...uint32) {
		w.Uvarint(uint32(len(ids)))
		for _, gap := range ids {
			w.Uvarint(gap)
		}
	}
	for _, c := range []struct {
		name   string
		header []byte
		bits   func(w *wire.BitWriter)
		want   error
	}{
		{"empty", nil, nil, wire.ErrMalformed},
		{"tick 0", []byte{0, 0, 0}, nil, wire.ErrMalformed},
		{"baseline before time", []byte{0, 9, 9}, nil, wire.ErrMalformed},
		{"unknown flag", []byte{4, 2, 1}, nil, wire.ErrMalformed},
		{"tick over 32 bits", []byte{0, 255, 255, 255, 255, 127, 1}, nil, wire.ErrMalformed},
		{"input cut off", []byte{1, 2, 1, 7}, nil, wire.ErrMalformed},
		{"no lists", []byte{0, 2, 1}, nil, wire.ErrTruncated},
		{"despawns lie", []byte{0, 2, 1}, func(w *wire.BitWriter) { w.Uvarint(1 << 31) }, wire.ErrMalformed},
		{"entities lie", []byte{0, 2, 1}, func(w *wire.BitWriter) { list(w); w.Uvarint(5); w.Write(0, 20) }, wire.ErrMalformed},
		{"bitvar without end", []byte{0, 2, 1}, func(w *wire.BitWriter) {
			for range 20 {
				w.Write(31, 5)
			}
		}, wire.ErrTruncated},
		{"id out of range", []byte{0, 2, 1}, func(w *wire.BitWriter) {
			list(w, MaxEntities)
			w.Write(0, 12)
			list(w)
		}, wire.ErrMalformed},
		{"trailing bytes", []byte{0, 2, 1}, func(w *wire.BitWriter) { list(w); list(w); w.Write(0, 16) }, wire.ErrMalformed},
		{"delta of an unknown entity", []byte{0, 2, 1}, func(w *wire.BitWriter) { list(w); list(w, 8); w.Write(0, 8) }, ErrResync},
		{"delta of one despawned before it", []byte{0, 2, 1}, func(w *wire.BitWriter) {
			list(w, 1)
			w.Write(1, 12)
			list(w, 1)
			w.Write(0b110, 3)
		}, ErrResync},
		{"despawn of another generation before it", []byte{0, 2, 1}, func(w *wire.BitWriter) {
			list(w, 1)
			w.Write(9, 12)
			list(w, 1)
			w.Write(0b110, 3)
		}, nil},
		{"values cut off", []byte{0, 2, 1}, func(w *wire.BitWriter) { list(w); list(w, 3); w.Write(0b110, 3); w.Write(1, 20) }, wire.ErrTruncated},
		{"baseline in the future", []byte{0, 9, 1}, func(w *wire.BitWriter) { list(w); list(w) }, ErrResync},
		{"larger than a datagram", make([]byte, wire.MaxDatagram+1), nil, wire.ErrTooBig},
	} {
		v := populated(t)
		hash := v.Hash()
		w := wire.NewBitWriter(c.header)
		if c.bits != nil {
			c.bits(&w)
		}
		a, err := v.Apply(w.Bytes())
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err != nil && (v.Tick() != 1 || v.Hash() != hash || a.Tick != 0) {
			t.Errorf("%s: refused, and yet something changed", c.name)
		}
	}
}

// A number larger than a field's Max has come over the wire.
func TestValuesFromOutsideAreClamped(t *testing.T) {
	t.Parallel()
	schema := MustSchema(Type{Name: "t", Fields: []Field{{Name: "f", Max: 4}}})
	full := wire.NewBitWriter([]byte{0, 1, 0, 1})
	full.Uvarint(1)
	full.Uvarint(0)
	full.Write(1, 8)
	full.Write(7, 3)
	v := NewView(schema)
	if _, _, err := v.ApplyFull(full.Bytes()); err != nil || v.Get(1, 0) != 4 {
		t.Errorf("full: %d, %v", v.Get(1, 0), err)
	}
	delta := wire.NewBitWriter([]byte{0, 2, 1})
	delta.Uvarint(0)
	delta.Uvarint(2)
	delta.Uvarint(0)
	delta.Write(0b10, 2)
	delta.Write(6, 3)
	delta.Uvarint(0)
	delta.Write(1, 1)
	delta.Write(1, 8)
	delta.Write(7, 3)
	if _, err := v.Apply(delta.Bytes()); err != nil || v.Get(1, 0) != 4 || v.Get(2, 0) != 4 {
		t.Errorf("delta: %d and %d, %v", v.Get(1, 0), v.Get(2, 0), err)
	}
}

package wire

import "encoding/binary"

// BitWriter packs values least significant bit first into bytes. The zero value
// with a buffer is ready; it appends and grows the buffer like append.
type BitWriter struct {
	buf []byte
	acc uint64
	n   uint // bits in acc, below 8 between calls
}

// NewBitWriter returns a writer that appends to dst.
func NewBitWriter(dst []byte) BitWriter { return BitWriter{buf: dst} }

// Write appends the low n bits of v; n is 0 to 32.
func (w *BitWriter) Write(v uint32, n uint) {
	w.acc |= (uint64(v) & (1<<n - 1)) << w.n
	w.n += n
	for w.n >= 8 {
		w.buf = append(w.buf, byte(w.acc))
		w.acc >>= 8
		w.n -= 8
	}
}

// Bool appends one bit.
func (w *BitWriter) Bool(b bool) {
	var v uint32
	if b {
		v = 1
	}
	w.Write(v, 1)
}

// Uvarint appends v in groups of 4 bits, each after a bit that says whether
// more follow: 5 bits up to 15, 10 up to 255, 15 up to 4,095.
func (w *BitWriter) Uvarint(v uint32) {
	for v >= 16 {
		w.Write(v&15|16, 5)
		v >>= 4
	}
	w.Write(v, 5)
}

// Len returns the bytes written so far, a begun one included.
func (w *BitWriter) Len() int { return len(w.buf) + int(w.n+7)/8 }

// Bytes pads to a whole byte and returns the buffer.
func (w *BitWriter) Bytes() []byte {
	if w.n > 0 {
		w.buf = append(w.buf, byte(w.acc))
		w.acc, w.n = 0, 0
	}
	return w.buf
}

// BitReader reads what a [BitWriter] wrote. Reading past the end yields zeros
// and makes [BitReader.Err] report ErrTruncated; it never panics.
type BitReader struct {
	buf  []byte
	acc  uint64
	n    uint
	over bool
}

// NewBitReader returns a reader of b.
func NewBitReader(b []byte) BitReader { return BitReader{buf: b} }

// Read returns the next n bits; n is 0 to 32.
func (r *BitReader) Read(n uint) uint32 {
	for r.n < n {
		switch {
		case r.n <= 32 && len(r.buf) >= 4:
			r.acc |= uint64(binary.LittleEndian.Uint32(r.buf)) << r.n
			r.buf, r.n = r.buf[4:], r.n+32
		case len(r.buf) > 0:
			r.acc |= uint64(r.buf[0]) << r.n
			r.buf, r.n = r.buf[1:], r.n+8
		default:
			r.over = true
			r.acc, r.n = 0, 0
			return 0
		}
	}
	v := uint32(r.acc & (1<<n - 1))
	r.acc >>= n
	r.n -= n
	return v
}

// Bool reads one bit.
func (r *BitReader) Bool() bool { return r.Read(1) == 1 }

// Uvarint reads what [BitWriter.Uvarint] wrote; more than 32 bits are an error.
func (r *BitReader) Uvarint() uint32 {
	var v uint32
	for shift := uint(0); shift < 32; shift += 4 {
		g := r.Read(5)
		v |= (g & 15) << shift
		if g < 16 {
			return v
		}
	}
	r.over = true
	return 0
}

// Err returns ErrTruncated if more was read than there was.
func (r *BitReader) Err() error {
	if r.over {
		return ErrTruncated
	}
	return nil
}

// Left returns the bits not read yet.
func (r *BitReader) Left() int { return len(r.buf)*8 + int(r.n) }

package wire

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// headroom is what a frame keeps free before its body, so that a relay can put
// the sender in place of the addressee without copying the payload.
const headroom = 16

// Frame is one frame in memory, shared by reference count between the queues
// that hold it. It is encoded once; after it was handed out nobody writes to it.
//
// The creator holds one reference. Whoever takes a frame (a queue, a ring) takes
// over one reference; [Frame.Retain] adds references before handing it to more.
// Releasing too often panics: a frame used after it went back to the pool would
// be another player's bytes.
type Frame struct {
	Kind Kind
	// Key says whose older frames this one replaces in a queue for the
	// unreliable lane; 0 for none. Snapshots use SnapshotKey, relayed messages
	// their sender's id. Not on the wire.
	Key uint32
	// Tick is the tick that a snapshot or event belongs to. Not on the wire.
	Tick uint32

	refs  atomic.Int32
	class int8
	start int
	buf   []byte
}

// SnapshotKey is the [Frame.Key] of snapshots.
const SnapshotKey uint32 = 1<<32 - 1

// Pools hold buffers by power of two from 128 bytes to 128 KiB.
const (
	minClass, maxClass = 7, 17
)

var pools [maxClass + 1]sync.Pool

// NewFrame returns a frame with an empty body and room for size bytes, counted
// once for the caller. Safe for concurrent use.
func NewFrame(k Kind, size int) *Frame {
	class := max(minClass, bits.Len(uint(size+headroom-1)))
	if class > maxClass {
		return fresh(k, -1, make([]byte, headroom, size+headroom))
	}
	if f, _ := pools[class].Get().(*Frame); f != nil {
		f.Kind, f.Key, f.Tick, f.start = k, 0, 0, headroom
		f.buf = f.buf[:headroom]
		f.refs.Store(1)
		return f
	}
	return fresh(k, int8(class), make([]byte, headroom, 1<<class))
}

func fresh(k Kind, class int8, buf []byte) *Frame {
	f := &Frame{Kind: k, class: class, start: headroom, buf: buf}
	f.refs.Store(1)
	return f
}

// CopyFrame returns a frame with a copy of body.
func CopyFrame(k Kind, body []byte) *Frame {
	f := NewFrame(k, len(body))
	f.buf = append(f.buf, body...)
	return f
}

// Body returns the body. It must not be written to, and not be used after the
// caller's reference is released.
func (f *Frame) Body() []byte { return f.buf[f.start:] }

// Lane returns the lane that the frame travels on.
func (f *Frame) Lane() Lane { return f.Kind.Lane() }

// Size returns the length of the frame on the wire, header included.
func (f *Frame) Size() int {
	n := len(f.buf) - f.start
	return n + HeaderSize(n)
}

// Append lets fn extend the body with an append-style encoder. Only the
// creator may call it, before the frame is shared.
func (f *Frame) Append(fn func(dst []byte) []byte) { f.buf = fn(f.buf) }

// Write appends p to the body; it never fails. Only the creator may call it.
func (f *Frame) Write(p []byte) (int, error) {
	f.buf = append(f.buf, p...)
	return len(p), nil
}

// Readdress replaces the first cut bytes of the body by prefix, in place where
// the headroom allows. Only a sole owner may call it.
func (f *Frame) Readdress(cut int, prefix []byte) {
	payload := f.start + cut
	if payload >= len(prefix) {
		f.start = payload - len(prefix)
		copy(f.buf[f.start:], prefix)
		return
	}
	body := append(append(make([]byte, headroom, headroom+len(prefix)+len(f.buf)), prefix...), f.buf[payload:]...)
	f.start, f.buf = headroom, body
}

// Retain adds n references.
func (f *Frame) Retain(n int) {
	if f.refs.Add(int32(n)) <= int32(n) {
		panic("wire: frame retained after its last release")
	}
}

// Release gives back one reference; the last one recycles the frame.
func (f *Frame) Release() {
	switch n := f.refs.Add(-1); {
	case n > 0:
	case n < 0:
		panic("wire: frame released too often")
	default:
		if f.class >= 0 && cap(f.buf) == 1<<f.class {
			pools[f.class].Put(f)
		}
	}
}

// ReleaseAll releases every frame of a slice and clears it.
func ReleaseAll(frames []*Frame) {
	for i, f := range frames {
		f.Release()
		frames[i] = nil
	}
}

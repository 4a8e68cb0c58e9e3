package stream

import "github.com/gatehouse/gatehouse/wire"

// AckBytes is how much may be received before an acknowledgement is due.
const AckBytes = 16 << 10

// Counter numbers what is received on the reliable lane. It is not safe for
// concurrent use: its owner is whoever reads the session's frames.
type Counter struct {
	received uint64
	acked    uint64
	bytes    int
}

// Count counts a frame if its kind is numbered, and reports whether an
// acknowledgement is due at once. Otherwise one is due within 250 ms if
// [Counter.Owing].
func (c *Counter) Count(k wire.Kind, bodyBytes int) (due bool) {
	if !k.Numbered() {
		return false
	}
	c.received++
	// As the sender's ring accounts for it: many small frames fill it too.
	c.bytes += bodyBytes + wire.HeaderSize(bodyBytes) + frameOverhead
	return c.bytes >= AckBytes
}

// Received returns how many numbered frames came in all.
func (c *Counter) Received() uint64 { return c.received }

// Owing reports whether something received was not acknowledged.
func (c *Counter) Owing() bool { return c.received != c.acked }

// Acked notes that the current count was acknowledged and returns it.
func (c *Counter) Acked() uint64 {
	c.acked, c.bytes = c.received, 0
	return c.received
}

// Reset restarts the numbering, after a gap.
func (c *Counter) Reset() { *c = Counter{} }

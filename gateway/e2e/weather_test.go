package e2e

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// weather is what a proxy does to what passes, in each direction. The zero value
// does nothing.
type weather struct {
	latency, jitter time.Duration // one way
	// loss, duplicate and reorder are probabilities per datagram. In a stream,
	// loss is what TCP makes of it: a stall for as long as sending again takes.
	loss, duplicate, reorder float64
}

// storm is a bad evening on a mobile network.
var storm = weather{latency: 100 * time.Millisecond, jitter: 30 * time.Millisecond, loss: 0.05, duplicate: 0.01, reorder: 0.02}

// delay of one datagram.
func (w weather) delay() time.Duration {
	d := w.latency
	if w.jitter > 0 {
		d += rand.N(2*w.jitter) - w.jitter
	}
	if chance(w.reorder) {
		d += 2 * w.jitter
	}
	return max(d, 0)
}

func chance(p float64) bool { return rand.Float64() < p }

// tally counts what happened in one direction.
type tally struct {
	passed, lost, doubled, overtaken, stalled atomic.Int64
	newest                                    atomic.Int64 // that has arrived
}

func (c *tally) String() string {
	return fmt.Sprintf("%d passed, %d lost, %d doubled, %d overtaken, %d stalled",
		c.passed.Load(), c.lost.Load(), c.doubled.Load(), c.overtaken.Load(), c.stalled.Load())
}

// arrived notes that the n-th datagram comes out of the proxy.
func (c *tally) arrived(n int64) {
	for {
		newest := c.newest.Load()
		if n < newest {
			c.overtaken.Add(1)
			return
		}
		if c.newest.CompareAndSwap(newest, n) {
			return
		}
	}
}

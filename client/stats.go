package client

import "time"

// Stats counts what a client has seen since it joined.
type Stats struct {
	// RTT is the smoothed round trip; 0 before the first pong.
	RTT time.Duration
	// MessagesIn and BytesIn count link messages of the links in use; FramesOut
	// and BytesOut frames handed to them, repetitions after a resume not included.
	MessagesIn, BytesIn, FramesOut, BytesOut uint64
	// Snapshots counts deltas that were applied, Fulls full snapshots.
	Snapshots, Fulls uint64
	// Stale counts snapshots and fast messages that came behind newer ones.
	Stale uint64
	// Malformed counts snapshots that did not decode.
	Malformed uint64
	// Resyncs counts full snapshots that had to be asked for.
	Resyncs uint64
	// Resumes counts links that were replaced, Gaps those that lost messages.
	Resumes, Gaps uint64
	// Tick is the newest snapshot's.
	Tick uint32
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.RTT = c.timing.rtt
	if c.view != nil {
		s.Tick, _ = c.view.Ack()
	}
	return s
}

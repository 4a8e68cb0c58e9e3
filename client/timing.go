package client

import "time"

// timing estimates the round trip and the server's tick. Guarded by the client's
// mutex.
type timing struct {
	rtt    time.Duration // smoothed; 0 before the first pong
	period time.Duration // of a tick; 0 in a room that has none
	origin time.Time     // when tick 0 would have been, by arrivals
}

// drift is how fast the estimate gives up an early arrival: clocks run apart,
// routes become longer. One part in this many.
const drift = 1000

func (t *timing) start(tickRate int) {
	*t = timing{rtt: t.rtt}
	if tickRate > 0 {
		t.period = time.Second / time.Duration(tickRate)
	}
}

// roundTrip takes in a measured round trip.
func (t *timing) roundTrip(rtt time.Duration) {
	if t.rtt == 0 {
		t.rtt = rtt
		return
	}
	t.rtt += (rtt - t.rtt) / 8
}

// arrived takes in that the snapshot of a tick came just now. The earliest
// arrivals tell the most: the others were delayed on the way.
func (t *timing) arrived(tick uint32, now time.Time) {
	if t.period == 0 {
		return
	}
	origin := now.Add(-time.Duration(tick) * t.period)
	late := origin.Sub(t.origin)
	if t.origin.IsZero() || late < 0 || late > time.Second {
		t.origin = origin
		return
	}
	t.origin = t.origin.Add(late / drift)
}

// arrivalTick is the tick, with its fraction, whose snapshot would arrive now.
func (t *timing) arrivalTick(now time.Time) float64 {
	if t.period == 0 || t.origin.IsZero() {
		return 0
	}
	return max(0, float64(now.Sub(t.origin))/float64(t.period))
}

// serverTick is the tick that the server is in now.
func (t *timing) serverTick(now time.Time) float64 {
	tick := t.arrivalTick(now)
	if tick == 0 {
		return 0
	}
	return tick + float64(t.rtt/2)/float64(t.period)
}

// ServerTick estimates the tick that the server is in, with its fraction; 0 in a
// room without ticks and before the first snapshot.
func (c *Client) ServerTick() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timing.serverTick(time.Now())
}

// RenderTick is the tick at which to show other members' entities: two behind
// the snapshots that arrive now, so that there is one on either side although
// some are lost or late.
func (c *Client) RenderTick() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, c.timing.arrivalTick(time.Now())-2)
}

package room

import "time"

// maxCatchUp is how many late ticks a room runs at once before it gives up
// catching up: it then re-bases its clock and counts what it skipped.
const maxCatchUp = 4

// clock starts ticks at fixed offsets from a monotonic origin, so that they do
// not drift, and wakes an idle room when it has been empty for long enough.
type clock struct {
	period time.Duration // 0: no ticks
	at     time.Time     // start of the next tick
	timer  *time.Timer
}

func newClock(rate int) *clock {
	c := &clock{timer: time.NewTimer(time.Hour)}
	c.timer.Stop()
	if rate > 0 {
		c.period = time.Second / time.Duration(rate)
		c.at = time.Now().Add(c.period)
	}
	return c
}

// next returns the channel to wait on for the next tick, or, in a room without
// ticks, for the end of its vacancy (negative: none).
func (c *clock) next(vacancy time.Duration) <-chan time.Time {
	switch {
	case c.period > 0:
		c.timer.Reset(time.Until(c.at))
	case vacancy >= 0:
		c.timer.Reset(vacancy)
	default:
		return nil
	}
	return c.timer.C
}

// due returns how many ticks to run now, at most one and maxCatchUp late ones.
func (c *clock) due(obs Observer) int {
	if c.period == 0 {
		return 0
	}
	lag := time.Since(c.at)
	if lag < 0 {
		return 0
	}
	obs.Lag(lag)
	n := int(lag/c.period) + 1
	if n > 1+maxCatchUp {
		obs.Skipped(n - 1 - maxCatchUp)
		n = 1 + maxCatchUp
		c.at = time.Now().Add(c.period)
		return n
	}
	c.at = c.at.Add(time.Duration(n) * c.period)
	return n
}

func (c *clock) stop() { c.timer.Stop() }

package client

import (
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

const (
	// ackDelay is how long something received may stay unacknowledged.
	ackDelay = 250 * time.Millisecond
	// lastWords bounds the wait for links to end once the session is over.
	lastWords = 2 * link.CloseGrace
)

// clocks are the moments at which the client's goroutine has something to do by
// itself; zero ones are off.
type clocks struct {
	ping     time.Time
	ack      time.Time // of the reliable lane
	snapshot time.Time // acknowledgement of snapshots
	input    time.Time
	end      time.Time // when to stop waiting for links to end
}

// run is the client's goroutine.
func (c *Client) run() {
	defer close(c.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var items []item
	var data []byte
	c.redial(time.Now())
	for {
		select {
		case <-c.inbox.wake:
		case <-timer.C:
		}
		items, data = c.inbox.take(items, data)
		now := time.Now()
		rest := data
		for i := range items {
			it := &items[i]
			if it.message {
				c.message(it.at, it.lane, rest[:it.size:it.size], now)
				rest = rest[it.size:]
				continue
			}
			c.happened(it, now)
		}
		c.tick(now)
		if c.isOver() && (c.open == 0 || now.After(c.clocks.end)) {
			return
		}
		timer.Reset(c.nextTick(now))
	}
}

// happened handles everything but messages.
func (c *Client) happened(it *item, now time.Time) {
	a := it.at
	switch {
	case it.call != nil:
		it.call()
	case it.dialed && it.err != nil:
		c.open--
		a.cancel()
		a.over = true
		c.failed(a, it.err, now)
	case it.dialed:
		a.cancel()
		a.link = it.link
		if a.over {
			c.open--
		}
		c.dialed(a, now)
	case it.ended:
		a.over = true
		if a.why == nil {
			a.why = linkError(it.err)
		}
		if a.link == nil {
			return // the dial's result follows
		}
		c.open--
		c.lost(a, a.why, now)
	}
}

// linkError makes an error of a link's end that surely is one.
func linkError(err error) error {
	if err == nil {
		return errors.New("client: the link was closed")
	}
	return err
}

// tick does what is due.
func (c *Client) tick(now time.Time) {
	if c.isOver() {
		return
	}
	if a := c.next; a != nil && a.phase == greeting && !now.Before(a.deadline) {
		c.failed(a, wire.Errorf(wire.CodeJoinTimeout, "no welcome within %v", c.opts.AttemptTimeout), now)
	}
	if c.next == nil && c.cur == nil {
		c.retry(now)
	}
	c.events.release(c, now)
	a := c.cur
	if a == nil || c.isOver() {
		return
	}
	if silence := now.Sub(a.link.LastHeard()); silence >= c.timeout() {
		c.lost(a, wire.Errorf(wire.CodeTimeout, "nothing was heard for %v", silence.Round(time.Millisecond)), now)
		return
	}
	if due(c.clocks.ping, now) {
		c.clocks.ping = now.Add(c.pingEvery())
		c.sendPing(now)
	}
	if due(c.clocks.ack, now) {
		c.sendAck()
	}
	if due(c.clocks.input, now) {
		c.tickInput(now)
	}
	if due(c.clocks.snapshot, now) {
		c.acknowledgeLate(now)
	}
}

func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// nextTick returns how long nothing is due.
func (c *Client) nextTick(now time.Time) time.Duration {
	at := now.Add(time.Hour)
	soonest := func(t time.Time) {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if c.isOver() {
		soonest(c.clocks.end)
		return at.Sub(now)
	}
	soonest(c.events.deadline())
	if c.next != nil && c.next.phase == greeting {
		soonest(c.next.deadline)
	}
	if c.next == nil && c.cur == nil {
		soonest(c.course.retryAt)
		soonest(c.course.graceEnds)
	}
	if c.cur != nil {
		soonest(c.cur.link.LastHeard().Add(c.timeout()))
		soonest(c.clocks.ping)
		soonest(c.clocks.ack)
		soonest(c.clocks.snapshot)
		soonest(c.clocks.input)
	}
	return at.Sub(now)
}

// timeout is the silence after which a link is given up. The goroutine that owns
// welcome may read it without the lock.
func (c *Client) timeout() time.Duration {
	ms := c.welcome.Limits.TimeoutMS
	if ms <= 0 {
		return 15 * time.Second
	}
	return time.Duration(ms) * time.Millisecond
}

func (c *Client) pingEvery() time.Duration {
	if ms := c.welcome.Limits.PingMS; ms > 0 {
		return min(c.opts.PingEvery, time.Duration(ms)*time.Millisecond)
	}
	return c.opts.PingEvery
}

package client

import (
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	// eventDelay is how long an event waits for the world to reach its tick.
	eventDelay = 250 * time.Millisecond
	// maxEvents bounds those that wait; more release the oldest early.
	maxEvents = 1024
)

// eventQueue holds events until the world has reached their tick. Ticks rise
// along the reliable lane, so the oldest is always the next.
type eventQueue struct {
	waiting []heldEvent
	head    int
}

type heldEvent struct {
	frame *wire.Frame // a copy of the body
	tick  uint32
	until time.Time
}

func (q *eventQueue) len() int { return len(q.waiting) - q.head }

// event takes in an event and releases it at once if the world is that far.
func (c *Client) event(body []byte, now time.Time) error {
	e, err := wire.ParseEvent(body)
	if err != nil {
		return err
	}
	q := &c.events
	if c.view == nil || q.len() == 0 && c.reached(e.Tick) {
		c.tellEvent(e)
		return nil
	}
	if q.len() >= maxEvents {
		q.pop(c)
	}
	if q.head > maxEvents { // the released ones are as many as may wait: reuse them
		n := copy(q.waiting, q.waiting[q.head:])
		clear(q.waiting[n:])
		q.waiting, q.head = q.waiting[:n], 0
	}
	q.waiting = append(q.waiting, heldEvent{wire.CopyFrame(wire.KindEvent, body), e.Tick, now.Add(eventDelay)})
	return nil
}

// reached reports whether the world has a snapshot of the tick or a later one.
func (c *Client) reached(tick uint32) bool {
	newest, _ := c.view.Ack()
	return int32(newest-tick) >= 0
}

// release tells the events whose tick or time has come.
func (q *eventQueue) release(c *Client, now time.Time) {
	for q.len() > 0 {
		h := q.waiting[q.head]
		if !c.reached(h.tick) && now.Before(h.until) {
			return
		}
		q.pop(c)
	}
	q.waiting, q.head = q.waiting[:0], 0
}

// flush tells all events, whatever the world's tick.
func (q *eventQueue) flush(c *Client) {
	for q.len() > 0 {
		q.pop(c)
	}
}

// pop tells the oldest event.
func (q *eventQueue) pop(c *Client) {
	h := q.waiting[q.head]
	q.waiting[q.head] = heldEvent{}
	q.head++
	if e, err := wire.ParseEvent(h.frame.Body()); err == nil { // it did before
		c.tellEvent(e)
	}
	h.frame.Release()
}

func (c *Client) tellEvent(e wire.Event) {
	if c.opts.Handler.Event != nil {
		c.opts.Handler.Event(e)
	}
}

// clear drops all events untold.
func (q *eventQueue) clear() {
	for q.len() > 0 {
		q.waiting[q.head].frame.Release()
		q.head++
	}
	q.waiting, q.head = nil, 0
}

// deadline is when the oldest event must be told; zero without one.
func (q *eventQueue) deadline() time.Time {
	if q.len() == 0 {
		return time.Time{}
	}
	return q.waiting[q.head].until
}

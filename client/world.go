package client

import (
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// snapshot applies a delta snapshot. What can not be applied is no reason to end
// a session: a full snapshot puts it right.
func (c *Client) snapshot(body []byte, now time.Time) {
	if c.view == nil {
		return
	}
	c.mu.Lock()
	a, err := c.view.Apply(body)
	switch {
	case err == nil && a.Stale:
		c.stats.Stale++
	case err == nil:
		c.stats.Snapshots++
		c.noteLocked(a, now)
	case !errors.Is(err, replica.ErrResync):
		c.stats.Malformed++
	}
	c.mu.Unlock()
	switch {
	case err != nil:
		c.askResync()
	case !a.Stale:
		c.owe(now, false)
		c.changedWorld(a, now)
	}
}

// full applies a chunk of a full snapshot.
func (c *Client) full(body []byte, now time.Time) error {
	if c.view == nil {
		return wire.Errorf(wire.CodeProtocol, "a full snapshot in a room without a schema")
	}
	c.mu.Lock()
	a, done, err := c.view.ApplyFull(body)
	if done {
		c.stats.Fulls++
		c.noteLocked(a, now)
	}
	c.mu.Unlock()
	switch {
	case errors.Is(err, replica.ErrResync): // the rest of one that a gap has torn
		c.resync = false
		c.askResync()
		return nil
	case err != nil:
		return err
	case !done:
		return nil
	}
	c.synced, c.resync = true, false
	c.owe(now, true) // no deltas come before this is acknowledged
	if !c.leaving {
		c.setState(c.presentState(), nil)
	}
	c.changedWorld(a, now)
	return nil
}

// noteLocked takes in what a snapshot says besides entities.
func (c *Client) noteLocked(a replica.Applied, now time.Time) {
	c.timing.arrived(a.Tick, now)
	if a.HasInput {
		c.inputs.applied(a.InputSeq)
	}
}

func (c *Client) changedWorld(a replica.Applied, now time.Time) {
	if c.opts.Handler.Snapshot != nil {
		c.opts.Handler.Snapshot(c.view, a)
	}
	c.events.release(c, now)
}

// askResync asks for a full snapshot, once until it comes: the reliable lane
// does not lose the question.
func (c *Client) askResync() {
	if c.resync {
		return
	}
	if err := c.sendReliable(wire.NewFrame(wire.KindResync, 0)); err != nil {
		return // the lane is full: the next snapshot asks again
	}
	c.resync = true
	c.mu.Lock()
	c.stats.Resyncs++
	c.mu.Unlock()
	if !c.leaving {
		c.setState(Resynchronizing, nil)
	}
}

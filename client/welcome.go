package client

import (
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// welcomed moves the session to a link whose hello was accepted.
func (c *Client) welcomed(a *attempt, body []byte, now time.Time) {
	var w wire.Welcome
	if err := wire.DecodeJSON(wire.KindWelcome, body, &w); err != nil {
		c.finish(wire.Errorf(wire.CodeProtocol, "%v", err))
		return
	}
	resuming := c.welcome.Session != ""
	var cursor uint64
	var err error
	switch {
	case w.Version != wire.Version:
		err = wire.Errorf(wire.CodeVersion, "the server speaks version %d, the client only %d", w.Version, wire.Version)
	case w.Resumed != resuming:
		err = wire.Errorf(wire.CodeProtocol, "welcome: resumed is %v", w.Resumed)
	case resuming:
		cursor, err = c.resumed(&w)
	default:
		cursor, err = 1, c.admitted(&w)
	}
	if err != nil {
		c.finish(err)
		return
	}

	old := c.cur
	c.cur, c.next = a, nil
	a.phase = live
	k := &c.course
	k.graceEnds, k.tried, k.welcomed = time.Time{}, 0, now
	if k.switching != nil {
		c.prefer(a.dialer)
	}
	c.mu.Lock()
	c.link = a.link
	c.mu.Unlock()
	a.link.Attach(c.ring, cursor)
	if old != nil {
		c.drop(old, wire.CodeReplaced)
	}
	// The presented secret dies with the first frame after the hello: let that be now.
	c.sendAck()
	c.sendPing(now)
	c.clocks.ping = now.Add(c.pingEvery())
	c.startInputs(now)
	if !c.leaving {
		c.setState(c.presentState(), nil)
	}
	if w.Gap && c.opts.Handler.Gap != nil {
		c.opts.Handler.Gap()
	}
	c.switched(nil)
	select {
	case c.joined <- nil:
	default:
	}
}

// presentState is the state of a client that has a link.
func (c *Client) presentState() State {
	switch {
	case c.view == nil:
		return Synchronized
	case c.resync:
		return Resynchronizing
	case !c.synced:
		return Joining
	default:
		return Synchronized
	}
}

// admitted takes in the welcome of a join.
func (c *Client) admitted(w *wire.Welcome) error {
	if w.Session == "" {
		return wire.Errorf(wire.CodeProtocol, "welcome: session is empty")
	}
	var view *replica.View
	if len(w.Schema) > 0 {
		schema, err := replica.ParseSchema(w.Schema)
		if err != nil {
			return wire.Errorf(wire.CodeProtocol, "welcome: %v", err)
		}
		view = replica.NewView(schema)
	}
	c.mu.Lock()
	c.welcome, c.view = *w, view
	c.timing.start(w.TickRate)
	c.mu.Unlock()
	c.replaceRoster(w.Peers)
	return nil
}

// resumed takes in the welcome of a resume and returns the number from which to
// send again.
func (c *Client) resumed(w *wire.Welcome) (cursor uint64, err error) {
	if w.Resume == nil {
		return 0, wire.Errorf(wire.CodeProtocol, "welcome: resumed without a next secret")
	}
	if w.Gap {
		c.bridge(w)
		return 1, nil
	}
	cursor, ok := c.ring.Rewind(w.Received)
	if !ok {
		return 0, wire.Errorf(wire.CodeProtocol, "welcome: received is %d, of %d sent", w.Received, c.ring.Sent())
	}
	c.mu.Lock()
	c.welcome.Resume, c.welcome.Limits = w.Resume, w.Limits
	c.stats.Resumes++
	c.mu.Unlock()
	return cursor, nil
}

// bridge restarts what a gap has torn: the numbering of both directions, the
// open requests, the world and the roster.
func (c *Client) bridge(w *wire.Welcome) {
	c.counter.Reset()
	c.synced, c.resync = false, true
	c.events.flush(c)
	c.mu.Lock()
	c.ring.Clear()
	c.welcome = *w
	c.stats.Resumes++
	c.stats.Gaps++
	failed := c.calls.takeAll()
	c.mu.Unlock()
	finishCalls(failed, wire.Errorf(wire.CodeGap, "the session resumed without its messages"))
	c.replaceRoster(w.Peers)
}

// beginLeave sends the leave message.
func (c *Client) beginLeave() {
	if c.isOver() || c.leaving {
		return
	}
	if c.welcome.Session == "" {
		c.finish(nil)
		return
	}
	c.leaving = true
	c.setState(Leaving, nil)
	if err := c.sendReliable(wire.NewFrame(wire.KindLeave, 0)); err != nil {
		c.finish(errors.Join(errors.New("client: the leave message could not be sent"), err))
	}
}

package client

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// course is the way back to the server: which dialer comes next, and when. It is
// owned by the client's goroutine.
type course struct {
	dialers   []Dialer
	at        int // the dialer of the next attempt
	tried     int // attempts since the link was lost
	welcomed  time.Time
	brief     int       // links in a row that did not last
	failures  []error   // of a join
	retryAt   time.Time // of the next attempt
	graceEnds time.Time // when the session is beyond resuming; zero before a welcome
	switching chan<- error
	frozen    bool // a switch has said hello: the old link is not read any more
}

const (
	// lasting is how long a link lasts that did not fail at once.
	lasting = 5 * time.Second
	// maxBrief is how many in a row may fail at once before the next is put off.
	maxBrief = 3
)

// redial starts the next attempt.
func (c *Client) redial(now time.Time) {
	k := &c.course
	k.retryAt = time.Time{}
	c.next = c.dial(k.dialers[k.at%len(k.dialers)], now)
}

// retry starts the next attempt if it is time, and gives up when the grace has
// passed.
func (c *Client) retry(now time.Time) {
	k := &c.course
	switch {
	case due(k.graceEnds, now):
		c.finish(wire.Errorf(wire.CodeSessionExpired, "no resume within the grace"))
	case due(k.retryAt, now):
		c.redial(now)
	}
}

// dialed greets the server over a new link.
func (c *Client) dialed(a *attempt, now time.Time) {
	if a != c.next || c.isOver() {
		a.phase = dead
		a.link.Close(wire.Errorf(wire.CodeGoingAway, "the client has gone on without this link"))
		return
	}
	if a.over {
		c.failed(a, a.why, now)
		return
	}
	o := &c.opts
	hello := wire.Hello{Versions: wire.Versions()}
	if w := &c.welcome; w.Session == "" {
		hello.Room, hello.Token, hello.Identity = o.Room, o.Token, o.Identity
		hello.Name, hello.Profile = o.Name, o.Profile
	} else {
		// What the old link still brings is sent again over the new one, after
		// this count: reading it as well would double it.
		c.course.frozen = c.cur != nil
		hello.Resume = &wire.ResumeRequest{Secret: w.Resume.Secret, Received: c.counter.Received()}
	}
	a.phase = greeting
	a.link.Send(wire.JSONFrame(wire.KindHello, hello))
}

// failed ends an attempt that has not led to a welcome.
func (c *Client) failed(a *attempt, err error, now time.Time) {
	if a != c.next || c.isOver() {
		return
	}
	// Only what answers a hello is about the session. A dial may be refused for
	// reasons of its transport, and another may do.
	refused := a.phase == greeting && isTerminal(err)
	c.next = nil
	c.drop(a, wire.CodeJoinTimeout)
	k := &c.course
	if c.welcome.Session == "" { // joining
		k.failures = append(k.failures, err)
		k.at++
		if refused || k.at >= len(k.dialers) {
			c.finish(joinError(k.failures))
			return
		}
		k.retryAt = now
		return
	}
	frozen := k.frozen
	c.switched(fmt.Errorf("client: switch: %w", err))
	switch {
	case c.cur != nil && !frozen: // a switch that did not come to its hello
	case c.cur != nil: // what the old link brought meanwhile was not read
		old := c.cur
		c.cur = nil
		c.drop(old, wire.CodeGoingAway)
		c.away(err, now)
	case refused:
		c.finish(err)
	case k.graceEnds.IsZero():
		c.away(err, now)
	default:
		k.at++
		k.tried++
		k.retryAt = now.Add(c.pause(k.tried))
	}
}

// joinError returns a single error as it is, so that a refusal stays a *wire.Error.
func joinError(failures []error) error {
	if len(failures) == 1 {
		return failures[0]
	}
	return errors.Join(failures...)
}

// lost handles the end of a link, or its being given up.
func (c *Client) lost(a *attempt, err error, now time.Time) {
	if a == c.next {
		c.failed(a, err, now)
		return
	}
	if a != c.cur || c.isOver() {
		return
	}
	c.cur = nil
	c.drop(a, codeOf(err, wire.CodeGoingAway))
	switch {
	case c.course.frozen:
		// The server ends the old link when it accepts the switch; the welcome
		// on the new one may still be on its way.
		c.setLink(nil)
	case isTerminal(err) || c.welcome.Resume == nil:
		c.finish(err)
	default:
		c.away(err, now)
	}
}

// away begins the way back.
func (c *Client) away(err error, now time.Time) {
	c.setLink(nil)
	if !c.leaving {
		c.setState(Away, err)
	}
	k := &c.course
	k.graceEnds = now.Add(time.Duration(c.welcome.Resume.GraceMS) * time.Millisecond)
	k.tried, k.retryAt = 0, now
	if k.brief++; now.Sub(k.welcomed) >= lasting {
		k.brief = 0
	}
	switch code := codeOf(err, wire.CodeNone); {
	case code == wire.CodeGoingAway, code == wire.CodeOverloaded:
		k.retryAt = now.Add(c.pause(3)) // everybody else comes back at this moment too
	case k.brief > maxBrief: // something ends each link as soon as it is welcomed
		k.retryAt = now.Add(c.pause(k.brief - maxBrief))
	}
	if c.next == nil {
		c.retry(now)
	}
}

func (c *Client) setLink(l *link.Link) {
	c.mu.Lock()
	c.link = l
	c.mu.Unlock()
}

// pause returns the jittered wait before an attempt.
func (c *Client) pause(tried int) time.Duration {
	d := c.opts.RetryMax
	if shift := tried - 1; shift < 20 {
		d = min(d, c.opts.RetryMin<<shift)
	}
	return d/2 + rand.N(d/2+1)
}

// isTerminal reports whether the same attempt would fail again.
func isTerminal(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && !e.Code.Retry()
}

// codeOf returns the code of an error, or other if it has none.
func codeOf(err error, other wire.Code) wire.Code {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return other
}

// drop lets go of a link.
func (c *Client) drop(a *attempt, code wire.Code) {
	a.phase = dead
	a.cancel()
	if a.link != nil && !a.over {
		a.link.Close(wire.Errorf(code, "the client gave this link up"))
	}
}

// beginSwitch starts to move the session to a link of d.
func (c *Client) beginSwitch(d Dialer, result chan<- error) {
	switch {
	case c.isOver():
		result <- c.over()
	case c.cur == nil:
		result <- ErrAway
	case c.next != nil:
		result <- errors.New("client: a switch is under way")
	case c.welcome.Resume == nil:
		result <- errors.New("client: this session can not be resumed, so not moved")
	default:
		c.course.switching = result
		c.next = c.dial(d, time.Now())
	}
}

// prefer makes d the first choice.
func (c *Client) prefer(d Dialer) {
	c.course.dialers, c.course.at = append([]Dialer{d}, c.opts.Dialers...), 0
}

// switched answers a waiting Switch.
func (c *Client) switched(err error) {
	c.course.frozen = false
	if c.course.switching != nil {
		c.course.switching <- err
		c.course.switching = nil
	}
}

func (c *Client) isOver() bool { return c.ended }

// finish ends the session for good.
func (c *Client) finish(err error) {
	if c.ended {
		return
	}
	c.ended = true
	if c.leaving {
		switch codeOf(err, wire.CodeNone) {
		case wire.CodeLeft, wire.CodeSessionExpired:
			err = nil // the server has let us go, which is what we wanted
		}
	}
	c.clocks.end = time.Now().Add(lastWords)
	for _, a := range []*attempt{c.cur, c.next} {
		if a != nil {
			c.drop(a, wire.CodeGoingAway)
		}
	}
	c.cur, c.next = nil, nil
	c.setLink(nil)
	c.events.clear()
	c.failCalls(endError(err))
	c.setState(Closed, err)
	c.switched(endError(err))
	select {
	case c.joined <- endError(err):
	default:
	}
	c.ring.Clear()
}

// endError is the error of what was under way when the session ended.
func endError(err error) error {
	if err == nil {
		return wire.Errorf(wire.CodeLeft, "the session is over")
	}
	return err
}

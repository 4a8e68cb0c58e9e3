package client

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Dialer opens a link to the server whose handler is h. The link must be open
// when it returns; ctx bounds the dial only.
type Dialer func(ctx context.Context, h link.Handler) (*link.Link, error)

// attempt is one link of a client: being dialed, greeted, in use, or gone. It is
// the link's handler and posts to the client's inbox; its fields are owned by
// the client's goroutine.
type attempt struct {
	c        *Client
	dialer   Dialer
	link     *link.Link // nil until dialed
	cancel   context.CancelFunc
	phase    phase
	deadline time.Time // of the welcome
	over     bool      // the link has ended
	why      error     // what its close frame or its end said
}

type phase uint8

const (
	dialing  phase = iota
	greeting       // hello was sent
	live           // welcome was received
	dead           // of no more interest
)

var _ link.Handler = (*attempt)(nil)

// Opened implements link.Handler.
func (a *attempt) Opened(*link.Link) {}

// Receive implements link.Handler.
func (a *attempt) Receive(_ *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	if a.c.inbox.message(a, lane, msg) || lane == wire.Unreliable {
		return nil
	}
	return wire.Errorf(wire.CodeSlowConsumer, "the application is behind by %d bytes", inboxBytes)
}

// Ended implements link.Handler.
func (a *attempt) Ended(_ *link.Link, err error) {
	a.c.inbox.put(item{at: a, ended: true, err: err})
}

// dial starts an attempt.
func (c *Client) dial(d Dialer, now time.Time) *attempt {
	ctx, cancel := context.WithDeadline(context.Background(), now.Add(c.opts.AttemptTimeout))
	a := &attempt{c: c, dialer: d, cancel: cancel, deadline: now.Add(c.opts.AttemptTimeout)}
	c.open++
	go func() {
		l, err := d(ctx, a)
		c.inbox.put(item{at: a, dialed: true, link: l, err: err})
	}()
	return a
}

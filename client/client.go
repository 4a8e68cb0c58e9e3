package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

// ErrAway is returned by what needs a link at once while there is none.
var ErrAway = errors.New("client: no link to the server just now")

// Client is one player's session. Its methods may be called from any goroutine.
type Client struct {
	// immutable
	opts  Options
	born  time.Time
	inbox inbox
	done  chan struct{} // closed when the client's goroutine has ended

	// owned by the client's goroutine
	cur, next *attempt // in use; on its way
	open      int      // attempts whose link has not ended
	course    course   // what next is for, and when the one after it comes
	counter   stream.Counter
	roster    roster
	events    eventQueue
	clocks    clocks
	resync    bool // asked for, no full snapshot yet
	synced    bool // a full snapshot has come since the join or the last gap
	joined    chan error
	leaving   bool // a leave message was sent
	ended     bool // the session is over

	mu      sync.Mutex // guards the rest; never held over a callback or I/O
	state   State
	err     error
	changed chan struct{} // closed and replaced at every change of state
	welcome wire.Welcome
	link    *link.Link // nil while away
	ring    *stream.Ring
	view    *replica.View // nil in a room without simulation
	names   map[uint32]wire.Peer
	calls   calls
	inputs  inputs
	timing  timing
	stats   Stats
}

// Join joins a room and returns once the server has welcomed the client; use
// [Client.Ready] to wait for the world. It tries every dialer once. ctx bounds
// the join only. A refusal is a [*wire.Error].
func Join(ctx context.Context, o Options) (*Client, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		opts: o, born: time.Now(),
		inbox:   inbox{wake: make(chan struct{}, 1)},
		done:    make(chan struct{}),
		joined:  make(chan error, 1),
		changed: make(chan struct{}),
		ring:    stream.NewRing(o.RingBytes, true),
		names:   make(map[uint32]wire.Peer),
		course:  course{dialers: o.Dialers},
		calls:   newCalls(),
	}
	go c.run()
	select {
	case err = <-c.joined:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// State returns the state.
func (c *Client) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Err says why the session is over or the client away; nil otherwise, and after
// a Leave that was confirmed.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Done is closed when the session is over and everything of it has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Ready waits until the client is Synchronized. It fails if the session ends.
func (c *Client) Ready(ctx context.Context) error {
	for {
		c.mu.Lock()
		state, err, changed := c.state, c.err, c.changed
		c.mu.Unlock()
		switch state {
		case Synchronized:
			return nil
		case Leaving, Closed:
			return errors.Join(errors.New("client: the session is over"), err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Welcome returns what the server said last when it welcomed the client, without
// the resume secret. Its slices are shared: read only.
func (c *Client) Welcome() wire.Welcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.welcome
	w.Resume = nil
	return w
}

// You returns the client's own peer id.
func (c *Client) You() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcome.You
}

// Transport names the transport in use, "" while away.
func (c *Client) Transport() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return ""
	}
	return c.link.Info().Transport
}

// Peers returns a copy of the roster, by id, the client itself included.
func (c *Client) Peers() map[uint32]wire.Peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[uint32]wire.Peer, len(c.names))
	for id, p := range c.names {
		all[id] = p
	}
	return all
}

// World calls fn with the client's copy of the world, nil in a room without
// simulation. No snapshot is applied meanwhile, so fn should be quick, and must
// not call the client.
func (c *Client) World(fn func(v *replica.View)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fn(c.view)
}

// Switch moves the session to a link of another dialer, which also becomes the
// first choice for later resumes. If the dial fails, the session stays where it
// is.
func (c *Client) Switch(ctx context.Context, d Dialer) error {
	result := make(chan error, 1)
	c.inbox.put(item{call: func() { c.beginSwitch(d, result) }})
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return c.over()
	}
}

// Prefer makes d the first choice for later resumes.
func (c *Client) Prefer(d Dialer) {
	c.inbox.put(item{call: func() { c.prefer(d) }})
}

// Leave ends the session properly and waits until the server has confirmed. If
// ctx ends first the client is closed anyway, and the server is left to notice.
func (c *Client) Leave(ctx context.Context) error {
	c.inbox.put(item{call: c.beginLeave})
	select {
	case <-c.done:
		return c.Err()
	case <-ctx.Done():
		c.Close()
		return ctx.Err()
	}
}

// Close drops the link without leaving, as if it had broken: the server keeps
// the seat until the grace has passed. It waits until everything has ended,
// which is at most a few times [link.CloseGrace].
func (c *Client) Close() {
	c.inbox.put(item{call: func() { c.finish(nil) }})
	<-c.done
}

// over is the error of a session that has ended.
func (c *Client) over() error { return endError(c.Err()) }

// setState changes the state and tells the application. Closed is final.
func (c *Client) setState(s State, err error) {
	c.mu.Lock()
	if c.state == s || c.state == Closed {
		c.mu.Unlock()
		return
	}
	c.state, c.err = s, err
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	if c.opts.Handler.State != nil {
		c.opts.Handler.State(s, err)
	}
}

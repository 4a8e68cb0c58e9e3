//go:build !noenet

package enet

import (
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// conn is one peer's link.Conn: a slot of a host, for one generation.
type conn struct {
	// immutable
	host       *host
	slot       uint32
	generation uint32
	info       link.Info

	marked  atomic.Bool                // it is in host.marked, or held
	hurried atomic.Bool                // it is in host.marked although it is held
	closed  atomic.Pointer[wire.Error] // what Close was told
	shared  atomic.Pointer[link.Link]  // link, for other goroutines

	// owned by the host's owner
	link     *link.Link
	held     bool // back, until due
	due      time.Time
	deaf     bool      // Receive has said that it wants no more
	ready    bool      // it is in host.ready
	blocked  bool      // it is in host.blocked
	finished bool      // ENet was told to disconnect
	deadline time.Time // of a closing one; zero until the owner has seen Close
	ended    bool
}

var _ link.Conn = (*conn)(nil)

// Info implements [link.Conn].
func (c *conn) Info() link.Info { return c.info }

// Wake implements [link.Conn].
func (c *conn) Wake() {
	if c.marked.CompareAndSwap(false, true) {
		c.host.mark(c)
	} else if l := c.shared.Load(); l != nil && l.Urgent() {
		c.hurry()
	}
}

// hurry marks a conn that may be held.
func (c *conn) hurry() {
	if c.hurried.CompareAndSwap(false, true) {
		c.host.mark(c)
	}
}

// Close implements [link.Conn].
func (c *conn) Close(code wire.Code, reason string) {
	c.closed.Store(&wire.Error{Code: code, Reason: reason})
	c.hurry()
}

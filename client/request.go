package client

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gatehouse/gatehouse/wire"
)

// maxCalls bounds the requests that wait for their response.
const maxCalls = 1024

// Done is told the outcome of a request: the payload of a success, which is valid
// during the call only, or why there is none. A refusal is a [*wire.Error].
type Done func(payload []byte, err error)

// calls are the requests that wait for a response, by id. Guarded by the
// client's mutex.
type calls struct {
	last    uint32 // ids count up from 1 for the life of the session
	waiting map[uint32]Done
}

func newCalls() calls { return calls{waiting: make(map[uint32]Done)} }

// takeAll empties the table and returns what was in it.
func (cs *calls) takeAll() map[uint32]Done {
	all := cs.waiting
	cs.waiting = make(map[uint32]Done)
	return all
}

// finishCalls tells requests that there will be no response.
func finishCalls(all map[uint32]Done, err error) {
	for _, done := range all {
		done(nil, err)
	}
}

// Call sends a request and returns its id at once; done is called by the
// client's goroutine. A request outlives links: it is sent again with its id, and
// the server repeats its response, never its effect. It fails with [wire.CodeGap]
// if a resume lost it. On an error done is not called.
func (c *Client) Call(name string, payload []byte, done Done) (id uint32, err error) {
	if n := len(name); n == 0 || n > wire.MaxNameBytes {
		return 0, wire.Errorf(wire.CodeBadName, "request name of %d bytes, accepted are 1 to %d", n, wire.MaxNameBytes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fitsLocked(wire.Reliable, payload); err != nil {
		return 0, err
	}
	if len(c.calls.waiting) >= maxCalls {
		return 0, wire.Errorf(wire.CodeRateLimited, "%d requests wait for their response", maxCalls)
	}
	id = c.calls.last + 1
	f := wire.NewFrame(wire.KindRequest, len(name)+len(payload)+8)
	f.Append(func(dst []byte) []byte {
		return wire.AppendRequest(dst, wire.Request{ID: id, Name: name, Payload: payload})
	})
	if err := c.pushLocked(f); err != nil {
		return 0, err
	}
	c.calls.last = id
	c.calls.waiting[id] = done
	return id, nil
}

// Request sends a request and waits for its response. See [Client.Call]; not for
// use in a Handler. When ctx ends the request may still take effect.
func (c *Client) Request(ctx context.Context, name string, payload []byte) ([]byte, error) {
	type outcome struct {
		payload []byte
		err     error
	}
	result := make(chan outcome, 1)
	id, err := c.Call(name, payload, func(payload []byte, err error) {
		result <- outcome{bytes.Clone(payload), err}
	})
	if err != nil {
		return nil, err
	}
	select {
	case o := <-result:
		return o.payload, o.err
	case <-ctx.Done():
		c.forget(id)
		return nil, fmt.Errorf("client: request %q: %w", name, ctx.Err())
	}
}

// forget drops the interest in a response.
func (c *Client) forget(id uint32) {
	c.mu.Lock()
	delete(c.calls.waiting, id)
	c.mu.Unlock()
}

// response hands a response to its request, if that is still waited for.
func (c *Client) response(body []byte) error {
	r, err := wire.ParseResponse(body)
	if err != nil {
		return err
	}
	c.mu.Lock()
	done := c.calls.waiting[r.ID]
	delete(c.calls.waiting, r.ID)
	c.mu.Unlock()
	switch {
	case done == nil:
	case r.Code != wire.CodeNone:
		done(nil, &wire.Error{Code: r.Code, Reason: string(r.Payload)})
	default:
		done(r.Payload, nil)
	}
	return nil
}

func (c *Client) failCalls(err error) {
	c.mu.Lock()
	all := c.calls.takeAll()
	c.mu.Unlock()
	finishCalls(all, err)
}

// fitsLocked checks a payload against the limit that the server announced.
func (c *Client) fitsLocked(lane wire.Lane, payload []byte) error {
	limit, announced := wire.MaxReliablePayload, c.welcome.Limits.ReliableBytes
	if lane == wire.Unreliable {
		limit, announced = wire.MaxUnreliablePayload, c.welcome.Limits.UnreliableBytes
	}
	if announced > 0 {
		limit = min(limit, announced)
	}
	if len(payload) > limit {
		return wire.Errorf(wire.CodeTooBig, "payload of %d bytes on the %s lane, limit %d", len(payload), lane, limit)
	}
	return nil
}

package room

import (
	"fmt"

	"github.com/gatehouse/gatehouse/wire"
)

// Bounds of what a room remembers of a seat's requests.
const (
	maxOpenCalls  = 64        // accepted and not answered
	keptResponses = 64        // for requests that are repeated
	keptBytes     = 256 << 10 // of those responses
)

// calls makes a repeated request repeat its response, never its effect. Ids
// ascend from 1; the room's goroutine owns it.
type calls struct {
	last  uint32 // highest id accepted
	open  []uint32
	kept  []keptResponse // oldest first
	bytes int
}

type keptResponse struct {
	id    uint32
	frame *wire.Frame
}

// parseRequest parses a request of any kind of room. Ids begin at 1.
func parseRequest(f *wire.Frame) (wire.Request, error) {
	q, err := wire.ParseRequest(f.Body())
	if err == nil && q.ID == 0 {
		err = fmt.Errorf("%w: request id 0", wire.ErrMalformed)
	}
	return q, err
}

// verdict on a request that arrived.
type verdict uint8

const (
	callNew      verdict = iota // do it
	callRepeated                // its response is kept, or still to come
	callSpent                   // its response is no longer kept
	callTooMany                 // too many are open
)

// accept judges a request. For one whose response is kept it returns that, with
// a reference for the caller.
func (c *calls) accept(id uint32) (verdict, *wire.Frame) {
	if id > c.last {
		if len(c.open) >= maxOpenCalls {
			return callTooMany, nil
		}
		c.last = id
		c.open = append(c.open, id)
		return callNew, nil
	}
	for _, o := range c.open {
		if o == id {
			return callRepeated, nil
		}
	}
	for _, k := range c.kept {
		if k.id == id {
			k.frame.Retain(1)
			return callRepeated, k.frame
		}
	}
	return callSpent, nil
}

// answer keeps the response of an open request, and returns the frame with a
// reference for the caller; nil if no such request is open.
func (c *calls) answer(r wire.Response) *wire.Frame {
	at := -1
	for i, o := range c.open {
		if o == r.ID {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	c.open = append(c.open[:at], c.open[at+1:]...)
	f := responseFrame(r)
	f.Retain(1)
	c.kept = append(c.kept, keptResponse{r.ID, f})
	c.bytes += f.Size()
	for len(c.kept) > keptResponses || c.bytes > keptBytes && len(c.kept) > 1 {
		c.bytes -= c.kept[0].frame.Size()
		c.kept[0].frame.Release()
		c.kept = append(c.kept[:0], c.kept[1:]...)
	}
	return f
}

// drop releases everything.
func (c *calls) drop() {
	for _, k := range c.kept {
		k.frame.Release()
	}
	*c = calls{last: c.last}
}

package client

import (
	"encoding/binary"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

// message handles one link message.
func (c *Client) message(a *attempt, lane wire.Lane, msg []byte, now time.Time) {
	if c.isOver() || a.phase == dead || a == c.cur && c.course.frozen {
		return
	}
	if a.phase == live {
		c.mu.Lock()
		c.stats.MessagesIn++
		c.stats.BytesIn += uint64(len(msg))
		c.mu.Unlock()
	}
	for len(msg) > 0 && a.phase != dead {
		k, body, rest, err := wire.NextFrame(msg)
		if err != nil {
			c.broken(a, "%v", err)
			return
		}
		if k.Lane() != lane && a.link != nil && !a.link.Info().OneStream {
			c.broken(a, "%s on the %s lane", k, lane)
			return
		}
		msg = rest
		if a.phase == live {
			c.frame(a, k, body, now)
		} else {
			c.early(a, k, body, now)
		}
	}
}

// broken ends the session because the server broke the protocol.
func (c *Client) broken(a *attempt, format string, args ...any) {
	err := wire.Errorf(wire.CodeProtocol, format, args...)
	if a.link != nil {
		a.link.Close(err)
	}
	c.finish(err)
}

// early handles a frame that comes before the welcome.
func (c *Client) early(a *attempt, k wire.Kind, body []byte, now time.Time) {
	switch {
	case k == wire.KindClose:
		c.closed(a, body, now)
	case k == wire.KindWelcome && a == c.next && a.phase == greeting:
		c.welcomed(a, body, now)
	case k.Lane() == wire.Unreliable || k.Control():
		// Meant for a moment later, or of a kind to come: nothing is lost.
	default:
		c.broken(a, "%s before the welcome", k)
	}
}

// frame handles a frame of the link in use.
func (c *Client) frame(a *attempt, k wire.Kind, body []byte, now time.Time) {
	if k.Numbered() {
		if c.counter.Count(k, len(body)) {
			c.sendAck()
		} else if c.clocks.ack.IsZero() {
			c.clocks.ack = now.Add(ackDelay)
		}
	}
	var err error
	switch k {
	case wire.KindAck:
		err = c.acked(body)
	case wire.KindPing:
		c.send(wire.CopyFrame(wire.KindPong, body))
	case wire.KindPong:
		c.pong(body, now)
	case wire.KindClose:
		c.closed(a, body, now)
	case wire.KindResponse:
		err = c.response(body)
	case wire.KindEvent:
		err = c.event(body, now)
	case wire.KindRelayed, wire.KindRelayedFast:
		err = c.relayed(k.Lane(), body)
	case wire.KindFull:
		err = c.full(body, now)
	case wire.KindSnapshot:
		c.snapshot(body, now)
	case wire.KindPeer:
		err = c.peer(body)
	case wire.KindDraining:
		err = c.draining(body)
	}
	if err != nil {
		c.broken(a, "%v", err)
	}
}

// closed handles the last frame of a link.
func (c *Client) closed(a *attempt, body []byte, now time.Time) {
	var cl wire.Close
	if err := wire.DecodeJSON(wire.KindClose, body, &cl); err != nil {
		c.broken(a, "%v", err)
		return
	}
	a.why = &wire.Error{Code: cl.Code, Reason: cl.Reason}
	if a.link == nil {
		a.phase = dead // the dial's result follows
		return
	}
	c.lost(a, a.why, now)
}

func (c *Client) acked(body []byte) error {
	n, err := wire.ParseAck(body)
	if err != nil {
		return err
	}
	return c.ring.Ack(n)
}

// pong takes the round trip from a ping's echo.
func (c *Client) pong(body []byte, now time.Time) {
	if len(body) != 8 {
		return
	}
	sent := c.born.Add(time.Duration(binary.LittleEndian.Uint64(body)))
	if rtt := now.Sub(sent); rtt >= 0 {
		c.mu.Lock()
		c.timing.roundTrip(rtt)
		c.mu.Unlock()
	}
}

func (c *Client) draining(body []byte) error {
	var d wire.Draining
	if err := wire.DecodeJSON(wire.KindDraining, body, &d); err != nil {
		return err
	}
	if c.opts.Handler.Draining != nil {
		c.opts.Handler.Draining(time.Duration(d.DeadlineMS) * time.Millisecond)
	}
	return nil
}

// sendAck acknowledges the reliable lane.
func (c *Client) sendAck() {
	c.clocks.ack = time.Time{}
	n := c.counter.Acked()
	f := wire.NewFrame(wire.KindAck, binary.MaxVarintLen64)
	f.Append(func(dst []byte) []byte { return wire.AppendAck(dst, n) })
	c.send(f)
}

func (c *Client) sendPing(now time.Time) {
	f := wire.NewFrame(wire.KindPing, 8)
	f.Append(func(dst []byte) []byte {
		return binary.LittleEndian.AppendUint64(dst, uint64(now.Sub(c.born)))
	})
	c.send(f)
}

// send sends a frame that dies with its link; without one it is dropped. It
// reports whether there was one.
func (c *Client) send(f *wire.Frame) bool {
	c.mu.Lock()
	l := c.link
	if l != nil {
		c.stats.FramesOut++
		c.stats.BytesOut += uint64(f.Size())
	}
	c.mu.Unlock()
	if l == nil {
		f.Release()
		return false
	}
	l.Send(f)
	return true
}

// sendReliable sends a numbered frame, now or after the next resume.
func (c *Client) sendReliable(f *wire.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pushLocked(f)
}

func (c *Client) pushLocked(f *wire.Frame) error {
	if c.state == Closed {
		f.Release()
		return endError(c.err)
	}
	if c.link == nil {
		// All of it is sent at once after a resume, which must not look like a flood.
		if n, _ := c.ring.Behind(0); c.welcome.Limits.MessagesPerSecond > 0 && n >= c.welcome.Limits.MessagesPerSecond {
			f.Release()
			return wire.Errorf(wire.CodeRateLimited, "%d messages wait for the next link", n)
		}
	}
	size := uint64(f.Size())
	if err := c.ring.Push(f); err != nil {
		return err
	}
	c.stats.FramesOut++
	c.stats.BytesOut += size
	if c.link != nil {
		c.link.Flush()
	}
	return nil
}

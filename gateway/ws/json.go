package ws

import (
	"context"
	"errors"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/wire"
)

// receiveText translates one text message into a link message of one frame.
func (c *conn) receiveText(text []byte) bool {
	kind, body, err := wire.ParseJSONText(text)
	if err != nil {
		c.link.Close(textError(err))
		return false
	}
	c.frame = wire.AppendFrame(c.frame[:0], kind, body)
	return c.link.Receive(wire.Reliable, c.frame)
}

func textError(err error) *wire.Error {
	if errors.Is(err, wire.ErrTooBig) {
		return wire.Errorf(wire.CodeTooBig, "%v", err)
	}
	return wire.Errorf(wire.CodeProtocol, "%v", err)
}

// sendText translates a link message into one text message per frame. A frame
// without a form in JSON is a fault of ours, and ends the link with that.
func (c *conn) sendText(msg []byte) error {
	for len(msg) > 0 {
		kind, body, rest, err := wire.NextFrame(msg)
		if err == nil {
			c.text, err = wire.AppendJSONText(c.text[:0], kind, body)
		}
		if err != nil {
			c.link.Close(wire.Errorf(wire.CodeInternal, "%v", err))
			return nil
		}
		if err := c.ws.Write(context.Background(), websocket.MessageText, c.text); err != nil {
			return err
		}
		msg = rest
	}
	return nil
}

// probe pings the peer, which in the JSON dialect has no other way to show that
// it lives. It ends with the writer, or with the connection.
func (c *conn) probe() {
	tick := time.NewTicker(c.probeInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.quit:
			return
		}
		if !c.answersPing() {
			c.link.Close(wire.Errorf(wire.CodeTimeout, "no answer to a ping within %v", c.probeTimeout))
			return
		}
	}
}

// answersPing also gives the benefit of the doubt to a peer so slow that the ping
// waits behind a message: the writer's patience with it decides.
func (c *conn) answersPing() bool {
	ctx, cancel := context.WithTimeout(context.Background(), c.probeTimeout)
	defer cancel()
	return c.ws.Ping(ctx) == nil || ctx.Err() == nil
}

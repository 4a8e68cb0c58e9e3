package client

import (
	"github.com/gatehouse/gatehouse/wire"
)

// Relay sends a payload to the listed members, or to all others if none is
// listed. On the reliable lane it is kept while the client is away; on the
// unreliable one it fails with [ErrAway].
func (c *Client) Relay(lane wire.Lane, payload []byte, to ...uint32) error {
	if len(to) > wire.MaxRelayTargets {
		return wire.Errorf(wire.CodeProtocol, "relay to %d members, limit %d", len(to), wire.MaxRelayTargets)
	}
	kind := wire.KindRelay
	if lane == wire.Unreliable {
		kind = wire.KindRelayFast
	}
	c.mu.Lock()
	err := c.fitsLocked(lane, payload)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	f := wire.NewFrame(kind, len(payload)+1+5*len(to))
	f.Append(func(dst []byte) []byte { return wire.AppendRelay(dst, to, payload) })
	if lane == wire.Reliable {
		return c.sendReliable(f)
	}
	if f.Size() > wire.MaxDatagram {
		n := f.Size()
		f.Release()
		return wire.Errorf(wire.CodeTooBig, "relay of %d bytes with its addresses, limit %d", n, wire.MaxDatagram)
	}
	if !c.send(f) {
		return ErrAway
	}
	return nil
}

// relayed hands on a message of another member, unless it is stale.
func (c *Client) relayed(lane wire.Lane, body []byte) error {
	m, err := wire.ParseRelayed(lane, body)
	if err != nil {
		return err
	}
	if lane == wire.Unreliable && !c.roster.fresh(m.Sender, m.Stamp) {
		c.mu.Lock()
		c.stats.Stale++
		c.mu.Unlock()
		return nil
	}
	if c.opts.Handler.Relayed != nil {
		c.opts.Handler.Relayed(lane, m)
	}
	return nil
}

package client

import (
	"bytes"

	"github.com/gatehouse/gatehouse/wire"
)

// roster is what the client's goroutine knows of the members of the room. The
// copy that other goroutines see is Client.names.
type roster map[uint32]*member

type member struct {
	peer  wire.Peer
	heard bool // something fast
	stamp uint16
}

// fresh reports whether a fast message of a sender is newer than the last, and
// notes it. Strangers are not fresh: what is remembered is bounded by the
// roster, and someone whose joined notice is still on its way loses a message of
// the lane that may lose some.
func (r roster) fresh(sender uint32, stamp uint16) bool {
	m := r[sender]
	if m == nil || m.heard && !wire.Newer16(stamp, m.stamp) {
		return false
	}
	m.heard, m.stamp = true, stamp
	return true
}

// peer takes in a notice. A notice of what is known already changes nothing: the
// welcome and the first notices may overlap.
func (c *Client) peer(body []byte) error {
	var n wire.PeerNotice
	if err := wire.DecodeJSON(wire.KindPeer, body, &n); err != nil {
		return err
	}
	c.notice(n)
	return nil
}

func (c *Client) notice(n wire.PeerNotice) {
	m := c.roster[n.ID]
	switch {
	case n.Event == wire.PeerJoined && m == nil:
		c.roster[n.ID] = &member{peer: wire.Peer{ID: n.ID, Name: n.Name, Profile: bytes.Clone(n.Profile)}}
	case n.Event == wire.PeerLeft && m != nil:
		delete(c.roster, n.ID)
	case n.Event == wire.PeerAway && m != nil && !m.peer.Away,
		n.Event == wire.PeerBack && m != nil && m.peer.Away:
		m.peer.Away = !m.peer.Away
	default:
		return
	}
	if n.Name == "" && m != nil {
		n.Name = m.peer.Name
	}
	c.mu.Lock()
	if m := c.roster[n.ID]; m != nil {
		c.names[n.ID] = m.peer
	} else {
		delete(c.names, n.ID)
	}
	c.mu.Unlock()
	if c.opts.Handler.Peer != nil {
		c.opts.Handler.Peer(n)
	}
}

// replaceRoster takes the members of a welcome. After a gap the application is
// told the difference, as if the notices had come; the members of a first
// welcome are not news, [Client.Peers] has them.
func (c *Client) replaceRoster(peers []wire.Peer) {
	if c.roster == nil {
		c.roster = make(roster, len(peers))
		c.mu.Lock()
		for _, p := range peers {
			c.roster[p.ID] = &member{peer: p}
			c.names[p.ID] = p
		}
		c.mu.Unlock()
		return
	}
	present := make(map[uint32]bool, len(peers))
	for _, p := range peers {
		present[p.ID] = true
	}
	for id, m := range c.roster {
		m.heard = false // stamps may have restarted with the room's state
		if !present[id] {
			c.notice(wire.PeerNotice{Event: wire.PeerLeft, ID: id, Reason: wire.CodeGap.Name()})
		}
	}
	for _, p := range peers {
		c.notice(wire.PeerNotice{Event: wire.PeerJoined, ID: p.ID, Name: p.Name, Profile: p.Profile})
		event := wire.PeerBack
		if p.Away {
			event = wire.PeerAway
		}
		c.notice(wire.PeerNotice{Event: event, ID: p.ID, Name: p.Name})
	}
}

//go:build !noenet

package faults_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/wire"
)

// With one slot every ENet client gets the one that the client before has left.
func TestNextOfASlotInheritsNothing(t *testing.T) {
	t.Parallel()
	const perSecond = 60
	for name, end := range map[string]struct {
		rounds int
		of     func(p *player)
	}{
		"killed":       {4, func(p *player) { p.line.cut() }},
		"disconnected": {20, func(p *player) { p.line.close() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, func(c *configs.Config) {
				hasty(c)
				c.ENet.MaxPeers = 1
				c.Sessions.MessagesPerSecond = perSecond
				c.Sessions.ResumeGrace = configs.Duration(patience)
			})
			observer := h.join(t, "ws", "zoo", "observer")
			var all []*player
			for i := range end.rounds {
				p := h.join(t, "enet", "zoo", fmt.Sprint("slot-", i))
				p.fresh(all)
				// Its own allowance, nearly all of it.
				for range perSecond {
					p.send(wire.KindPing, nil)
				}
				p.lives()
				end.of(p)
				if name == "disconnected" {
					observer.hears(patience, p.welcome.You, wire.PeerAway)
				}
				observer.call("tell", fmt.Append(binary.LittleEndian.AppendUint32(nil, p.welcome.You), "for ", p.name))
				all = append(all, p)
			}
			last := h.join(t, "enet", "zoo", "last")
			last.fresh(all)
			for _, p := range all {
				observer.hears(5*pingTimeout, p.welcome.You, wire.PeerAway)
				p.resume("ws")
				p.await("what was meant for it", func() bool { return len(p.events) > 0 })
				p.lives()
				p.mu.Lock()
				if got := string(p.events[0].Payload); got != "for "+p.name || len(p.events) != 1 {
					t.Errorf("%s got %d messages, %q", p.name, len(p.events), got)
				}
				p.mu.Unlock()
				observer.hears(patience, p.welcome.You, wire.PeerBack)
				if events := observer.of(p.welcome.You, 0); !slices.Equal(events, []string{wire.PeerJoined, wire.PeerAway, wire.PeerBack}) {
					t.Errorf("of %s the others were told %q", p.name, events)
				}
				p.send(wire.KindLeave, nil)
				observer.hears(patience, p.welcome.You, wire.PeerLeft)
			}
			last.lives()
			if n := last.state(func() int { return len(last.events) }); n != 0 {
				t.Errorf("the last got %d messages that were for others", n)
			}
		})
	}
}

// fresh checks that a player has nothing of those before it.
func (p *player) fresh(before []*player) {
	p.t.Helper()
	w := p.welcome
	if w.Resumed || w.Received != 0 {
		p.t.Errorf("%s: resumed: %v, received %d", p.name, w.Resumed, w.Received)
	}
	for _, o := range before {
		if o.welcome.You == w.You || o.welcome.Session == w.Session || o.welcome.Resume.Secret == w.Resume.Secret {
			p.t.Errorf("%s has something of %s", p.name, o.name)
		}
	}
	p.lives()
	if n := p.state(func() int { return len(p.events) }); n != 0 {
		p.t.Errorf("%s got %d messages that were for others", p.name, n)
	}
}

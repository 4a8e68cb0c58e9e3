package faults_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// Whoever hears of a newcomer may speak to it at once.
func TestFirstMessageToANewcomerArrives(t *testing.T) {
	t.Parallel()
	const rounds = 67 / slowdown // for each transport of the greeter
	h := start(t, nil)
	t.Run("relayed", func(t *testing.T) {
		t.Parallel()
		overEach(t, func(t *testing.T, transport string) {
			room := "relay-" + transport
			greeter := h.join(t, transport, room, "greeter")
			greeter.change(func() {
				greeter.onNotice = func(n wire.PeerNotice) {
					if n.Event == wire.PeerJoined && n.ID != greeter.welcome.You {
						greeter.relay(wire.Reliable, fmt.Append(nil, "welcome ", n.ID), n.ID)
						greeter.relay(wire.Reliable, fmt.Append(nil, "all welcome ", n.ID))
					}
				}
			})
			for i := range rounds {
				p := h.join(t, transports()[i%len(transports())], room, fmt.Sprint("newcomer-", i))
				p.await("its greetings", func() bool { return len(p.texts) >= 2 })
				p.departs(greeter)
				p.mu.Lock()
				got := fmt.Sprintf("%s, %s", p.texts[0].payload, p.texts[1].payload)
				if want := fmt.Sprintf("welcome %d, all welcome %[1]d", p.welcome.You); got != want || len(p.texts) != 2 {
					t.Errorf("%s over %s got %d messages, %q", p.name, p.transport, len(p.texts), got)
				}
				p.mu.Unlock()
			}
		})
	})
	t.Run("through a game", func(t *testing.T) {
		t.Parallel()
		overEach(t, func(t *testing.T, transport string) {
			room := "park-" + transport
			greeter := h.join(t, transport, room, "greeter")
			greeter.change(func() {
				greeter.onNotice = func(n wire.PeerNotice) {
					if n.Event == wire.PeerJoined && n.ID != greeter.welcome.You {
						greeter.request("tell", fmt.Append(binary.LittleEndian.AppendUint32(nil, n.ID), "welcome ", n.ID))
						greeter.request("say", fmt.Append(nil, "all welcome ", n.ID))
					}
				}
			})
			for i := range rounds {
				p := h.join(t, transports()[i%len(transports())], room, fmt.Sprint("newcomer-", i))
				p.await("its greetings", func() bool { return len(p.events) >= 2 })
				p.departs(greeter)
				p.mu.Lock()
				got := fmt.Sprintf("%s, %s", p.events[0].Payload, p.events[1].Payload)
				if want := fmt.Sprintf("welcome %d, all welcome %[1]d", p.welcome.You); got != want || len(p.events) != 2 {
					t.Errorf("%s over %s got %d messages, %q", p.name, p.transport, len(p.events), got)
				}
				if p.events[0].after != 1 {
					t.Errorf("%s over %s was greeted after %d full snapshots", p.name, p.transport, p.events[0].after)
				}
				p.mu.Unlock()
			}
		})
	})
}

// departs leaves, and waits until another has heard and everything is said.
func (p *player) departs(other *player) {
	p.t.Helper()
	p.send(wire.KindLeave, nil)
	other.hears(patience, p.welcome.You, wire.PeerLeft)
	if code := p.end(); code != wire.CodeLeft {
		p.t.Errorf("%s over %s: a leave was answered with %v", p.name, p.transport, code)
	}
}

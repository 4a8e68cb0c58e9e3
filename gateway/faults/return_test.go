package faults_test

import (
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/wire"
)

// copies counts the members of that name that operators see in a room.
func (h *house) copies(room, identity string) (n int) {
	h.t.Helper()
	for _, m := range h.roster(room) {
		if m.Identity == identity {
			n++
		}
	}
	return n
}

// company seats a player whose line will break, and two others; there are trees.
func (h *house) company(t *testing.T, transport, room string) (a, b, c *player) {
	t.Helper()
	b = h.join(t, "ws", room, "b")
	b.ask("trees", 10)
	c = h.join(t, transport, room, "c")
	a = h.join(t, transport, room, "a")
	b.hears(patience, a.welcome.You, wire.PeerJoined)
	return a, b, c
}

// meanwhile is what happens while one is away: another leaves, a tree falls.
func meanwhile(b, c *player) {
	c.send(wire.KindLeave, nil)
	b.hears(patience, c.welcome.You, wire.PeerLeft)
	b.ask("fell", 1)
}

func TestResumeLeavesNoTwinAndNoGhost(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *configs.Config) {
		hasty(c)
		c.Sessions.ResumeGrace = configs.Duration(patience)
	})
	overEach(t, func(t *testing.T, transport string) {
		room := "resume-" + transport
		a, b, c := h.company(t, transport, room)
		a.line.cut()
		b.hears(5*pingTimeout, a.welcome.You, wire.PeerAway)
		if n := h.copies(room, "a"); n != 1 {
			t.Errorf("while it is away the roster has it %d times", n)
		}
		meanwhile(b, c)
		a.resume(transport)
		b.hears(patience, a.welcome.You, wire.PeerBack)
		a.hears(patience, c.welcome.You, wire.PeerLeft)
		a.sees()
		if a.welcome.Gap {
			t.Error("there was a gap")
		}
		if n := h.copies(room, "a"); n != 1 {
			t.Errorf("when it is back the roster has it %d times", n)
		}
		late := h.join(t, "ws", room, "late")
		var ids []uint32
		for _, p := range late.welcome.Peers {
			ids = append(ids, p.ID)
		}
		if want := []uint32{b.welcome.You, a.welcome.You, late.welcome.You}; !slices.Equal(ids, want) {
			t.Errorf("a newcomer sees %v, want %v", ids, want)
		}
		if events := b.of(a.welcome.You, 0); !slices.Equal(events, []string{wire.PeerJoined, wire.PeerAway, wire.PeerBack}) {
			t.Errorf("the others were told %q", events)
		}
	})
}

func TestFreshJoinReplacesTheOneThatIsAway(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *configs.Config) {
		hasty(c)
		c.Sessions.ResumeGrace = configs.Duration(patience)
	})
	for _, noticed := range []bool{true, false} {
		name := map[bool]string{true: "away", false: "unnoticed"}[noticed]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overEach(t, func(t *testing.T, transport string) {
				room := "fresh-" + name + "-" + transport
				a, b, c := h.company(t, transport, room)
				old := a.welcome.You
				if noticed {
					a.line.cut()
					b.hears(5*pingTimeout, old, wire.PeerAway)
				} else {
					a.line.state(state{silent: true})
				}
				meanwhile(b, c)
				again := h.join(t, transport, room, "a")
				b.hears(patience, again.welcome.You, wire.PeerJoined)
				var order []string
				b.mu.Lock()
				for _, n := range b.notices {
					if n.ID == old || n.ID == again.welcome.You {
						order = append(order, n.Event)
					}
				}
				b.mu.Unlock()
				want := []string{wire.PeerJoined, wire.PeerAway, wire.PeerLeft, wire.PeerJoined}
				if !noticed && len(order) == 3 { // it may have been noticed meanwhile
					want = slices.Delete(want, 1, 2)
				}
				if !slices.Equal(order, want) {
					t.Errorf("the others were told %q, want %q", order, want)
				}
				for _, p := range again.welcome.Peers {
					if p.ID == old || p.ID == c.welcome.You {
						t.Errorf("the welcome has member %d, who has gone", p.ID)
					}
				}
				if n := h.copies(room, "a"); n != 1 {
					t.Errorf("the roster has it %d times", n)
				}
				again.sees()
				a.line.cut()
				late := h.guest(t, transport, "a")
				late.connect()
				late.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: a.welcome.Resume.Secret}})
				if code := late.end(); code != wire.CodeSessionExpired {
					t.Errorf("the replaced session's secret is answered with %v", code)
				}
				again.lives()
			})
		})
	}
}

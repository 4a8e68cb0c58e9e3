package faults_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/wire"
)

// ways to leave a room.
var ways = []struct {
	name string
	go_  func(p *player)
	// within which it must be noticed, several times what it should take
	bound func(transport string) time.Duration
}{
	{"says so", func(p *player) { p.send(wire.KindLeave, nil) }, atOnce},
	{"closes", func(p *player) { p.line.close() }, atOnce},
	{"is killed", func(p *player) { p.line.cut() }, func(transport string) time.Duration {
		if transport == "ws" {
			return atOnce(transport)
		}
		return 5 * pingTimeout
	}},
	{"falls silent", func(p *player) { p.line.state(state{silent: true}) }, func(string) time.Duration { return 5 * pingTimeout }},
}

func atOnce(string) time.Duration { return slowdown * 2500 * time.Millisecond }

func TestEveryWayToLeaveIsNoticedOnce(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{0, resumeGrace} {
		name := map[bool]string{true: "without grace", false: "with grace"}[grace == 0]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, func(c *configs.Config) { hasty(c); c.Sessions.ResumeGrace = configs.Duration(grace) })
			t.Run("", func(t *testing.T) {
				for _, way := range ways {
					t.Run(way.name, func(t *testing.T) {
						t.Parallel()
						overEach(t, func(t *testing.T, transport string) {
							room := "way-" + string(way.name[0]) + "-" + transport
							observer := h.join(t, "ws", room, "observer-"+room)
							p := h.join(t, transport, room, "leaver-"+room)
							leaves(t, h, observer, p, grace, way.go_, way.bound(transport), way.name == "says so")
						})
					})
				}
			})
			eventually(t, "nothing is left of anybody", patience, func() bool {
				return h.metric("sessions") == 0 && h.metric("links") == 0 && h.metric("members") == 0 && h.metric("rtc_pending") == 0
			})
		})
	}
}

func leaves(t *testing.T, h *house, observer, p *player, grace time.Duration, go_ func(*player), bound time.Duration, said bool) {
	t.Helper()
	you, session := p.welcome.You, p.welcome.Session
	start := time.Now()
	go_(p)
	want := []string{wire.PeerJoined}
	reason := wire.CodeTimeout
	if said {
		reason = wire.CodeLeft
	}
	if grace > 0 && !said {
		want = append(want, wire.PeerAway)
		observer.hears(bound, you, wire.PeerAway)
		bound, reason = 5*grace, wire.CodeSessionExpired
	}
	want = append(want, wire.PeerLeft)
	n := observer.hears(bound, you, wire.PeerLeft)
	if took := time.Since(start); len(want) == 3 && took < grace {
		t.Errorf("it had %v of %v to come back", took, grace)
	}
	if n.Reason != reason.Name() {
		t.Errorf("the others were told %q, want %q", n.Reason, reason.Name())
	}
	observer.lives() // whatever else was to be told has been
	if events := observer.of(you, 0); !slices.Equal(events, want) {
		t.Errorf("the others were told %q, want %q", events, want)
	}
	if members := h.roster(observer.welcome.Room.Name); len(members) != 1 {
		t.Errorf("the roster is %v", members)
	}
	if status, body := h.admin("GET", "sessions/"+session); status != 404 {
		t.Errorf("its session is there: %s", body)
	}
	if said {
		if code := p.end(); code != wire.CodeLeft {
			t.Errorf("its goodbye was answered with %v", code)
		}
	}
}

package e2e

import (
	"testing"
	"time"
)

// Over a bad network the world that a player sees is the server's, tick for
// tick: ten seconds over each transport, through a proxy, and for as long as it
// takes to be bad enough. Everything happens in the storm, joining too.
func TestWorldIsTheServersOverABadNetwork(t *testing.T) {
	h := openHouse(t)
	h.crowd(t, "bot-1", "bot-2", "bot-3")
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			const ticks = 300 // ten seconds
			ls := &lines{t: t, house: h, weather: storm}
			p := joinArena(t, transport, ls.over(transport))
			if err := p.Ready(within(t, patience)); err != nil {
				t.Fatal(err)
			}
			first := h.game.now()
			await(t, "half of the time", func() bool { return h.game.now() >= first+ticks/2 })
			if transport == "ws" {
				ls.newest().cut() // a stream loses nothing, but it may end
			}
			await(t, "ten seconds of play", func() bool { return h.game.now() >= first+ticks && p.Stats().Tick >= first+ticks })
			await(t, "a hundred snapshots", func() bool { return p.Stats().Snapshots >= 100 })
			await(t, "a storm worth its name", ls.stormy)
			p.keepsMoving(t)
			st := p.Stats()
			p.Close()
			p.check(t, h.game, 100)
			if st.Malformed+st.Gaps > 0 || st.Resyncs > 1 {
				t.Errorf("stats are %+v", st)
			}
			if st.RTT < 150*time.Millisecond {
				t.Errorf("round trip is %v", st.RTT)
			}
			if len(p.spawned) < 80 || p.vanished < 10 {
				t.Errorf("%d entities came and %d went: the world was too quiet", len(p.spawned), p.vanished)
			}
			if connections := len(ls.all); (connections > 1) != (transport == "ws") {
				t.Errorf("%d connections", connections)
			}
			if transport != "ws" && p.missed() < 5 {
				t.Errorf("only %d ticks were never seen", p.missed())
			}
			t.Logf("%d worlds of %d ticks; %v; stats %+v", len(p.seen), h.game.now()-first, ls.newest(), st)
		})
	}
}

// stormy reports whether the network was as bad as it should be, both ways.
func (ls *lines) stormy() bool {
	l := ls.newest()
	for _, c := range []*tally{l.up, l.down} {
		if l.transport == "ws" && c.stalled.Load() < 3 {
			return false
		}
		if l.transport != "ws" && (c.lost.Load() < 10 || c.doubled.Load() < 1 || c.overtaken.Load() < 10) {
			return false
		}
	}
	return true
}

// missed counts the ticks that were never applied, between the first and the
// last that were.
func (p *player) missed() int {
	oldest, newest := uint32(1<<32-1), uint32(0)
	for tick := range p.seen {
		oldest, newest = min(oldest, tick), max(newest, tick)
	}
	return int(newest-oldest) + 1 - len(p.seen)
}

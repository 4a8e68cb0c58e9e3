//go:build browser

package e2e

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/enet"
)

// A browser over WebRTC, a Go client over ENet, a C program over ENet and a
// client of raw bytes over a WebSocket are in one room. All four see the same
// four players, and at equal ticks the same world, in which more than fifty
// bodies move, come and go.
func TestBrowserAndOtherWitnessesSeeOneWorld(t *testing.T) {
	h := openHouseWithPages(t)
	program := buildC(t)
	page := startBrowser(t, h, "--name", "page", "--seconds", "14")
	if s := page.state(); s.Transport != "webrtc" || s.Fallback != "" {
		t.Errorf("the page plays over %+v", s)
	}
	native := joinArena(t, "native", client.ENet(h.addresses.ENet.String(), enet.DialOptions{}))
	raw := joinRaw(t, h, "raw")
	c := startC(t, h, program, "c", 8*time.Second)

	rosters := map[string]func() map[uint32]string{
		"page": page.members, "raw": raw.roster, "c": c.roster,
		"native": func() map[uint32]string {
			all := map[uint32]string{}
			for id, p := range native.Peers() {
				all[id] = p.Name
			}
			return all
		},
	}
	var four map[uint32]string
	await(t, "four equal rosters of four", func() bool {
		four = rosters["raw"]()
		for _, roster := range rosters {
			if !maps.Equal(roster(), four) {
				return false
			}
		}
		return len(four) == 4
	})
	names := map[string]bool{}
	for _, name := range four {
		names[name] = true
	}
	for who := range rosters {
		if !names[who] {
			t.Errorf("%s is not in the roster %v", who, four)
		}
	}
	if all := fmt.Sprint(transportsOf(t, h)); all != "map[enet:2 rtc:1 ws:1]" {
		t.Errorf("the server has sessions over %s", all)
	}

	<-c.ended // the first to go
	raw.leave()
	native.Close()
	page.wait()
	if len(c.faults) > 0 {
		t.Errorf("the C client says %q", c.faults)
	}

	common, equal, fewest, late := 0, 0, 1<<30, 0
	for tick, hash := range raw.seen {
		ofPage, one := page.seen[tick]
		ofNative, two := native.seen[tick]
		ofC, three := c.seen[tick]
		truth := h.game.world(tick)
		if !one || !two || !three || truth == nil {
			continue
		}
		// The new owner of an id waits until the end of the last one is
		// acknowledged: then a world is not complete, and no witness.
		if raw.counts[tick] != len(truth) || c.counts[tick] != len(truth) || len(ofNative.held) != len(truth) {
			late++
			continue
		}
		common++
		fewest = min(fewest, len(truth))
		if hash == ofPage && hash == ofNative.hash && hash == ofC && hash == truth.hash() {
			equal++
		}
	}
	t.Logf("%d common ticks, %d equal, %d not complete; at least %d entities, %d of them moved; %d came, %d went",
		common, equal, late, fewest, len(native.moved), len(native.spawned), native.vanished)
	if common < 30 || equal != common || late > common/10 {
		t.Errorf("%d of %d common ticks are equal, %d were not complete", equal, common, late)
	}
	if fewest < 50 || len(native.moved) < 50 || native.vanished < 20 || len(native.spawned) < fewest+20 {
		t.Errorf("at least %d entities; %d moved, %d came and %d went", fewest, len(native.moved), len(native.spawned), native.vanished)
	}
	if raw.world.spawned < 20 || raw.world.vanished < 20 || c.events == 0 {
		t.Errorf("raw saw %d come and %d go, C had %d events", raw.world.spawned, raw.world.vanished, c.events)
	}
}

func transportsOf(t *testing.T, h *house) map[string]int {
	t.Helper()
	sessions, err := h.listed()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, s := range sessions {
		all[s.Transport]++
	}
	return all
}

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority"
)

// What was there before a joiner came, never changes, has no fields or is born in
// the tick of the join is all there for it.
func TestLateJoinerSeesTheWholeWorld(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	// It lives before anybody comes, and twice as fast: 200 ticks are to go by.
	status, body := h.do("POST", "http://"+h.at.Admin.String()+"/admin/v1/rooms", "application/json",
		`{"name":"old","kind":"authority","game":"park","tick_rate":60}`)
	if status != http.StatusCreated {
		t.Fatalf("status %d: %s", status, body)
	}
	tick := func() uint32 {
		var room authority.RoomState
		room, err := h.worker.Inspect(t.Context(), "old")
		if err != nil {
			t.Fatal(err)
		}
		return room.Tick
	}
	eventually(t, "the world is old", patience, func() bool { return tick() > 200 })
	first := h.join(t, "ws", "old", "first")
	if n := first.state(func() int { return first.view.Len() }); n != 60 {
		t.Errorf("of 60 entities that were there before anybody, %d were sent", n)
	}
	first.ask("churn", 15) // one in every tick from now on, and soon another goes

	t.Run("joiners", func(t *testing.T) {
		for i := range 10 {
			transport := transports()[i%len(transports())]
			delay := time.Duration(rand.IntN(700)) * time.Millisecond
			t.Run(fmt.Sprint(i, " over ", transport), func(t *testing.T) {
				t.Parallel()
				<-time.After(delay)
				p := h.join(t, transport, "old", fmt.Sprint("joiner-", i))
				p.await("a second of snapshots", func() bool { return len(p.snapshots) > 60 })
				p.sees()
				sameAtEqualTicks(t, first, p, 0, 20)
			})
		}
	})
	first.sees()
	if n := first.state(func() int { return first.view.Len() }); n != 75 {
		t.Errorf("%d entities in the end", n)
	}
}

// prompt says that the snapshot is on a base so new that nothing of it can have had
// to wait: an id is not used again for 64 ticks, and until a client has said that
// it knows of the end of the first entity, the second waits.
func (s snapshot) prompt() bool { return s.full || s.base != 0 && s.tick-s.base < 60 }

// promptAt is prompt for the snapshot of a tick. It runs under the lock.
func (p *player) promptAt(tick uint32) bool {
	i, ok := slices.BinarySearchFunc(p.snapshots, tick, func(s snapshot, tick uint32) int { return int(s.tick) - int(tick) })
	return ok && p.snapshots[i].prompt()
}

// sameAtEqualTicks compares two players at every tick that both were shown, from
// that snapshot of the second on.
func sameAtEqualTicks(t *testing.T, first, second *player, since, least int) {
	t.Helper()
	newest := second.state(func() int { return int(second.view.Tick()) })
	first.await("that tick", func() bool { return int(first.view.Tick()) >= newest })
	second.mu.Lock()
	defer second.mu.Unlock()
	first.mu.Lock()
	defer first.mu.Unlock()
	equal := 0
	for i, s := range second.snapshots[since:] {
		switch hash, ok := first.hashes[s.tick]; {
		case !ok || !s.prompt() || !first.promptAt(s.tick):
		case hash != second.hashes[s.tick]:
			t.Fatalf("%s and %s hold different worlds at tick %d, the %d. snapshot of the second", first.name, second.name, s.tick, since+i+1)
		default:
			equal++
		}
	}
	if equal < least {
		t.Errorf("only %d ticks could be compared", equal)
	}
}

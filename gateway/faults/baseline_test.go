package faults_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

// follows sends an acknowledgement of the test's own making.
func (p *player) acknowledges(tick uint32, mask uint64) {
	p.send(wire.KindInput, wire.AppendInput(nil, wire.Input{Acked: tick, Mask: mask}))
}

// deltas returns how many there were, and fails the test for one that builds on
// what the client has never said it had.
func (p *player) deltas() (n int) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.snapshots {
		if s.full {
			continue
		}
		n++
		if s.base != 0 && !p.acked[s.base] {
			p.t.Errorf("the snapshot of tick %d builds on tick %d, which was never acknowledged", s.tick, s.base)
		}
	}
	return n
}

// ticks waits until the room has gone on by so many, as another player sees it.
func (p *player) ticks(n int) {
	p.t.Helper()
	until := p.state(func() int { return int(p.view.Tick()) }) + n
	p.await("ticks", func() bool { return int(p.view.Tick()) >= until })
}

func TestOnlyWhatWasAcknowledgedIsBuiltOn(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		room := "park-acks-" + transport
		observer := h.join(t, "ws", room, "observer")
		observer.ask("churn", 10)
		p := h.guest(t, transport, "bogus")
		p.script.quiet = true
		p.join(room)
		first := p.state(func() int { return int(p.snapshots[0].tick) })
		none := func(when string) {
			t.Helper()
			observer.ticks(15)
			if n := p.deltas(); n > 0 {
				t.Errorf("%s there were %d deltas", when, n)
			}
		}
		none("without an acknowledgement")
		p.acknowledges(uint32(first)-1, ^uint64(0))
		none("after one of a tick that was never sent")
		p.acknowledges(uint32(first)+100_000, ^uint64(0))
		p.acknowledges(1<<32-1, ^uint64(0))
		none("after one from the future")
		for _, reason := range []string{"ack_too_old", "ack_future"} {
			if h.metric("inputs_dropped_total", label("reason", reason)) == 0 {
				t.Errorf("no %s was counted", reason)
			}
		}

		p.change(func() { p.script.quiet = false })
		p.await("deltas", func() bool { return len(p.snapshots) > 40 })
		p.sees()
		p.deltas()

		// Longer than the history: then an acknowledgement of long ago.
		p.change(func() { p.script.quiet = true })
		observer.ticks(130)
		p.acknowledges(uint32(first), 0)
		observer.ticks(15)
		p.deltas()
		p.change(func() { p.script.quiet = false })
		// What waited for an acknowledgement comes with the snapshots that follow it.
		observer.ticks(15)
		since := p.state(func() int { return len(p.snapshots) })
		observer.ticks(15)
		p.sees()
		p.deltas()
		sameAtEqualTicks(t, observer, p, since, 3)
		p.lives()
	})
}

func TestLostResyncsAreAnsweredAgain(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		room := "park-resync-" + transport
		observer := h.join(t, "ws", room, "observer")
		observer.ask("churn", 10)
		p := h.join(t, transport, room, "unlucky")
		p.sees()
		start := time.Now()
		const times = 5
		for range times {
			p.change(func() { p.script.blind = true }) // the answer is lost
			had := p.state(func() int { return p.chunks })
			p.send(wire.KindResync, nil)
			p.awaitWithin(slowdown*5*time.Second, "an answer to the resync", func() bool { return p.chunks > had })
		}
		if took := time.Since(start); took < (times-1)*900*time.Millisecond {
			t.Errorf("%d resyncs were served within %v", times, took)
		}
		p.change(func() { p.script.blind = false })
		had := p.state(func() int { return p.fulls })
		p.send(wire.KindResync, nil)
		p.awaitWithin(slowdown*5*time.Second, "the last answer", func() bool { return p.fulls > had })
		p.sees()
		sameAtEqualTicks(t, observer, p, 0, 1)
		if n := h.metric("resyncs_total"); n < times+1 {
			t.Errorf("%v resyncs were counted", n)
		}
		p.lives()
	})
}

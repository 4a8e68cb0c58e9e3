package faults_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
)

// A player on a thin line is served less, not thrown out.
func TestSlowReaderIsServedLessAndCatchesUp(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		room := "slow-" + transport
		observer := h.join(t, "ws", room, "observer")
		observer.ask("movers", 190)
		observer.ask("move", 190) // in bytes about 30,000 a second
		s := h.guest(t, transport, "slow")
		s.dial.tight = true
		s.join(room)
		s.sees()

		const rate, seconds = 10_000, 5
		s.line.state(state{rate: rate})
		u := observer.pulse()
		had := s.state(func() int { return len(s.snapshots) })
		for i := range seconds {
			payload := binary.LittleEndian.AppendUint32(nil, s.welcome.You)
			observer.call("tell", binary.LittleEndian.AppendUint32(payload, uint32(i)))
			n := observer.state(func() int { return len(observer.snapshots) })
			observer.await("a second", func() bool { return len(observer.snapshots) >= n+30 })
		}
		u.holds()
		all := observer.state(func() int { return len(observer.snapshots) }) - u.count
		served := s.state(func() int { return len(s.snapshots) }) - had
		if served == 0 || served > all*3/4 {
			t.Errorf("over %d B/s %d snapshots came, the observer had %d", rate, served, all)
		}

		s.line.state(state{})
		wide := time.Now()
		s.sees()
		if took := time.Since(wide); took > slowdown*5*time.Second {
			t.Errorf("it took %v to catch up", took)
		}
		s.await("everything that it was told", func() bool { return len(s.events) >= seconds })
		s.mu.Lock()
		for i, e := range s.events {
			if got := binary.LittleEndian.Uint32(e.Payload); got != uint32(i) {
				t.Errorf("event %d came as number %d", got, i)
			}
		}
		if n := len(s.events); n != seconds || s.welcomed != 1 {
			t.Errorf("%d events, %d welcomes", n, s.welcomed)
		}
		s.mu.Unlock()
		if events := observer.of(s.welcome.You, 0); len(events) != 1 {
			t.Errorf("the observer was told %q", events)
		}
		// Over UDP the network loses and the room holds back; over TCP the server
		// itself drops.
		dropped := h.metric("frames_dropped_total", label("transport", "ws"), label("reason", string(link.DropSuperseded)))
		if transport == "ws" && dropped == 0 {
			t.Error("no drop was counted")
		}
	})
}

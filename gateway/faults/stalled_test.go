package faults_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

const talkSize = 4 << 10

// talk lets players say so many numbered messages of 4 KiB to the whole room, in
// turns, each as fast as the room answers.
func talk(players []*player, messages int) {
	asked := make([]uint32, len(players))
	for i := range messages {
		p := players[i%len(players)]
		if id := asked[i%len(players)]; id != 0 {
			p.await("the response to say", func() bool { _, ok := p.responses[id]; return ok })
		}
		payload := make([]byte, talkSize)
		binary.LittleEndian.PutUint32(payload, uint32(i))
		asked[i%len(players)] = p.request("say", payload)
	}
}

// heardAll checks that players heard all messages of a talk, each once, and all in
// one order, which is each speaker's own.
func heardAll(t *testing.T, players []*player, messages int) {
	t.Helper()
	var first []byte
	for _, p := range players {
		p.await("the whole talk", func() bool { return len(p.events) >= messages })
		var order []byte
		last := make([]int, len(players))
		p.mu.Lock()
		for _, e := range p.events {
			i := binary.LittleEndian.Uint32(e.Payload)
			order = append(order, e.Payload[:4]...)
			if speaker := int(i) % len(players); int(i) < last[speaker] || len(e.Payload) != talkSize {
				t.Errorf("%s: message %d of %d bytes out of order", p.name, i, len(e.Payload))
			} else {
				last[speaker] = int(i) + 1
			}
		}
		n := len(p.events)
		p.mu.Unlock()
		if n != messages {
			t.Errorf("%s heard %d messages of %d", p.name, n, messages)
		}
		if first == nil {
			first = order
		}
		if !bytes.Equal(first, order) {
			t.Errorf("%s and %s heard the talk in another order", players[0].name, p.name)
		}
	}
}

// trio seats one player of every transport.
func (h *house) trio(t *testing.T, room string) (players []*player) {
	t.Helper()
	for _, tr := range transports() {
		players = append(players, h.join(t, tr, room, "honest-"+tr))
	}
	return players
}

func TestReaderThatStopsIsDroppedAlone(t *testing.T) {
	t.Parallel()
	const messages = 200
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		room := "stalled-" + transport
		others := h.trio(t, room)
		others[0].ask("movers", 20)
		others[0].ask("move", 20)
		s := h.guest(t, transport, "stalled")
		s.dial.tight = true
		s.join(room)
		s.line.state(state{stalled: true})

		pulses := []pulse{others[0].pulse(), others[1].pulse()}
		thawed := make(chan struct{})
		go func() {
			defer close(thawed)
			for range 2000 {
				if len(others[0].of(s.welcome.You, 0)) > 1 { // joined, away
					break
				}
				<-time.After(5 * time.Millisecond)
			}
			s.line.state(state{}) // in time for the server's last words
		}()
		talk(others, messages)
		heardAll(t, others, messages)
		for _, u := range pulses {
			u.holds()
		}

		others[0].hears(patience, s.welcome.You, wire.PeerAway)
		<-thawed
		// SCTP asks a receiver that had no room only now and then whether it has
		// some: over WebRTC the last word may come too late.
		if code := s.end(); code != wire.CodeSlowConsumer && (transport != "rtc" && slowdown == 1 || code != wire.CodeNone) {
			t.Errorf("the stalled one was closed with %v", code)
		}
		s.resume(transport)
		if !s.welcome.Gap {
			t.Error("it was resumed without a gap")
		}
		s.sees()
		s.lives()
	})
}

func TestStalledReadersAreKickedWithoutWaitingForThem(t *testing.T) {
	t.Parallel()
	const stalled = 20
	h := start(t, nil)
	others := h.trio(t, "crowd")
	others[0].ask("movers", 150)
	others[0].ask("move", 150)
	var all []*player
	for i := range stalled {
		s := h.guest(t, transports()[i%len(transports())], fmt.Sprintf("stalled-%02d", i))
		s.dial.tight = true
		s.join("crowd")
		s.line.state(state{stalled: true})
		all = append(all, s)
	}
	u := others[0].pulse()
	// Until what they do not read fills everything on the way to them.
	others[0].await("two seconds of snapshots", func() bool { return len(others[0].snapshots) > u.count+60 })
	for _, s := range h.sessions() {
		if s.KeptBytes > 128<<10 {
			t.Errorf("%d bytes are kept for %s", s.KeptBytes, s.Identity)
		}
	}
	for _, s := range all {
		before := time.Now()
		status, body := h.admin("DELETE", "sessions/"+s.welcome.Session)
		if took := time.Since(before); took > slowdown*time.Second {
			t.Errorf("a kick took %v", took)
		}
		if status != http.StatusOK {
			t.Errorf("a kick was answered with %d: %s", status, body)
		}
		s.line.state(state{})
	}
	for _, s := range all {
		if n := others[0].hears(slowdown*5*time.Second, s.welcome.You, wire.PeerLeft); n.Reason != wire.CodeKicked.Name() {
			t.Errorf("the others were told %q", n.Reason)
		}
		if code := s.end(); code != wire.CodeKicked && (s.transport != "rtc" && slowdown == 1 || code != wire.CodeNone) {
			t.Errorf("%s over %s was closed with %v", s.name, s.transport, code)
		}
	}
	u.holds()
	if members := h.roster("crowd"); len(members) != len(others) {
		t.Errorf("the roster has %d members", len(members))
	}
	eventually(t, "only the links of the others are left", patience, func() bool {
		return int(h.metric("links")) == len(others) && int(h.metric("sessions")) == len(others)
	})
	for _, p := range others {
		p.sees()
	}
}

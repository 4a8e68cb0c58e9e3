package faults_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// sendInputs sends one input frame whose newest input has that number, and with it
// the two before.
func (p *player) sendInputs(seq uint16, count int) {
	in := wire.Input{Seq: seq}
	for i := count - 1; i >= 0; i-- {
		in.Inputs = append(in.Inputs, []byte{byte(seq - uint16(i))})
	}
	p.mu.Lock()
	body := p.acknowledgement(in)
	p.mu.Unlock()
	p.send(wire.KindInput, body)
}

func TestInputsAreAppliedOnceAcrossTheEndOfTheirNumbers(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		name := "runner-" + transport
		p := h.join(t, transport, "inputs-"+transport, name)
		applied := func(n int) {
			t.Helper()
			eventually(t, fmt.Sprint(n, " inputs are applied"), patience, func() bool { return len(h.zoo.applied(name)) >= n })
		}
		var want []uint16
		say := func(seq uint16) {
			p.sendInputs(seq, min(3, len(want)+1))
			want = append(want, seq)
		}
		for seq := uint16(65530); seq != 1; seq++ {
			say(seq)
			if seq == 65535 {
				p.sendInputs(seq, 3) // twice
			}
			if seq%8 == 7 {
				applied(len(want)) // not more than may wait
			}
		}
		// Swapped on the way: the later one repeats the earlier.
		p.sendInputs(2, 3)
		p.sendInputs(1, 3)
		want = append(want, 1, 2)
		for seq := uint16(3); seq <= 10; seq++ {
			say(seq)
		}
		applied(len(want))
		reasons := map[string]float64{}
		for _, reason := range []string{"stale", "far"} {
			reasons[reason] = h.metric("inputs_dropped_total", label("reason", reason))
		}
		half := uint16(1 << 15) // beyond half of the ring
		p.sendInputs(10+half, 1)
		p.sendInputs(10+half-1, 1) // so much newer that it can not be true
		p.lives()
		p.sendInputs(11, 2)
		want = append(want, 11)
		applied(len(want))
		p.lives()
		if got := h.zoo.applied(name); !slices.Equal(got, want) {
			t.Errorf("applied were %v, want %v", got, want)
		}
		for reason, before := range reasons {
			if h.metric("inputs_dropped_total", label("reason", reason)) == before {
				t.Errorf("no %s input was counted", reason)
			}
		}
	})
}

// More messages than 16 bits count, each in a packet of its own.
func TestSeventyThousandMessagesOnOneConnection(t *testing.T) {
	t.Parallel()
	const messages, window = 70_000, 256
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		room := "relay-" + transport
		listener := h.join(t, transport, room, "listener")
		speaker := h.join(t, transport, room, "speaker")
		for i := range messages {
			if i%window == 0 {
				listener.await("what was said", func() bool { return len(listener.texts) >= i-window })
			}
			speaker.relay(wire.Reliable, binary.LittleEndian.AppendUint32(nil, uint32(i)))
		}
		listener.await("everything", func() bool { return len(listener.texts) >= messages })
		listener.relay(wire.Reliable, []byte("and back"))
		listener.relay(wire.Unreliable, []byte("both ways"))
		speaker.await("the way back", func() bool { return len(speaker.texts) == 2 })
		listener.mu.Lock()
		defer listener.mu.Unlock()
		for i, s := range listener.texts {
			if got := binary.LittleEndian.Uint32(s.payload); got != uint32(i) || s.from != speaker.welcome.You {
				t.Fatalf("message %d of member %d came as number %d", got, s.from, i)
			}
		}
		if len(listener.texts) != messages || listener.welcomed != 1 || speaker.welcomed != 1 {
			t.Errorf("%d messages, %d and %d welcomes", len(listener.texts), listener.welcomed, speaker.welcomed)
		}
	})
}

func TestRequestIdsGoOnBeyondEightAndSixteenBits(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		p := h.join(t, transport, "requests-"+transport, "asker")
		const window = 50
		ask := func(n int) {
			t.Helper()
			for i := range n {
				p.mu.Lock()
				next := p.asked + 1
				p.mu.Unlock()
				p.request("echo", fmt.Append(nil, next))
				if i%window == window-1 || i == n-1 {
					p.await("responses", func() bool { _, ok := p.responses[next]; return ok })
				}
			}
		}
		ask(300)
		p.change(func() { p.asked = 65_500 })
		ask(100)
		p.change(func() { p.asked = 1<<32 - 3 })
		ask(2)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.responses) != 402 {
			t.Errorf("%d responses to 402 requests", len(p.responses))
		}
		for id, r := range p.responses {
			if r.Code != wire.CodeNone || string(r.Payload) != fmt.Sprint(id) {
				t.Errorf("request %d was answered with %v, %q", id, r.Code, r.Payload)
			}
		}
	})
}

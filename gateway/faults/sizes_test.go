package faults_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/wire"
)

// filled is a payload whose bytes tell where they belong.
func filled(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// relayMessage is a link message of exactly that size: frames of relays to all.
func relayMessage(size int) (msg []byte, payloads [][]byte) {
	for left := size; left > 0; {
		body := min(left-wire.MaxHeader, 1+wire.MaxReliablePayload)
		if rest := left - wire.MaxHeader - body; rest > 0 && rest < 2100 {
			body -= 2100 // so that the rest has a long header too
		}
		payload := filled(body - 1)
		msg = wire.AppendFrame(msg, wire.KindRelay, wire.AppendRelay(nil, nil, payload))
		payloads = append(payloads, payload)
		left = size - len(msg)
	}
	return msg, payloads
}

func TestMessagesUpToTheLimitArriveWholeAndLargerOnesAreRefused(t *testing.T) {
	t.Parallel()
	h := start(t, hasty)
	overEach(t, func(t *testing.T, transport string) {
		listener := h.join(t, "ws", "relay-"+transport, "listener")
		limits := listener.welcome.Limits
		if limits.ReliableBytes != wire.MaxReliablePayload || limits.UnreliableBytes != wire.MaxUnreliablePayload {
			t.Errorf("announced are %+v", limits)
		}
		round := 0
		// try sends something as a member of its own, and compares what arrives.
		refusal := wire.CodeTooBig
		try := func(what string, say func(p *player), want [][]byte) {
			t.Helper()
			round++
			p := h.join(t, transport, "relay-"+transport, fmt.Sprint("speaker-", round))
			had := listener.state(func() int { return len(listener.texts) })
			say(p)
			if want == nil {
				if code := p.end(); code != refusal {
					t.Errorf("%s: closed with %v", what, code)
				}
				if refusal != wire.CodeTooBig {
					return
				}
				if n := listener.hears(patience, p.welcome.You, wire.PeerLeft); n.Reason != wire.CodeTooBig.Name() {
					t.Errorf("%s: the others were told %q", what, n.Reason)
				}
				return
			}
			listener.await(what, func() bool { return len(listener.texts) >= had+len(want) })
			listener.mu.Lock()
			for i, payload := range want {
				if got := listener.texts[had+i]; !bytes.Equal(got.payload, payload) || got.from != p.welcome.You {
					t.Errorf("%s: %d bytes came of %d", what, len(got.payload), len(payload))
				}
			}
			listener.mu.Unlock()
			p.send(wire.KindLeave, nil)
			if code := p.end(); code != wire.CodeLeft {
				t.Errorf("%s: closed with %v afterwards", what, code)
			}
		}
		for lane, limit := range []int{limits.ReliableBytes, limits.UnreliableBytes} {
			for _, size := range []int{limit - 1, limit, limit + 1} {
				var want [][]byte
				if size <= limit {
					want = [][]byte{filled(size)}
				}
				try(fmt.Sprintf("%d bytes on the %s lane", size, wire.Lane(lane)),
					func(p *player) { p.relay(wire.Lane(lane), filled(size)) }, want)
			}
		}
		for _, size := range []int{65_534, 65_535, 65_536, 65_537, 2 << 20} {
			msg, want := relayMessage(size)
			if len(msg) != size {
				t.Fatalf("a message of %d bytes, not %d", len(msg), size)
			}
			if size > wire.MaxMessage {
				want = nil
			}
			if transport == "rtc" && size > 1<<20 {
				// SCTP never has room for the whole of it, so nobody ever learns of its
				// size: the peer has ignored what was announced and falls silent.
				refusal = wire.CodeTimeout
			}
			try(fmt.Sprintf("a message of %d bytes", size), func(p *player) { p.raw(wire.Reliable, msg) }, want)
			refusal = wire.CodeTooBig
		}
		datagram := wire.AppendFrame(nil, wire.KindRelayFast, wire.AppendRelay(nil, nil, filled(wire.MaxDatagram-2)))
		try("a datagram of one byte too many", func(p *player) { p.raw(wire.Unreliable, datagram) }, nil)
		datagram = wire.AppendFrame(nil, wire.KindRelayFast, wire.AppendRelay(nil, nil, filled(40_000)))
		try("a large datagram", func(p *player) { p.raw(wire.Unreliable, datagram) }, nil)
		if transport == "ws" {
			inFrames(t, try)
		}
		listener.relay(wire.Reliable, []byte("still here"))
		if listener.welcomed != 1 {
			t.Errorf("the listener was welcomed %d times", listener.welcomed)
		}
	})
}

// inFrames tries the largest WebSocket message, and the smallest that is too
// large, in many frames.
func inFrames(t *testing.T, try func(string, func(*player), [][]byte)) {
	t.Helper()
	for _, size := range []int{wire.MaxMessage, wire.MaxMessage + 1} {
		msg, want := relayMessage(size)
		if size > wire.MaxMessage {
			want = nil
		}
		var parts [][]byte
		for rest := msg; len(rest) > 0; {
			n := min(len(rest), 10_007)
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		try(fmt.Sprintf("%d bytes in %d frames", size, len(parts)), func(p *player) {
			p.counts(msg)
			if err := p.line.(*wsLine).write(websocket.MessageBinary, parts...); err != nil && want != nil {
				t.Error(err)
			}
		}, want)
	}
}

// Not parallel: it looks at the memory of the whole process.
func TestOversizeLeavesNoMemoryBehind(t *testing.T) {
	h := start(t, nil)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what pools hold goes with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	round := func(i int) {
		for _, transport := range transports() {
			p := h.join(t, transport, "relay", fmt.Sprint(transport, i))
			size := 2 << 20
			if transport == "rtc" {
				size = 200 << 10 // what fits its receive buffer
			}
			p.write(wire.Reliable, filled(size))
			if code := p.end(); code != wire.CodeTooBig {
				t.Errorf("over %s closed with %v", transport, code)
			}
			p.gone()
			p.pumping.Wait()
			p.change(func() { p.line = nil }) // it holds what it could not send
		}
	}
	round(0) // what is made once
	before := heap()
	for i := range 5 {
		round(i + 1)
	}
	eventually(t, "the links have gone", 5*time.Second, func() bool { return h.metric("links") == 0 })
	eventually(t, "the memory is back", 5*time.Second, func() bool { return heap() < before+6<<20 })
}

//go:build !noenet

package enet_test

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	goenet "github.com/codecat/go-enet"

	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// quick notices a lost peer soon, and gives a busy machine room.
var quick = enet.Pings{PingInterval: 60 * time.Millisecond, Timeout: 300 * time.Millisecond}

// 200 times A is killed while messages for it are on their way, and B comes at the
// same moment for its slot: with A's connect id, from A's port, or both.
func TestTheNextUserOfASlotInheritsNothing(t *testing.T) {
	t.Parallel()
	const together, steps = 5, 10
	for _, tc := range []struct {
		name             string
		samePort, sameID bool
		slots            int
	}{
		{"no slot is free", false, false, together},
		{"the same connect id", false, true, together},
		{"the same port", true, false, 2 * together},
		{"the same port and connect id", true, true, 2 * together},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := newEnds()
			l := listen(t, enet.Options{Slots: tc.slots, Pings: quick, ConnectRate: 1e6, ConnectBurst: 1e6}, server)
			for step := range steps {
				var as [together]*bare
				var toAs [together]*link.Link
				for i := range as {
					as[i] = dialBare(t, l.Addr(), uint32(1000+step*together+i))
					toAs[i] = server.linkOf(t, as[i], nil)
					as[i].silence()
					for n := range 20 {
						toAs[i].Send(wire.CopyFrame(wire.KindEvent, fmt.Appendf(nil, "for A, message %d", n)))
					}
				}
				for _, a := range as {
					a.await("message", func() bool { return len(a.payloads) > 0 })
				}
				for _, a := range as {
					a.close()
				}
				for i, a := range as {
					from, id := "127.0.0.1:0", a.connectID
					if tc.samePort {
						from = a.sock.LocalAddr().String()
					}
					if !tc.sameID {
						id += 1 << 20
					}
					b := newBare(t, from, id)
					b.connect(l.Addr())
					succeed(t, server, l, toAs[i], b)
				}
			}
			server.mu.Lock()
			defer server.mu.Unlock()
			if len(server.opened) != 2*together*steps || len(server.ended) != 2*together*steps {
				t.Errorf("%d links opened, %d ended", len(server.opened), len(server.ended))
			}
		})
	}
}

// succeed is the short life of b after A, whose link was toA.
func succeed(t *testing.T, server *ends, l *enet.Listener, toA *link.Link, b *bare) {
	t.Helper()
	toB := server.linkOf(t, b, toA)
	toB.Send(wire.CopyFrame(wire.KindEvent, []byte("for B")))
	b.await("B's message", func() bool { return len(b.payloads) > 0 })
	if err := server.awaitEnd(t, toA); code(err) != wire.CodeNone {
		t.Errorf("A's link ended with %v", err)
	}
	toA.Send(wire.CopyFrame(wire.KindEvent, []byte("for A, too late")))
	toA.Close(wire.Errorf(wire.CodeKicked, "too late"))
	b.say(l.Addr(), reliablePacket(0, 1, wire.AppendFrame(nil, wire.KindRequest, []byte("from B"))))
	server.await(t, "B's request", func() bool { return len(server.received[toB]) == 1 })
	b.mu.Lock()
	for _, p := range b.payloads {
		if bytes.Contains(p, []byte("for A")) {
			t.Errorf("B got %q", p)
		}
	}
	if b.ended {
		t.Errorf("B was disconnected with %d", b.data)
	}
	b.mu.Unlock()
	server.mu.Lock()
	if len(server.ended[toB]) != 0 || len(server.received[toA]) != 0 {
		t.Errorf("B's link ended %v, A's received %d messages", server.ended[toB], len(server.received[toA]))
	}
	server.mu.Unlock()
	b.say(l.Addr(), command(cmdDisconnect|flagAck, 0xff, 2, uint32(wire.CodeLeft)))
	if err := server.awaitEnd(t, toB); code(err) != wire.CodeLeft {
		t.Errorf("B's link ended with %v", err)
	}
	b.close()
}

// linkOf returns the newest link to b that is not the one given.
func (e *ends) linkOf(t *testing.T, b *bare, not *link.Link) (found *link.Link) {
	t.Helper()
	remote := b.sock.LocalAddr().(*net.UDPAddr).AddrPort()
	e.await(t, "link", func() bool {
		for _, l := range slices.Backward(e.opened) {
			if l.Info().Remote == remote && l != not && len(e.ended[l]) == 0 {
				found = l
				return true
			}
		}
		return false
	})
	return found
}

// A stock client, which drops what it does not expect, comes back from the port that
// it was killed on.
func TestAStockClientComesBackOnItsPort(t *testing.T) {
	t.Parallel()
	server := newEnds()
	l := listen(t, enet.Options{}, server) // the default timeout: only the probe is in time
	for round := range 3 {
		a := dialBare(t, l.Addr(), uint32(77+round))
		toA := server.link(t, 2*round)
		a.silence()
		toA.Send(wire.CopyFrame(wire.KindEvent, []byte("for A")))
		a.await("message", func() bool { return len(a.payloads) > 0 })
		port := uint16(a.sock.LocalAddr().(*net.UDPAddr).Port)
		a.close()
		b := startRaw(t, l.Addr(), goenet.NewAddress("127.0.0.1", port), 2, 0)
		b.await("connection", func() bool { return b.connected })
		server.awaitEnd(t, toA)
		toB := server.link(t, 2*round+1)
		toB.Send(wire.CopyFrame(wire.KindEvent, []byte("for B")))
		b.awaitReliable(1)
		b.mu.Lock()
		if got := wire.AppendFrame(nil, wire.KindEvent, []byte("for B")); len(b.messages) != 1 || !bytes.Equal(b.messages[0], got) {
			t.Errorf("B got %q", b.messages)
		}
		b.mu.Unlock()
		b.kill()
	}
}

// A forged or late CONNECT from a living peer's own socket must not end it.
func TestARepeatedConnectDoesNotEndALivingPeer(t *testing.T) {
	t.Parallel()
	server := newEnds()
	l := listen(t, enet.Options{Pings: quick}, server)
	b := dialBare(t, l.Addr(), 5)
	at := server.link(t, 0)
	for i := range 3 {
		b.to(l.Addr(), connectDatagram(0, 5, 2, 0))
		b.to(l.Addr(), connectDatagram(0, 6, 2, 0))
		b.say(l.Addr(), reliablePacket(0, uint16(i+1), wire.AppendFrame(nil, wire.KindRequest, []byte{byte(i)})))
		server.await(t, "request", func() bool { return len(server.received[at]) == i+1 })
	}
	// The probe takes up to 2 s; what it must not do is end the link or open one.
	deadline := time.Now().Add(2500 * time.Millisecond)
	for i := 3; time.Now().Before(deadline); i++ {
		at.Send(wire.CopyFrame(wire.KindEvent, []byte{byte(i)}))
		b.await("event", func() bool { return len(b.payloads) > i-3 })
		b.say(l.Addr(), command(cmdPing|flagAck, 0xff, uint16(i)))
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.opened) != 1 || len(server.ended) != 0 {
		t.Errorf("%d links opened, %d ended", len(server.opened), len(server.ended))
	}
}

func TestTwoPeersThatLeaveTogetherEndOnceEach(t *testing.T) {
	t.Parallel()
	server := newEnds()
	l := listen(t, enet.Options{Pings: quick}, server)
	for round := range 30 {
		a, b := dialBare(t, l.Addr(), 1), dialBare(t, l.Addr(), 2)
		server.link(t, 2*round+1)
		// The owner reads all that waits in one service; both are likely in it.
		a.say(l.Addr(), command(cmdDisconnect|flagAck, 0xff, 1, uint32(4400)))
		b.say(l.Addr(), command(cmdDisconnect|flagAck, 0xff, 1, uint32(4401)))
		codes := map[wire.Code]int{}
		for _, at := range []*link.Link{server.link(t, 2*round), server.link(t, 2*round+1)} {
			codes[code(server.awaitEnd(t, at))]++
		}
		if codes[wire.CodeLeft] != 1 || codes[wire.CodeKicked] != 1 {
			t.Errorf("round %d: ended with %v", round, codes)
		}
		a.close()
		b.close()
	}
}

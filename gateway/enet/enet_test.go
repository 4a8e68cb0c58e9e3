//go:build !noenet

package enet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

func TestBothLanesCarryFramesBothWays(t *testing.T) {
	t.Parallel()
	server, client, at, to := pair(t)
	const frames = 200
	for i := range frames {
		for _, l := range []*link.Link{at, to} {
			if !l.Send(numbered(wire.KindEvent, i, 4+i)) {
				t.Fatal("the reliable lane is full")
			}
			l.Send(numbered(wire.KindInput, i, 4+i))
		}
	}
	for _, side := range []struct {
		name string
		ends *ends
		l    *link.Link
	}{{"server", server, at}, {"client", client, to}} {
		side.ends.await(t, side.name+"'s reliable frames", func() bool {
			return len(side.ends.frames(side.l, wire.Reliable)) == frames
		})
		side.ends.mu.Lock()
		for i, body := range side.ends.frames(side.l, wire.Reliable) {
			if want := numbered(wire.KindEvent, i, 4+i).Body(); !bytes.Equal(body, want) {
				t.Fatalf("%s: reliable frame %d is not what was sent", side.name, i)
			}
		}
		side.ends.mu.Unlock()
		side.ends.await(t, side.name+"'s unreliable frames", func() bool {
			return len(side.ends.frames(side.l, wire.Unreliable)) > 0
		})
	}
}

func TestInfoNamesThePeer(t *testing.T) {
	t.Parallel()
	_, _, at, to := pair(t)
	if i := at.Info(); i.Transport != "enet" || i.OneStream || !i.Remote.Addr().IsLoopback() || i.Remote.Port() == 0 {
		t.Errorf("server's info: %+v", i)
	}
	if i := to.Info(); i.Transport != "enet" || !i.Remote.Addr().IsLoopback() {
		t.Errorf("client's info: %+v", i)
	}
}

func TestCloseFlushesAndTellsTheCode(t *testing.T) {
	t.Parallel()
	for _, byServer := range []bool{true, false} {
		t.Run(fmt.Sprintf("by server %t", byServer), func(t *testing.T) {
			t.Parallel()
			server, client, at, to := pair(t)
			closer, other, l, peer := server, client, at, to
			if !byServer {
				closer, other, l, peer = client, server, to, at
			}
			const frames = 50
			for i := range frames {
				l.Send(numbered(wire.KindEvent, i, 3000))
			}
			l.Close(wire.Errorf(wire.CodeKicked, "for the test"))
			if err := other.awaitEnd(t, peer); code(err) != wire.CodeKicked {
				t.Errorf("the other end's link ended with %v", err)
			}
			if err := closer.awaitEnd(t, l); code(err) != wire.CodeKicked {
				t.Errorf("the closed link ended with %v", err)
			}
			got := other.frames(peer, wire.Reliable)
			if len(got) != frames+1 {
				t.Fatalf("%d frames came, %d and a close frame were sent", len(got), frames)
			}
			if last := got[frames]; !strings.Contains(string(last), `"kicked"`) {
				t.Errorf("the last frame is %q", last)
			}
		})
	}
}

func TestListenerCloseEndsEveryLinkFirst(t *testing.T) {
	t.Parallel()
	server, client := newEnds(), newEnds()
	l := listen(t, enet.Options{}, server)
	for range 5 {
		dial(t, l, client)
	}
	at := server.link(t, 4)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.ended) != 5 {
		t.Errorf("%d of 5 links had ended when Close returned", len(server.ended))
	}
	if err := server.ended[at][0]; code(err) != wire.CodeGoingAway {
		t.Errorf("a link ended with %v", err)
	}
	at.Flush() // late calls must be harmless
	at.Close(wire.Errorf(wire.CodeKicked, "too late"))
}

func TestHandlerErrorClosesWithItsCode(t *testing.T) {
	t.Parallel()
	server, client := newEnds(), newEnds()
	calls := 0 // by the owner alone
	server.onReceive = func(*link.Link, wire.Lane, []byte) *wire.Error {
		calls++
		return wire.Errorf(wire.CodeRoomFull, "no place")
	}
	l := listen(t, enet.Options{}, server)
	to := dial(t, l, client)
	for i := range 10 {
		to.Send(numbered(wire.KindRequest, i, 20_000))
	}
	if err := client.awaitEnd(t, to); code(err) != wire.CodeRoomFull {
		t.Errorf("the client's link ended with %v", err)
	}
	server.awaitEnd(t, server.link(t, 0))
	if calls != 1 {
		t.Errorf("Receive was called %d times after it refused", calls)
	}
}

// A busy link sends several frames together; what waits for others is not lost.
func TestABusyLinkCoalesces(t *testing.T) {
	t.Parallel()
	server, client, at, to := pair(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	const frames = 600
	for i := range frames {
		<-tick.C
		at.Send(numbered(wire.KindEvent, i, 32))
	}
	client.await(t, "every frame", func() bool { return len(client.frames(to, wire.Reliable)) == frames })
	if messages := len(client.received[to]); messages > frames/2 {
		t.Errorf("%d frames, a millisecond apart, left in %d messages", frames, messages)
	}
	exchange(t, server, client, at, to)
}

func TestSizesAroundTheLimits(t *testing.T) {
	t.Parallel()
	const head = wire.MaxHeader
	for _, tc := range []struct {
		lane wire.Lane
		size int
		fits bool
	}{
		{wire.Unreliable, wire.MaxDatagram - 1, true},
		{wire.Unreliable, wire.MaxDatagram, true},
		{wire.Unreliable, wire.MaxDatagram + 1, false},
		{wire.Unreliable, 5000, false},
		{wire.Unreliable, 65_536, false},
		{wire.Reliable, wire.MaxMessage - 1, true},
		{wire.Reliable, wire.MaxMessage, true},
		{wire.Reliable, wire.MaxMessage + 1, false},
		{wire.Reliable, 2 << 20, false},
	} {
		t.Run(fmt.Sprintf("%s %d", tc.lane, tc.size), func(t *testing.T) {
			t.Parallel()
			server, neighbours := newEnds(), newEnds()
			l := listen(t, enet.Options{}, server)
			neighbour := dial(t, l, neighbours)
			first := server.link(t, 0) // before the other's opens
			raw := dialRaw(t, l.Addr())
			at := server.link(t, 1)
			msg := bytes.Repeat([]byte{7}, tc.size)
			raw.send(tc.lane, msg)
			if tc.fits {
				server.await(t, "message", func() bool { return len(server.received[at]) == 1 })
				if got := server.received[at][0]; got.lane != tc.lane || !bytes.Equal(got.msg, msg) {
					t.Errorf("%d bytes came on the %s lane", len(got.msg), got.lane)
				}
			} else {
				if data := raw.awaitDisconnect(); data != uint32(wire.CodeTooBig) {
					t.Errorf("disconnect data %d, want %d", data, wire.CodeTooBig)
				}
				if err := server.awaitEnd(t, at); code(err) != wire.CodeTooBig {
					t.Errorf("the link ended with %v", err)
				}
			}
			neighbour.Send(numbered(wire.KindRequest, 1, head))
			server.await(t, "the neighbour's frame", func() bool { return len(server.frames(first, wire.Reliable)) == 1 })
		})
	}
}

func TestAddressesAreRefusedClearly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ address, want string }{
		{"[::1]:7777", "IPv6"},
		{"[::]:0", "IPv6"},
		{"127.0.0.1", "missing port"},
		{"127.0.0.1:70000", "0 to 65535"},
	} {
		if _, err := enet.Listen(enet.Options{Address: tc.address}, newEnds()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("listen on %s: %v, want an error about %q", tc.address, err, tc.want)
		}
		if _, err := enet.Dial(t.Context(), tc.address, newEnds(), enet.DialOptions{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("dial %s: %v, want an error about %q", tc.address, err, tc.want)
		}
	}
	l := listen(t, enet.Options{}, newEnds())
	if _, err := enet.Listen(enet.Options{Address: l.Addr().String()}, newEnds()); err == nil {
		t.Error("two listeners have one port")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]enet.Options{
		"slots":             {Slots: 4096},
		"connect rate":      {ConnectRate: -1},
		"connect burst":     {ConnectBurst: -1},
		"handshake timeout": {HandshakeTimeout: time.Millisecond},
		"ping interval":     {Pings: enet.Pings{PingInterval: time.Millisecond}},
		"timeout":           {Pings: enet.Pings{PingInterval: time.Second, Timeout: time.Second}},
	} {
		if _, err := enet.Listen(o, newEnds()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, want an error about the %s", o, err, name)
		}
	}
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	silent := openUDP(t, "127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := enet.Dial(ctx, silent.LocalAddr().String(), newEnds(), enet.DialOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dial without an answer: %v", err)
	}
}

func TestALostPeerIsNoticedInTime(t *testing.T) {
	t.Parallel()
	server := newEnds()
	pings := enet.Pings{PingInterval: 50 * time.Millisecond, Timeout: 300 * time.Millisecond}
	l := listen(t, enet.Options{Pings: pings}, server)
	raw := dialRaw(t, l.Addr())
	at := server.link(t, 0)
	began := time.Now()
	raw.kill()
	if err := server.awaitEnd(t, at); code(err) != wire.CodeNone {
		t.Errorf("a lost peer's link ended with %v", err)
	}
	if took := time.Since(began); took < pings.Timeout-2*pings.PingInterval || took > 5*pings.Timeout {
		t.Errorf("noticed after %s, the timeout is %s", took, pings.Timeout)
	}
}

func TestAReaderThatStopsIsBounded(t *testing.T) {
	t.Parallel()
	server := newEnds()
	o := link.Options{ReliableBytes: 256 << 10}
	l := listen(t, enet.Options{Link: o, Pings: enet.Pings{Timeout: time.Minute}}, server)
	raw := dialRaw(t, l.Addr())
	at := server.link(t, 0)
	raw.freeze()
	sent := 0
	for at.Send(numbered(wire.KindEvent, sent, 4<<10)) {
		if sent++; sent > 1000 {
			t.Fatal("a reader that stopped took 4 MiB")
		}
	}
	// Most of what was taken is in the link's ring, where it is counted: ENet
	// holds its bound and one message at most.
	if held := sent*4<<10 - o.ReliableBytes; held > 160<<10 {
		t.Errorf("%d bytes were handed to ENet", held)
	}
	raw.thaw()
	raw.awaitReliable(sent)
	at.Close(wire.Errorf(wire.CodeSlowConsumer, "too slow"))
	if data := raw.awaitDisconnect(); data != uint32(wire.CodeSlowConsumer) {
		t.Errorf("disconnect data %d", data)
	}
}

func TestClosingAReaderThatStoppedTakesTheGrace(t *testing.T) {
	t.Parallel()
	server := newEnds()
	l := listen(t, enet.Options{Pings: enet.Pings{Timeout: time.Minute}}, server)
	raw := dialRaw(t, l.Addr())
	at := server.link(t, 0)
	raw.freeze()
	for at.Send(numbered(wire.KindEvent, 0, 4<<10)) {
	}
	began := time.Now()
	at.Close(wire.Errorf(wire.CodeSlowConsumer, "too slow"))
	server.awaitEnd(t, at)
	if took := time.Since(began); took > 5*link.CloseGrace {
		t.Errorf("the end took %s", took)
	}
}

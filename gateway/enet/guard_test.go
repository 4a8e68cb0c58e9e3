//go:build !noenet

package enet_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// exchange proves that a link still works both ways.
func exchange(t *testing.T, server, client *ends, at, to *link.Link) {
	t.Helper()
	var up, down int
	server.await(t, "lock", func() bool { up = len(server.frames(at, wire.Reliable)); return true })
	client.await(t, "lock", func() bool { down = len(client.frames(to, wire.Reliable)); return true })
	to.Send(numbered(wire.KindRequest, 1, 100))
	at.Send(numbered(wire.KindEvent, 1, 100))
	server.await(t, "request", func() bool { return len(server.frames(at, wire.Reliable)) == up+1 })
	client.await(t, "event", func() bool { return len(client.frames(to, wire.Reliable)) == down+1 })
}

func TestAFloodFromOneAddressIsShed(t *testing.T) {
	t.Parallel()
	server, client := newEnds(), newEnds()
	l := listen(t, enet.Options{Slots: 64, ConnectRate: 5, ConnectBurst: 10}, server)
	flood := openUDP(t, "127.0.0.2:0")
	const attempts = 2000
	for i := range attempts {
		flood.WriteToUDPAddrPort(connectDatagram(uint16(i), uint32(i), 2, 0), l.Addr())
		if i%100 == 99 { // the socket's buffer is not what is tested
			want := uint64(i + 1 - 40)
			await(t, "shed attempts", func() bool { return l.Counts().ConnectsShed >= want })
		}
	}
	to := dial(t, l, client)
	exchange(t, server, client, server.link(t, 0), to)
}

func TestAFloodFromManyAddressesLeavesRoomForNeighbours(t *testing.T) {
	t.Parallel()
	server, client := newEnds(), newEnds()
	l := listen(t, enet.Options{Slots: 32, HandshakeTimeout: time.Hour}, server)
	flood := func(from int) {
		sock := openUDP(t, fmt.Sprintf("127.0.%d.%d:0", 1+from/200, 1+from%200))
		for i := range 20 {
			sock.WriteToUDPAddrPort(connectDatagram(uint16(i), uint32(i), 2, 0), l.Addr())
		}
		sock.Close()
	}
	for from := range 200 {
		flood(from)
	}
	to := dial(t, l, client)
	at := server.link(t, 0)
	for from := range 200 {
		flood(200 + from)
	}
	exchange(t, server, client, at, to)
	await(t, "shed handshakes", func() bool { return l.Counts().ConnectsShed > 1000 })
}

func TestUnansweredHandshakesAreForgotten(t *testing.T) {
	t.Parallel()
	l := listen(t, enet.Options{HandshakeTimeout: 200 * time.Millisecond}, newEnds())
	sock := openUDP(t, "127.0.0.1:0")
	sock.WriteToUDPAddrPort(connectDatagram(0, 1, 2, 0), l.Addr())
	buf := make([]byte, 2000)
	sock.SetReadDeadline(time.Now().Add(patience))
	if _, err := sock.Read(buf); err != nil {
		t.Fatal(err)
	}
	// ENet would repeat its answer half a second after the first.
	sock.SetReadDeadline(time.Now().Add(1500 * time.Millisecond))
	if n, err := sock.Read(buf); err == nil {
		t.Errorf("after its time the handshake got %x", buf[:n])
	}
}

func TestConnectsThatAskForSomethingElseAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		channels int
		data     uint32
	}{
		{"connect data", 2, 7},
		{"one channel", 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := newEnds()
			l := listen(t, enet.Options{}, server)
			raw := startRaw(t, l.Addr(), nil, tc.channels, tc.data)
			if data := raw.awaitDisconnect(); data != uint32(wire.CodeProtocol) {
				t.Errorf("disconnect data %d, want %d", data, wire.CodeProtocol)
			}
			if len(server.opened) != 0 {
				t.Error("a link was opened")
			}
		})
	}
}

func TestChannelZeroIsForReliablePackets(t *testing.T) {
	t.Parallel()
	server := newEnds()
	l := listen(t, enet.Options{}, server)
	raw := dialRaw(t, l.Addr())
	raw.sendFlags(0, 0, []byte{1})
	if data := raw.awaitDisconnect(); data != uint32(wire.CodeProtocol) {
		t.Errorf("disconnect data %d, want %d", data, wire.CodeProtocol)
	}
	server.awaitEnd(t, server.link(t, 0))
}

// specimens are one well-formed command of each kind.
func specimens() [][]byte {
	payload := bytes.Repeat([]byte{1}, 600)
	return [][]byte{
		command(cmdAck, 0, 1, uint16(1), uint16(0)),
		connectDatagram(0, 9, 2, 0)[4:],
		command(cmdVerify|flagAck, 0xff, 1, make([]byte, 40)),
		command(cmdPing|flagAck, 0xff, 1),
		reliablePacket(0, 1, []byte("reliable")),
		command(cmdUnreliable, 1, 0, uint16(1), uint16(2), []byte("un")),
		fragment(cmdFragment|flagAck, 0, 2, 2, 2, 0, 1000, 0, payload),
		command(cmdUnsequenced|flagUnsequenced, 1, 0, uint16(1), uint16(2), []byte("un")),
		command(cmdBandwidth|flagAck, 0xff, 2, uint32(0), uint32(0)),
		command(cmdThrottle|flagAck, 0xff, 3, uint32(5000), uint32(2), uint32(2)),
		fragment(cmdLooseFrag, 1, 0, 1, 2, 0, 1000, 0, payload),
		command(cmdDisconnect|flagAck, 0xff, 4, uint32(0)),
	}
}

// Every prefix of every command, every byte of their heads flipped, in a linked
// peer's name and in nobody's, and datagrams that are no ENet at all.
func TestMalformedDatagramsEndAtMostTheirSender(t *testing.T) {
	t.Parallel()
	server, client := newEnds(), newEnds()
	l := listen(t, enet.Options{ConnectRate: 1e6, ConnectBurst: 1e6, HandshakeTimeout: 100 * time.Millisecond}, server)
	to := dial(t, l, client)
	at := server.link(t, 0)
	for i, specimen := range specimens() {
		b := dialBare(t, l.Addr(), uint32(i))
		var datagrams [][]byte
		for n := range len(specimen) {
			if n < 64 || n == len(specimen)-1 {
				datagrams = append(datagrams, specimen[:n])
			}
		}
		for n := range min(len(specimen), 48) {
			for _, flip := range []byte{1, 0x80, 0xff} {
				damaged := bytes.Clone(specimen)
				damaged[n] ^= flip
				datagrams = append(datagrams, damaged)
			}
		}
		for _, d := range datagrams {
			b.say(l.Addr(), d)
			for _, head := range [][]byte{{0x8f, 0xff, 0, 0}, {0x0f, 0xff}, {0x4f, 0xff}, {0x80, 0xff, 0, 0}, {0x4f}} {
				b.to(l.Addr(), append(bytes.Clone(head), d...))
			}
		}
		exchange(t, server, client, at, to)
		b.close()
	}
	sock := openUDP(t, "127.0.0.1:0")
	for _, size := range []int{0, 1, 2, 3, 4, 4095, 4096, 4097, 9000, 60_000} {
		for _, fill := range []byte{0, 0x8f, 0xff} {
			for range 20 { // one of them stops a service; the others must not wait
				sock.WriteToUDPAddrPort(bytes.Repeat([]byte{fill}, size), l.Addr())
			}
		}
	}
	exchange(t, server, client, at, to)
	for range 20_000 { // a socket that is fed nothing else still serves its peers
		sock.WriteToUDPAddrPort(make([]byte, 5000), l.Addr())
	}
	exchange(t, server, client, at, to)
	exchange(t, server, client, at, dialAgain(t, l, client, to))
}

// dialAgain proves that newcomers get in; it returns the link given.
func dialAgain(t *testing.T, l *enet.Listener, client *ends, to *link.Link) *link.Link {
	t.Helper()
	dial(t, l, client)
	return to
}

// What a peer announces and never sends must not be paid for. Not parallel: it
// measures the process.
func TestEmptyPromisesTakeNoMemory(t *testing.T) {
	const mib = 1 << 20
	for _, tc := range []struct {
		name    string
		promise func(i int) []byte
	}{
		{"a bitmap of a million fragments", func(i int) []byte {
			// Behind reliable packet 1 of the channel, which never comes.
			return fragment(cmdLooseFrag, 1, 1, uint16(i+1), 1<<20, 0, 1, 0, []byte{1})
		}},
		{"empty packets that wait for another", func(i int) []byte {
			var d []byte
			for n := range 100 {
				d = append(d, command(cmdUnreliable, 1, uint16(1+i/600), uint16(100*i+n+1), uint16(0))...)
			}
			return d
		}},
		{"packets of many fragments", func(i int) []byte {
			return fragment(cmdFragment|flagAck, 0, uint16(2*i+2), uint16(2*i+2), 1<<20, 0, 120<<10, 0, make([]byte, 600))
		}},
		{"large packets", func(i int) []byte {
			return fragment(cmdFragment|flagAck, 0, uint16(200*i+2), uint16(200*i+2), 100, 0, 120<<10, 0, make([]byte, 1200))
		}},
		{"a packet of a gigabyte", func(i int) []byte {
			return fragment(cmdFragment|flagAck, 0, uint16(i+2), uint16(i+2), 1<<20, 0, 1<<30, 0, make([]byte, 1200))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, client := newEnds(), newEnds()
			l := listen(t, enet.Options{}, server)
			to := dial(t, l, client)
			at := server.link(t, 0) // before anyone else's opens
			before := resident(t)
			for peer := range 4 {
				b := dialBare(t, l.Addr(), uint32(peer))
				for i := range 1000 {
					b.say(l.Addr(), tc.promise(i))
					if i%50 == 0 {
						exchange(t, server, client, at, to)
					}
				}
			}
			if grown := resident(t) - before; grown > 24*mib {
				t.Errorf("the process has grown by %d MiB", grown/mib)
			}
		})
	}
}

func TestEverythingIsGivenBack(t *testing.T) {
	round := func() {
		server, client := newEnds(), newEnds()
		l, err := enet.Listen(enet.Options{Address: "127.0.0.1:0"}, server)
		if err != nil {
			t.Fatal(err)
		}
		to, err := enet.Dial(t.Context(), l.Addr().String(), client, enet.DialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		exchange(t, server, client, server.link(t, 0), to)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		client.awaitEnd(t, to)
	}
	round()
	before := descriptors(t)
	for range 20 {
		round()
	}
	await(t, "descriptors to be closed", func() bool { return descriptors(t) <= before })
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	return len(names)
}

// resident returns the bytes of memory that the process holds, C's included.
func resident(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// await polls what nobody signals.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no %s within %s", what, patience)
		}
	}
}

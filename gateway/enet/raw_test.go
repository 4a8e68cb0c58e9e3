//go:build !noenet

package enet_test

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	goenet "github.com/codecat/go-enet"

	"github.com/gatehouse/gatehouse/wire"
)

// raw is an ENet client without a line of ours between it and the library. One
// goroutine owns it; the methods ask that one.
type raw struct {
	t     *testing.T
	calls chan func()
	gone  chan struct{}

	// owned by the goroutine
	host   goenet.Host
	peer   goenet.Peer
	frozen bool
	dead   bool

	mu           sync.Mutex
	changed      chan struct{}
	connected    bool
	disconnected bool
	data         uint32
	reliable     int // frames
	messages     [][]byte
}

// dialRaw connects; the end of the test destroys what is left.
func dialRaw(t *testing.T, to netip.AddrPort) *raw {
	t.Helper()
	r := startRaw(t, to, nil, 2, 0)
	r.await("connection", func() bool { return r.connected })
	return r
}

// startRaw begins to connect, from a port of its own choice or from one given.
func startRaw(t *testing.T, to netip.AddrPort, from goenet.Address, channels int, data uint32) *raw {
	t.Helper()
	goenet.Initialize()
	host, err := goenet.NewHost(from, 1, 2, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := host.Connect(goenet.NewAddress(to.Addr().String(), to.Port()), channels, data)
	if err != nil {
		t.Fatal(err)
	}
	r := &raw{
		t: t, host: host, peer: peer,
		calls: make(chan func()), gone: make(chan struct{}), changed: make(chan struct{}),
	}
	go r.run()
	t.Cleanup(r.kill)
	return r
}

func (r *raw) run() {
	defer close(r.gone)
	defer func() { r.host.Destroy() }()
	for !r.dead {
		if r.frozen {
			(<-r.calls)()
			continue
		}
		select {
		case fn := <-r.calls:
			fn()
		default:
			r.handle(r.host.Service(2))
		}
	}
}

func (r *raw) handle(e goenet.Event) {
	if e.GetType() == goenet.EventNone {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.GetType() {
	case goenet.EventConnect:
		r.connected = true
	case goenet.EventDisconnect:
		r.disconnected, r.data = true, e.GetData()
	case goenet.EventReceive:
		msg := e.GetPacket().GetData()
		e.GetPacket().Destroy()
		r.messages = append(r.messages, msg)
		for rest := msg; e.GetChannelID() == 0 && len(rest) > 0; r.reliable++ {
			_, _, next, err := wire.NextFrame(rest)
			if err != nil {
				r.t.Errorf("received %q: %v", rest, err)
				break
			}
			rest = next
		}
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *raw) await(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		changed, good := r.changed, ok()
		r.mu.Unlock()
		if good {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("no %s within %s", what, patience)
		}
	}
}

func (r *raw) awaitDisconnect() uint32 {
	r.t.Helper()
	r.await("disconnect", func() bool { return r.disconnected })
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data
}

func (r *raw) awaitReliable(n int) {
	r.t.Helper()
	r.await("reliable frames", func() bool { return r.reliable >= n })
}

// do runs fn on the goroutine; after kill it does nothing.
func (r *raw) do(fn func()) {
	done := make(chan struct{})
	select {
	case r.calls <- func() { fn(); close(done) }:
		<-done
	case <-r.gone:
	}
}

func (r *raw) send(lane wire.Lane, msg []byte) {
	flags := goenet.PacketFlagReliable
	if lane == wire.Unreliable {
		flags = goenet.PacketFlagUnsequenced
	}
	r.sendFlags(uint8(lane), flags, msg)
}

func (r *raw) sendFlags(channel uint8, flags goenet.PacketFlags, msg []byte) {
	r.do(func() {
		if err := r.peer.SendBytes(msg, channel, flags); err != nil {
			r.t.Error(err)
		}
	})
}

// freeze keeps the socket open and never reads it, until thaw.
func (r *raw) freeze() { r.do(func() { r.frozen = true }) }
func (r *raw) thaw()   { r.do(func() { r.frozen = false }) }

// kill closes the socket without a word, as a killed process does.
func (r *raw) kill() {
	r.do(func() { r.dead = true })
	<-r.gone
}

// openUDP opens a socket that speaks no ENet but what the test writes by hand.
func openUDP(t *testing.T, at string) *net.UDPConn {
	t.Helper()
	address, err := net.ResolveUDPAddr("udp4", at)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenUDP("udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

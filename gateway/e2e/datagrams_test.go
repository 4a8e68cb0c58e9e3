package e2e

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// datagrams is a UDP proxy in front of a server: each address that sends to it
// gets a socket of its own towards the server, as behind a NAT.
type datagrams struct {
	// immutable
	weather weather
	server  netip.AddrPort
	front   *net.UDPConn

	up, down tally
	readers  sync.WaitGroup
	flying   sync.WaitGroup // datagrams that are delayed
	cut      func()

	mu     sync.Mutex // guards the rest
	closed bool
	backs  map[netip.AddrPort]*net.UDPConn
}

// maxFlows bounds the addresses of a proxy, which serves one client.
const maxFlows = 32

func newDatagrams(t *testing.T, w weather, server netip.AddrPort) (*datagrams, error) {
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &datagrams{weather: w, server: server, front: front, backs: map[netip.AddrPort]*net.UDPConn{}}
	p.cut = sync.OnceFunc(p.close)
	p.readers.Go(p.upward)
	t.Cleanup(p.cut)
	return p, nil
}

func (p *datagrams) addr() netip.AddrPort { return p.front.LocalAddr().(*net.UDPAddr).AddrPort() }

// close is the end of the way: what is under way is lost, and neither end is
// told.
func (p *datagrams) close() {
	p.mu.Lock()
	p.closed = true
	_ = p.front.Close()
	for _, back := range p.backs {
		_ = back.Close()
	}
	p.mu.Unlock()
	p.readers.Wait()
	p.flying.Wait()
}

// upward carries what clients send.
func (p *datagrams) upward() {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := p.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if back := p.flow(from); back != nil {
			p.carry(&p.up, buf[:n], func(b []byte) { _, _ = back.Write(b) })
		}
	}
}

// flow returns the socket that stands for a client, nil if there is none.
func (p *datagrams) flow(from netip.AddrPort) *net.UDPConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if back := p.backs[from]; back != nil || p.closed || len(p.backs) == maxFlows {
		return back
	}
	back, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(p.server))
	if err != nil {
		return nil
	}
	p.backs[from] = back
	p.readers.Go(func() { p.downward(back, from) })
	return back
}

// downward carries what the server sends to one client.
func (p *datagrams) downward(back *net.UDPConn, to netip.AddrPort) {
	buf := make([]byte, 1<<16)
	for {
		n, err := back.Read(buf)
		if err != nil {
			return
		}
		p.carry(&p.down, buf[:n], func(b []byte) { _, _ = p.front.WriteToUDPAddrPort(b, to) })
	}
}

// carry decides the fate of a datagram.
func (p *datagrams) carry(c *tally, datagram []byte, deliver func([]byte)) {
	number := c.passed.Add(1)
	if chance(p.weather.loss) {
		c.lost.Add(1)
		return
	}
	copies := 1
	if chance(p.weather.duplicate) {
		c.doubled.Add(1)
		copies = 2
	}
	var kept []byte
	for range copies {
		delay := p.weather.delay()
		if delay == 0 {
			deliver(datagram)
			continue
		}
		if kept == nil {
			kept = append(kept, datagram...)
		}
		p.flying.Add(1)
		time.AfterFunc(delay, func() {
			defer p.flying.Done()
			c.arrived(number)
			deliver(kept)
		})
	}
}

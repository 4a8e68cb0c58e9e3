package faults_test

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// udpProxy stands between one client and the server's UDP port, and is the line
// that gets worse.
type udpProxy struct {
	front, back *net.UDPConn // to the client, to the server
	running     sync.WaitGroup
	late        chan datagram // of a slow line
	lost        atomic.Int64  // datagrams for which a slow line had no room

	mu     sync.Mutex
	s      state
	client netip.AddrPort
	idle   time.Time // when the slow line has sent what it holds
}

type datagram struct {
	due  time.Time
	body []byte
}

// lineBuffer is what a slow line holds before it drops, in bytes.
const lineBuffer = 4 << 10

func newUDPProxy(server netip.AddrPort) (*udpProxy, error) {
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	back, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		front.Close()
		return nil, err
	}
	for _, c := range []*net.UDPConn{front, back} { // bursts of large messages
		_ = c.SetReadBuffer(4 << 20)
		_ = c.SetWriteBuffer(4 << 20)
	}
	p := &udpProxy{front: front, back: back, late: make(chan datagram, 1024)}
	p.running.Go(p.up)
	p.running.Go(func() { defer close(p.late); p.down() })
	p.running.Go(p.trickle)
	return p, nil
}

// port is where the client sends to.
func (p *udpProxy) port() uint16 { return uint16(p.front.LocalAddr().(*net.UDPAddr).Port) }

func (p *udpProxy) set(s state) {
	p.mu.Lock()
	p.s = s
	p.mu.Unlock()
}

func (p *udpProxy) close() {
	p.front.Close()
	p.back.Close()
	p.running.Wait()
}

func (p *udpProxy) up() {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := p.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.client = from
		silent := p.s.silent
		p.mu.Unlock()
		if !silent {
			_, _ = p.back.Write(buf[:n]) // refused: the server has gone
		}
	}
}

func (p *udpProxy) down() {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.back.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // refused, by a server that has gone
		}
		p.mu.Lock()
		s, client := p.s, p.client
		wait := p.hold(s, n)
		p.mu.Unlock()
		switch {
		case s.silent:
		case wait < 0:
			p.lost.Add(1)
		case wait == 0:
			_, _ = p.front.WriteToUDPAddrPort(buf[:n], client)
		default:
			p.late <- datagram{time.Now().Add(wait), append([]byte(nil), buf[:n]...)}
		}
	}
}

// hold returns how long a datagram is under way, negative if there is no room.
func (p *udpProxy) hold(s state, n int) time.Duration {
	if s.rate == 0 {
		return 0
	}
	now := time.Now()
	if p.idle.Before(now) {
		p.idle = now
	}
	took := time.Duration(n) * time.Second / time.Duration(s.rate)
	wait := p.idle.Sub(now) + took
	if wait > lineBuffer*time.Second/time.Duration(s.rate) {
		return -1
	}
	p.idle = p.idle.Add(took)
	return wait
}

func (p *udpProxy) trickle() {
	for d := range p.late {
		<-time.After(time.Until(d.due))
		p.mu.Lock()
		client := p.client
		p.mu.Unlock()
		_, _ = p.front.WriteToUDPAddrPort(d.body, client)
	}
}

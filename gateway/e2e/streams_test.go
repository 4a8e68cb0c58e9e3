package e2e

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// streams is a TCP proxy in front of a server. It can not lose: it delays, stalls
// and resets.
type streams struct {
	// immutable
	weather weather
	server  netip.AddrPort
	front   net.Listener

	up, down tally
	pumps    sync.WaitGroup
	cut      func() // reset every connection and accept no more

	mu     sync.Mutex // guards the rest
	closed bool
	conns  []*net.TCPConn
}

func newStreams(t *testing.T, w weather, server netip.AddrPort) (*streams, error) {
	front, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &streams{weather: w, server: server, front: front}
	p.cut = sync.OnceFunc(p.close)
	p.pumps.Go(p.accept)
	t.Cleanup(p.cut)
	return p, nil
}

func (p *streams) addr() netip.AddrPort { return p.front.Addr().(*net.TCPAddr).AddrPort() }

func (p *streams) close() {
	p.mu.Lock()
	p.closed = true
	_ = p.front.Close()
	for _, c := range p.conns {
		reset(c)
	}
	p.mu.Unlock()
	p.pumps.Wait()
}

// reset ends a connection as a middlebox does that has forgotten it.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

func (p *streams) accept() {
	for {
		c, err := p.front.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("tcp4", p.server.String())
		if err != nil {
			_ = c.Close()
			continue
		}
		p.join(c.(*net.TCPConn), s.(*net.TCPConn))
	}
}

func (p *streams) join(client, server *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		reset(client)
		reset(server)
		return
	}
	p.conns = append(p.conns, client, server)
	p.pump(&p.up, server, client)
	p.pump(&p.down, client, server)
}

// piece of a stream and when it is due.
type piece struct {
	at    time.Time
	bytes []byte
}

// pump carries one direction: one goroutine reads, the other writes in time.
func (p *streams) pump(c *tally, to, from *net.TCPConn) {
	way := make(chan piece, 1024)
	p.pumps.Go(func() {
		defer close(way)
		var last time.Time
		for {
			b := make([]byte, 4<<10)
			n, err := from.Read(b)
			if err != nil {
				return
			}
			c.passed.Add(1)
			at := time.Now().Add(p.weather.delay())
			if chance(p.weather.loss) {
				c.stalled.Add(1)
				at = at.Add(2 * p.weather.latency)
			}
			if at.Before(last) {
				at = last // a stream keeps its order
			}
			last = at
			way <- piece{at, b[:n]}
		}
	})
	p.pumps.Go(func() {
		for x := range way {
			if d := time.Until(x.at); d > 0 {
				<-time.After(d)
			}
			if _, err := to.Write(x.bytes); err != nil {
				reset(from) // so that the other end knows, and the reader ends
			}
		}
		_ = to.CloseWrite()
	})
}

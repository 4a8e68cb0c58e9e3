//go:build !noenet

package faults_test

import (
	"errors"
	"net/netip"
	"sync"
	"time"

	goenet "github.com/codecat/go-enet"

	"github.com/gatehouse/gatehouse/wire"
)

func addENet(all map[string]func(*house, dialing, *inbox) (transport, error)) { all["enet"] = dialENet }

// enetLine is a peer of the stock library, through a proxy. One goroutine owns
// host and peer.
type enetLine struct {
	proxy *udpProxy
	in    *inbox
	done  chan struct{}

	// owned by the goroutine
	host      goenet.Host
	peer      goenet.Peer
	connected chan struct{}
	held      []message // received while stalled
	ended     bool
	code      uint32

	mu      sync.Mutex
	queue   []message
	stalled bool
	closing bool // disconnect in order
	dead    bool // end without a word
}

func dialENet(h *house, _ dialing, in *inbox) (transport, error) { return dialENetAt(h.at.ENet, in) }

func dialENetAt(server netip.AddrPort, in *inbox) (*enetLine, error) {
	goenet.Initialize()
	proxy, err := newUDPProxy(server)
	if err != nil {
		return nil, err
	}
	l := &enetLine{proxy: proxy, in: in, done: make(chan struct{}), connected: make(chan struct{})}
	if l.host, err = goenet.NewHost(nil, 1, 2, 0, 0); err != nil {
		proxy.close()
		return nil, err
	}
	if l.peer, err = l.host.Connect(goenet.NewAddress("127.0.0.1", proxy.port()), 2, 0); err != nil {
		l.host.Destroy()
		proxy.close()
		return nil, err
	}
	go l.run()
	select {
	case <-l.connected:
		return l, nil
	case <-l.done:
	case <-time.After(patience):
		l.cut()
	}
	return nil, errors.New("ENet did not connect")
}

func (l *enetLine) run() {
	defer close(l.done)
	defer func() {
		l.host.Destroy()
		l.proxy.close()
		l.in.end(l.code)
	}()
	var closed time.Time
	for !l.ended {
		l.mu.Lock()
		queue, dead, closing := l.queue, l.dead, l.closing
		l.queue = nil
		l.mu.Unlock()
		if dead || closing && !closed.IsZero() && time.Since(closed) > time.Second {
			return
		}
		for _, m := range queue {
			flags := goenet.PacketFlagReliable
			if m.lane == wire.Unreliable {
				flags = goenet.PacketFlagUnsequenced
			}
			_ = l.peer.SendBytes(m.body, uint8(m.lane), flags) // refused: it is disconnecting
		}
		if closing && closed.IsZero() {
			closed = time.Now()
			l.peer.Disconnect(0)
		}
		l.handle(l.host.Service(1))
		for range 256 { // what came with it
			e := l.host.Service(0)
			if e.GetType() == goenet.EventNone {
				break
			}
			l.handle(e)
		}
		l.release()
	}
	l.mu.Lock()
	stalled := l.stalled
	l.mu.Unlock()
	for deadline := time.Now().Add(patience); stalled && time.Now().Before(deadline); <-time.After(time.Millisecond) {
		l.mu.Lock()
		stalled = l.stalled && !l.dead
		l.mu.Unlock()
	}
	l.release()
}

func (l *enetLine) handle(e goenet.Event) {
	switch e.GetType() {
	case goenet.EventConnect:
		close(l.connected)
	case goenet.EventDisconnect:
		l.ended, l.code = true, e.GetData()
	case goenet.EventReceive:
		l.held = append(l.held, message{wire.Lane(e.GetChannelID()), e.GetPacket().GetData()})
		e.GetPacket().Destroy()
	}
}

// release hands over what was received, unless the application reads nothing.
func (l *enetLine) release() {
	l.mu.Lock()
	stalled := l.stalled
	l.mu.Unlock()
	if stalled {
		return
	}
	for _, m := range l.held {
		l.in.put(m.lane, m.body)
	}
	l.held = l.held[:0]
}

func (l *enetLine) send(lane wire.Lane, msg []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
		return errors.New("the connection has ended")
	default:
	}
	l.queue = append(l.queue, message{lane, append([]byte(nil), msg...)})
	return nil
}

func (l *enetLine) state(s state) {
	l.proxy.set(s)
	l.mu.Lock()
	l.stalled = s.stalled
	l.mu.Unlock()
}

func (l *enetLine) cut() {
	l.mu.Lock()
	l.dead = true
	l.mu.Unlock()
	<-l.done
}

func (l *enetLine) close() {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	<-l.done
}

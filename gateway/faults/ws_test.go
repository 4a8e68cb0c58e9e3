package faults_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/wire"
)

// wsLine is a WebSocket of the binary subprotocol.
type wsLine struct {
	sock *wsSocket
	ws   *websocket.Conn
}

func dialWS(h *house, d dialing, in *inbox) (transport, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l := &wsLine{}
	web := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, at string) (net.Conn, error) {
			dialer := net.Dialer{}
			if d.tight {
				dialer.Control = tighten
			}
			c, err := dialer.DialContext(ctx, network, at)
			if err != nil {
				return nil, err
			}
			l.sock = newWSSocket(c.(*net.TCPConn))
			return l.sock, nil
		},
	}}
	ws, _, err := websocket.Dial(ctx, "ws://"+h.at.HTTP.String()+"/v1/ws", &websocket.DialOptions{
		HTTPClient: web, Subprotocols: []string{"gatehouse.v1"},
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	l.ws = ws
	go l.read(in)
	return l, nil
}

// tighten shrinks the receive buffer before the connection is made: a window that
// was announced and is taken back makes the kernel refuse acknowledgements too.
func tighten(_, _ string, c syscall.RawConn) (err error) {
	failed := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
	})
	return errors.Join(failed, err)
}

func (l *wsLine) read(in *inbox) {
	for {
		_, body, err := l.ws.Read(context.Background())
		var closed websocket.CloseError
		if errors.As(err, &closed) {
			in.end(uint32(closed.Code))
		}
		if err != nil {
			_ = l.ws.CloseNow()
			in.end(0)
			return
		}
		in.put(wire.Reliable, body)
	}
}

func (l *wsLine) send(_ wire.Lane, msg []byte) error { return l.write(websocket.MessageBinary, msg) }

func (l *wsLine) write(typ websocket.MessageType, parts ...[]byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if len(parts) == 1 {
		return l.ws.Write(ctx, typ, parts[0])
	}
	w, err := l.ws.Writer(ctx, typ)
	if err != nil {
		return err
	}
	for _, p := range parts { // each becomes a frame
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return w.Close()
}

func (l *wsLine) state(s state) { l.sock.set(s) }

func (l *wsLine) cut() {
	_ = l.sock.SetLinger(0)
	_ = l.sock.Close()
}

func (l *wsLine) close() { _ = l.ws.Close(websocket.StatusNormalClosure, "") }

// wsSocket is a TCP connection that can be made worse.
type wsSocket struct {
	*net.TCPConn

	mu      sync.Mutex
	s       state
	changed chan struct{}
	closed  bool
}

func newWSSocket(c *net.TCPConn) *wsSocket {
	return &wsSocket{TCPConn: c, changed: make(chan struct{})}
}

func (s *wsSocket) set(to state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s = to
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *wsSocket) Close() error {
	s.mu.Lock()
	s.closed = true
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	return s.TCPConn.Close()
}

// Read waits while the connection is stalled or silent, and afterwards for as
// long as its rate asks for.
func (s *wsSocket) Read(p []byte) (int, error) {
	for {
		s.mu.Lock()
		wait := (s.s.stalled || s.s.silent) && !s.closed
		rate, changed := s.s.rate, s.changed
		s.mu.Unlock()
		if wait {
			<-changed
			continue
		}
		if rate == 0 {
			return s.TCPConn.Read(p)
		}
		n, err := s.TCPConn.Read(p[:min(len(p), 1<<10)])
		select {
		case <-time.After(time.Duration(n) * time.Second / time.Duration(rate)):
		case <-changed:
		}
		return n, err
	}
}

func (s *wsSocket) Write(p []byte) (int, error) {
	s.mu.Lock()
	silent := s.s.silent
	s.mu.Unlock()
	if silent {
		return len(p), nil
	}
	return s.TCPConn.Write(p)
}

package ws

import (
	"crypto/tls"
	"net"
	"time"
)

// notSentLowat bounds what the kernel holds beyond what it has sent, in bytes.
const notSentLowat = 16 << 10

// writeChunk is how much is written under one deadline.
const writeChunk = 16 << 10

// socket is a connection whose writes fail when the peer has taken nothing for
// a while. The deadline is per chunk: a peer that reads slowly but steadily
// lives, whatever the size of a message, and one that has stopped does not.
type socket struct {
	net.Conn
	patience time.Duration
}

// Write writes p in chunks, each within the patience. Only one goroutine may
// write at a time, which the WebSocket library sees to.
func (s *socket) Write(p []byte) (n int, err error) {
	for {
		chunk := p[n:min(n+writeChunk, len(p))]
		if err := s.SetWriteDeadline(time.Now().Add(s.patience)); err != nil {
			return n, err
		}
		m, err := s.Conn.Write(chunk)
		n += m
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// hangUp ends the connection without waiting, below TLS: its own Close waits for a
// stuck peer to take the alert. What was written before is still sent.
func (s *socket) hangUp() { _ = s.raw().Close() }

// kill is hangUp for a peer that takes nothing: the kernel forgets what it holds
// for it, instead of offering that for minutes.
func (s *socket) kill() {
	if t, ok := s.raw().(*net.TCPConn); ok {
		_ = t.SetLinger(0) // fails only if closed already
	}
	s.hangUp()
}

func (s *socket) raw() net.Conn { return below(s.Conn) }

// below returns the connection that carries TLS, or c itself.
func below(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

// tuneConn applies the socket options of the platform to an accepted
// connection. They are a matter of latency: what can not be set is left.
func tuneConn(c net.Conn) {
	t, ok := below(c).(*net.TCPConn)
	if !ok {
		return
	}
	_ = t.SetNoDelay(true)
	if raw, err := t.SyscallConn(); err == nil {
		_ = raw.Control(tune)
	}
}

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gatehouse/gatehouse/wire"
)

// wsLoad speaks WebSocket by hand over non-blocking sockets and epoll: one
// thread for all players, no goroutine to wake per message.
type wsLoad struct {
	addr    string
	got     receive
	epoll   int
	conns   []*wsConn
	events  []unix.EpollEvent
	buf     []byte
	message []byte
}

type wsConn struct {
	fd    int
	file  io.Closer
	first []byte // frames that came in one message with the welcome
	rest  []byte // an incomplete WebSocket frame
}

func newWSLoad(addr string) func(receive) carrier {
	return func(got receive) carrier {
		ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			panic(err) // out of descriptors at the very start
		}
		return &wsLoad{addr: addr, got: got, epoll: ep, events: make([]unix.EpollEvent, 256), buf: make([]byte, 256<<10)}
	}
}

func (w *wsLoad) Join(rooms []string) error {
	for _, room := range rooms {
		c, err := w.dial(room)
		if err != nil {
			return fmt.Errorf("player %d: %w", len(w.conns), err)
		}
		w.conns = append(w.conns, c)
		if err := w.got(len(w.conns)-1, wire.Reliable, c.first); err != nil {
			return err
		}
		early := c.rest
		c.first, c.rest = nil, nil
		if err := w.feed(len(w.conns)-1, early); err != nil {
			return err
		}
	}
	return nil
}

// dial opens a socket, upgrades it, says hello and waits for the welcome, all
// blocking; then it hands the socket to epoll.
func (w *wsLoad) dial(room string) (*wsConn, error) {
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "GET /v1/ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: Z2F0ZWhvdXNlLWJlbmNoIQ==\r\nSec-WebSocket-Protocol: gatehouse.v1\r\n\r\n", w.addr)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("upgrade: %s", resp.Status)
	}
	if _, err := conn.Write(w.frame(helloMessage(room))); err != nil {
		return nil, err
	}
	first, err := readFrame(r)
	if err != nil {
		return nil, err
	}
	left, err := afterWelcome(first)
	if err != nil {
		return nil, err
	}
	buffered, _ := r.Peek(r.Buffered())
	c := &wsConn{first: left, rest: append([]byte(nil), buffered...)}
	_ = conn.SetDeadline(time.Time{})
	// A duplicate of the descriptor, which the runtime's poller does not know.
	f, err := conn.(*net.TCPConn).File()
	if err != nil {
		return nil, err
	}
	_ = conn.Close()
	c.fd, c.file = int(f.Fd()), f
	if err := unix.SetNonblock(c.fd, true); err != nil {
		return nil, err
	}
	return c, unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(len(w.conns))})
}

// readFrame reads one unfragmented frame from the server.
func readFrame(r *bufio.Reader) ([]byte, error) {
	for n := 2; ; n++ {
		head, err := r.Peek(n)
		if err != nil {
			return nil, err
		}
		if size, header := frameSize(head); header > 0 {
			b := make([]byte, header+size)
			_, err := io.ReadFull(r, b)
			return b[header:], err
		}
	}
}

// frameSize returns the sizes of a frame's payload and header; a header of 0
// says that more bytes are needed to know.
func frameSize(b []byte) (size, header int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch n := int(b[1] & 127); {
	case n < 126:
		return n, 2
	case n == 126 && len(b) >= 4:
		return int(binary.BigEndian.Uint16(b[2:])), 4
	case n == 127 && len(b) >= 10:
		return int(binary.BigEndian.Uint64(b[2:])), 10
	}
	return 0, 0
}

// frame wraps a message. The masking key is zero: RFC 6455 asks for one, which
// protects proxies, and there is none here.
func (w *wsLoad) frame(msg []byte) []byte {
	b := append(w.message[:0], 0x82)
	if len(msg) < 126 {
		b = append(b, 0x80|byte(len(msg)))
	} else {
		b = append(b, 0x80|126, byte(len(msg)>>8), byte(len(msg)))
	}
	b = append(b, 0, 0, 0, 0)
	w.message = append(b, msg...)
	return w.message
}

func (w *wsLoad) Send(player int, _ wire.Lane, msg []byte) error {
	b := w.frame(msg)
	n, err := unix.Write(w.conns[player].fd, b)
	if err == nil && n < len(b) || err == unix.EAGAIN {
		return fmt.Errorf("player %d: the server does not read", player)
	}
	return err
}

// milliseconds rounds up: waiting less would be busy waiting.
func milliseconds(d time.Duration) int { return int((d + time.Millisecond - 1) / time.Millisecond) }

func (w *wsLoad) Poll(wait time.Duration) error {
	n, err := unix.EpollWait(w.epoll, w.events, milliseconds(wait))
	if err == unix.EINTR {
		return nil
	}
	if err != nil {
		return err
	}
	for _, ev := range w.events[:n] {
		p := int(ev.Fd)
		n, err := unix.Read(w.conns[p].fd, w.buf)
		switch {
		case err == unix.EAGAIN:
			continue
		case err != nil:
			return fmt.Errorf("player %d: %w", p, err)
		case n == 0:
			return fmt.Errorf("player %d: the server closed the connection", p)
		}
		if err := w.feed(p, w.buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

// feed takes bytes of a connection and hands on the messages they complete.
func (w *wsLoad) feed(p int, b []byte) error {
	c := w.conns[p]
	if len(c.rest) > 0 {
		b = append(c.rest, b...)
	}
	for {
		size, header := frameSize(b)
		if header == 0 || len(b) < header+size {
			break
		}
		switch b[0] & 15 {
		case 2:
			if err := w.got(p, wire.Reliable, b[header:header+size]); err != nil {
				return err
			}
		case 8:
			return fmt.Errorf("player %d: the server closed the connection: %q", p, b[header:header+size])
		}
		b = b[header+size:]
	}
	c.rest = append(c.rest[:0], b...)
	return nil
}

func (w *wsLoad) Close() {
	for _, c := range w.conns {
		_ = c.file.Close()
	}
	_ = unix.Close(w.epoll)
}

package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// conn is one connection, of either end.
type conn struct {
	// immutable
	ws   *websocket.Conn
	sock *socket
	info link.Info
	link *link.Link
	// how often a JSON peer is pinged, zero for never, and within what it answers
	probeInterval, probeTimeout time.Duration

	wake    chan struct{} // has a token when the link has something to send
	quit    chan struct{} // closed when the writer shall flush and end
	written chan struct{} // closed when it has
	stop    func()        // closes quit, once

	farewell atomic.Pointer[wire.Error] // why we closed
	cause    atomic.Pointer[error]      // why we cut the connection off

	// owned by the reader
	buf   []byte
	frame []byte // of the JSON dialect, in binary
	pings burst

	// owned by the writer
	text []byte
}

var _ link.Conn = (*conn)(nil)

func newConn(ws *websocket.Conn, sock *socket, info link.Info) *conn {
	c := &conn{
		ws:      ws,
		sock:    sock,
		info:    info,
		wake:    make(chan struct{}, 1),
		quit:    make(chan struct{}),
		written: make(chan struct{}),
		buf:     make([]byte, firstBuffer),
	}
	c.stop = sync.OnceFunc(func() { close(c.quit) })
	ws.SetReadLimit(-1) // receive has its own, which tells the peer our code
	return c
}

func (c *conn) open(h link.Handler, o link.Options) { c.link = link.New(c, h, o) }

// Info implements [link.Conn].
func (c *conn) Info() link.Info { return c.info }

// Wake implements [link.Conn].
func (c *conn) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Close implements [link.Conn]. The writer says goodbye; a peer that does not
// let it is cut off.
func (c *conn) Close(code wire.Code, reason string) {
	c.farewell.Store(&wire.Error{Code: code, Reason: reason})
	time.AfterFunc(link.CloseGrace, func() { c.cut(errNoGoodbye) })
	c.stop()
}

var errNoGoodbye = errors.New("ws: the peer did not complete the close in time")

// cut ends the connection at once, from any goroutine.
func (c *conn) cut(why error) {
	c.cause.CompareAndSwap(nil, &why)
	c.sock.kill()
}

// run is the reader: it lives as long as the connection.
func (c *conn) run() {
	var helpers sync.WaitGroup
	helpers.Go(c.write)
	if c.probeInterval > 0 {
		helpers.Go(c.probe)
	}
	err := c.read()
	c.stop()
	if !c.link.Closing() {
		c.sock.hangUp() // nobody is there to say goodbye to; it frees the writer
	}
	<-c.written
	_ = c.ws.CloseNow() // frees the prober and what the library holds
	helpers.Wait()
	c.link.Ended(c.why(err))
}

// pinged is told, on the reader, of a WebSocket ping, and reports whether to
// answer. Answers are written past the link's queues and bounds, so that somebody
// who floods us with pings must be stopped here.
func (c *conn) pinged(now time.Time) bool {
	if c.pings.more(now) {
		return true
	}
	c.link.Close(wire.Errorf(wire.CodeRateLimited, "more than %d pings in a second", maxPings))
	return false
}

const maxPings = 20

// burst counts what happens within a second.
type burst struct {
	since time.Time
	count int
}

func (b *burst) more(now time.Time) bool {
	if now.Sub(b.since) >= time.Second {
		b.since, b.count = now, 0
	}
	b.count++
	return b.count <= maxPings
}

// read hands over messages until the connection or the link ends.
func (c *conn) read() error {
	for {
		typ, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return err
		}
		if !c.receive(typ, r) {
			return errDone
		}
	}
}

// errDone ends the reader of a link that was closed.
var errDone = errors.New("ws: link closed")

// firstBuffer is what a reader starts with, and keptBuffer the most that it
// keeps after a larger message.
const (
	firstBuffer = 1 << 10
	keptBuffer  = 16 << 10
)

func (c *conn) receive(typ websocket.MessageType, r io.Reader) bool {
	limit, want := wire.MaxMessage, websocket.MessageBinary
	if c.info.JSON {
		limit, want = wire.MaxJSONText, websocket.MessageText
	}
	if typ != want {
		c.link.Close(wire.Errorf(wire.CodeProtocol, "a %v message, this subprotocol has %v messages only", typ, want))
		return false
	}
	msg, err := c.readAll(r, limit)
	switch {
	case errors.Is(err, wire.ErrTooBig):
		c.link.Close(wire.Errorf(wire.CodeTooBig, "a message of more than %d bytes", limit))
		return false
	case err != nil:
		return true // the next read says why
	}
	ok := false
	if c.info.JSON {
		ok = c.receiveText(msg)
	} else {
		ok = c.link.Receive(wire.Reliable, msg)
	}
	if cap(c.buf) > keptBuffer {
		c.buf = make([]byte, firstBuffer)
	}
	return ok
}

// readAll reads a message into the reader's buffer, which grows to the limit.
func (c *conn) readAll(r io.Reader, limit int) ([]byte, error) {
	n := 0
	for {
		if n == len(c.buf) {
			if n > limit {
				return nil, wire.ErrTooBig
			}
			grown := make([]byte, min(2*n, limit+1))
			copy(grown, c.buf)
			c.buf = grown
		}
		m, err := r.Read(c.buf[n:])
		n += m
		switch {
		case errors.Is(err, io.EOF):
			return c.buf[:n], nil
		case err != nil:
			return nil, err
		}
	}
}

// write is the writer goroutine.
func (c *conn) write() {
	defer close(c.written)
	if err := c.link.WriteLoop(c.wake, c.quit, c.send); err != nil {
		c.cut(err)
		return
	}
	if e := c.farewell.Load(); e != nil {
		// Waits for the peer's answer, until Close's timer cuts it short.
		_ = c.ws.Close(websocket.StatusCode(e.Code), clip(e.Reason))
	}
}

// send writes one link message. It blocks as long as the peer takes something
// now and then (socket.Write).
func (c *conn) send(_ wire.Lane, msg []byte) error {
	if c.info.JSON {
		return c.sendText(msg)
	}
	return c.ws.Write(context.Background(), websocket.MessageBinary, msg)
}

// why returns what the handler is told of the end.
func (c *conn) why(err error) error {
	if e := c.farewell.Load(); e != nil {
		return e
	}
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		switch {
		case closed.Code >= 4000:
			return &wire.Error{Code: wire.Code(closed.Code), Reason: closed.Reason}
		case closed.Code == websocket.StatusMessageTooBig:
			return &wire.Error{Code: wire.CodeTooBig, Reason: closed.Reason}
		}
		return fmt.Errorf("ws: closed by the peer: %w", closed)
	}
	if cause := c.cause.Load(); cause != nil {
		err = *cause // the reader's error only follows from it
	}
	return fmt.Errorf("ws: connection lost: %w", err)
}

// clip shortens a reason to what a close frame holds (RFC 6455 §5.5), at a
// character's end.
func clip(reason string) string {
	const most = 123
	if len(reason) <= most {
		return reason
	}
	n := most
	for n > 0 && !utf8.RuneStart(reason[n]) {
		n--
	}
	return reason[:n]
}

package ws

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Subprotocols, best first. A client that asks for none speaks the first.
const (
	SubprotocolBinary = "gatehouse.v1"
	SubprotocolJSON   = "gatehouse.json"
)

// Options of a [Server]. The zero value admits native clients only.
type Options struct {
	// Link holds the options of every link.
	Link link.Options
	// Allowed reports whether a request may come from the page it says it comes
	// from. nil admits only requests without an Origin header, which no browser
	// sends. The library's own check compares hosts alone and is not used.
	Allowed func(*http.Request) bool
	// Refuse writes the answer to a request that is not admitted. nil writes
	// the reason as plain text.
	Refuse func(http.ResponseWriter, *http.Request, *wire.Error)
	// ClientAddress returns who is behind a request; nil takes the socket's peer.
	ClientAddress func(*http.Request) netip.AddrPort
	// MaxConns bounds the connections open at a time. Default 10,000.
	MaxConns int
	// Patience is how long a peer may take nothing of what is written to it
	// before it is given up. Default 15 s.
	Patience time.Duration
	// ProbeInterval and ProbeTimeout say how often a JSON client, which sends no
	// pings of the protocol, gets one of WebSocket's, and within what time it must
	// answer. Defaults 5 s and 15 s.
	ProbeInterval, ProbeTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Allowed == nil {
		o.Allowed = func(r *http.Request) bool { return len(r.Header.Values("Origin")) == 0 }
	}
	if o.Refuse == nil {
		o.Refuse = refusePlainly
	}
	if o.ClientAddress == nil {
		o.ClientAddress = peerAddress
	}
	if o.MaxConns == 0 {
		o.MaxConns = 10_000
	}
	if o.Patience == 0 {
		o.Patience = 15 * time.Second
	}
	if o.ProbeInterval == 0 {
		o.ProbeInterval = 5 * time.Second
	}
	if o.ProbeTimeout == 0 {
		o.ProbeTimeout = 15 * time.Second
	}
	return o
}

// Server turns requests for GET /v1/ws into links. It is an [http.Handler] and
// safe for concurrent use. A request that never ends its headers is not its
// business: set http.Server.ReadHeaderTimeout.
type Server struct {
	// immutable
	handler link.Handler
	opts    Options

	conns sync.WaitGroup

	mu     sync.Mutex // guards the rest
	open   map[*conn]struct{}
	taken  int // len(open) and handshakes under way
	closed bool
	cut    error // set when Close no longer waits: why
}

// NewServer returns a server that hands its links to h.
func NewServer(h link.Handler, o Options) *Server {
	return &Server{handler: h, opts: o.withDefaults(), open: make(map[*conn]struct{})}
}

// ServeHTTP upgrades the request and returns; the link lives on.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.opts.Allowed(r) {
		s.opts.Refuse(w, r, wire.Errorf(wire.CodeForbidden, "origin %.100q is not allowed here", r.Header.Get("Origin")))
		return
	}
	if e := s.reserve(); e != nil {
		s.opts.Refuse(w, r, e)
		return
	}
	remote := s.opts.ClientAddress(r)
	hijacked := &hijacker{ResponseWriter: w, patience: s.opts.Patience}
	var c *conn
	accepted, err := websocket.Accept(hijacked, r, &websocket.AcceptOptions{
		Subprotocols:       []string{SubprotocolBinary, SubprotocolJSON},
		InsecureSkipVerify: true, // Allowed has checked more than it would
		OnPingReceived:     func(context.Context, []byte) bool { return c.pinged(time.Now()) },
	})
	if err != nil {
		s.release(nil)
		return // the library has answered
	}
	c = newConn(accepted, hijacked.sock, link.Info{
		Transport: "ws",
		Remote:    remote,
		OneStream: true,
		JSON:      accepted.Subprotocol() == SubprotocolJSON,
	})
	if c.info.JSON {
		c.probeInterval, c.probeTimeout = s.opts.ProbeInterval, s.opts.ProbeTimeout
	}
	s.start(c)
}

// Len returns the number of connections.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// Close refuses new connections, ends the open ones with going_away and waits
// for them, until ctx is done: then they are cut, and it waits for that. Every
// link has had its Ended when it returns.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		c.link.Close(wire.Errorf(wire.CodeGoingAway, "the server is stopping"))
	}
	s.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		s.conns.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.cut = ctx.Err()
	for c := range s.open {
		c.cut(s.cut)
	}
	s.mu.Unlock()
	<-gone
	return ctx.Err()
}

func (s *Server) reserve() *wire.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return wire.Errorf(wire.CodeGoingAway, "the server is stopping")
	case s.taken >= s.opts.MaxConns:
		return wire.Errorf(wire.CodeOverloaded, "all %d connections are taken", s.opts.MaxConns)
	}
	s.taken++
	s.conns.Add(1)
	return nil
}

func (s *Server) release(c *conn) {
	s.mu.Lock()
	delete(s.open, c)
	s.taken--
	s.mu.Unlock()
	s.conns.Done()
}

func (s *Server) start(c *conn) {
	c.open(s.handler, s.opts.Link)
	s.mu.Lock()
	closed, cut := s.closed, s.cut
	s.open[c] = struct{}{}
	s.mu.Unlock()
	if closed { // Close has not seen this one
		c.link.Close(wire.Errorf(wire.CodeGoingAway, "the server is stopping"))
	}
	if cut != nil {
		c.cut(cut)
	}
	go func() {
		defer s.release(c)
		c.run()
	}()
}

// hijacker takes the connection from the HTTP server on its way to the WebSocket
// library, to set its options and to write to it under our own deadlines.
type hijacker struct {
	http.ResponseWriter
	patience time.Duration
	sock     *socket
}

// Hijack implements [http.Hijacker].
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	tuneConn(c)
	h.sock = &socket{Conn: c, patience: h.patience}
	return h.sock, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(h.sock)), nil
}

func refusePlainly(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
	status := http.StatusServiceUnavailable
	if e.Code == wire.CodeForbidden {
		status = http.StatusForbidden
	}
	http.Error(w, e.Error(), status)
}

func peerAddress(r *http.Request) netip.AddrPort {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())
}

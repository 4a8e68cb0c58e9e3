package rtc

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Options of a [Listener].
type Options struct {
	// UDP is the address of the port that all peers share, "host:port". A host
	// that is empty or unspecified stands for every address of this machine but
	// loopback.
	UDP string
	// TCP is the address of the port for peers without UDP; empty for none.
	TCP string
	// Advertise lists the addresses by which clients reach this machine, where
	// they differ from its own (a cloud's 1:1 NAT, a container's port mapping).
	// Ports are told as they are bound.
	Advertise []netip.Addr
	// Link holds the options of every link.
	Link link.Options
	// MaxPeers bounds the connections, pending ones included. Default 10,000.
	MaxPeers int
	// MaxPending bounds the offers that were answered and have not led to open
	// channels, in all, and MaxPendingPerAddress those of one client address (of
	// one /64 with IPv6). Each holds about 110 KiB. Defaults 256 and 16.
	MaxPending, MaxPendingPerAddress int
	// MaxTCPConns bounds the connections to the TCP port, those included that have
	// said nothing yet and are closed after 5 s. Default 4,096.
	MaxTCPConns int
	// OpenTimeout is how long they may take to. Default 10 s.
	OpenTimeout time.Duration
	// Patience is how long a peer may acknowledge nothing that waits on the
	// reliable lane before it is given up. Default 15 s.
	Patience time.Duration
	// Log gets the library's complaints, at debug level. nil for none.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.MaxPeers = cmp.Or(o.MaxPeers, 10_000)
	o.MaxPending = cmp.Or(o.MaxPending, 256)
	o.MaxPendingPerAddress = cmp.Or(o.MaxPendingPerAddress, 16)
	o.MaxTCPConns = cmp.Or(o.MaxTCPConns, 4096)
	o.OpenTimeout = cmp.Or(o.OpenTimeout, 10*time.Second)
	o.Patience = cmp.Or(o.Patience, 15*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Listener serves WebRTC peers. Safe for concurrent use.
type Listener struct {
	// immutable
	opts    Options
	handler link.Handler
	api     *webrtc.API
	config  webrtc.Configuration
	udp     ice.UDPMux
	tcp     ice.TCPMux // nil without
	udpAddr netip.AddrPort
	tcpAddr netip.AddrPort

	stray atomic.Uint64
	runs  sync.WaitGroup

	mu      sync.Mutex // guards the rest
	peers   map[string]*peer
	pending pendings
	closed  bool
}

// Listen binds the ports and returns a listener that hands its links to h.
func Listen(o Options, h link.Handler) (*Listener, error) {
	l := &Listener{opts: o.withDefaults(), handler: h, peers: make(map[string]*peer)}
	l.pending = newPendings(l.opts.MaxPending, l.opts.MaxPendingPerAddress)
	certificate, err := newCertificate()
	if err != nil {
		return nil, err
	}
	l.config.Certificates = []webrtc.Certificate{certificate}

	se := settings(l.opts.Log)
	logger := se.LoggerFactory.NewLogger("mux")
	conns, err := listenUDP(o.UDP)
	if err != nil {
		return nil, err
	}
	muxes := make([]ice.UDPMux, len(conns))
	for i, c := range conns {
		muxes[i] = ice.NewUDPMuxDefault(ice.UDPMuxParams{
			Logger:            logger,
			UDPConn:           c,
			OnUnhandledPacket: func([]byte, netip.AddrPort) { l.stray.Add(1) },
		})
	}
	l.udp = ice.NewMultiUDPMuxDefault(muxes...)
	l.udpAddr = addrOf(conns[0].LocalAddr())
	se.SetICEUDPMux(l.udp)
	if o.TCP != "" {
		tcp, err := net.Listen("tcp", o.TCP)
		if err != nil {
			_ = l.udp.Close()
			return nil, fmt.Errorf("rtc: TCP address %q: %w", o.TCP, err)
		}
		l.tcpAddr = addrOf(tcp.Addr())
		l.tcp = ice.NewTCPMuxDefault(ice.TCPMuxParams{
			Logger:                       logger,
			Listener:                     &limited{Listener: tcp, most: int64(l.opts.MaxTCPConns)},
			ReadBufferSize:               32,
			WriteBufferSize:              256 << 10,
			FirstStunBindTimeout:         5 * time.Second,
			AliveDurationForConnFromStun: 5 * time.Second,
		})
		se.SetICETCPMux(l.tcp)
	}
	if err := l.configure(&se); err != nil {
		l.closePorts()
		return nil, err
	}
	l.api = newAPI(se)
	return l, nil
}

// configure makes the settings that only the answering end has.
func (l *Listener) configure(se *webrtc.SettingEngine) error {
	types := []webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6}
	if l.tcp != nil {
		types = append(types, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6)
	}
	se.SetNetworkTypes(types)
	se.DisableActiveTCP(true) // never dial what a client names
	// To be the DTLS server, and without the cookie exchange, for ICE has verified
	// the address already, saves a round trip.
	if err := se.SetAnsweringDTLSRole(webrtc.DTLSRoleServer); err != nil {
		return fmt.Errorf("rtc: %w", err)
	}
	se.SetDTLSInsecureSkipHelloVerify(true)
	se.SetSCTPMaxReceiveBufferSize(receiveBuffer)
	// Elsewhere it would tell clients of addresses that they can not reach.
	se.SetIncludeLoopbackCandidate(l.udpAddr.Addr().IsLoopback())
	if len(l.opts.Advertise) > 0 {
		rule := webrtc.ICEAddressRewriteRule{
			AsCandidateType: webrtc.ICECandidateTypeHost,
			Mode:            webrtc.ICEAddressRewriteReplace,
		}
		for _, a := range l.opts.Advertise {
			rule.External = append(rule.External, a.String())
		}
		if err := se.SetICEAddressRewriteRules(rule); err != nil {
			return fmt.Errorf("rtc: advertised addresses: %w", err)
		}
	}
	return nil
}

// receiveBuffer bounds what a client can make us hold that is not read yet or
// not complete: four of the largest messages.
const receiveBuffer = 256 << 10

// UDP returns the address of the UDP port (the first, if there are several).
func (l *Listener) UDP() netip.AddrPort { return l.udpAddr }

// TCP returns the address of the TCP port, invalid if there is none.
func (l *Listener) TCP() netip.AddrPort { return l.tcpAddr }

// Stats of a listener.
type Stats struct {
	// Peers is how many connections there are, Pending how many of them have no
	// open channels yet.
	Peers, Pending int
	// Stray counts the datagrams that belonged to no peer.
	Stray uint64
}

// Stats returns the figures of this moment.
func (l *Listener) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Peers: len(l.peers), Pending: l.pending.all, Stray: l.stray.Load()}
}

// End ends a connection by the id that Answer gave, and reports whether there
// was one. The link ends without a code.
func (l *Listener) End(id string) bool {
	l.mu.Lock()
	p := l.peers[id]
	l.mu.Unlock()
	if p == nil {
		return false
	}
	p.fail(errEnded)
	return true
}

// Close refuses new offers, ends all links with going_away and waits for them,
// until ctx is done: then they are cut, and it waits for that. Every link has had
// its Ended when it returns, and the ports are free.
func (l *Listener) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	for _, p := range l.peers {
		p.refuse(wire.Errorf(wire.CodeGoingAway, "the server is stopping"))
	}
	l.mu.Unlock()

	cut := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, p := range l.peers {
			p.fail(ctx.Err())
		}
	})
	defer cut()
	l.runs.Wait()
	l.closePorts()
	return ctx.Err()
}

func (l *Listener) closePorts() {
	_ = l.udp.Close()
	if l.tcp != nil {
		_ = l.tcp.Close()
	}
}

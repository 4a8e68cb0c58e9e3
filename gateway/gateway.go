package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/gateway/ws"
	"github.com/gatehouse/gatehouse/wire"
)

// closeTimeout bounds the end of a gateway once it is drained. It is several
// times what a link may take to say goodbye ([link.CloseGrace]).
const closeTimeout = 5 * time.Second

// Options of a gateway. All are required.
type Options struct {
	// Config was checked by configs.Load.
	Config *configs.Config
	// Rooms and Control are the two faces of a worker, which the caller owns and
	// ends after the gateway.
	Rooms   authority.Rooms
	Control authority.Control
	// Metrics also observe the worker's rooms.
	Metrics *metrics.Metrics
	Logger  *slog.Logger
}

// Gateway is the edge of a server.
type Gateway struct {
	// immutable
	opts     Options
	log      *slog.Logger // domain transport
	proxies  admit.Proxies
	origins  *admit.Origins
	tokens   *admit.Tokens // nil: nobody is asked for one
	connects *admit.Rate
	refusals *refusals
	links    link.Options
	sessions *session.Manager
	ws       *ws.Server
	rtc      *rtc.Listener  // nil if off
	enet     *enet.Listener // nil if off
	public   *server
	admin    *server // nil if off
	pages    *pages

	ready atomic.Bool
}

// Addresses are where a gateway listens; invalid where it does not.
type Addresses struct {
	HTTP, RTCUDP, RTCTCP, ENet, Admin netip.AddrPort
}

// ListenError says that a listener could not be opened.
type ListenError struct {
	// Key of the address in the configuration.
	Key string
	Err error
}

func (e *ListenError) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap returns what the socket said.
func (e *ListenError) Unwrap() error { return e.Err }

// New binds every address of the configuration. The caller calls Run or Close.
func New(o Options) (*Gateway, error) {
	g := &Gateway{opts: o, log: o.Logger.With("domain", "transport")}
	if err := g.open(); err != nil {
		_ = g.Close() // of what is open already; the first error tells
		return nil, err
	}
	o.Metrics.Watch(g.sources())
	return g, nil
}

// open makes the parts in the order in which they need each other.
func (g *Gateway) open() error {
	c := g.opts.Config
	if err := g.admission(); err != nil {
		return err
	}
	var err error
	if g.links, err = g.linkOptions(); err != nil {
		return err
	}
	g.sessions = session.NewManager(g.sessionOptions())
	g.ws = ws.NewServer(g.sessions, ws.Options{
		Link:    g.links,
		Allowed: g.origins.Allowed,
		Refuse: func(w http.ResponseWriter, r *http.Request, e *wire.Error) {
			g.refusals.refused(metrics.AtUpgrade, r, e)
			admit.WriteProblem(w, e)
		},
		ClientAddress: g.proxies.Address,
		MaxConns:      c.Sessions.MaxSessions,
		ProbeInterval: c.Sessions.PingInterval.D(),
		ProbeTimeout:  c.Sessions.PingTimeout.D(),
	})
	if g.public, err = listen(c.HTTP.Listen, g.log); err != nil {
		return &ListenError{"http.listen", err}
	}
	if !c.Admin.Listen.Off() {
		if g.admin, err = listen(c.Admin.Listen, g.log); err != nil {
			return &ListenError{"admin.listen", err}
		}
	}
	if err := g.openDatagrams(); err != nil {
		return err
	}
	g.pages = newPages(c.Web.Dir, g.log)
	g.public.handle(g.publicHandler())
	if g.admin != nil {
		g.admin.handle(g.adminHandler())
	}
	return nil
}

// openDatagrams opens the listeners that are not HTTP.
func (g *Gateway) openDatagrams() (err error) {
	c := g.opts.Config
	if !c.RTC.UDPListen.Off() {
		o := rtc.Options{
			UDP:       string(c.RTC.UDPListen),
			Advertise: c.RTC.ExternalIPs,
			Link:      g.links,
			MaxPeers:  c.Sessions.MaxSessions,
			Log:       g.log,
		}
		if !c.RTC.TCPListen.Off() {
			o.TCP = string(c.RTC.TCPListen)
		}
		if g.rtc, err = rtc.Listen(o, g.sessions); err != nil {
			return &ListenError{rtcKey(err), err}
		}
	}
	if !c.ENet.Listen.Off() {
		timeout := c.Sessions.PingTimeout.D()
		g.enet, err = enet.Listen(enet.Options{
			Address:      string(c.ENet.Listen),
			Link:         g.links,
			Slots:        c.ENet.MaxPeers,
			ConnectRate:  c.Limits.ConnectsPerSecond,
			ConnectBurst: c.Limits.ConnectsBurst,
			Pings:        enet.Pings{PingInterval: min(time.Second, timeout/3), Timeout: timeout},
		}, g.sessions)
		if err != nil {
			return &ListenError{"enet.listen", err}
		}
	}
	return nil
}

// rtcKey names the one of the two addresses that err is about.
func rtcKey(err error) string {
	var socket *net.OpError
	if errors.As(err, &socket) && socket.Net == "tcp" {
		return "rtc.tcp_listen"
	}
	return "rtc.udp_listen"
}

func (g *Gateway) linkOptions() (link.Options, error) {
	o := link.Options{Observer: g.opts.Metrics}
	if text := g.opts.Config.Netsim; text != "" {
		n, err := link.ParseNetsim(text)
		if err != nil {
			return o, err
		}
		o.Netsim = &n
	}
	return o, nil
}

func (g *Gateway) sessionOptions() session.Options {
	c := g.opts.Config.Sessions
	o := session.Options{
		Rooms:             g.opts.Rooms,
		Admit:             admitter{g.tokens},
		PingInterval:      c.PingInterval.D(),
		PingTimeout:       c.PingTimeout.D(),
		JoinTimeout:       c.JoinTimeout.D(),
		ResumeGrace:       c.ResumeGrace.D(),
		OutboxBytes:       int(c.Outbox),
		MaxSessions:       c.MaxSessions,
		MessagesPerSecond: c.MessagesPerSecond,
		Observer:          g.opts.Metrics,
		Logger:            g.opts.Logger.With("domain", "session"),
	}
	if o.ResumeGrace == 0 {
		o.ResumeGrace = -1 // for the manager 0 means its default
	}
	return o
}

// Local returns what a link within this process needs, a bot's: who handles it,
// and the options of the server's end.
func (g *Gateway) Local() (link.Handler, link.Options) { return g.sessions, g.links }

// Pages reports whether there are pages to serve.
func (g *Gateway) Pages() bool { return g.pages.root != nil }

// Addresses returns where the gateway listens.
func (g *Gateway) Addresses() Addresses {
	a := Addresses{HTTP: g.public.addr()}
	if g.rtc != nil {
		a.RTCUDP, a.RTCTCP = g.rtc.UDP(), g.rtc.TCP()
	}
	if g.enet != nil {
		a.ENet = g.enet.Addr()
	}
	if g.admin != nil {
		a.Admin = g.admin.addr()
	}
	return a
}

// Run serves until ctx ends or a listener fails, then drains and closes. It
// returns when every goroutine of the gateway has ended.
func (g *Gateway) Run(ctx context.Context) error {
	failed := make(chan error, 2)
	for _, s := range g.servers() {
		s.serve(failed)
	}
	g.ready.Store(true)
	var err error
	select {
	case <-ctx.Done():
		g.drain(g.opts.Config.Sessions.DrainDeadline.D())
	case err = <-failed:
		g.ready.Store(false)
		g.log.Error("a listener failed", "error", err)
	}
	return errors.Join(err, g.Close())
}

// drain takes no new sessions and gives those there are until the deadline to
// end by themselves.
func (g *Gateway) drain(deadline time.Duration) {
	g.ready.Store(false)
	g.sessions.Drain(deadline)
	g.log.Info("draining", "deadline", deadline.String(), "sessions", len(g.sessions.Sessions()))
	over := time.NewTimer(deadline)
	defer over.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for len(g.sessions.Sessions()) > 0 {
		select {
		case <-over.C:
			return
		case <-look.C:
		}
	}
}

// Close ends everything at once, with the code going_away, and waits for it. Run
// does so by itself.
func (g *Gateway) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	if g.sessions != nil {
		errs = append(errs, g.sessions.Close(ctx))
	}
	if g.ws != nil {
		errs = append(errs, g.ws.Close(ctx))
	}
	if g.rtc != nil {
		errs = append(errs, g.rtc.Close(ctx))
	}
	if g.enet != nil {
		errs = append(errs, g.enet.Close())
	}
	for _, s := range g.servers() {
		errs = append(errs, s.close(ctx))
	}
	if g.pages != nil {
		g.pages.close()
	}
	return errors.Join(errs...)
}

func (g *Gateway) servers() (all []*server) {
	for _, s := range []*server{g.public, g.admin} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

package configs

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/gateway/admit"
)

// check collects the faults that concern several values.
type check struct {
	c      *Config
	faults Faults
}

func (k *check) fault(path, accepted, problem string, args ...any) {
	k.faults = append(k.faults, Fault{k.c.sources.of(path), path, fmt.Sprintf(problem, args...), accepted})
}

// of returns where the value at path, or what it is part of, was read.
func (s sources) of(path string) string {
	for p := path; p != ""; {
		if where, ok := s[p]; ok {
			return where
		}
		p = p[:max(strings.LastIndexAny(p, ".["), 0)]
	}
	return ""
}

func (c *Config) validate(known Known) Faults {
	k := &check{c: c}
	k.listeners()
	k.secrets()
	k.sessions()
	k.templates(known.Games)
	for i, o := range c.HTTP.Origins {
		if _, err := admit.ParseOrigin(o); err != nil {
			k.fault(fmt.Sprintf("http.origins[%d]", i), "scheme://host or scheme://host:port", "%v", err)
		}
	}
	k.netsim(known.Netsim)
	return k.faults
}

// listener is a socket that the configuration asks for.
type listener struct {
	path    string
	network string // "tcp", "udp" or, without IPv6, "udp4"
	listen  Listen
	at      netip.AddrPort
}

func (k *check) listeners() {
	c := k.c
	all := []*listener{
		{path: "http.listen", network: "tcp", listen: c.HTTP.Listen},
		{path: "rtc.udp_listen", network: "udp", listen: c.RTC.UDPListen},
		{path: "rtc.tcp_listen", network: "tcp", listen: c.RTC.TCPListen},
		{path: "enet.listen", network: "udp4", listen: c.ENet.Listen},
		{path: "admin.listen", network: "tcp", listen: c.Admin.Listen},
	}
	if c.HTTP.Listen.Off() {
		k.fault("http.listen", "address:port or :port", "can not be off")
	}
	if c.RTC.UDPListen.Off() && !c.RTC.TCPListen.Off() {
		k.fault("rtc.tcp_listen", "off, or rtc.udp_listen with an address", "needs rtc.udp_listen, which is off")
	}
	open := slices.DeleteFunc(all, func(l *listener) bool { return l.listen.Off() || !k.address(l) })
	for i, a := range open {
		for _, b := range open[:i] {
			if collide(a, b) {
				k.fault(a.path, "a port of its own", "%s is the address of %s too", a.listen, b.path)
			}
		}
	}
}

// address parses a listener's address and checks that it may be used.
func (k *check) address(l *listener) bool {
	var err error
	if l.at, err = l.listen.addrPort(); err != nil {
		k.fault(l.path, "address:port, :port or off", "%q %v", l.listen, err)
		return false
	}
	host := l.at.Addr()
	if l.network == "udp4" && host.IsValid() && !host.Is4() {
		k.fault(l.path, "an IPv4 address with a port, as in 0.0.0.0:7777, or off", "%q is IPv6, which ENet does not speak", l.listen)
		return false
	}
	if k.c.Dev && !(host.IsValid() && host.Unmap().IsLoopback()) {
		k.fault(l.path, "an address of this machine only, as in 127.0.0.1:8080, while dev is set", "%q could be reached by others, and dev asks for no tokens", l.listen)
	}
	return true
}

func collide(a, b *listener) bool {
	any := func(l *listener) bool { return !l.at.Addr().IsValid() || l.at.Addr().IsUnspecified() }
	return a.network[:3] == b.network[:3] && a.at.Port() != 0 && a.at.Port() == b.at.Port() &&
		(any(a) || any(b) || a.at.Addr() == b.at.Addr())
}

func (k *check) sessions() {
	s := k.c.Sessions
	if s.PingTimeout <= s.PingInterval {
		k.fault("sessions.ping_timeout", "more than sessions.ping_interval", "%s would end every quiet link, pings come every %s", s.PingTimeout, s.PingInterval)
	}
}

func (k *check) netsim(parse func(string) error) {
	c := k.c
	if c.Netsim == "" {
		return
	}
	if !c.Dev {
		k.fault("netsim", "empty, unless dev", "needs --dev: it makes every player's connection worse")
	}
	if parse == nil {
		return
	}
	if err := parse(c.Netsim); err != nil {
		k.fault("netsim", "settings such as latency=80ms,jitter=20ms,loss=3%", "%s", strings.TrimPrefix(err.Error(), "netsim: "))
	}
}

func (k *check) templates(games []string) {
	for i, t := range k.c.Rooms.Templates {
		at := func(name string) string { return fmt.Sprintf("rooms.templates[%d].%s", i, name) }
		if _, err := path.Match(t.Match, ""); err != nil || t.Match == "" {
			k.fault(at("match"), "a pattern such as arena*", "%q is not a pattern", t.Match)
		}
		switch {
		case t.Kind == "":
			k.fault(at("kind"), "relay or authority", "is missing")
		case t.Kind == "relay" && t.Game != "":
			k.fault(at("game"), "none, or kind authority", "%q: a relay room simulates nothing", t.Game)
		case t.Kind == "authority" && games != nil && !slices.Contains(games, t.Game):
			k.fault(at("game"), strings.Join(games, " or "), "%q is not a game of this program", t.Game)
		}
	}
}

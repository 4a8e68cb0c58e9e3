package enet

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// MaxSlots is the most peers that one listener may have: ENet's peer ids have 12
// bits, and the last is "none yet".
const MaxSlots = 4095

// Options of a [Listener]. The zero value listens on a free port of every IPv4
// address.
type Options struct {
	// Address is host:port to listen on, IPv4. An empty host is every address,
	// port 0 a free one.
	Address string
	// Link holds the options of every link.
	Link link.Options
	// Slots bounds the peers, handshakes included: 1 to 4,095. Default 4,095.
	Slots int
	// ConnectRate is how many connection attempts per second are served from one
	// address, and ConnectBurst how many at once. ENet's clients repeat an
	// attempt that is shed after half a second. Defaults 100 and 200: a school
	// behind one address comes in, a flood does not.
	ConnectRate, ConnectBurst int
	// HandshakeTimeout is after how long an attempt is forgotten whose address
	// does not answer. Default 5 s.
	HandshakeTimeout time.Duration
	// Pings as for a dialed link.
	Pings
}

// Pings say how a lost peer is noticed.
type Pings struct {
	// PingInterval is after what silence ENet asks a peer for a sign of life.
	// Default 1 s. At least 10 ms.
	PingInterval time.Duration
	// Timeout is after what silence a peer counts as lost. Default 15 s. At
	// least twice the PingInterval.
	Timeout time.Duration
}

// DialOptions of [Dial].
type DialOptions struct {
	// Link holds the options of the link.
	Link link.Options
	Pings
}

func (o Options) withDefaults() (Options, error) {
	defaultTo(&o.Slots, MaxSlots)
	defaultTo(&o.ConnectRate, 100)
	defaultTo(&o.ConnectBurst, 200)
	defaultTo(&o.HandshakeTimeout, 5*time.Second)
	switch {
	case o.Slots < 1 || o.Slots > MaxSlots:
		return o, fmt.Errorf("enet: slots: %d, accepted are 1 to %d", o.Slots, MaxSlots)
	case o.ConnectRate < 1 || o.ConnectRate > 1e6:
		return o, fmt.Errorf("enet: connect rate: %d, accepted are 1 to 1,000,000", o.ConnectRate)
	case o.ConnectBurst < 1 || o.ConnectBurst > 1e6:
		return o, fmt.Errorf("enet: connect burst: %d, accepted are 1 to 1,000,000", o.ConnectBurst)
	case o.HandshakeTimeout < 100*time.Millisecond || o.HandshakeTimeout > time.Hour:
		return o, fmt.Errorf("enet: handshake timeout: %s, accepted are 100ms to 1h", o.HandshakeTimeout)
	}
	return o, o.Pings.complete()
}

func (p *Pings) complete() error {
	defaultTo(&p.PingInterval, time.Second)
	defaultTo(&p.Timeout, 15*time.Second)
	switch {
	case p.PingInterval < 10*time.Millisecond || p.PingInterval > time.Hour:
		return fmt.Errorf("enet: ping interval: %s, accepted are 10ms to 1h", p.PingInterval)
	case p.Timeout < 2*p.PingInterval || p.Timeout > 24*time.Hour:
		return fmt.Errorf("enet: timeout: %s, accepted are twice the ping interval (%s) to 24h", p.Timeout, p.PingInterval)
	}
	return nil
}

func defaultTo[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// parseListen takes an address apart that must be IPv4.
func parseListen(address string) (netip.AddrPort, error) {
	if address == "" {
		address = ":0"
	}
	host, port, err := splitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if host == "" {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), port), nil
	}
	ip, err := resolve(context.Background(), host)
	return netip.AddrPortFrom(ip, port), err
}

// resolve returns an IPv4 address of host.
func resolve(ctx context.Context, host string) (netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip = ip.Unmap(); !ip.Is4() {
			return ip, fmt.Errorf("enet: address %s is IPv6, and ENet speaks IPv4 only", ip)
		}
		return ip, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("enet: %w", err)
	}
	return ips[0].Unmap(), nil
}

func splitHostPort(address string) (string, uint16, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("enet: address: %w", err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("enet: address %q: port must be 0 to 65535", address)
	}
	return host, uint16(port), nil
}

// endedBy is the error of a link whose peer disconnected with data.
func endedBy(data uint32) error {
	if data == 0 || data > 1<<16-1 {
		return errLost
	}
	return wire.Errorf(wire.Code(data), "the other end closed the connection")
}

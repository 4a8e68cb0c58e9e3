//go:build !noenet

package enet

import (
	"context"
	"fmt"
	"net/netip"

	goenet "github.com/codecat/go-enet"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Listener accepts links over ENet. Safe for concurrent use.
type Listener struct {
	host    *host
	address netip.AddrPort
}

// Listen opens the socket and hands every link to h, whose methods are called by
// one goroutine. The caller closes the listener.
func Listen(o Options, h link.Handler) (*Listener, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	address, err := parseListen(o.Address)
	if err != nil {
		return nil, err
	}
	goenet.Initialize()
	bind := goenet.NewAddress(address.Addr().String(), address.Port())
	inner, err := goenet.NewHost(bind, uint64(o.Slots), channels, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("enet: listen on %s: %w; is the port taken?", address, err)
	}
	host, err := newHost(inner, o, h)
	if err != nil {
		inner.Destroy()
		return nil, err
	}
	go host.run()
	return &Listener{host: host, address: host.bound()}, nil
}

// Addr returns the address that is listened on.
func (l *Listener) Addr() netip.AddrPort { return l.address }

// Counts returns what has been refused so far.
func (l *Listener) Counts() Counts { return l.host.counted() }

// Close ends all links with going_away and waits until they and the socket are
// gone: at most about [link.CloseGrace].
func (l *Listener) Close() error {
	l.host.stop()
	<-l.host.done
	return nil
}

// Dial connects to a listener at addr (host:port) and returns the open link, or
// the error of ctx, or the code that the other end refused with. ctx ends the
// attempt only; the link lives until it is closed.
func Dial(ctx context.Context, addr string, h link.Handler, o DialOptions) (*link.Link, error) {
	if err := o.Pings.complete(); err != nil {
		return nil, err
	}
	name, port, err := splitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ip, err := resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	lo, err := Options{Slots: 1, Link: o.Link, Pings: o.Pings}.withDefaults()
	if err != nil {
		return nil, err
	}
	goenet.Initialize()
	inner, err := goenet.NewHost(nil, 1, channels, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("enet: dial %s: %w", addr, err)
	}
	host, err := newHost(inner, lo, h)
	if err != nil {
		inner.Destroy()
		return nil, err
	}
	if err := host.dial(goenet.NewAddress(ip.String(), port)); err != nil {
		host.shut()
		return nil, fmt.Errorf("enet: dial %s: %w", addr, err)
	}
	go host.run()
	select {
	case answer := <-host.dialed:
		if answer.err != nil {
			<-host.done
			return nil, fmt.Errorf("enet: dial %s: %w", addr, answer.err)
		}
		return answer.link, nil
	case <-ctx.Done():
		host.stop()
		<-host.done
		return nil, fmt.Errorf("enet: dial %s: %w", addr, ctx.Err())
	}
}

// goingAway is what links are told when their host stops.
func goingAway() *wire.Error { return wire.Errorf(wire.CodeGoingAway, "the server is stopping") }

//go:build noenet

package enet

import (
	"context"
	"errors"
	"net/netip"

	"github.com/gatehouse/gatehouse/gateway/link"
)

var errLeftOut = errors.New("enet: built without ENet (tag noenet)")

// Listener is never made in a build without ENet.
type Listener struct{}

// Listen always fails in a build without ENet.
func Listen(Options, link.Handler) (*Listener, error) { return nil, errLeftOut }

// Addr returns the zero address.
func (*Listener) Addr() netip.AddrPort { return netip.AddrPort{} }

// Counts returns zeros.
func (*Listener) Counts() Counts { return Counts{} }

// Close does nothing.
func (*Listener) Close() error { return nil }

// Dial always fails in a build without ENet.
func Dial(context.Context, string, link.Handler, DialOptions) (*link.Link, error) {
	return nil, errLeftOut
}

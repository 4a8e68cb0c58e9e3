package rtc

import (
	"net/netip"

	"github.com/gatehouse/gatehouse/wire"
)

// pendings counts the offers whose channels are not open yet. Not safe for
// concurrent use.
type pendings struct {
	most, mostPerNetwork int

	all     int
	network map[netip.Prefix]int
}

func newPendings(most, mostPerNetwork int) pendings {
	return pendings{most: most, mostPerNetwork: mostPerNetwork, network: make(map[netip.Prefix]int)}
}

// add counts one more, unless there are too many.
func (p *pendings) add(from netip.Addr) *wire.Error {
	n := networkOf(from)
	switch {
	case p.all >= p.most:
		return wire.Errorf(wire.CodeOverloaded, "%d offers are pending", p.all)
	case p.network[n] >= p.mostPerNetwork:
		return wire.Errorf(wire.CodeOverloaded, "%d offers from this address are pending", p.network[n])
	}
	p.all++
	p.network[n]++
	return nil
}

func (p *pendings) remove(from netip.Addr) {
	n := networkOf(from)
	p.all--
	if p.network[n]--; p.network[n] == 0 {
		delete(p.network, n)
	}
}

// networkOf returns what one client can be assumed to own: an IPv4 address or an
// IPv6 /64.
func networkOf(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := 32
	if a.Is6() {
		bits = 64
	}
	n, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // no address: all such share one bucket
	}
	return n
}

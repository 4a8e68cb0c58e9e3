package admit

import (
	"net/http"
	"net/netip"
	"strings"
)

// Headers in which a proxy may tell who is behind it.
const (
	HeaderXForwardedFor = "X-Forwarded-For"
	HeaderForwarded     = "Forwarded"
)

// Proxies knows whose word about a client's address is taken. The zero value
// trusts nobody.
type Proxies struct {
	// Trusted are the networks of the proxies in front of us.
	Trusted []netip.Prefix
	// Header that they write: [HeaderXForwardedFor] (the default) or
	// [HeaderForwarded] (RFC 7239). Only one is read: a proxy hands on the one
	// that it does not know as the client wrote it.
	Header string
}

// Address returns the client's address. It is the peer of the socket, unless
// that is a trusted proxy: then it is the rightmost address of the header that
// is not a trusted proxy itself, for everything left of that was written by the
// client. A header that can not be read counts for nothing. The port is 0 where
// the proxy does not say it. Invalid only if r has no peer (tests).
func (p Proxies) Address(r *http.Request) netip.AddrPort {
	peer := peerOf(r)
	if !p.trusts(peer.Addr()) {
		return peer
	}
	hops := p.hops(r.Header)
	for i := len(hops) - 1; i >= 0; i-- {
		at, ok := parseHop(hops[i])
		if !ok {
			return peer
		}
		if i == 0 || !p.trusts(at.Addr()) {
			return at
		}
	}
	return peer
}

// Scheme returns "https" or "http": what the client used, as far as the socket
// or a trusted proxy's X-Forwarded-Proto or Forwarded tells.
func (p Proxies) Scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	if !p.trusts(peerOf(r).Addr()) {
		return "http"
	}
	proto := lastOf(r.Header.Values("X-Forwarded-Proto"))
	if p.Header == HeaderForwarded {
		proto = forwardedParam(lastOf(r.Header.Values(HeaderForwarded)), "proto")
	}
	if strings.EqualFold(proto, "https") {
		return "https"
	}
	return "http"
}

func (p Proxies) trusts(a netip.Addr) bool {
	for _, t := range p.Trusted {
		if t.Contains(a) {
			return true
		}
	}
	return false
}

// hops returns the header's addresses, the nearest last. Several header lines
// are one list (RFC 9110 §5.3).
func (p Proxies) hops(h http.Header) []string {
	if p.Header != HeaderForwarded {
		return split(h.Values(HeaderXForwardedFor))
	}
	elements := split(h.Values(HeaderForwarded))
	for i, e := range elements {
		elements[i] = forwardedParam(e, "for")
	}
	return elements
}

func peerOf(r *http.Request) netip.AddrPort {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.AddrPort{}
	}
	return unmap(peer)
}

// parseHop reads 192.0.2.1, 192.0.2.1:99, 2001:db8::1 and [2001:db8::1]:99. A
// zone belongs to another machine's interfaces and is refused.
func parseHop(s string) (netip.AddrPort, bool) {
	if strings.ContainsRune(s, '%') {
		return netip.AddrPort{}, false
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return unmap(ap), true
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(a.Unmap(), 0), true
}

// forwardedParam returns one parameter of one element of a Forwarded header.
func forwardedParam(element, name string) string {
	for pair := range strings.SplitSeq(element, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if ok && strings.EqualFold(key, name) {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

func split(lines []string) []string {
	var all []string
	for _, line := range lines {
		for e := range strings.SplitSeq(line, ",") {
			all = append(all, strings.TrimSpace(e))
		}
	}
	return all
}

func lastOf(lines []string) string {
	all := split(lines)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

func unmap(ap netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
}

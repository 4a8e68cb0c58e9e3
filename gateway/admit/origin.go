package admit

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Origins decides from which web pages a request may come. Browsers let any
// page open a WebSocket to any server and say only where the page is from; for
// that the Origin header is the one defence.
type Origins struct {
	// immutable
	allowed map[string]bool
	proxies Proxies
	dev     bool
}

// NewOrigins returns the rule that allows the listed origins (scheme, host and
// port, exactly: "https://play.example.org"), pages of the server itself, and
// clients that are no browser and send no origin. In dev mode it also allows
// pages of this machine, on any port, and refuses a Host that does not name this
// machine: a name of an attacker's that was pointed at 127.0.0.1 would make his
// page one of the server's own (DNS rebinding).
func NewOrigins(allowed []string, proxies Proxies, dev bool) (*Origins, error) {
	o := &Origins{allowed: make(map[string]bool, len(allowed)), proxies: proxies, dev: dev}
	for _, s := range allowed {
		origin, err := ParseOrigin(s)
		if err != nil {
			return nil, err
		}
		o.allowed[origin] = true
	}
	return o, nil
}

// Allowed reports whether the request may come from where it says.
func (o *Origins) Allowed(r *http.Request) bool {
	if o.dev && !loopbackHost(r.Host) {
		return false
	}
	values := r.Header.Values("Origin")
	switch len(values) {
	case 0:
		return true
	case 1:
	default:
		return false
	}
	origin, err := ParseOrigin(values[0])
	if err != nil {
		return false // "null" too: any page can have that origin
	}
	if o.allowed[origin] || origin == o.own(r) {
		return true
	}
	_, host, _ := strings.Cut(origin, "://")
	return o.dev && loopbackHost(host)
}

// own returns the origin of the server itself as the client sees it.
func (o *Origins) own(r *http.Request) string {
	origin, err := ParseOrigin(o.proxies.Scheme(r) + "://" + r.Host)
	if err != nil {
		return ""
	}
	return origin
}

// ParseOrigin returns an origin in its one form: lower case, with its port.
func ParseOrigin(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || strings.ContainsRune(s, '#') {
		return "", fmt.Errorf("%q is not an origin: scheme://host or scheme://host:port, no path", s)
	}
	port := u.Port()
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%q is not an origin: the scheme is http or https", s)
	case strings.ContainsRune(u.Host, '*'):
		return "", fmt.Errorf("%q is not an origin: there are no patterns, list each", s)
	case port == "" && u.Scheme == "http":
		port = "80"
	case port == "":
		port = "443"
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}

// loopbackHost reports whether a host, with or without port, names this machine
// for sure.
func loopbackHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(host), "["), "]")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

package admit_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/gatehouse/gatehouse/gateway/admit"
)

func TestAddressBehindProxies(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	xff := func(lines ...string) http.Header { return http.Header{"X-Forwarded-For": lines} }
	forwarded := func(lines ...string) http.Header { return http.Header{"Forwarded": lines} }
	for _, c := range []struct {
		name    string
		trusted []netip.Prefix
		header  string // which one is read
		peer    string
		sent    http.Header
		want    string
	}{
		{"nobody is trusted", nil, "", "127.0.0.1:5", xff("203.0.113.7"), "127.0.0.1:5"},
		{"nobody is trusted, any header", nil, "", "127.0.0.1:5", http.Header{"X-Real-Ip": {"203.0.113.7"}, "Forwarded": {"for=203.0.113.7"}}, "127.0.0.1:5"},
		{"peer is no proxy", trusted, "", "198.51.100.1:5", xff("203.0.113.7"), "198.51.100.1:5"},
		{"no header", trusted, "", "127.0.0.1:5", nil, "127.0.0.1:5"},
		{"one", trusted, "", "127.0.0.1:5", xff("203.0.113.7"), "203.0.113.7:0"},
		{"what the client wrote comes first", trusted, "", "127.0.0.1:5", xff("evil, 203.0.113.7"), "203.0.113.7:0"},
		{"a forged address comes first", trusted, "", "127.0.0.1:5", xff("192.0.2.66, 203.0.113.7"), "203.0.113.7:0"},
		{"two lines are one list", trusted, "", "127.0.0.1:5", xff("192.0.2.66", "203.0.113.7"), "203.0.113.7:0"},
		{"two proxies", trusted, "", "127.0.0.1:5", xff("192.0.2.66, 203.0.113.7, 10.1.2.3"), "203.0.113.7:0"},
		{"all are proxies", trusted, "", "127.0.0.1:5", xff("10.9.9.9, 10.1.2.3"), "10.9.9.9:0"},
		{"with port", trusted, "", "127.0.0.1:5", xff("203.0.113.7:4711"), "203.0.113.7:4711"},
		{"IPv6", trusted, "", "127.0.0.1:5", xff("2001:db8::7"), "[2001:db8::7]:0"},
		{"IPv6 in brackets", trusted, "", "127.0.0.1:5", xff("[2001:db8::7]"), "[2001:db8::7]:0"},
		{"IPv6 with port", trusted, "", "127.0.0.1:5", xff("[2001:db8::7]:4711"), "[2001:db8::7]:4711"},
		{"IPv4 inside IPv6", trusted, "", "[::ffff:127.0.0.1]:5", xff("::ffff:203.0.113.7"), "203.0.113.7:0"},
		{"zone", trusted, "", "127.0.0.1:5", xff("fe80::1%eth0"), "127.0.0.1:5"},
		{"garbage", trusted, "", "127.0.0.1:5", xff("garbage"), "127.0.0.1:5"},
		{"garbage nearest", trusted, "", "127.0.0.1:5", xff("203.0.113.7, garbage"), "127.0.0.1:5"},
		{"empty element", trusted, "", "127.0.0.1:5", xff("203.0.113.7,"), "127.0.0.1:5"},
		{"empty", trusted, "", "127.0.0.1:5", xff(""), "127.0.0.1:5"},
		{"X-Real-IP is not read", trusted, "", "127.0.0.1:5", http.Header{"X-Real-Ip": {"203.0.113.7"}}, "127.0.0.1:5"},
		{"the other header is not read", trusted, "", "127.0.0.1:5", forwarded("for=203.0.113.7"), "127.0.0.1:5"},
		{"Forwarded", trusted, admit.HeaderForwarded, "127.0.0.1:5", forwarded(`for=192.0.2.66, For="[2001:db8::7]:99";proto=https`), "[2001:db8::7]:99"},
		{"Forwarded, hidden", trusted, admit.HeaderForwarded, "127.0.0.1:5", forwarded("for=203.0.113.7, for=_hidden"), "127.0.0.1:5"},
		{"Forwarded, X-Forwarded-For not read", trusted, admit.HeaderForwarded, "127.0.0.1:5", xff("203.0.113.7"), "127.0.0.1:5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "http://example.org/", nil)
			r.RemoteAddr = c.peer
			for k, v := range c.sent {
				r.Header[k] = v
			}
			p := admit.Proxies{Trusted: c.trusted, Header: c.header}
			if got := p.Address(r).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("203.0.113.7, [::1]:9", `for="[::1]";proto=https`)
	f.Fuzz(func(t *testing.T, xff, fwd string) {
		r := httptest.NewRequest("GET", "http://example.org/", nil)
		r.RemoteAddr = "127.0.0.1:5"
		r.Header["X-Forwarded-For"], r.Header["Forwarded"] = []string{xff}, []string{fwd}
		for _, header := range []string{admit.HeaderXForwardedFor, admit.HeaderForwarded} {
			p := admit.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Header: header}
			if a := p.Address(r); !a.Addr().IsValid() || a.Addr().Is4In6() {
				t.Errorf("%s: %v", header, a)
			}
			p.Scheme(r)
		}
	})
}

package admit_test

import (
	"crypto/tls"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/gatehouse/gatehouse/gateway/admit"
)

func TestOrigins(t *testing.T) {
	t.Parallel()
	const host = "game.example.org"
	for _, c := range []struct {
		name    string
		dev     bool
		tls     bool
		host    string
		proto   string // X-Forwarded-Proto
		origins []string
		want    bool
	}{
		{name: "no browser", host: host, want: true},
		{name: "own page", host: host, origins: []string{"http://game.example.org"}, want: true},
		{name: "own page, default port written out", host: host + ":80", origins: []string{"http://game.example.org"}, want: true},
		{name: "own page over TLS", tls: true, host: host, origins: []string{"https://game.example.org"}, want: true},
		{name: "own page, upper case", host: host, origins: []string{"HTTP://GAME.example.org"}, want: true},
		{name: "plain page of a TLS server", tls: true, host: host, origins: []string{"http://game.example.org"}},
		{name: "TLS ends at a trusted proxy", host: host, proto: "https", origins: []string{"https://game.example.org"}, want: true},
		{name: "other port", host: host, origins: []string{"http://game.example.org:81"}},
		{name: "other host", host: host, origins: []string{"http://evil.example"}},
		{name: "host as suffix", host: host, origins: []string{"http://evil-game.example.org"}},
		{name: "host as prefix", host: host, origins: []string{"http://game.example.org.evil.example"}},
		{name: "listed", host: host, origins: []string{"https://play.example.org"}, want: true},
		{name: "listed, default port", host: host, origins: []string{"https://play.example.org:443"}, want: true},
		{name: "listed, other scheme", host: host, origins: []string{"http://play.example.org"}},
		{name: "listed, other port", host: host, origins: []string{"https://play.example.org:8443"}},
		{name: "opaque", host: host, origins: []string{"null"}},
		{name: "empty", host: host, origins: []string{""}},
		{name: "with user", host: host, origins: []string{"https://play.example.org@evil.example"}},
		{name: "with path", host: host, origins: []string{"https://play.example.org/"}},
		{name: "two", host: host, origins: []string{"https://play.example.org", "http://evil.example"}},
		{name: "this machine's page", host: host, origins: []string{"http://localhost:5173"}},
		{name: "dev: this machine's page", dev: true, host: "127.0.0.1:8080", origins: []string{"http://localhost:5173"}, want: true},
		{name: "dev: IPv6", dev: true, host: "[::1]:8080", origins: []string{"http://[::1]:8080"}, want: true},
		{name: "dev: no browser", dev: true, host: "localhost:8080", want: true},
		{name: "dev: foreign page", dev: true, host: "127.0.0.1:8080", origins: []string{"http://evil.example"}},
		{name: "dev: rebound name", dev: true, host: "evil.example:8080", origins: []string{"http://evil.example:8080"}},
		{name: "dev: rebound name without origin", dev: true, host: "evil.example:8080"},
		{name: "dev: localhost as prefix", dev: true, host: "127.0.0.1:8080", origins: []string{"http://localhost.evil.example"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			proxies := admit.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}} // httptest's peer
			o, err := admit.NewOrigins([]string{"https://play.example.org"}, proxies, c.dev)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("GET", "http://x/", nil)
			r.Host = c.host
			if c.tls {
				r.TLS = new(tls.ConnectionState)
			}
			if c.proto != "" {
				r.Header.Set("X-Forwarded-Proto", c.proto)
			}
			for _, origin := range c.origins {
				r.Header.Add("Origin", origin)
			}
			if got := o.Allowed(r); got != c.want {
				t.Errorf("allowed %v, want %v", got, c.want)
			}
		})
	}
}

func TestOriginsMustBeOrigins(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "*", "play.example.org", "ftp://play.example.org", "https://play.example.org/x", "https://*"} {
		if _, err := admit.NewOrigins([]string{s}, admit.Proxies{}, false); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func FuzzParseOrigin(f *testing.F) {
	for _, s := range []string{"https://play.example.org", "http://[::1]:80", "null", "https://a@b", "HTTP://X:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, err := admit.ParseOrigin(s)
		if err != nil {
			return
		}
		if twice, err := admit.ParseOrigin(once); err != nil || twice != once {
			t.Errorf("%q is %q, and that is %q, %v", s, once, twice, err)
		}
	})
}

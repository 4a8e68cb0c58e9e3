package gateway

import (
	"crypto/rand"
	"net/http"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

// admission makes what decides who comes in.
func (g *Gateway) admission() (err error) {
	c := g.opts.Config
	g.proxies.Header = c.HTTP.ProxyHeader
	for _, n := range c.HTTP.TrustedProxies {
		g.proxies.Trusted = append(g.proxies.Trusted, n.Prefix)
	}
	if g.origins, err = admit.NewOrigins(c.HTTP.Origins, g.proxies, c.Dev); err != nil {
		return err
	}
	if !c.Auth.Secret.Empty() {
		if g.tokens, err = admit.NewTokens([]byte(c.Auth.Secret.Reveal())); err != nil {
			return err
		}
	}
	g.refusals = newRefusals(g.log, g.opts.Metrics, &g.proxies)
	g.connects = admit.NewRate(float64(c.Limits.ConnectsPerSecond), c.Limits.ConnectsBurst)
	return nil
}

// admitter says who a hello is. Without tokens everybody is who they say.
type admitter struct{ tokens *admit.Tokens }

var _ session.Admitter = admitter{}

// Admit implements session.Admitter.
func (a admitter) Admit(h wire.Hello, _ netip.AddrPort) (session.Grant, *wire.Error) {
	if err := admit.RoomName(h.Room); err != nil {
		return session.Grant{}, wire.Errorf(wire.CodeBadName, "room: %v", err)
	}
	if h.Name != "" {
		if err := admit.DisplayName(h.Name); err != nil {
			return session.Grant{}, wire.Errorf(wire.CodeBadName, "name: %v", err)
		}
	}
	var g admit.Grant
	if a.tokens != nil {
		var e *wire.Error
		if g, e = a.tokens.Verify(h.Token, h.Room); e != nil {
			return session.Grant{}, e
		}
	} else {
		g.Identity = h.Identity
		if g.Identity == "" {
			g.Identity = "guest-" + strings.ToLower(rand.Text()[:10])
		}
		if err := admit.Identity(g.Identity); err != nil {
			return session.Grant{}, wire.Errorf(wire.CodeBadName, "identity: %v", err)
		}
	}
	return session.Grant{Identity: g.Identity, Name: displayName(h.Name, g)}, nil
}

// displayName is the name asked for, else the token's, else the identity, which
// may be longer than a name.
func displayName(asked string, g admit.Grant) string {
	switch {
	case asked != "":
		return asked
	case g.Name != "":
		return g.Name
	}
	name := g.Identity
	for len(name) > admit.MaxDisplayNameBytes {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}

// mayConnect limits new connections per address.
func (g *Gateway) mayConnect(r *http.Request) *wire.Error {
	if g.connects.Allow(g.proxies.Address(r).Addr()) {
		return nil
	}
	return wire.Errorf(wire.CodeRateLimited, "too many connections from this address")
}

// maySignal asks for the token that a join would ask for, of any room: which one
// is only known when the hello comes.
func (g *Gateway) maySignal(r *http.Request) *wire.Error {
	if g.tokens == nil {
		return nil
	}
	_, e := g.tokens.Read(admit.Bearer(r))
	return e
}

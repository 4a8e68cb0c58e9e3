package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

// Sessions are the sessions of a gateway. Safe for concurrent use.
type Sessions interface {
	Sessions() []session.State
	Inspect(id string) (session.State, bool)
	// Kick must not wait for the client.
	Kick(id, reason string) bool
}

// Options of [New]. Rooms and Sessions are required.
type Options struct {
	Rooms    authority.Control
	Sessions Sessions
	// Token that operators present; empty: nobody is asked, which is for dev.
	Token string
	// Origins decides from which pages requests may come.
	Origins *admit.Origins
	// Proxies tell the address of an operator.
	Proxies admit.Proxies
	// Failures limits how often one address may present a wrong token.
	Failures *admit.Rate
	// Ready reports whether new players are taken.
	Ready func() bool
	// Metrics serves /metrics.
	Metrics http.Handler
	// Logger is told of every change; nil: nobody is.
	Logger *slog.Logger
}

// timeout bounds one request.
const timeout = 10 * time.Second

// New returns the handler of the operators' listener.
func New(o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	a := &api{o}
	e := admit.NewRouter(o.Proxies)
	e.Use(a.origin)
	Health(e, o.Ready)
	e.GET("/metrics", echo.WrapHandler(o.Metrics), a.authorize)

	route := func(method, path string, h echo.HandlerFunc) {
		// Not a group: its middleware would answer 404 to a wrong method.
		e.Add(method, "/admin/v1"+path, h, a.authorize, bounded)
	}
	route(http.MethodGet, "/rooms", a.listRooms)
	route(http.MethodPost, "/rooms", a.createRoom)
	// The name is all that follows: whatever stands there is judged by the rule
	// for names, and nothing is "not found" because of how it is written.
	route(http.MethodGet, "/rooms/*", a.inspectRoom)
	route(http.MethodPatch, "/rooms/*", a.updateRoom)
	route(http.MethodDelete, "/rooms/*", a.closeRoom)
	route(http.MethodGet, "/sessions", a.listSessions)
	route(http.MethodGet, "/sessions/:id", a.inspectSession)
	route(http.MethodDelete, "/sessions/:id", a.kickSession)
	return e
}

type api struct{ Options }

// Health adds /healthz, which says that the process lives, and /readyz, which
// says whether it takes new players.
func Health(e *echo.Echo, ready func() bool) {
	asked := []string{http.MethodGet, http.MethodHead} // load balancers ask either way
	e.Match(asked, "/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.Match(asked, "/readyz", func(c echo.Context) error {
		if !ready() {
			return wire.Errorf(wire.CodeGoingAway, "draining")
		}
		return c.String(http.StatusOK, "ready\n")
	})
}

// origin refuses requests that a foreign page makes its visitor's browser send.
// Without a token that would be all that is needed.
func (a *api) origin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !a.Origins.Allowed(c.Request()) {
			return wire.Errorf(wire.CodeForbidden, "not from this origin or under this host name")
		}
		return next(c)
	}
}

func (a *api) authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if a.Token == "" || admit.Equal(a.Token, admit.Bearer(c.Request())) {
			return next(c)
		}
		if !a.Failures.Allow(a.Proxies.Address(c.Request()).Addr()) {
			return wire.Errorf(wire.CodeRateLimited, "too many wrong tokens")
		}
		noOperator.Write(c.Response())
		return nil
	}
}

// noOperator has a type of its own: the token that players join with would not
// help, as the text of its code would have it.
var noOperator = admit.Problem{
	Type:   "urn:gatehouse:problem:operator",
	Title:  "an operator's token is needed",
	Status: http.StatusUnauthorized,
	Detail: "Authorization: Bearer TOKEN, with the server's admin.token; a join token is another thing",
	Code:   wire.CodeUnauthorized,
}

// changed logs what an operator did. All operators share one token, so that the
// address is all there is to tell them apart.
func (a *api) changed(c echo.Context, what string, args ...any) {
	a.Logger.Info(what, append(args, "by", "admin", "address", a.Proxies.Address(c.Request()).String())...)
}

func bounded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, cancel := context.WithTimeout(c.Request().Context(), timeout)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

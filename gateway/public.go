package gateway

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/gateway/admin"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/signaling"
	"github.com/gatehouse/gatehouse/wire"
)

// publicHandler routes the public listener.
func (g *Gateway) publicHandler() http.Handler {
	e := admit.NewRouter(g.proxies)
	admin.Health(e, g.ready.Load)
	v1 := e.Group("/v1")
	v1.GET("/ws", g.upgrade, g.limited(metrics.AtUpgrade))
	if g.rtc != nil {
		signaling.Register(v1.Group("", g.limited(metrics.AtSignaling)), g.rtc, signaling.Options{
			Allowed:       g.origins.Allowed,
			Authorize:     g.maySignal,
			ClientAddress: g.proxies.Address,
			Refused:       g.refusals.at(metrics.AtSignaling),
		})
	}
	list := &roomList{control: g.opts.Control}
	v1.GET("/rooms", list.get, g.cors)
	// What is not here is not a page either.
	v1.Any("/*", func(echo.Context) error { return echo.ErrNotFound })
	e.GET("/*", g.pages.get)
	e.HEAD("/*", g.pages.get)
	return e
}

// limited refuses an address that makes too many connections. A request that
// changes nothing costs nothing.
func (g *Gateway) limited(at metrics.Place) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if m := c.Request().Method; m == http.MethodGet || m == http.MethodPost {
				if e := g.mayConnect(c.Request()); e != nil {
					g.refusals.refused(at, c.Request(), e)
					return e
				}
			}
			return next(c)
		}
	}
}

// upgrade answers GET /v1/ws. Who opens that in a browser is told what it is,
// as foreign pages are not.
func (g *Gateway) upgrade(c echo.Context) error {
	r, h := c.Request(), c.Response().Header()
	if g.origins.Allowed(r) && !strings.EqualFold(r.Header.Get(echo.HeaderUpgrade), "websocket") {
		h.Set(echo.HeaderConnection, echo.HeaderUpgrade)
		h.Set(echo.HeaderUpgrade, "websocket")
		return echo.NewHTTPError(http.StatusUpgradeRequired, "this is for WebSocket clients: ws://HOST:PORT/v1/ws")
	}
	g.ws.ServeHTTP(c.Response(), r)
	return nil
}

// cors lets the pages read that may also connect.
func (g *Gateway) cors(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h, origin := c.Response().Header(), c.Request().Header.Get(echo.HeaderOrigin)
		h.Add(echo.HeaderVary, echo.HeaderOrigin)
		if !g.origins.Allowed(c.Request()) {
			return wire.Errorf(wire.CodeForbidden, "not from this origin or under this host name")
		}
		if origin != "" {
			h.Set(echo.HeaderAccessControlAllowOrigin, origin)
		}
		return next(c)
	}
}

// adminHandler routes the operators' listener.
func (g *Gateway) adminHandler() http.Handler {
	c := g.opts.Config
	return admin.New(admin.Options{
		Rooms:    g.opts.Control,
		Sessions: g.sessions,
		Token:    c.Admin.Token.Reveal(),
		Origins:  g.origins,
		Proxies:  g.proxies,
		Failures: admit.NewRate(float64(c.Limits.ConnectsPerSecond), c.Limits.ConnectsBurst),
		Ready:    g.ready.Load,
		Metrics:  g.opts.Metrics.Handler(g.log),
		Logger:   g.opts.Logger.With("domain", "admin"),
	})
}

// PublicRoom is what anybody may know of a room.
type PublicRoom struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Game    string `json:"game,omitempty"`
	Members int    `json:"members"`
	Cap     int    `json:"cap"`
}

const (
	// listFor is how long a list of rooms is given out again: anybody may ask,
	// and each list asks every room.
	listFor     = time.Second
	listTimeout = 2 * time.Second
)

// roomList answers GET /v1/rooms.
type roomList struct {
	control authority.Control

	mu    sync.Mutex // guards the rest, and lets one ask at a time
	at    time.Time
	rooms []PublicRoom
}

func (l *roomList) get(c echo.Context) error {
	rooms, err := l.list()
	if err != nil {
		return wire.Errorf(wire.CodeOverloaded, "the rooms do not answer in time")
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.JSON(http.StatusOK, map[string]any{"rooms": rooms})
}

// list does not take the request's own context: others wait for the same list.
func (l *roomList) list() ([]PublicRoom, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rooms != nil && time.Since(l.at) < listFor {
		return l.rooms, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	all, err := l.control.List(ctx)
	if err != nil {
		return nil, err
	}
	rooms := make([]PublicRoom, len(all))
	for i, r := range all {
		rooms[i] = PublicRoom{Name: r.Name, Kind: r.Kind, Game: r.Game, Members: r.Members, Cap: r.Cap}
	}
	l.rooms, l.at = rooms, time.Now()
	return rooms, nil
}

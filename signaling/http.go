package signaling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/wire"
)

// MaxOffer is the largest body of an offer, in bytes.
const MaxOffer = 16 << 10

const mediaSDP = "application/sdp"

// Answerer turns offers into connections. Safe for concurrent use.
type Answerer interface {
	// Answer returns the answer to an offer of a client at remote, and an
	// unguessable id of the connection. An error that wraps a [*wire.Error] is
	// shown to the client.
	Answer(ctx context.Context, offer string, remote netip.AddrPort) (id, answer string, err error)
	// End ends a connection and reports whether there was one.
	End(id string) bool
}

// Options of [Register]. The zero value serves native clients and anybody.
type Options struct {
	// Allowed reports whether a request may come from the page it says it comes
	// from. nil admits only requests without an Origin header, which no browser
	// sends.
	Allowed func(*http.Request) bool
	// Authorize reports why a request may not open a connection, nil if it may.
	// nil: all may.
	Authorize func(*http.Request) *wire.Error
	// ClientAddress returns who is behind a request; nil takes the socket's peer.
	ClientAddress func(*http.Request) netip.AddrPort
	// Refused is told of each request that is refused, before the answer; may be
	// nil. It must not block.
	Refused func(*http.Request, *wire.Error)
	// BodyTimeout is how long a client may take to send a body. The HTTP server
	// has no such bound of its own, for it would hold for WebSockets too. Default
	// 10 s.
	BodyTimeout time.Duration
}

// Register adds the routes to g, which stands for /v1: POST and OPTIONS rtc, and
// DELETE, PATCH and OPTIONS rtc/:id. Other methods are told so.
func Register(g *echo.Group, a Answerer, o Options) {
	if o.Allowed == nil {
		o.Allowed = func(r *http.Request) bool { return len(r.Header.Values("Origin")) == 0 }
	}
	if o.Authorize == nil {
		o.Authorize = func(*http.Request) *wire.Error { return nil }
	}
	if o.ClientAddress == nil {
		o.ClientAddress = admit.Proxies{}.Address
	}
	if o.Refused == nil {
		o.Refused = func(*http.Request, *wire.Error) {}
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = 10 * time.Second
	}
	h := &handlers{answerer: a, opts: o}
	rtc := g.Group("/rtc", h.origin)
	rtc.POST("", h.offer)
	rtc.OPTIONS("", h.preflight)
	rtc.DELETE("/:id", h.end)
	rtc.PATCH("/:id", h.trickle)
	rtc.OPTIONS("/:id", h.preflight)
	// Said here, for the group may stand beside a route that takes everything.
	rtc.Match([]string{"GET", "HEAD", "PUT", "PATCH", "DELETE"}, "", onlyFor("OPTIONS, POST"))
	rtc.Match([]string{"GET", "HEAD", "PUT", "POST"}, "/:id", onlyFor("DELETE, OPTIONS, PATCH"))
}

// onlyFor answers the methods that are not among allowed.
func onlyFor(allowed string) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderAllow, allowed)
		admit.Blank(http.StatusMethodNotAllowed, fmt.Sprintf("%s is not among: %s", c.Request().Method, allowed)).Write(c.Response())
		return nil
	}
}

type handlers struct {
	answerer Answerer
	opts     Options
}

// origin refuses pages that are not admitted, and tells the browsers of those
// that are (CORS). The same rule guards WebSockets, where CORS does not reach.
func (h *handlers) origin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		origin := c.Request().Header.Get("Origin")
		header := c.Response().Header()
		header.Add("Vary", "Origin")
		if !h.opts.Allowed(c.Request()) {
			return h.refuse(c, wire.Errorf(wire.CodeForbidden, "origin %.100q is not allowed here", origin))
		}
		if origin != "" {
			header.Set("Access-Control-Allow-Origin", origin)
			header.Set("Access-Control-Expose-Headers", "Location")
		}
		return next(c)
	}
}

func (h *handlers) preflight(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Access-Control-Allow-Methods", "POST, PATCH, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	header.Set("Access-Control-Max-Age", "7200")
	header.Set("Accept-Post", mediaSDP)
	return c.NoContent(http.StatusNoContent)
}

// offer answers POST rtc.
func (h *handlers) offer(c echo.Context) error {
	r := c.Request()
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != mediaSDP {
		e := wire.Errorf(wire.CodeProtocol, "Content-Type: want %s", mediaSDP)
		h.opts.Refused(r, e)
		admit.Blank(http.StatusUnsupportedMediaType, e.Reason).Write(c.Response()) // HTTP has its own word for it
		return nil
	}
	if e := h.opts.Authorize(r); e != nil {
		return h.refuse(c, e)
	}
	offer, e := h.body(c)
	if e != nil {
		return h.refuse(c, e)
	}
	id, answer, err := h.answerer.Answer(r.Context(), offer, h.opts.ClientAddress(r))
	if err != nil {
		var e *wire.Error
		if !errors.As(err, &e) {
			e = wire.Errorf(wire.CodeInternal, "the offer could not be answered")
		}
		return h.refuse(c, e)
	}
	header := c.Response().Header()
	header.Set("Location", strings.TrimSuffix(r.URL.Path, "/")+"/"+id)
	header.Set("Cache-Control", "no-store")
	return c.Blob(http.StatusCreated, mediaSDP, []byte(answer))
}

// end answers DELETE rtc/:id. The id is the proof of who may.
func (h *handlers) end(c echo.Context) error {
	if !h.answerer.End(c.Param("id")) {
		admit.Blank(http.StatusNotFound, "there is no such connection").Write(c.Response())
		return nil
	}
	return c.NoContent(http.StatusNoContent)
}

// trickle answers PATCH rtc/:id. Candidates are taken and discarded: a client is
// learned of as its packets arrive.
func (h *handlers) trickle(c echo.Context) error {
	if _, e := h.body(c); e != nil {
		return h.refuse(c, e)
	}
	return c.NoContent(http.StatusNoContent)
}

// body reads a body within the bounds of size and time.
func (h *handlers) body(c echo.Context) (string, *wire.Error) {
	// Fails for writers without a connection, which can not be held open.
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(h.opts.BodyTimeout))
	b, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, MaxOffer))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return "", wire.Errorf(wire.CodeTooBig, "the body has more than %d bytes", MaxOffer)
	case err != nil:
		return "", wire.Errorf(wire.CodeProtocol, "the body could not be read")
	}
	return string(b), nil
}

func (h *handlers) refuse(c echo.Context, e *wire.Error) error {
	h.opts.Refused(c.Request(), e)
	admit.WriteProblem(c.Response(), e)
	return nil
}

package ws

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// DialOptions of [Dial]. The zero value is ready.
type DialOptions struct {
	// Link holds the options of the link.
	Link link.Options
	// JSON asks for the JSON dialect.
	JSON bool
	// Header is sent with the request (an Origin, say).
	Header http.Header
	// TLS is for wss URLs; nil for the system's roots.
	TLS *tls.Config
	// Patience is how long the server may take nothing of what is written to it
	// before it is given up. Default 15 s.
	Patience time.Duration
}

// Dial opens a link to a server at url (ws, wss, http or https). ctx bounds the
// handshake only. The link lives until it is closed or lost; its handler's
// Ended is the last that is heard of it. A server that refuses answers with a
// problem, whose code is the [*wire.Error] that the error wraps.
func Dial(ctx context.Context, url string, h link.Handler, o DialOptions) (*link.Link, error) {
	if o.Patience == 0 {
		o.Patience = 15 * time.Second
	}
	var sock *socket
	transport := &http.Transport{
		TLSClientConfig: o.TLS,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			tuneConn(raw)
			sock = &socket{Conn: raw, patience: o.Patience}
			return sock, nil
		},
		DisableKeepAlives: true, // one dial, one connection
	}
	defer transport.CloseIdleConnections()

	subprotocol := SubprotocolBinary
	if o.JSON {
		subprotocol = SubprotocolJSON
	}
	dialled, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: transport, CheckRedirect: noRedirect},
		HTTPHeader:   o.Header,
		Subprotocols: []string{subprotocol},
	})
	if err != nil {
		return nil, refusal(resp, err)
	}
	if got := dialled.Subprotocol(); got != subprotocol {
		_ = dialled.CloseNow()
		return nil, fmt.Errorf("ws: the server speaks subprotocol %q, not %q", got, subprotocol)
	}
	c := newConn(dialled, sock, link.Info{
		Transport: "ws",
		Remote:    remoteOf(sock),
		OneStream: true,
		JSON:      o.JSON,
	})
	c.open(h, o.Link)
	go c.run()
	return c.link, nil
}

// noRedirect makes a redirect an error: where a token is sent is the caller's
// decision.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// refusal turns the answer of a server that did not upgrade into its code.
func refusal(resp *http.Response, err error) error {
	if resp == nil || resp.Body == nil {
		return fmt.Errorf("ws: %w", err)
	}
	var problem struct {
		Code   wire.Code `json:"code"`
		Detail string    `json:"detail"`
	}
	body, _ := io.ReadAll(resp.Body) // the library has kept at most 1 KiB
	if json.Unmarshal(body, &problem) == nil && problem.Code != wire.CodeNone {
		return fmt.Errorf("ws: refused: %w", &wire.Error{Code: problem.Code, Reason: problem.Detail})
	}
	return fmt.Errorf("ws: %w", errors.Join(err, fmt.Errorf("status %s", resp.Status)))
}

func remoteOf(c net.Conn) netip.AddrPort {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

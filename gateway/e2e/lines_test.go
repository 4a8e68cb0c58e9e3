package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/gateway/ws"
)

var transports = []string{"ws", "rtc", "enet"}

// line is one connection of a client, through a proxy of its own.
type line struct {
	transport string
	link      *link.Link
	cut       func() // abruptly, beneath the transport
	up, down  *tally
}

func (l *line) String() string { return fmt.Sprintf("up %v, down %v", l.up, l.down) }

// lines are the connections that a client has had, through one weather.
type lines struct {
	t       *testing.T
	house   *house
	weather weather

	mu  sync.Mutex
	all []*line
}

// over returns the dialer of a transport, whose every connection is a new line.
func (ls *lines) over(transport string) client.Dialer {
	return func(ctx context.Context, h link.Handler) (*link.Link, error) {
		l, err := ls.dial(ctx, transport, h)
		if err != nil {
			if l.cut != nil {
				l.cut()
			}
			return nil, err
		}
		ls.mu.Lock()
		defer ls.mu.Unlock()
		ls.all = append(ls.all, l)
		return l.link, nil
	}
}

// newest returns the line of the last connection.
func (ls *lines) newest() *line {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.all[len(ls.all)-1]
}

func (ls *lines) dial(ctx context.Context, transport string, h link.Handler) (*line, error) {
	at, l := ls.house.addresses, &line{transport: transport}
	if transport == "ws" {
		p, err := newStreams(ls.t, ls.weather, at.HTTP)
		if err != nil {
			return l, err
		}
		l.cut, l.up, l.down = p.cut, &p.up, &p.down
		l.link, err = ws.Dial(ctx, fmt.Sprintf("ws://%s/v1/ws", p.addr()), h, ws.DialOptions{})
		return l, err
	}
	server := at.ENet
	if transport == "rtc" {
		server = at.RTCUDP
	}
	p, err := newDatagrams(ls.t, ls.weather, server)
	if err != nil {
		return l, err
	}
	l.cut, l.up, l.down = p.cut, &p.up, &p.down
	if transport == "rtc" {
		detour := &http.Client{Transport: detour{server, p.addr()}}
		l.link, err = rtc.Dial(ctx, fmt.Sprintf("http://%s", at.HTTP), h, rtc.DialOptions{HTTPClient: detour})
	} else {
		l.link, err = enet.Dial(ctx, p.addr().String(), h, enet.DialOptions{})
	}
	return l, err
}

// detour changes the answers to WebRTC offers: the server's UDP candidates lead
// to the proxy, and the TCP ones, which would lead past it, are gone.
type detour struct{ server, proxy netip.AddrPort }

// RoundTrip implements http.RoundTripper.
func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := visitor.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	sdp := new(bytes.Buffer)
	turned := 0
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		text := lines.Text()
		if strings.HasPrefix(text, "a=candidate:") {
			if strings.Contains(strings.ToLower(text), " tcp ") {
				continue
			}
			from := fmt.Sprintf(" %s %d ", d.server.Addr(), d.server.Port())
			if strings.Contains(text, from) {
				text = strings.Replace(text, from, fmt.Sprintf(" %s %d ", d.proxy.Addr(), d.proxy.Port()), 1)
				turned++
			}
		}
		sdp.WriteString(text + "\r\n")
	}
	if resp.StatusCode == http.StatusCreated && turned == 0 {
		return nil, fmt.Errorf("the answer has no UDP candidate of the server: %s", sdp)
	}
	resp.Body = io.NopCloser(sdp)
	resp.ContentLength = int64(sdp.Len())
	return resp, lines.Err()
}

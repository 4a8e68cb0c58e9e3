package ws_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/ws"
	"github.com/gatehouse/gatehouse/wire"
)

// refuse writes the least problem that a client of ours reads a code from.
func refuse(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
	w.WriteHeader(http.StatusTeapot)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": e.Code, "detail": e.Reason})
}

func TestRefusalsTellTheCode(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	refused := func(t *testing.T, url string, o ws.DialOptions, want wire.Code) {
		t.Helper()
		if _, err := ws.Dial(ctx, url, newRecorder(), o); !errors.Is(err, &wire.Error{Code: want}) {
			t.Errorf("Dial: %v, want %s", err, want.Name())
		}
	}
	fromPage := ws.DialOptions{Header: http.Header{"Origin": {"https://a.example"}}}

	t.Run("any page, by default", func(t *testing.T) {
		_, _, url := serve(t, ws.Options{Refuse: refuse})
		refused(t, url, fromPage, wire.CodeForbidden)
		dial(t, url, newRecorder(), ws.DialOptions{})
	})
	t.Run("a page that is not admitted", func(t *testing.T) {
		allow := func(r *http.Request) bool { return r.Header.Get("Origin") == "https://a.example" }
		_, _, url := serve(t, ws.Options{Refuse: refuse, Allowed: allow})
		dial(t, url, newRecorder(), fromPage)
		refused(t, url, ws.DialOptions{Header: http.Header{"Origin": {"https://b.example"}}}, wire.CodeForbidden)
	})
	t.Run("more than MaxConns", func(t *testing.T) {
		s, server, url := serve(t, ws.Options{Refuse: refuse, MaxConns: 2})
		first := dial(t, url, newRecorder(), ws.DialOptions{})
		dial(t, url, newRecorder(), ws.DialOptions{})
		refused(t, url, ws.DialOptions{}, wire.CodeOverloaded)
		if n := s.Len(); n != 2 {
			t.Errorf("%d connections", n)
		}
		first.Close(wire.Errorf(wire.CodeLeft, ""))
		await(t, "end", server.ended)
		until(t, "a place is free", func() bool { return s.Len() == 1 })
		dial(t, url, newRecorder(), ws.DialOptions{})
	})
	t.Run("a stopped server", func(t *testing.T) {
		s, _, url := serve(t, ws.Options{Refuse: refuse})
		if err := s.Close(ctx); err != nil {
			t.Fatal(err)
		}
		refused(t, url, ws.DialOptions{}, wire.CodeGoingAway)
	})
	t.Run("no problem writer", func(t *testing.T) {
		_, _, url := serve(t, ws.Options{})
		_, err := ws.Dial(ctx, url, newRecorder(), fromPage)
		if err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("Dial: %v, want the status 403", err)
		}
	})
	t.Run("a request that is no handshake", func(t *testing.T) {
		s, _, url := serve(t, ws.Options{})
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUpgradeRequired || s.Len() != 0 {
			t.Errorf("status %d, %d connections", resp.StatusCode, s.Len())
		}
		http.DefaultClient.CloseIdleConnections()
	})
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patient); !is(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patient, what)
		}
	}
}

func TestClientAddressIsAskedFor(t *testing.T) {
	t.Parallel()
	want := netip.MustParseAddrPort("203.0.113.7:99")
	_, server, url := serve(t, ws.Options{ClientAddress: func(*http.Request) netip.AddrPort { return want }})
	plain(t, url)
	if got := await(t, "link", server.opened).Info().Remote; got != want {
		t.Errorf("remote %v, want %v", got, want)
	}
}

func TestServerCloseEndsEverything(t *testing.T) {
	t.Parallel()
	s, server, url := serve(t, ws.Options{})
	for range 8 {
		client := newRecorder()
		dial(t, url, client, ws.DialOptions{})
		await(t, "link", server.opened)
		defer func() {
			if err := await(t, "end", client.ended); !errors.Is(err, &wire.Error{Code: wire.CodeGoingAway}) {
				t.Errorf("a client ended with %v", err)
			}
		}()
	}
	for range 8 {
		bare(t, url, "gatehouse.v1", 4<<10)
		flood(await(t, "link", server.opened))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	began := time.Now()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*link.CloseGrace {
		t.Errorf("Close took %v although the grace is %v", took, link.CloseGrace)
	}
	if len(server.ended) != 16 || s.Len() != 0 {
		t.Errorf("%d of 16 links ended, %d connections left", len(server.ended), s.Len())
	}
}

func TestServerCloseIsCutShort(t *testing.T) {
	t.Parallel()
	s, server, url := serve(t, ws.Options{})
	bare(t, url, "gatehouse.v1", 4<<10)
	flood(await(t, "link", server.opened))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := s.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: %v", err)
	}
	if took := time.Since(began); took > link.CloseGrace/2 {
		t.Errorf("Close took %v although it was not to wait", took)
	}
	if len(server.ended) != 1 {
		t.Error("Close returned before the link had ended")
	}
}

func TestJSONPeersAreProbed(t *testing.T) {
	t.Parallel()
	o := ws.Options{ProbeInterval: 20 * time.Millisecond, ProbeTimeout: 300 * time.Millisecond}
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, o)
		_, r := bare(t, url, "gatehouse.json", 64<<10)
		if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: wire.CodeTimeout}) {
			t.Errorf("ended with %v", err)
		}
		all, err := io.ReadAll(r)
		if !strings.HasPrefix(string(all), "\x89") || !strings.Contains(string(all), `"code":4002`) {
			t.Errorf("the peer was sent %q, %v, want a ping first and a close frame", all, err)
		}
	})
	t.Run("answering", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, o)
		c := plain(t, url, "gatehouse.json")
		ctx := c.CloseRead(context.Background()) // answers pings
		tick := time.NewTimer(3 * o.ProbeTimeout)
		defer tick.Stop()
		select {
		case <-tick.C:
		case err := <-server.ended:
			t.Errorf("ended with %v", err)
		case <-ctx.Done():
			t.Error("closed")
		}
	})
	t.Run("not in binary", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, o)
		c, r := bare(t, url, "gatehouse.v1", 64<<10)
		if err := c.SetReadDeadline(time.Now().Add(2 * o.ProbeTimeout)); err != nil {
			t.Fatal(err)
		}
		if b, err := r.ReadByte(); err == nil {
			t.Errorf("the peer was sent %#x", b)
		}
		if len(server.ended) > 0 {
			t.Errorf("ended with %v", <-server.ended)
		}
	})
}

func TestTLS(t *testing.T) {
	t.Parallel()
	h := newRecorder()
	s := ws.NewServer(h, ws.Options{})
	web := httptest.NewTLSServer(s)
	defer web.Close()
	defer s.Close(context.Background())
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	client := newRecorder()
	url := "wss" + strings.TrimPrefix(web.URL, "https") + "/v1/ws"
	there := dial(t, url, client, ws.DialOptions{TLS: &tls.Config{RootCAs: roots}})
	there.Send(frame(wire.KindRequest, "hi"))
	if m := await(t, "message", h.got); m.body != encoded(wire.KindRequest, "hi") {
		t.Errorf("got %q", m.body)
	}

	// The alert that ends TLS waits for a stuck peer too.
	raw, err := tls.Dial("tcp", web.Listener.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.NetConn().Close()
	_ = raw.NetConn().(*net.TCPConn).SetReadBuffer(4 << 10)
	await(t, "first link", h.opened)
	_, _ = io.WriteString(raw, "GET /v1/ws HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n")
	stuck := await(t, "second link", h.opened)
	flood(stuck)
	began := time.Now()
	stuck.Close(wire.Errorf(wire.CodeKicked, ""))
	await(t, "end", h.ended)
	if took := time.Since(began); took > 4*link.CloseGrace {
		t.Errorf("the connection ended after %v, the grace is %v", took, link.CloseGrace)
	}
}

func TestManyClosesAndSendsAtOnce(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	for range 20 {
		client := newRecorder()
		there := dial(t, url, client, ws.DialOptions{})
		here := await(t, "link", server.opened)
		var all sync.WaitGroup
		for _, l := range []*link.Link{there, here} {
			all.Go(func() {
				for range 50 {
					l.Send(frame(wire.KindEvent, "x"))
				}
			})
			all.Go(func() { l.Close(wire.Errorf(wire.CodeLeft, "")) })
		}
		all.Wait()
		await(t, "end", server.ended)
		await(t, "end", client.ended)
	}
	if len(server.ended) != 0 {
		t.Error("a link ended twice")
	}
}

// BenchmarkEcho is one message to the server and back: two reads, two writes.
func BenchmarkEcho(b *testing.B) {
	h := newRecorder()
	h.receive = func(l *link.Link, msg []byte) *wire.Error {
		_, body, _, _ := wire.NextFrame(msg)
		l.Send(wire.CopyFrame(wire.KindPong, body))
		return nil
	}
	s := ws.NewServer(h, ws.Options{})
	web := httptest.NewServer(s)
	defer web.Close()
	defer s.Close(context.Background())
	client := newRecorder()
	back := make(chan struct{}, 1)
	client.receive = func(*link.Link, []byte) *wire.Error {
		back <- struct{}{}
		return nil
	}
	l := dial(b, web.URL, client, ws.DialOptions{})
	body := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		l.Send(wire.CopyFrame(wire.KindPing, body))
		<-back
	}
}

package ws_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/ws"
	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient bounds every wait for something that is bound to happen.
const patient = 20 * time.Second

// message is one link message that was received.
type message struct {
	lane wire.Lane
	body string
}

// recorder is a handler that remembers.
type recorder struct {
	opened chan *link.Link
	got    chan message
	ended  chan error
	// receive, if set, is called in place of remembering.
	receive func(*link.Link, []byte) *wire.Error
}

func newRecorder() *recorder {
	return &recorder{opened: make(chan *link.Link, 1000), got: make(chan message, 1000), ended: make(chan error, 1000)}
}

func (r *recorder) Opened(l *link.Link) { r.opened <- l }

func (r *recorder) Receive(l *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	if r.receive != nil {
		return r.receive(l, msg)
	}
	r.got <- message{lane, string(msg)}
	return nil
}

func (r *recorder) Ended(_ *link.Link, err error) { r.ended <- err }

// await receives from c, or fails the test.
func await[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patient):
		t.Fatalf("no %s within %v", what, patient)
		panic("unreachable")
	}
}

// serve starts a server and returns it with its address, a handler that
// remembers, and the URL to dial.
func serve(t testing.TB, o ws.Options) (*ws.Server, *recorder, string) {
	t.Helper()
	h := newRecorder()
	s := ws.NewServer(h, o)
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		web.Close()
	})
	return s, h, web.URL + "/v1/ws"
}

func dial(t testing.TB, url string, h link.Handler, o ws.DialOptions) *link.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	w := watched{h, make(chan struct{})}
	l, err := ws.Dial(ctx, url, w, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close(wire.Errorf(wire.CodeLeft, "end of test"))
		await(t, "end of a dialled link", w.over)
	})
	return l
}

// watched is a handler whose link's end can be waited for.
type watched struct {
	link.Handler
	over chan struct{}
}

func (w watched) Ended(l *link.Link, err error) {
	w.Handler.Ended(l, err)
	close(w.over)
}

// plain dials with the WebSocket library alone.
func plain(t testing.TB, url string, subprotocols ...string) *websocket.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	c, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: transport},
		Subprotocols: subprotocols,
	})
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// bare opens a WebSocket by hand and reads nothing of what comes after the
// handshake; the kernel holds about so many bytes for it. early is sent with the
// handshake.
func bare(t testing.TB, url, subprotocol string, held int, early ...string) (net.Conn, *bufio.Reader) {
	t.Helper()
	address := strings.TrimPrefix(strings.TrimSuffix(url, "/v1/ws"), "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(held); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /v1/ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"+
		"Sec-WebSocket-Protocol: %s\r\n\r\n%s", address, subprotocol, strings.Join(early, ""))
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("handshake: %v, %v", resp, err)
	}
	return c, r
}

func frame(k wire.Kind, body string) *wire.Frame { return wire.CopyFrame(k, []byte(body)) }

func encoded(k wire.Kind, body string) string {
	return string(wire.AppendFrame(nil, k, []byte(body)))
}

// filler is a message of n bytes; a link does not look inside.
func filler(n int) []byte {
	msg := make([]byte, n)
	for i := range msg {
		msg[i] = byte(i * 7)
	}
	return msg
}

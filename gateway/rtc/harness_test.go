package rtc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"
	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient bounds every wait for something that is bound to happen.
const patient = 30 * time.Second

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
	receive func(*link.Link, wire.Lane, []byte) *wire.Error
}

func newRecorder() *recorder {
	return &recorder{opened: make(chan *link.Link, 1000), got: make(chan message, 10_000), ended: make(chan error, 1000)}
}

func (r *recorder) Opened(l *link.Link) { r.opened <- l }

func (r *recorder) Receive(l *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	if r.receive != nil {
		return r.receive(l, lane, msg)
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

func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patient); !is(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patient, what)
		}
	}
}

var someone = netip.MustParseAddrPort("127.0.0.1:1")

// listen starts a listener on loopback with a handler that remembers.
func listen(t testing.TB, o rtc.Options) (*rtc.Listener, *recorder) {
	t.Helper()
	h := newRecorder()
	return listenFor(t, o, h), h
}

func listenFor(t testing.TB, o rtc.Options, h link.Handler) *rtc.Listener {
	t.Helper()
	o.UDP = "127.0.0.1:0"
	l, err := rtc.Listen(o, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		if err := l.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

// signal is the least HTTP server that hands offers to a listener; it returns
// its base URL. change may edit the answer.
func signal(t testing.TB, l *rtc.Listener, change func(answer string) string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offer, _ := io.ReadAll(r.Body)
		_, answer, err := l.Answer(r.Context(), string(offer), someone)
		var e *wire.Error
		if errors.As(err, &e) {
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"code":%d,"detail":%q}`, e.Code, e.Reason)
			return
		}
		if change != nil {
			answer = change(answer)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		web.Close()
	})
	return web.URL
}

func dial(t testing.TB, base string, h link.Handler, o rtc.DialOptions) *link.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	w := watched{h, make(chan struct{})}
	l, err := rtc.Dial(ctx, base, w, o)
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

func frame(k wire.Kind, body string) *wire.Frame { return wire.CopyFrame(k, []byte(body)) }

func encoded(k wire.Kind, body string) string {
	return string(wire.AppendFrame(nil, k, []byte(body)))
}

// client is a peer made with the library alone.
type client struct {
	pc     *webrtc.PeerConnection
	lanes  [2]*webrtc.DataChannel
	opened chan wire.Lane
	closed chan wire.Lane
	got    chan message
}

// newClient makes a peer with the channels that docs/protocol.md §1 asks for.
func newClient(t testing.TB) *client {
	t.Helper()
	var se webrtc.SettingEngine
	se.SetIncludeLoopbackCandidate(true)
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	api := webrtc.NewAPI(webrtc.WithSettingEngine(se), webrtc.WithMediaEngine(&webrtc.MediaEngine{}),
		webrtc.WithInterceptorRegistry(&interceptor.Registry{}))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	c := &client{pc: pc, opened: make(chan wire.Lane, 2), closed: make(chan wire.Lane, 2), got: make(chan message, 10_000)}
	yes, no, zero, one := true, false, uint16(0), uint16(1)
	c.add(t, wire.Reliable, &webrtc.DataChannelInit{Negotiated: &yes, ID: &zero})
	c.add(t, wire.Unreliable, &webrtc.DataChannelInit{Negotiated: &yes, ID: &one, Ordered: &no, MaxRetransmits: &zero})
	return c
}

func (c *client) add(t testing.TB, lane wire.Lane, init *webrtc.DataChannelInit) {
	t.Helper()
	dc, err := c.pc.CreateDataChannel(lane.String(), init)
	if err != nil {
		t.Fatal(err)
	}
	dc.OnOpen(func() { c.opened <- lane })
	dc.OnClose(func() { c.closed <- lane })
	dc.OnMessage(func(m webrtc.DataChannelMessage) { c.got <- message{lane, string(m.Data)} })
	c.lanes[lane] = dc
}

// offer makes an offer without waiting for candidates.
func (c *client) offer(t testing.TB) string {
	t.Helper()
	offer, err := c.pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	return offer.SDP
}

// connect exchanges descriptions and waits for both channels.
func (c *client) connect(t testing.TB, l *rtc.Listener) (id string) {
	t.Helper()
	id, answer, err := l.Answer(context.Background(), c.offer(t), someone)
	if err != nil {
		t.Fatal(err)
	}
	// Clients that ignore the announced limit exist; this one does.
	answer = strings.ReplaceAll(answer, "max-message-size:65535", "max-message-size:16777216")
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	await(t, "open channel", c.opened)
	await(t, "open channel", c.opened)
	return id
}

package rtc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/wire"
)

func TestOfferTwice(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{})
	c := newClient(t)
	offer := c.offer(t)
	first, answer, err := l.Answer(context.Background(), offer, someone)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := l.Answer(context.Background(), offer, someone)
	if err != nil || first == second {
		t.Fatalf("second answer: ids %q and %q, %v", first, second, err)
	}
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	await(t, "link", server.opened)
	if !l.End(second) {
		t.Error("the second offer is not pending")
	}
	until(t, "one is left", func() bool { return l.Stats() == rtc.Stats{Peers: 1, Stray: l.Stats().Stray} })
}

func TestAnswerGivenForAnOffer(t *testing.T) {
	t.Parallel()
	l, _ := listen(t, rtc.Options{})
	_, answer, err := l.Answer(context.Background(), newClient(t).offer(t), someone)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = l.Answer(context.Background(), answer, someone); !errors.Is(err, &wire.Error{Code: wire.CodeProtocol}) {
		t.Errorf("an answer was answered: %v", err)
	}
}

func TestPendingOffersAreBounded(t *testing.T) {
	t.Parallel()
	const openTimeout = 2 * time.Second
	l, server := listen(t, rtc.Options{MaxPending: 6, MaxPendingPerAddress: 3, OpenTimeout: openTimeout})
	offer := newClient(t).offer(t)
	answer := func(from string) error {
		_, _, err := l.Answer(context.Background(), offer, netip.MustParseAddrPort(from))
		return err
	}
	overloaded := &wire.Error{Code: wire.CodeOverloaded}
	for range 3 {
		if err := answer("[2001:db8::1]:1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := answer("[2001:db8::ffff]:1"); !errors.Is(err, overloaded) {
		t.Errorf("a fourth of one network: %v", err)
	}
	for range 3 {
		if err := answer("192.0.2.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := answer("192.0.2.2:1"); !errors.Is(err, overloaded) {
		t.Errorf("a seventh in all: %v", err)
	}
	if s := l.Stats(); s.Pending != 6 || s.Peers != 6 {
		t.Errorf("stats %+v", s)
	}
	began := time.Now()
	until(t, "the offers have expired", func() bool { return l.Stats().Peers == 0 && l.Stats().Pending == 0 })
	if took := time.Since(began); took > 5*openTimeout {
		t.Errorf("they expired after %v, the bound is %v", took, openTimeout)
	}
	if err := answer("192.0.2.2:1"); err != nil {
		t.Errorf("after that: %v", err)
	}
	if len(server.opened) != 0 || len(server.ended) != 0 {
		t.Error("the handler was told of an offer that led to nothing")
	}
}

func TestConnectedPeersAreNotPending(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{MaxPending: 1, MaxPeers: 2})
	for range 2 {
		newClient(t).connect(t, l)
		await(t, "link", server.opened)
	}
	_, _, err := l.Answer(context.Background(), newClient(t).offer(t), someone)
	if !errors.Is(err, &wire.Error{Code: wire.CodeOverloaded}) {
		t.Errorf("a third peer of two: %v", err)
	}
}

// TestMangledOffers answers an offer that was changed in every way that SDP can
// be: nothing may panic, hang, or be left behind.
func TestMangledOffers(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{MaxPending: 1000, MaxPendingPerAddress: 1000, OpenTimeout: 100 * time.Millisecond})
	offer := newClient(t).offer(t)
	rng := rand.New(rand.NewPCG(3, 3))
	answered, refused := 0, 0
	for range 300 {
		_, _, err := l.Answer(context.Background(), mangle(rng, offer), someone)
		var e *wire.Error
		switch {
		case err == nil:
			answered++
		case !errors.As(err, &e) || e.Code != wire.CodeProtocol:
			t.Errorf("refused with %v", err)
		default:
			refused++
		}
	}
	if answered == 0 || refused == 0 {
		t.Errorf("%d answered, %d refused: the changes prove nothing", answered, refused)
	}
	until(t, "all are forgotten", func() bool { return l.Stats().Peers == 0 })
	newClient(t).connect(t, l)
	await(t, "link", server.opened)
}

func mangle(rng *rand.Rand, offer string) string {
	lines := strings.SplitAfter(offer, "\n")
	lines = lines[:len(lines)-1]
	for range 1 + rng.IntN(3) {
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		switch rng.IntN(6) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i] += lines[i]
		case 2:
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			if n := len(lines[i]) - 2; n > 2 {
				lines[i] = lines[i][:2+rng.IntN(n-1)] + "\r\n"
			}
		case 4:
			if n := len(lines[i]) - 2; n > 2 {
				b := []byte(lines[i])
				b[2+rng.IntN(n-2)] = byte(' ' + rng.IntN(95))
				lines[i] = string(b)
			}
		case 5:
			lines[i] = strings.ReplaceAll(lines[i], "0", "99999999999999999999")
		}
	}
	return strings.Join(lines, "")
}

func TestManyCandidatesAreCheap(t *testing.T) {
	t.Parallel()
	l, _ := listen(t, rtc.Options{})
	offer := newClient(t).offer(t)
	for _, n := range []int{100, 8000} {
		var b strings.Builder
		b.WriteString(offer)
		for i := range n {
			fmt.Fprintf(&b, "a=candidate:%d 1 udp 2130706431 198.51.100.%d %d typ host\r\n", i, i%256, 1024+i)
		}
		began := time.Now()
		_, _, err := l.Answer(context.Background(), b.String(), someone)
		took := time.Since(began)
		if n <= 100 && err != nil || n > 100 && !errors.Is(err, &wire.Error{Code: wire.CodeTooBig}) {
			t.Errorf("%d candidates: %v", n, err)
		}
		if took > 2*time.Second { // the library takes 9 s for 8,000
			t.Errorf("%d candidates took %v", n, took)
		}
	}
}

func TestPeerWithMoreChannels(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{})
	c := newClient(t)
	c.connect(t, l)
	await(t, "link", server.opened)
	if _, err := c.pc.CreateDataChannel("third", nil); err != nil {
		t.Fatal(err)
	}
	expectClose(t, c, wire.CodeProtocol)
	if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: wire.CodeProtocol}) {
		t.Errorf("ended with %v", err)
	}
}

func TestTextMessagesAreRefused(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{})
	c := newClient(t)
	c.connect(t, l)
	await(t, "link", server.opened)
	if err := c.lanes[wire.Reliable].SendText("hello"); err != nil {
		t.Fatal(err)
	}
	expectClose(t, c, wire.CodeProtocol)
}

func TestClientThatGoesAway(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{})
	c := newClient(t)
	c.connect(t, l)
	await(t, "link", server.opened)
	if err := c.pc.Close(); err != nil {
		t.Fatal(err)
	}
	var coded *wire.Error
	if err := await(t, "end", server.ended); err == nil || errors.As(err, &coded) {
		t.Errorf("ended with %v, want an error without a code", err)
	}
	until(t, "the peer is forgotten", func() bool { return l.Stats().Peers == 0 })
}

// flood sends until the reliable lane is full.
func flood(l *link.Link) {
	for l.Send(frame(wire.KindEvent, strings.Repeat("x", 8<<10))) {
	}
}

// TestStuckAssociation sends a message larger than the receive buffer, which can
// never be complete: nothing more is heard of the client, while ICE thinks that
// all is well. What liveness then does must still work.
func TestStuckAssociation(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{})
	c := newClient(t)
	c.connect(t, l)
	here := await(t, "link", server.opened)
	if err := c.lanes[wire.Reliable].Send(make([]byte, 4<<20)); err != nil {
		t.Fatal(err)
	}
	here.Send(frame(wire.KindEvent, "still there"))
	await(t, "message", c.got) // the other direction goes on
	began := time.Now()
	here.Close(wire.Errorf(wire.CodeTimeout, ""))
	await(t, "end", server.ended)
	if took := time.Since(began); took > 5*link.CloseGrace {
		t.Errorf("the link ended after %v, the grace is %v", took, link.CloseGrace)
	}
}

// TestPeerThatNeverReads cuts the wire without a word: nothing is acknowledged.
func TestPeerThatNeverReads(t *testing.T) {
	t.Parallel()
	for _, kicked := range []bool{true, false} {
		t.Run(fmt.Sprintf("kicked=%t", kicked), func(t *testing.T) {
			t.Parallel()
			patience := 500 * time.Millisecond
			if kicked {
				patience = time.Hour
			}
			l, server := listen(t, rtc.Options{Patience: patience})
			proxy := newLossy(t, l)
			there := dial(t, signal(t, l, proxy.through(l)), newRecorder(), rtc.DialOptions{})
			here := await(t, "link", server.opened)
			proxy.loss.Store(100)
			began := time.Now()
			flood(here)
			for range 1000 {
				here.Send(frame(wire.KindSnapshot, strings.Repeat("s", 1000)))
			}
			if kicked {
				here.Close(wire.Errorf(wire.CodeSlowConsumer, ""))
			}
			if took := time.Since(began); took > 5*link.CloseGrace {
				t.Errorf("sending took %v", took)
			}
			await(t, "end", server.ended)
			if took := time.Since(began); took > 10*link.CloseGrace {
				t.Errorf("the link ended after %v", took)
			}
			until(t, "the peer is forgotten", func() bool { return l.Stats().Peers == 0 })
			there.Close(wire.Errorf(wire.CodeLeft, ""))
		})
	}
}

func TestListenerCloseEndsEverything(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{TCP: "127.0.0.1:0"})
	base := signal(t, l, nil)
	var clients []*recorder
	for range 4 {
		client := newRecorder()
		dial(t, base, client, rtc.DialOptions{})
		clients = append(clients, client)
		await(t, "link", server.opened)
	}
	if _, _, err := l.Answer(context.Background(), newClient(t).offer(t), someone); err != nil {
		t.Fatal(err) // stays pending
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
	if len(server.ended) != 4 {
		t.Errorf("%d of 4 links had ended", len(server.ended))
	}
	for _, c := range clients {
		if m := await(t, "close frame", c.got); !strings.Contains(m.body, `"code":4000`) {
			t.Errorf("a client got %q", m.body)
		}
	}
	_, _, err := l.Answer(ctx, newClient(t).offer(t), someone)
	if !errors.Is(err, &wire.Error{Code: wire.CodeGoingAway}) {
		t.Errorf("afterwards: %v", err)
	}
	again, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(l.UDP()))
	if err != nil {
		t.Errorf("the port is not free: %v", err)
	} else {
		again.Close()
	}
}

func TestDialThatIsRefused(t *testing.T) {
	t.Parallel()
	l, _ := listen(t, rtc.Options{MaxPeers: 1})
	base := signal(t, l, nil)
	dial(t, base, newRecorder(), rtc.DialOptions{})
	_, err := rtc.Dial(context.Background(), base, newRecorder(), rtc.DialOptions{})
	if !errors.Is(err, &wire.Error{Code: wire.CodeOverloaded}) {
		t.Errorf("Dial: %v", err)
	}
}

func TestDialThatIsGivenUp(t *testing.T) {
	t.Parallel()
	l, _ := listen(t, rtc.Options{OpenTimeout: time.Second})
	deaf := func(answer string) string {
		return strings.ReplaceAll(answer, fmt.Sprintf(" %d typ host", l.UDP().Port()), " 9 typ host")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	h := newRecorder()
	if _, err := rtc.Dial(ctx, signal(t, l, deaf), h, rtc.DialOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Dial: %v", err)
	}
	if len(h.opened) != 0 {
		t.Error("the handler was told of a link that never was")
	}
}

func TestAdvertisedAddresses(t *testing.T) {
	t.Parallel()
	l, _ := listen(t, rtc.Options{TCP: "127.0.0.1:0", Advertise: []netip.Addr{netip.MustParseAddr("203.0.113.9")}})
	_, answer, err := l.Answer(context.Background(), newClient(t).offer(t), someone)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf(" udp 2130706431 203.0.113.9 %d typ host", l.UDP().Port()),
		fmt.Sprintf(" 203.0.113.9 %d typ host tcptype passive", l.TCP().Port()),
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("%q is not in the answer:\n%s", want, answer)
		}
	}
	if strings.Contains(answer, "127.0.0.1") {
		t.Errorf("the answer tells of an address that was to be hidden:\n%s", answer)
	}
}

func TestListenOnAnAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	l, _ := listen(t, rtc.Options{TCP: "127.0.0.1:0"})
	for _, o := range []rtc.Options{
		{UDP: l.UDP().String()},
		{UDP: "127.0.0.1:0", TCP: l.TCP().String()},
		{UDP: "nonsense"},
	} {
		if again, err := rtc.Listen(o, newRecorder()); err == nil {
			t.Errorf("Listen(%+v) did not fail", o)
			_ = again.Close(context.Background())
		}
	}
}

// BenchmarkEcho is one message of 64 bytes to the server and back.
func BenchmarkEcho(b *testing.B) {
	for lane, kind := range map[wire.Lane]wire.Kind{wire.Reliable: wire.KindPing, wire.Unreliable: wire.KindInput} {
		b.Run(lane.String(), func(b *testing.B) {
			h := newRecorder()
			h.receive = func(l *link.Link, _ wire.Lane, msg []byte) *wire.Error {
				k, body, _, _ := wire.NextFrame(msg)
				l.Send(wire.CopyFrame(k, body))
				return nil
			}
			l := listenFor(b, rtc.Options{Link: link.Options{FlushWindow: -1}}, h)
			back := make(chan struct{}, 1)
			client := newRecorder()
			client.receive = func(*link.Link, wire.Lane, []byte) *wire.Error {
				back <- struct{}{}
				return nil
			}
			there := dial(b, signal(b, l, nil), client, rtc.DialOptions{Link: link.Options{FlushWindow: -1}})
			body := make([]byte, 62)
			b.ReportAllocs()
			for b.Loop() {
				there.Send(wire.CopyFrame(kind, body))
				<-back
			}
		})
	}
}

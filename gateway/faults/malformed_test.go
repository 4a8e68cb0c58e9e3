package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/wire"
)

// specimen is one malformed message in a session.
type specimen struct {
	name string
	lane wire.Lane
	msg  []byte
	code wire.Code // what it is answered with; none: it is passed over
}

func frame(k wire.Kind, body string) []byte { return wire.AppendFrame(nil, k, []byte(body)) }

// specimens has at least one for every kind of frame.
func specimens() []specimen {
	const (
		overlong = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"
		minusOne = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		huge     = "\xff\xff\xff\xff\x07" // 2^31-1
	)
	input := string(wire.AppendInput(nil, wire.Input{Seq: 1, Inputs: [][]byte{{1}}}))
	bogus := string(wire.AppendInput(nil, wire.Input{Seq: 1, ClientTick: 1<<32 - 1, Acked: 1<<32 - 1, Mask: 12345}))
	r, u, bad := wire.Reliable, wire.Unreliable, wire.CodeProtocol
	return []specimen{
		{"half a header", r, []byte{8}, bad},
		{"kind 0", r, []byte{0, 0}, bad},
		{"a body that is not there", r, []byte{8 | 31<<5&0xff, 1}, bad},
		{"an escaped length without length", r, []byte{8 | 7<<5, 0xff}, bad},
		{"a body beyond the message", r, []byte{8 | 7<<5, 0xff, 0xff, 0xff}, bad},
		{"good, then bad", r, append(frame(wire.KindPing, ""), 8), bad},
		{"hello", r, frame(wire.KindHello, `{"versions":[1]}`), bad},
		{"welcome", r, frame(wire.KindWelcome, `{}`), bad},
		{"ack of nothing", r, frame(wire.KindAck, ""), bad},
		{"ack of what was not sent", r, frame(wire.KindAck, huge), bad},
		{"ack with an overlong number", r, frame(wire.KindAck, overlong), bad},
		{"ack of -1", r, frame(wire.KindAck, minusOne), bad},
		{"ping with 9 bytes", r, frame(wire.KindPing, "123456789"), bad},
		{"pong to no ping", r, frame(wire.KindPong, "\xff\xff\xff\xff\xff\xff\xff\xff"), 0},
		{"kind 7", r, frame(7, "what is this"), 0},
		{"request without a name", r, frame(wire.KindRequest, "\x01\x00"), bad},
		{"request whose name ends early", r, frame(wire.KindRequest, "\x01"+huge+"x"), bad},
		{"request with an overlong id", r, frame(wire.KindRequest, overlong+"\x01x"), bad},
		{"request 0", r, frame(wire.KindRequest, "\x00\x04echo"), bad},
		{"request of nobody's knowledge", r, frame(wire.KindRequest, "\x01\x04\x00\xff\xfe\x80"), 0},
		{"response", r, frame(wire.KindResponse, "\x01\x00x"), 0},
		{"event", r, frame(wire.KindEvent, "\x01\x01xx"), 0},
		{"relay", r, frame(wire.KindRelay, huge), 0}, // not looked at in a game's room
		{"relayed", r, frame(wire.KindRelayed, ""), 0},
		{"full", r, frame(wire.KindFull, "\x00\x01\x00\x01\x00"), 0},
		{"resync with a body", r, frame(wire.KindResync, "now"), 0},
		{"peer", r, frame(wire.KindPeer, `{"event":"left","id":1}`), 0},
		{"draining", r, frame(wire.KindDraining, `{`), 0},
		{"signal", r, frame(wire.KindSignal, "\xff"), 0},
		{"switch", r, frame(wire.KindSwitch, ""), 0},
		{"input of nothing", u, frame(wire.KindInput, ""), bad},
		{"input that ends early", u, frame(wire.KindInput, input[:len(input)-1]), bad},
		{"input with more behind it", u, frame(wire.KindInput, input+"x"), bad},
		{"input with 255 inputs", u, frame(wire.KindInput, input[:len(input)-3]+"\xff\x01x"), bad},
		{"input with an overlong mask", u, frame(wire.KindInput, input[:10]+overlong+"\x00"), bad},
		{"input that acknowledges tick -1", u, frame(wire.KindInput, bogus), 0},
		{"snapshot", u, frame(wire.KindSnapshot, "\x00\x01\x00\x00"), 0},
		{"relay_fast", u, frame(wire.KindRelayFast, "\xff"), 0},
		{"relayed_fast", u, frame(wire.KindRelayedFast, ""), 0},
		{"kind 31", u, frame(31, "?"), 0},
	}
}

// Malformed bytes end the session they came on, with a code, and nothing else.
func TestMalformedMessageEndsItsSenderAlone(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		room := "zoo-" + transport
		observer := h.join(t, "ws", room, "observer")
		for i, s := range specimens() {
			p := h.join(t, transport, room, fmt.Sprint("sender-", i))
			p.raw(s.lane, s.msg)
			p.judged(observer, s)
		}
		if transport != "ws" {
			for _, s := range []specimen{
				{"an input on the reliable lane", wire.Reliable, frame(wire.KindInput, "x"), wire.CodeProtocol},
				{"a request on the unreliable lane", wire.Unreliable, frame(wire.KindRequest, "\x01\x01x"), wire.CodeProtocol},
			} {
				p := h.join(t, transport, room, "lane-hopper")
				p.raw(s.lane, s.msg)
				p.judged(observer, s)
			}
		} else {
			for _, text := range []string{`{"kind":"ping"}`, "\xff\xfe"} {
				p := h.join(t, transport, room, "texter")
				if err := p.line.(*wsLine).write(websocket.MessageText, []byte(text)); err != nil {
					t.Error(err)
				}
				if code := p.end(); code != wire.CodeProtocol {
					t.Errorf("a text message is answered with %v", code)
				}
			}
		}
		for i, hello := range []struct {
			name string
			msg  []byte
			code wire.Code
		}{
			{"nothing", nil, wire.CodeProtocol},
			{"a request", frame(wire.KindRequest, "\x01\x01x"), wire.CodeProtocol},
			{"two frames", append(frame(wire.KindHello, `{"versions":[1],"room":"x"}`), frame(wire.KindPing, "")...), wire.CodeProtocol},
			{"no JSON", frame(wire.KindHello, `{"versions":[1],`), wire.CodeProtocol},
			{"other JSON", frame(wire.KindHello, `[1,2,3]`), wire.CodeProtocol},
			{"deep JSON", frame(wire.KindHello, strings.Repeat("[", 30_000)), wire.CodeProtocol},
			{"a number as room", frame(wire.KindHello, `{"versions":[1],"room":7}`), wire.CodeProtocol},
			{"a lone surrogate as room", frame(wire.KindHello, `{"versions":[1],"room":"\ud800","identity":"x"}`), wire.CodeBadName},
			{"invalid UTF-8 as room", frame(wire.KindHello, "{\"versions\":[1],\"room\":\"\xff\",\"identity\":\"x\"}"), wire.CodeBadName},
			{"NUL in the name", frame(wire.KindHello, `{"versions":[1],"room":"x","identity":"x","name":"a\u0000b"}`), wire.CodeBadName},
			{"a lone surrogate in the name", frame(wire.KindHello, `{"versions":[1],"room":"x","identity":"x","name":"a\ud800b"}`), wire.CodeBadName},
			{"no versions", frame(wire.KindHello, `{"room":"x"}`), wire.CodeVersion},
			{"other versions", frame(wire.KindHello, `{"versions":[2,-1,2147483648],"room":"x"}`), wire.CodeVersion},
			{"a large profile", frame(wire.KindHello, `{"versions":[1],"room":"x","profile":"`+strings.Repeat("x", 5000)+`"}`), wire.CodeTooBig},
		} {
			if hello.msg == nil && transport == "enet" {
				hello.msg = []byte{0} // its library may not carry an empty packet
			}
			p := h.guest(t, transport, fmt.Sprint("guest-", i))
			p.connect()
			p.write(wire.Reliable, hello.msg)
			if code := p.end(); code != hello.code || p.welcomed > 0 {
				t.Errorf("a hello of %s is answered with %v, want %v", hello.name, code, hello.code)
			}
		}
		observer.sees()
		observer.lives()
	})
	if log := h.logs.String(); strings.Contains(log, "panic") {
		t.Errorf("the log has a panic: %s", log)
	}
}

// judged checks what became of a session after a specimen.
func (p *player) judged(observer *player, s specimen) {
	p.t.Helper()
	if s.code == wire.CodeNone {
		p.change(func() { p.asked = 10 })
		p.lives()
		p.send(wire.KindLeave, nil)
		s.code = wire.CodeLeft
	}
	if code := p.end(); code != s.code {
		p.t.Errorf("%s is answered with %v, want %v", s.name, code, s.code)
	}
	if n := observer.hears(patience, p.welcome.You, wire.PeerLeft); n.Reason != s.code.Name() {
		p.t.Errorf("%s: the others were told %q", s.name, n.Reason)
	}
}

func TestMalformedRelaysEndTheirSenderAlone(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		room := "relay-" + transport
		observer := h.join(t, "ws", room, "observer")
		many := wire.AppendRelay(nil, make([]uint32, 65), nil)
		for i, body := range []string{"", "\x80", "\x01", "\x02\x01", "\xff\xff\xff\xff\x07", string(many), "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
			for _, k := range []wire.Kind{wire.KindRelay, wire.KindRelayFast} {
				p := h.join(t, transport, room, fmt.Sprint("sender-", i, "-", k))
				p.raw(k.Lane(), frame(k, body))
				p.judged(observer, specimen{fmt.Sprintf("%s %q", k, body), k.Lane(), nil, wire.CodeProtocol})
			}
		}
		p := h.join(t, transport, room, "to-nobody")
		p.relay(wire.Reliable, []byte("lost"), 0, 1<<32-1, p.welcome.You)
		p.relay(wire.Reliable, []byte("heard"))
		observer.await("a message", func() bool { return len(observer.texts) == 1 })
		if got := string(observer.texts[0].payload); got != "heard" {
			t.Errorf("heard %q", got)
		}
	})
}

// Offers that no client makes are refused with a problem and leave nothing.
func TestMalformedOffersAreRefused(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	pc, err := newRTCPeer(dialing{})
	if err != nil {
		t.Fatal(err)
	}
	defer pc.GracefulClose()
	if _, err := negotiatedChannel(pc, 0); err != nil {
		t.Fatal(err)
	}
	made, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	good := made.SDP
	without := func(prefix string) string {
		var kept []string
		for line := range strings.Lines(good) {
			if !strings.HasPrefix(line, prefix) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	data := good[strings.Index(good, "m="):]
	candidates := strings.Repeat("a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n", 200)
	for name, offer := range map[string]string{
		"empty":                   "",
		"no SDP":                  "hello",
		"JSON":                    `{"type":"offer","sdp":""}`,
		"an answer":               strings.ReplaceAll(good, "a=setup:actpass", "a=setup:passive"),
		"no fingerprint":          without("a=fingerprint"),
		"no ufrag":                without("a=ice-ufrag"),
		"no password":             without("a=ice-pwd"),
		"no section":              good[:strings.Index(good, "m=")],
		"two sections":            good + data,
		"a thousand sections":     good[:strings.Index(good, "m=")] + strings.Repeat("m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", 200),
		"only audio":              strings.Replace(good, "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "m=audio 9 UDP/TLS/RTP/SAVPF 111", 1),
		"200 candidates":          good + candidates,
		"1 MiB":                   good + strings.Repeat("a=x-filler:................................................\r\n", 1<<20/60),
		"cut in half":             good[:len(good)/2],
		"NUL":                     good[:60] + "\x00" + good[60:],
		"invalid UTF-8":           strings.Replace(good, "s=-", "s=\xff\xfe\x00", 1),
		"a bad fingerprint":       strings.Replace(good, "a=fingerprint:sha-256 ", "a=fingerprint:md0 zz:", 1),
		"a negative port of SCTP": strings.Replace(good, "a=sctp-port:5000", "a=sctp-port:-1", 1),
	} {
		status, body := h.do("POST", "http://"+h.at.HTTP.String()+"/v1/rtc", "application/sdp", offer)
		var problem struct {
			Status int
			Code   wire.Code
			Detail string
		}
		err := json.Unmarshal(body, &problem)
		switch {
		case status == 201 && (name == "a negative port of SCTP" || name == "a bad fingerprint"):
			// Nothing but a handshake could tell: it is dropped when that fails.
		case status < 400 || status >= 500 || err != nil || problem.Status != status || problem.Code == wire.CodeNone || problem.Detail == "":
			t.Errorf("%s: status %d, %v: %s", name, status, err, body)
		case len(offer) > 100 && bytes.Contains(body, []byte(offer[40:100])):
			t.Errorf("%s is echoed: %s", name, body)
		}
	}
	for _, contentType := range []string{"", "application/json", "text/plain"} {
		if status, _ := h.do("POST", "http://"+h.at.HTTP.String()+"/v1/rtc", contentType, good); status < 400 || status >= 500 {
			t.Errorf("%q: status %d", contentType, status)
		}
	}
	for method, path := range map[string]string{"DELETE": "/v1/rtc/NOSUCHCONNECTION", "PATCH": "/v1/rtc/NOSUCHCONNECTION", "GET": "/v1/rtc", "PUT": "/v1/rtc"} {
		if status, _ := h.do(method, "http://"+h.at.HTTP.String()+path, "application/trickle-ice-sdpfrag", "a=candidate:x"); status >= 500 {
			t.Errorf("%s %s: status %d", method, path, status)
		}
	}
	h.join(t, "rtc", "zoo", "honest").lives()
}

package rtc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/wire"
)

func TestBothLanesBothWays(t *testing.T) {
	t.Parallel()
	for _, tcp := range []bool{false, true} {
		t.Run(fmt.Sprintf("TCP=%t", tcp), func(t *testing.T) {
			t.Parallel()
			l, server := listen(t, rtc.Options{TCP: "127.0.0.1:0"})
			client := newRecorder()
			there := dial(t, signal(t, l, nil), client, rtc.DialOptions{TCPOnly: tcp})
			here := await(t, "link", server.opened)
			for _, way := range []struct {
				name string
				from *link.Link
				to   *recorder
			}{{"up", there, server}, {"down", here, client}} {
				way.from.Send(frame(wire.KindRequest, "reliable"))
				if m := await(t, way.name, way.to.got); m != (message{wire.Reliable, encoded(wire.KindRequest, "reliable")}) {
					t.Errorf("%s: got %q on %v", way.name, m.body, m.lane)
				}
				way.from.Send(frame(wire.KindInput, "unreliable"))
				if m := await(t, way.name, way.to.got); m != (message{wire.Unreliable, encoded(wire.KindInput, "unreliable")}) {
					t.Errorf("%s: got %q on %v", way.name, m.body, m.lane)
				}
			}
			if info := here.Info(); info != (link.Info{Transport: "rtc", Remote: someone}) {
				t.Errorf("info %+v", info)
			}
			if s := l.Stats(); s.Peers != 1 || s.Pending != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestPlainClient(t *testing.T) {
	t.Parallel()
	l, server := listen(t, rtc.Options{})
	c := newClient(t)
	c.connect(t, l)
	here := await(t, "link", server.opened)

	up := []byte{0x08 | 3<<5, 0, 'a', 'b', 'c'} // request "abc"
	if err := c.lanes[wire.Reliable].Send(up); err != nil {
		t.Fatal(err)
	}
	if m := await(t, "message", server.got); m != (message{wire.Reliable, string(up)}) {
		t.Errorf("got % x on %v", m.body, m.lane)
	}
	up = []byte{0x14 | 1<<5, 0, 'x'} // input "x"
	if err := c.lanes[wire.Unreliable].Send(up); err != nil {
		t.Fatal(err)
	}
	if m := await(t, "message", server.got); m != (message{wire.Unreliable, string(up)}) {
		t.Errorf("got % x on %v", m.body, m.lane)
	}

	here.Send(frame(wire.KindEvent, "e"))
	if m := await(t, "message", c.got); m != (message{wire.Reliable, "\x2a\x00e"}) {
		t.Errorf("got % x on %v", m.body, m.lane)
	}
	here.Send(frame(wire.KindSnapshot, "s"))
	if m := await(t, "message", c.got); m != (message{wire.Unreliable, "\x35\x00s"}) {
		t.Errorf("got % x on %v", m.body, m.lane)
	}
}

func TestLargestMessages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lane wire.Lane
		size int
		code wire.Code // CodeNone: arrives
	}{
		{wire.Reliable, 1, wire.CodeNone},
		{wire.Reliable, wire.MaxMessage - 1, wire.CodeNone},
		{wire.Reliable, wire.MaxMessage, wire.CodeNone},
		{wire.Reliable, wire.MaxMessage + 1, wire.CodeTooBig},
		{wire.Reliable, 200_000, wire.CodeTooBig},
		{wire.Unreliable, wire.MaxDatagram - 1, wire.CodeNone},
		{wire.Unreliable, wire.MaxDatagram, wire.CodeNone},
		{wire.Unreliable, wire.MaxDatagram + 1, wire.CodeTooBig},
		{wire.Unreliable, 30_000, wire.CodeTooBig},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%v %d", test.lane, test.size), func(t *testing.T) {
			t.Parallel()
			l, server := listen(t, rtc.Options{})
			c := newClient(t)
			c.connect(t, l)
			sent := strings.Repeat("0123456789abcdef", test.size/16+1)[:test.size]
			if err := c.lanes[test.lane].Send([]byte(sent)); err != nil {
				t.Fatal(err)
			}
			if test.code == wire.CodeNone {
				if m := await(t, "message", server.got); m != (message{test.lane, sent}) {
					t.Errorf("%d bytes arrived as %d on %v", test.size, len(m.body), m.lane)
				}
				return
			}
			expectClose(t, c, test.code)
			if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: test.code}) {
				t.Errorf("ended with %v", err)
			}
			if len(server.got) > 0 {
				t.Errorf("the handler got %d bytes", len((<-server.got).body))
			}
		})
	}
}

func expectClose(t *testing.T, c *client, want wire.Code) {
	t.Helper()
	m := await(t, "close frame", c.got)
	k, body, _, err := wire.NextFrame([]byte(m.body))
	var cl wire.Close
	if err != nil || k != wire.KindClose || wire.DecodeJSON(k, body, &cl) != nil || cl.Code != want {
		t.Errorf("got %v %q, %v, want a close frame with %d", k, body, err, want)
	}
}

func TestCloseTellsTheCode(t *testing.T) {
	t.Parallel()
	t.Run("plain client", func(t *testing.T) {
		t.Parallel()
		l, server := listen(t, rtc.Options{})
		c := newClient(t)
		c.connect(t, l)
		await(t, "link", server.opened).Close(wire.Errorf(wire.CodeKicked, "out"))
		expectClose(t, c, wire.CodeKicked)
		await(t, "closed channel", c.closed)
		if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: wire.CodeKicked}) {
			t.Errorf("ended with %v", err)
		}
		until(t, "the peer is forgotten", func() bool { return l.Stats().Peers == 0 })
	})
	t.Run("client first", func(t *testing.T) {
		t.Parallel()
		l, server := listen(t, rtc.Options{})
		client := newRecorder()
		dial(t, signal(t, l, nil), client, rtc.DialOptions{}).Close(wire.Errorf(wire.CodeLeft, "bye"))
		if m := await(t, "close frame", server.got); !strings.Contains(m.body, `"code":4400`) {
			t.Errorf("got %q", m.body)
		}
		await(t, "end", client.ended)
		if err := await(t, "end", server.ended); err == nil {
			t.Error("the server was told of no reason")
		}
	})
	t.Run("through signaling", func(t *testing.T) {
		t.Parallel()
		l, server := listen(t, rtc.Options{})
		c := newClient(t)
		id := c.connect(t, l)
		await(t, "link", server.opened)
		if l.End("nonsense") || !l.End(id) {
			t.Error("End found what is not there, or not what is")
		}
		await(t, "end", server.ended)
		await(t, "closed channel", c.closed)
		until(t, "the id is spent", func() bool { return !l.End(id) })
	})
}

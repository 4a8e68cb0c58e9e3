package client_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/wire"
)

func TestRequestsAreNumberedAndAnswered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		go func() {
			for want := uint32(1); want <= 3; want++ {
				r, err := wire.ParseRequest(e.expect(wire.KindRequest))
				if err != nil || r.ID != want || r.Name != "open" {
					t.Errorf("request %+v, %v", r, err)
				}
				code := wire.CodeNone
				if want == 2 {
					code = wire.CodeRequestRefused
				}
				answer := wire.AppendResponse(nil, wire.Response{ID: r.ID, Code: code, Payload: append(r.Payload, '!')})
				e.say(wire.KindResponse, answer)
				e.say(wire.KindResponse, answer) // repeated: of no effect
			}
		}()
		if got, err := c.Request(t.Context(), "open", []byte("a")); err != nil || string(got) != "a!" {
			t.Errorf("got %q, %v", got, err)
		}
		var refused *wire.Error
		if _, err := c.Request(t.Context(), "open", []byte("b")); !errors.As(err, &refused) || refused.Code != wire.CodeRequestRefused {
			t.Errorf("error is %v", err)
		}
		if got, err := c.Request(t.Context(), "open", []byte("c")); err != nil || string(got) != "c!" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestRequestKeepsItsIdOverAResume(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		go func() {
			first := e.expect(wire.KindRequest)
			e.cut()
			next := s.accept()
			next.hello()
			next.tell(wire.KindWelcome, resumedWelcome(1, 0))
			if again := next.expect(wire.KindRequest); !bytes.Equal(first, again) {
				t.Errorf("%q became %q", first, again)
			}
			next.say(wire.KindResponse, wire.AppendResponse(nil, wire.Response{ID: 1}))
		}()
		if _, err := c.Request(within(t, time.Minute), "open", []byte("a")); err != nil {
			t.Error(err)
		}
	})
}

func TestRequestIsBoundedByItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		if _, err := c.Request(within(t, time.Second), "open", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		e.say(wire.KindResponse, wire.AppendResponse(nil, wire.Response{ID: 1})) // too late: of no effect
		pause()
		if c.State() != client.Synchronized {
			t.Errorf("state is %v", c.State())
		}
	})
}

func TestRequestsThatCanNotBeSent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		w := relayWelcome()
		w.Limits.ReliableBytes = 100
		c, _ := s.join(client.Options{}, w)
		defer c.Close()
		nothing := func([]byte, error) { t.Error("done was called") }
		cases := map[string]struct {
			name    string
			payload []byte
			code    wire.Code
		}{
			"no name":     {"", nil, wire.CodeBadName},
			"long name":   {string(make([]byte, wire.MaxNameBytes+1)), nil, wire.CodeBadName},
			"big payload": {"open", make([]byte, 101), wire.CodeTooBig},
		}
		for name, tc := range cases {
			if _, err := c.Call(tc.name, tc.payload, nothing); !errors.Is(err, &wire.Error{Code: tc.code}) {
				t.Errorf("%s: error is %v, want %s", name, err, tc.code.Name())
			}
		}
	})
}

func TestRequestsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, _ := s.join(client.Options{RingBytes: 1 << 20}, relayWelcome())
		ended := 0
		for range 1024 {
			if _, err := c.Call("open", nil, func([]byte, error) { ended++ }); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Call("open", nil, nil); !errors.Is(err, &wire.Error{Code: wire.CodeRateLimited}) {
			t.Errorf("request 1,025: %v", err)
		}
		c.Close()
		if ended != 1024 {
			t.Errorf("%d of 1,024 requests were told of the end", ended)
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

func TestJoinSaysHelloAndTakesTheWelcome(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		go func() {
			e := s.accept()
			h := e.hello()
			if h.Room != "hall" || h.Token != "tok" || h.Name != "Ann" || string(h.Profile) != `{"hat":1}` || h.Resume != nil {
				t.Errorf("hello is %+v", h)
			}
			e.tell(wire.KindWelcome, relayWelcome())
		}()
		c, err := client.Join(t.Context(), client.Options{
			Dialers: []client.Dialer{s.dialer()}, Room: "hall", Token: "tok", Name: "Ann", Profile: []byte(`{"hat":1}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if c.State() != client.Synchronized || c.You() != 1 || len(c.Peers()) != 2 || c.Transport() != "memory" {
			t.Errorf("state %v, you %d, peers %v, transport %q", c.State(), c.You(), c.Peers(), c.Transport())
		}
		if c.Welcome().Resume != nil {
			t.Error("the resume secret is handed out")
		}
	})
}

func TestJoinRefusals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answer func(e *end)
		code   wire.Code
	}{
		"terminal code": {func(e *end) {
			e.tell(wire.KindClose, wire.CloseOf(wire.Errorf(wire.CodeRoomFull, "8 of 8")))
		}, wire.CodeRoomFull},
		"retryable code": {func(e *end) {
			e.tell(wire.KindClose, wire.CloseOf(wire.Errorf(wire.CodeOverloaded, "busy")))
		}, wire.CodeOverloaded},
		"version not asked for": {func(e *end) {
			w := relayWelcome()
			w.Version = 9
			e.tell(wire.KindWelcome, w)
		}, wire.CodeVersion},
		"welcome that is not JSON": {func(e *end) { e.say(wire.KindWelcome, []byte("{")) }, wire.CodeProtocol},
		"welcome of a resume": {func(e *end) {
			e.tell(wire.KindWelcome, resumedWelcome(1, 0))
		}, wire.CodeProtocol},
		"welcome without a session": {func(e *end) {
			w := relayWelcome()
			w.Session = ""
			e.tell(wire.KindWelcome, w)
		}, wire.CodeProtocol},
		"schema with a fault": {func(e *end) {
			w := relayWelcome()
			w.Schema = []byte(`{"types":[]}`)
			e.tell(wire.KindWelcome, w)
		}, wire.CodeProtocol},
		"event before the welcome": {func(e *end) { e.say(wire.KindEvent, []byte{1, 1, 'x'}) }, wire.CodeProtocol},
		"silence":                  {func(*end) {}, wire.CodeJoinTimeout},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newScript(t)
				go func() {
					e := s.accept()
					e.hello()
					tc.answer(e)
				}()
				_, err := client.Join(t.Context(), client.Options{Dialers: []client.Dialer{s.dialer()}, Room: "hall"})
				var e *wire.Error
				if !errors.As(err, &e) || e.Code != tc.code {
					t.Errorf("error is %v, want code %s", err, tc.code.Name())
				}
			})
		})
	}
}

func TestJoinTriesTheDialersInTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, _ := s.join(client.Options{Dialers: []client.Dialer{refuseDial, s.dialer()}}, relayWelcome())
		c.Close()
	})
}

func TestJoinDoesNotTryElsewhereWhatIsRefusedForGood(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, other := newScript(t), newScript(t)
		go func() {
			e := s.accept()
			e.hello()
			e.link.Close(wire.Errorf(wire.CodeUnauthorized, "no token"))
		}()
		_, err := client.Join(t.Context(), client.Options{Dialers: []client.Dialer{s.dialer(), other.dialer()}, Room: "hall"})
		if !errors.Is(err, &wire.Error{Code: wire.CodeUnauthorized}) {
			t.Errorf("error is %v", err)
		}
		if len(other.links) > 0 {
			t.Error("the second dialer was tried")
		}
	})
}

func TestJoinOverALinkThatEndsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		dial := s.dialer()
		_, err := client.Join(t.Context(), client.Options{Room: "hall", Dialers: []client.Dialer{
			func(ctx context.Context, h link.Handler) (*link.Link, error) {
				l, err := dial(ctx, h)
				link.Cut(l)
				pause()
				return l, err
			},
		}})
		if !errors.Is(err, link.ErrCut) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestJoinOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]client.Options{
		"no dialer": {Room: "hall"},
		"no room":   {Dialers: []client.Dialer{refuseDial}},
		"ring":      {Dialers: []client.Dialer{refuseDial}, Room: "hall", RingBytes: 1000},
		"profile":   {Dialers: []client.Dialer{refuseDial}, Room: "hall", Profile: []byte("{")},
	} {
		if _, err := client.Join(t.Context(), o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAuthorityRoomIsSynchronizedByItsFirstFullSnapshot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		w := newWorld()
		c, e := s.join(client.Options{}, w.welcome())
		defer c.Close()
		if c.State() != client.Joining {
			t.Fatalf("state is %v, want joining", c.State())
		}
		w.spawn(3)
		w.commit()
		e.full(w)
		if err := c.Ready(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
		c.World(func(v *replica.View) {
			if v.Len() != 3 || v.Hash() != w.store.Hash() {
				t.Errorf("%d entities with hash %x, want 3 with %x", v.Len(), v.Hash(), w.store.Hash())
			}
		})
	})
}

var refuseDial client.Dialer = func(context.Context, link.Handler) (*link.Link, error) {
	return nil, errors.New("connection refused")
}

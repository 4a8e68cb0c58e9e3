package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

func TestResumeSendsAgainWhatTheServerHasNotHad(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		got := make(chan string, 16)
		c, e := s.join(client.Options{Handler: client.Handler{
			Relayed: func(_ wire.Lane, m wire.Relayed) { got <- string(m.Payload) },
		}}, relayWelcome())
		defer c.Close()
		say := func(e *end, text string) {
			e.say(wire.KindRelayed, append(wire.AppendRelayedPrefix(nil, wire.Reliable, 2, 0), text...))
		}
		say(e, "a")
		say(e, "b")
		for i := range 4 {
			if err := c.Relay(wire.Reliable, fmt.Appendf(nil, "m%d", i+1)); err != nil {
				t.Fatal(err)
			}
		}
		e.expect(wire.KindRelay)
		pause()
		e.cut()

		next := s.accept()
		h := next.hello()
		if h.Resume == nil || h.Resume.Secret != "secret-0" || h.Resume.Received != 2 || h.Room != "" {
			t.Fatalf("hello is %+v", h.Resume)
		}
		if err := c.Relay(wire.Reliable, []byte("m5")); err != nil { // while away
			t.Fatal(err)
		}
		pause()
		if len(next.frames) > 0 {
			t.Fatalf("%s came between hello and welcome", (<-next.frames).kind)
		}
		next.tell(wire.KindWelcome, resumedWelcome(1, 2))
		for i := 3; i <= 5; i++ {
			r, err := wire.ParseRelay(wire.Reliable, next.expect(wire.KindRelay))
			if want := fmt.Sprintf("m%d", i); err != nil || string(r.Payload) != want {
				t.Errorf("got %q, want %q", r.Payload, want)
			}
		}
		say(next, "c")
		pause()
		if a, b, c := <-got, <-got, <-got; a+b+c != "abc" {
			t.Errorf("relayed: %s %s %s", a, b, c)
		}
		if c.State() != client.Synchronized || c.Stats().Resumes != 1 {
			t.Errorf("state %v, stats %+v", c.State(), c.Stats())
		}

		next.cut()
		if h := s.accept().hello(); h.Resume.Secret != "secret-1" || h.Resume.Received != 3 {
			t.Errorf("second resume: %+v", h.Resume)
		}
	})
}

func TestResumeSpeaksAtOnceSoThatTheOldSecretDies(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		e.cut()
		next := s.accept()
		next.hello()
		next.tell(wire.KindWelcome, resumedWelcome(1, 0))
		pause()
		if len(next.frames) == 0 {
			t.Error("nothing followed the hello")
		}
	})
}

func TestLostWelcomeIsAskedForAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		e.cut()
		first := s.accept()
		first.hello()
		first.cut() // instead of a welcome
		second := s.accept()
		if h := second.hello(); h.Resume.Secret != "secret-0" {
			t.Errorf("secret is %q, want the one that was never answered", h.Resume.Secret)
		}
		third := s.accept() // no answer at all: another attempt after the timeout
		if h := third.hello(); h.Resume.Secret != "secret-0" {
			t.Errorf("secret is %q", h.Resume.Secret)
		}
		third.tell(wire.KindWelcome, resumedWelcome(1, 0))
		if err := c.Ready(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestResumeGoesToTheNextDialerAndBacksOff(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, other := newScript(t), newScript(t)
		c, e := s.join(client.Options{Dialers: []client.Dialer{s.dialer(), other.dialer()}}, relayWelcome())
		defer c.Close()
		start := time.Now()
		e.cut()
		var gaps []time.Duration
		for i := range 8 {
			from := s
			if i%2 == 1 {
				from = other
			}
			from.accept().cut()
			gaps = append(gaps, time.Since(start))
			start = time.Now()
		}
		if gaps[0] > time.Millisecond {
			t.Errorf("the first attempt came after %v", gaps[0])
		}
		for i, least := 1, 50*time.Millisecond; i < len(gaps); i, least = i+1, 2*least {
			if gaps[i] < min(least, 2500*time.Millisecond) || gaps[i] > 2*least+50*time.Millisecond {
				t.Errorf("pause %d is %v, want %v to %v", i, gaps[i], least, 2*least)
			}
		}
	})
}

func TestTransportThatIsRefusedIsNotTheEndOfTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		dial, refuse := s.dialer(), false
		c, e := s.join(client.Options{Dialers: []client.Dialer{
			func(ctx context.Context, h link.Handler) (*link.Link, error) {
				if refuse {
					return nil, wire.Errorf(wire.CodeForbidden, "not from here")
				}
				return dial(ctx, h)
			},
			dial,
		}}, relayWelcome())
		defer c.Close()
		refuse = true
		e.cut()
		next := s.accept()
		next.hello()
		next.tell(wire.KindWelcome, resumedWelcome(1, 0))
		if err := c.Ready(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEveryoneDoesNotComeBackAtOnceToAServerThatGoesAway(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		start := time.Now()
		e.link.Close(wire.Errorf(wire.CodeGoingAway, "restart"))
		s.accept()
		if wait := time.Since(start); wait < 200*time.Millisecond {
			t.Errorf("back after %v", wait)
		}
	})
}

func TestLinksThatDoNotLastArePutOff(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		s.links = make(chan *end, 1024)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		links := 0
		for start := time.Now(); time.Since(start) < 20*time.Second; links++ {
			e.cut() // as soon as it is welcomed
			e = s.accept()
			e.hello()
			e.tell(wire.KindWelcome, resumedWelcome(links+1, 0))
			pause()
		}
		if links > 20 {
			t.Errorf("%d links in 20 s", links)
		}
		time.Sleep(10 * time.Second) // this one lasts
		e.say(wire.KindPing, nil)
		pause()
		start := time.Now()
		e.cut()
		s.accept()
		if wait := time.Since(start); wait > time.Millisecond {
			t.Errorf("after one that lasted the next came after %v", wait)
		}
	})
}

func TestGapFailsRequestsAndRestartsTheCounts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		gaps := 0
		var notices []string
		c, e := s.joinWorld(client.Options{Handler: client.Handler{
			Gap:  func() { gaps++ },
			Peer: func(n wire.PeerNotice) { notices = append(notices, fmt.Sprint(n.Event, n.ID)) },
		}}, w)
		defer c.Close()
		failed := make(chan error, 1)
		if id, err := c.Call("open", nil, func(_ []byte, err error) { failed <- err }); err != nil || id != 1 {
			t.Fatalf("id %d, %v", id, err)
		}
		e.expect(wire.KindRequest)
		e.cut()
		next := s.accept()
		if h := next.hello(); h.Resume.Received == 0 {
			t.Error("nothing was counted")
		}
		m := w.welcome()
		m.Resumed, m.Gap = true, true
		m.Resume.Secret = "secret-1"
		m.Peers = []wire.Peer{{ID: 1, Name: "ann"}, {ID: 3, Name: "cid", Away: true}}
		next.tell(wire.KindWelcome, m)
		if err := <-failed; !errors.Is(err, &wire.Error{Code: wire.CodeGap}) {
			t.Errorf("the open request failed with %v", err)
		}
		pause()
		if c.State() != client.Resynchronizing || gaps != 1 || c.Stats().Gaps != 1 {
			t.Errorf("state %v, %d gaps, stats %+v", c.State(), gaps, c.Stats())
		}
		if got := fmt.Sprint(notices); got != "[left2 joined3 away3]" {
			t.Errorf("notices are %s", got)
		}
		w.peer.Resync()
		w.commit()
		next.full(w)
		if err := c.Ready(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
		// Both counts are at the beginning: one frame each way since the gap.
		if id, err := c.Call("again", nil, func([]byte, error) {}); err != nil || id != 2 {
			t.Fatalf("id %d, %v", id, err)
		}
		next.expect(wire.KindRequest)
		next.cut()
		last := s.accept()
		if h := last.hello(); h.Resume.Received != 1 {
			t.Errorf("received is %d after one frame since the gap", h.Resume.Received)
		}
		m = resumedWelcome(2, 1)
		last.tell(wire.KindWelcome, m)
		if err := c.Ready(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSessionEndsWith(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		end  func(s *script, e *end)
		code wire.Code
	}{
		"a terminal close": {func(_ *script, e *end) {
			e.link.Close(wire.Errorf(wire.CodeKicked, "enough"))
		}, wire.CodeKicked},
		"a refused resume": {func(s *script, e *end) {
			e.cut()
			next := s.accept()
			next.hello()
			next.link.Close(wire.Errorf(wire.CodeSessionExpired, "too late"))
		}, wire.CodeSessionExpired},
		"the end of the grace": {func(s *script, e *end) {
			e.cut()
			go func() {
				for range 64 { // the script is not the one that gives up
					s.accept().cut()
					if len(s.links) == 0 {
						return
					}
				}
			}()
		}, wire.CodeSessionExpired},
		"a link lost without a grant to resume": {func(s *script, e *end) { e.cut() }, wire.CodeNone},
		"more received than was sent": {func(s *script, e *end) {
			e.cut()
			next := s.accept()
			next.hello()
			next.tell(wire.KindWelcome, resumedWelcome(1, 99))
		}, wire.CodeProtocol},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newScript(t)
				if name == "the end of the grace" {
					s.links = make(chan *end, 1024)
				}
				o := client.Options{RetryMax: 30 * time.Second}
				w := relayWelcome()
				if tc.code == wire.CodeNone {
					w.Resume = nil
				}
				c, e := s.join(o, w)
				open := make(chan error, 1)
				if _, err := c.Call("open", nil, func(_ []byte, err error) { open <- err }); err != nil {
					t.Fatal(err)
				}
				tc.end(s, e)
				select {
				case <-c.Done():
				case <-time.After(2 * time.Minute):
					t.Fatal("the session did not end")
				}
				var want error = &wire.Error{Code: tc.code}
				if tc.code == wire.CodeNone {
					want = link.ErrCut
				}
				if err := c.Err(); c.State() != client.Closed || !errors.Is(err, want) {
					t.Errorf("%v with %v, want %v", c.State(), err, want)
				}
				if err := <-open; !errors.Is(err, want) {
					t.Errorf("the open request failed with %v", err)
				}
				if err := c.Relay(wire.Reliable, nil); !errors.Is(err, want) {
					t.Errorf("a relay failed with %v", err)
				}
			})
		})
	}
}

func TestSilentServerIsGivenUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		w := relayWelcome()
		w.Limits.PingMS, w.Limits.TimeoutMS = 300, 900
		c, e := s.join(client.Options{}, w)
		defer c.Close()
		start := time.Now()
		for range 2 {
			e.expect(wire.KindPing)
		}
		s.accept()
		if gone := time.Since(start); gone < 850*time.Millisecond || gone > 1100*time.Millisecond {
			t.Errorf("given up after %v, want 900 ms", gone)
		}
		if err := c.Err(); c.State() != client.Away || !errors.Is(err, &wire.Error{Code: wire.CodeTimeout}) {
			t.Errorf("%v with %v", c.State(), err)
		}
	})
}

func TestPingsAreAnsweredAndMeasure(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		e.say(wire.KindPing, []byte("hi"))
		if body := e.expect(wire.KindPong); string(body) != "hi" {
			t.Errorf("pong is %q", body)
		}
		body := e.expect(wire.KindPing)
		time.Sleep(40 * time.Millisecond)
		e.say(wire.KindPong, body)
		pause()
		if rtt := c.Stats().RTT; rtt < 30*time.Millisecond || rtt > 1200*time.Millisecond {
			t.Errorf("round trip is %v", rtt)
		}
	})
}

func TestReliableLaneIsAcknowledged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		e.expect(wire.KindAck) // that of the welcome
		acked := func() uint64 {
			n, err := wire.ParseAck(e.expect(wire.KindAck))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		start := time.Now()
		e.say(wire.KindRelayed, []byte{2, 'x'})
		if n, took := acked(), time.Since(start); n != 1 || took > 260*time.Millisecond {
			t.Errorf("ack %d after %v", n, took)
		}
		start = time.Now()
		for range 5 {
			e.say(wire.KindRelayed, append([]byte{2}, make([]byte, 4<<10)...))
		}
		if n, took := acked(), time.Since(start); n != 5 || took > 50*time.Millisecond {
			t.Errorf("ack %d after %v: 16 KiB are due at once", n, took)
		}
	})
}

func TestSwitchMovesTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, other := newScript(t), newScript(t)
		var got []string
		var states []client.State
		c, e := s.join(client.Options{Handler: client.Handler{
			Relayed: func(_ wire.Lane, m wire.Relayed) { got = append(got, string(m.Payload)) },
			State:   func(s client.State, _ error) { states = append(states, s) },
		}}, relayWelcome())
		defer c.Close()
		moved := make(chan error, 1)
		go func() { moved <- c.Switch(within(t, time.Minute), other.dialer()) }()
		next := other.accept()
		if h := next.hello(); h.Resume == nil || h.Resume.Received != 0 {
			t.Fatalf("hello is %+v", h)
		}
		// What the old link still brings is repeated on the new one.
		e.say(wire.KindRelayed, []byte{2, 'x'})
		pause()
		e.link.Close(wire.Errorf(wire.CodeReplaced, "moved"))
		pause()
		next.tell(wire.KindWelcome, resumedWelcome(1, 0))
		next.say(wire.KindRelayed, []byte{2, 'x'})
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		pause()
		if fmt.Sprint(got) != "[x]" {
			t.Errorf("relayed: %v", got)
		}
		if fmt.Sprint(states) != "[synchronized]" {
			t.Errorf("states were %v: a switch is not an absence", states)
		}
		next.cut()
		other.accept() // which is the first choice now
	})
}

func TestFailedSwitchLeavesTheSessionWhereItIs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		if err := c.Switch(within(t, time.Minute), refuseDial); err == nil {
			t.Fatal("a refused dial is a success")
		}
		if err := c.Relay(wire.Reliable, []byte("x")); err != nil {
			t.Fatal(err)
		}
		e.expect(wire.KindRelay)
		if c.State() != client.Synchronized {
			t.Errorf("state is %v", c.State())
		}
	})
}

func TestSwitchWithoutAWelcomeResumes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, other := newScript(t), newScript(t)
		c, _ := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		go func() { other.accept().hello() }()
		if err := c.Switch(within(t, time.Minute), other.dialer()); err == nil {
			t.Fatal("a switch without a welcome is a success")
		}
		next := s.accept()
		next.hello()
		next.tell(wire.KindWelcome, resumedWelcome(1, 0))
		if err := c.Ready(within(t, time.Minute)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLeaveIsConfirmed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		go func() {
			e.expect(wire.KindLeave)
			e.link.Close(wire.Errorf(wire.CodeLeft, "bye"))
		}()
		if err := c.Leave(within(t, time.Minute)); err != nil || c.State() != client.Closed {
			t.Errorf("%v, state %v", err, c.State())
		}
	})
}

func TestLeaveSurvivesABrokenLink(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		go func() {
			e.expect(wire.KindLeave)
			e.cut()
			next := s.accept()
			next.hello()
			next.tell(wire.KindWelcome, resumedWelcome(1, 0))
			next.expect(wire.KindLeave)
			next.link.Close(wire.Errorf(wire.CodeLeft, "bye"))
		}()
		if err := c.Leave(within(t, time.Minute)); err != nil {
			t.Error(err)
		}
	})
}

func TestLeaveIsBoundedByItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, _ := s.join(client.Options{}, relayWelcome())
		if err := c.Leave(within(t, time.Second)); err == nil || c.State() != client.Closed {
			t.Errorf("%v, state %v", err, c.State())
		}
	})
}

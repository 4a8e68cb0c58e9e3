package client_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

func TestRelayIsAddressed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		for _, lane := range []wire.Lane{wire.Reliable, wire.Unreliable} {
			kind := wire.KindRelay
			if lane == wire.Unreliable {
				kind = wire.KindRelayFast
			}
			if err := c.Relay(lane, []byte("hi"), 2, 7); err != nil {
				t.Fatal(err)
			}
			r, err := wire.ParseRelay(lane, e.expect(kind))
			if err != nil {
				t.Fatal(err)
			}
			var to []uint32
			r.Each(func(id uint32) { to = append(to, id) })
			if fmt.Sprint(to) != "[2 7]" || string(r.Payload) != "hi" {
				t.Errorf("%s: %q to %v", lane, r.Payload, to)
			}
		}
		if err := c.Relay(wire.Unreliable, make([]byte, wire.MaxUnreliablePayload+1)); !errors.Is(err, &wire.Error{Code: wire.CodeTooBig}) {
			t.Errorf("a payload over the limit: %v", err)
		}
		many := make([]uint32, wire.MaxRelayTargets)
		for i := range many {
			many[i] = 1 << 31
		}
		if err := c.Relay(wire.Unreliable, make([]byte, wire.MaxUnreliablePayload), many...); !errors.Is(err, &wire.Error{Code: wire.CodeTooBig}) {
			t.Errorf("more than a datagram: %v", err)
		}
		if err := c.Relay(wire.Reliable, nil, append(many, 1)...); err == nil {
			t.Error("65 addressees were accepted")
		}
	})
}

func TestFastMessagesNeverGoBackPerSender(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		var got []string
		w := relayWelcome()
		w.Peers = append(w.Peers, wire.Peer{ID: 3})
		c, e := s.join(client.Options{Handler: client.Handler{
			Relayed: func(_ wire.Lane, m wire.Relayed) { got = append(got, fmt.Sprintf("%d:%d", m.Sender, m.Stamp)) },
		}}, w)
		defer c.Close()
		for _, m := range []struct {
			from  uint32
			stamp uint16
		}{{2, 65535}, {2, 65534}, {3, 7}, {2, 0}, {2, 0}, {2, 65535}, {3, 6}, {3, 8}, {9, 1}} {
			e.say(wire.KindRelayedFast, wire.AppendRelayedPrefix(nil, wire.Unreliable, m.from, m.stamp))
			pause()
		}
		if fmt.Sprint(got) != "[2:65535 3:7 2:0 3:8]" || c.Stats().Stale != 5 {
			t.Errorf("got %v, %d stale", got, c.Stats().Stale)
		}
	})
}

func TestRosterFollowsTheNotices(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		var got []string
		c, e := s.join(client.Options{Handler: client.Handler{
			Peer: func(n wire.PeerNotice) { got = append(got, fmt.Sprint(n.Event, n.ID, n.Name)) },
		}}, relayWelcome())
		defer c.Close()
		for _, n := range []wire.PeerNotice{
			{Event: wire.PeerJoined, ID: 2, Name: "bob"}, // known from the welcome
			{Event: wire.PeerJoined, ID: 3, Name: "cid"},
			{Event: wire.PeerAway, ID: 2},
			{Event: wire.PeerBack, ID: 2},
			{Event: wire.PeerAway, ID: 3},
			{Event: wire.PeerLeft, ID: 2, Reason: "left"},
			{Event: wire.PeerLeft, ID: 2, Reason: "left"},
			{Event: "promoted", ID: 3}, // of a later version
		} {
			e.tell(wire.KindPeer, n)
		}
		pause()
		if want := "[joined3cid away2bob back2bob away3cid left2bob]"; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
		if all := c.Peers(); len(all) != 2 || !all[3].Away {
			t.Errorf("roster is %v", all)
		}
	})
}

func TestUnreliableMessagesNeedALink(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		e.cut()
		pause()
		if err := c.Relay(wire.Unreliable, []byte("x")); !errors.Is(err, client.ErrAway) {
			t.Errorf("error is %v", err)
		}
		if _, err := c.SendInput([]byte("x")); err != nil {
			t.Errorf("an input is kept while away, not refused: %v", err)
		}
	})
}

func TestReliableLaneIsBoundedWhileAway(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		e.cut()
		var err error
		for range 1000 {
			if err = c.Relay(wire.Reliable, make([]byte, 1000)); err != nil {
				break
			}
		}
		if !errors.Is(err, stream.ErrFull) {
			t.Errorf("a megabyte was taken while away: %v", err)
		}
	})
}

func TestApplicationThatFallsBehindComesBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		block := make(chan struct{})
		c, e := s.join(client.Options{Handler: client.Handler{
			Relayed: func(wire.Lane, wire.Relayed) { <-block },
		}}, relayWelcome())
		defer c.Close()
		ring := stream.NewRing(4<<20, true)
		e.link.Attach(ring, 1)
		body := append([]byte{2}, make([]byte, 32<<10)...)
		for range 64 {
			if err := ring.Push(wire.CopyFrame(wire.KindRelayed, body)); err != nil {
				t.Fatal(err)
			}
		}
		e.link.Flush()
		if err := <-e.over; err == nil {
			t.Error("the link ended without an error")
		}
		close(block)
		next := s.accept()
		h := next.hello()
		if h.Resume.Received == 0 || h.Resume.Received >= 64 {
			t.Errorf("received %d of 64", h.Resume.Received)
		}
		next.tell(wire.KindWelcome, resumedWelcome(1, 0))
		cursor, ok := ring.Rewind(h.Resume.Received)
		if !ok {
			t.Fatal("nothing to go on from")
		}
		next.link.Attach(ring, cursor)
		waitFor(t, "the rest", func() bool { return c.Stats().BytesIn > 2_000_000 })
		if err := c.Ready(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestBrokenFramesEndTheSession(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		kind wire.Kind
		body []byte
	}{
		"ack of the future":       {wire.KindAck, []byte{9}},
		"ack without a number":    {wire.KindAck, nil},
		"close that is not JSON":  {wire.KindClose, []byte("{")},
		"response without a code": {wire.KindResponse, []byte{1}},
		"event without a name":    {wire.KindEvent, []byte{1, 0}},
		"relayed by nobody":       {wire.KindRelayed, nil},
		"fast without a stamp":    {wire.KindRelayedFast, []byte{2, 1}},
		"peer that is not JSON":   {wire.KindPeer, []byte("[]")},
		"full without a world":    {wire.KindFull, []byte{0, 1, 0, 1, 0}},
		"draining, not JSON":      {wire.KindDraining, []byte("7")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newScript(t)
				c, e := s.join(client.Options{}, relayWelcome())
				e.say(tc.kind, tc.body)
				<-c.Done()
				if err := c.Err(); !errors.Is(err, &wire.Error{Code: wire.CodeProtocol}) {
					t.Errorf("error is %v", err)
				}
			})
		})
	}
}

func TestUnknownKindsAreSkippedAndCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		c, e := s.join(client.Options{}, relayWelcome())
		defer c.Close()
		for _, k := range []wire.Kind{7, wire.KindSignal, 31, wire.KindSnapshot} {
			e.say(k, []byte("of a later version"))
		}
		pause()
		if c.State() != client.Synchronized {
			t.Fatalf("state is %v: %v", c.State(), c.Err())
		}
		e.cut()
		if h := s.accept().hello(); h.Resume.Received != 1 {
			t.Errorf("received is %d, want 1: only kinds 8 to 19 count", h.Resume.Received)
		}
	})
}

func TestDrainingIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newScript(t)
		told := make(chan time.Duration, 1)
		c, e := s.join(client.Options{Handler: client.Handler{Draining: func(in time.Duration) { told <- in }}}, relayWelcome())
		defer c.Close()
		e.tell(wire.KindDraining, wire.Draining{DeadlineMS: 5000})
		if in := <-told; in != 5*time.Second {
			t.Errorf("draining in %v", in)
		}
	})
}

package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

// drop cuts the client's connection without a word.
func (c *raw) drop() { link.Cut(c.link) }

func TestResumeGoesOnWithoutLossOrDoubling(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		a, wa := h.join("hall", "ann")
		b, _ := h.join("hall", "bob")
		b.say("before")
		if got := a.heard(); !slices.Equal(got, []string{"before"}) {
			t.Fatal(got)
		}
		a.notice() // of bob
		a.drop()
		if n := b.notice(); n.Event != wire.PeerAway || n.ID != wa.You {
			t.Fatalf("bob was told %+v", n)
		}
		b.say("while away 1")
		b.say("while away 2")
		time.Sleep(5 * time.Second)

		a2, w := h.resume(wa.Resume.Secret, a.all)
		if !w.Resumed || w.Gap || w.Session != wa.Session || w.You != wa.You || len(w.Peers) != 0 {
			t.Fatalf("welcome %+v", w)
		}
		if got := a2.heard(); !slices.Equal(got, []string{"while away 1", "while away 2"}) {
			t.Fatal(got)
		}
		if n := b.notice(); n.Event != wire.PeerBack || n.ID != wa.You {
			t.Fatalf("bob was told %+v", n)
		}
		a2.say("back")
		if got := b.heard(); !slices.Equal(got, []string{"back"}) {
			t.Fatal(got)
		}
	})
}

func TestLostWelcomeCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		a, w := h.join("hall", "ann")
		a.drop()
		b, w1 := h.resume(w.Resume.Secret, 0) // this welcome is lost
		b.drop()
		c, w2 := h.resume(w.Resume.Secret, 0)
		if w2.Resume.Secret != w1.Resume.Secret || w2.Resume.Secret == w.Resume.Secret {
			t.Fatal("the next secret changed with the second try, or did not rotate")
		}
		c.send(wire.KindPing, nil) // the client has it now
		c.next(wire.KindPong)
		c.drop()
		d := h.connect()
		d.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: w.Resume.Secret}})
		if code := d.closeCode(); code != wire.CodeSessionExpired {
			t.Fatalf("spent secret: %s", code.Name())
		}
		if _, w3 := h.resume(w2.Resume.Secret, 0); !w3.Resumed {
			t.Fatal("the next secret does not work")
		}
	})
}

func TestPublicValuesDoNotResumeASession(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		a, wa := h.join("hall", "ann")
		a.drop()
		var refusals []wire.Close
		for _, guess := range []string{wa.Session, "ann", fmt.Sprint(wa.You), wa.Room.Instance, "", wa.Resume.Secret + "x"} {
			c := h.connect()
			c.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: guess}})
			refusals = append(refusals, decode[wire.Close](t, wire.KindClose, c.next(wire.KindClose)))
		}
		for _, r := range refusals {
			if r.Code != wire.CodeSessionExpired || r.Reason != refusals[0].Reason {
				t.Fatalf("refusals tell apart: %+v", refusals)
			}
		}
		if _, w := h.resume(wa.Resume.Secret, 0); !w.Resumed {
			t.Fatal("the owner can not resume any more")
		}
	})
}

func TestResumeReplacesALinkThatSeemsAlive(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		b, _ := h.join("hall", "bob")
		a, wa := h.join("hall", "ann")
		b.notice()
		a2, _ := h.resume(wa.Resume.Secret, a.all)
		if code := a.closeCode(); code != wire.CodeReplaced {
			t.Fatalf("old link: %s", code.Name())
		}
		a.say("from the grave")
		a2.say("hello")
		if got := b.heard(); !slices.Equal(got, []string{"hello"}) {
			t.Fatal(got)
		}
		time.Sleep(5 * time.Second)
		if n := b.count(wire.KindPeer); n != 0 {
			t.Fatalf("bob saw %d notices of a seamless change", n)
		}
	})
}

func TestSessionExpiresAfterItsGrace(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{ResumeGrace: 2 * time.Second}, func(t *testing.T, h *house) {
		b, _ := h.join("hall", "bob")
		a, wa := h.join("hall", "ann")
		b.notice()
		a.drop()
		b.notice() // away
		time.Sleep(1500 * time.Millisecond)
		if b.count(wire.KindPeer) != 0 {
			t.Fatal("left before the grace ended")
		}
		time.Sleep(time.Second)
		if n := b.notice(); n.Event != wire.PeerLeft || n.ID != wa.You || n.Reason != wire.CodeSessionExpired.Name() {
			t.Fatalf("bob was told %+v", n)
		}
		c := h.connect()
		c.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: wa.Resume.Secret}})
		if code := c.closeCode(); code != wire.CodeSessionExpired {
			t.Fatal(code.Name())
		}
	})
}

func TestGapIsToldNeverSilent(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{OutboxBytes: 1, MessagesPerSecond: -1}, func(t *testing.T, h *house) { // raised to its minimum
		a, wa := h.join("hall", "ann")
		b, _ := h.join("hall", "bob")
		a.notice()
		a.drop()
		big := string(make([]byte, 50_000))
		for range 5 { // more than the outbox holds
			b.say(big)
		}
		b.count(0)
		a2, w := h.resume(wa.Resume.Secret, a.all)
		if !w.Gap || !w.Resumed || w.Received != 0 {
			t.Fatalf("welcome %+v", w)
		}
		n := a2.notice()
		if n.Event != wire.PeerRoster || len(n.Peers) != 2 {
			t.Fatalf("no roster after a gap: %+v", n)
		}
		if got := a2.heard(); len(got) != 0 {
			t.Fatalf("%d stale messages after a gap", len(got))
		}
		b.say("fresh")
		a2.say("also fresh")
		if got := a2.heard(); !slices.Equal(got, []string{"fresh"}) {
			t.Fatal(got)
		}
		b.count(0)
	})
}

func TestSlowConsumerIsClosedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{OutboxBytes: 150_000, MessagesPerSecond: -1, PingTimeout: time.Hour}, func(t *testing.T, h *house) {
		a, _ := h.join("hall", "ann")
		b, _ := h.join("hall", "bob")
		s, ws := h.join("hall", "stalled")
		link.Stall(s.link)
		for i := range 200 {
			a.say(fmt.Sprintf("%04d%s", i, make([]byte, 4<<10)))
			time.Sleep(5 * time.Millisecond)
			for range b.count(wire.KindRelayed) {
				b.next(wire.KindRelayed)
				b.send(wire.KindAck, wire.AppendAck(nil, uint64(b.all)))
			}
		}
		time.Sleep(100 * time.Millisecond) // a flush window at least
		b.count(0)
		if b.all < 200 {
			t.Fatalf("bob received %d frames", b.all)
		}
		st, ok := h.sessions.Inspect(ws.Session)
		if !ok || !st.Away {
			t.Fatalf("the stalled session is %+v, %v: its link should be closed, and it may come back", st, ok)
		}
		if st, _ := h.sessions.Inspect(ws.Session); st.KeptBytes > 150_000 {
			t.Fatalf("%d bytes kept", st.KeptBytes)
		}
	})
}

func TestKickOfAStalledClientIsImmediate(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{PingTimeout: time.Hour}, func(t *testing.T, h *house) {
		b, _ := h.join("hall", "bob")
		s, ws := h.join("hall", "stalled")
		b.notice()
		link.Stall(s.link)
		before := time.Now()
		if !h.sessions.Kick(ws.Session, "test") {
			t.Fatal("no such session")
		}
		if n := b.notice(); n.Event != wire.PeerLeft || n.Reason != wire.CodeKicked.Name() {
			t.Fatalf("bob was told %+v", n)
		}
		if d := time.Since(before); d != 0 {
			t.Fatalf("the kick took %v", d)
		}
		c := h.connect()
		c.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: ws.Resume.Secret}})
		if code := c.closeCode(); code != wire.CodeSessionExpired {
			t.Fatal(code.Name())
		}
	})
}

// TestManyCutsLoseAndDoubleNothing cuts at random moments, in both directions,
// and counts what arrives.
func TestManyCutsLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	const cuts = 2000
	inHouse(t, session.Options{MessagesPerSecond: -1}, func(t *testing.T, h *house) {
		random := rand.New(rand.NewPCG(1, 2))
		b, _ := h.join("hall", "bob")
		a, w := h.join("hall", "ann")
		b.notice()
		secret, received, sent, acked := w.Resume.Secret, 0, 0, 0
		var toAnn, toBob int // counted as spoken
		var annHeard, bobHeard []string
		var kept []string // said by ann and not known to have arrived
		for range cuts {
			for range random.IntN(6) {
				b.say(fmt.Sprint(toAnn))
				toAnn++
				kept = append(kept, fmt.Sprint(toBob))
				a.say(fmt.Sprint(toBob))
				toBob++
				sent++
				if random.IntN(3) == 0 {
					time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				}
			}
			a.drop()
			annHeard = append(annHeard, a.heard()...)
			received += a.all
			time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
			a, w = h.resume(secret, received)
			if w.Gap {
				t.Fatal("gap")
			}
			secret = w.Resume.Secret
			lost := sent - int(w.Received)
			if lost < 0 || lost > len(kept) {
				t.Fatalf("server received %d of %d, %d acknowledged", w.Received, sent, acked)
			}
			kept = kept[len(kept)-lost:]
			for _, text := range kept {
				a.say(text)
			}
			bobHeard = append(bobHeard, b.heard()...)
			b.send(wire.KindAck, wire.AppendAck(nil, uint64(b.all)))
		}
		annHeard = append(annHeard, a.heard()...)
		bobHeard = append(bobHeard, b.heard()...)
		for i, heard := range [][]string{annHeard, bobHeard} {
			want := []int{toAnn, toBob}[i]
			if len(heard) != want {
				t.Fatalf("listener %d heard %d messages of %d", i, len(heard), want)
			}
			for n, text := range heard {
				if text != fmt.Sprint(n) {
					t.Fatalf("listener %d heard %q as message %d", i, text, n)
				}
			}
		}
		if toAnn < cuts || h.sessions.Sessions()[0].Resumes+h.sessions.Sessions()[1].Resumes != cuts {
			t.Fatalf("%d messages in %d cuts", toAnn, cuts)
		}
	})
}

package session_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

func TestWaysToLeaveAreToldApart(t *testing.T) {
	t.Parallel()
	opts := session.Options{PingInterval: 300 * time.Millisecond, PingTimeout: 900 * time.Millisecond, ResumeGrace: 2 * time.Second}
	inHouse(t, opts, func(t *testing.T, h *house) {
		watch, _ := h.join("hall", "watch")
		keep := func() { // the observer stays alive
			for range watch.count(wire.KindPing) {
				watch.send(wire.KindPong, watch.next(wire.KindPing))
			}
		}
		leaver, wl := h.join("hall", "leaver")
		cut, wc := h.join("hall", "cut")
		closer, wo := h.join("hall", "closer")
		_, ws := h.join("hall", "silent")
		for range 4 {
			watch.notice()
		}
		leaver.send(wire.KindLeave, nil)
		if n := watch.notice(); n.Event != wire.PeerLeft || n.ID != wl.You || n.Reason != wire.CodeLeft.Name() {
			t.Fatalf("leave message: %+v", n)
		}
		cut.drop()
		if n := watch.notice(); n.Event != wire.PeerAway || n.ID != wc.You {
			t.Fatalf("cut: %+v", n)
		}
		closer.sendJSON(wire.KindClose, wire.Close{Code: wire.CodeGoingAway})
		if n := watch.notice(); n.Event != wire.PeerAway || n.ID != wo.You {
			t.Fatalf("close: %+v", n)
		}
		for range 7 { // 1.4 s of silence of the last
			time.Sleep(200 * time.Millisecond)
			keep()
		}
		if n := watch.notice(); n.Event != wire.PeerAway || n.ID != ws.You {
			t.Fatalf("silence: %+v", n)
		}
		left := map[uint32]bool{}
		for range 20 {
			time.Sleep(200 * time.Millisecond)
			keep()
		}
		for range watch.count(wire.KindPeer) {
			if n := watch.notice(); n.Event == wire.PeerLeft {
				left[n.ID] = true
			} else {
				t.Fatalf("after the grace: %+v", n)
			}
		}
		if len(left) != 3 || len(h.sessions.Sessions()) != 1 {
			t.Fatalf("%v left, sessions %v", left, h.sessions.Sessions())
		}
	})
}

func TestPingIsAnsweredAndMeasuresTheRoundTrip(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{PingInterval: time.Second}, func(t *testing.T, h *house) {
		c, w := h.join("hall", "ann")
		c.send(wire.KindPing, []byte("12345678"))
		if got := c.next(wire.KindPong); string(got) != "12345678" {
			t.Fatalf("pong %q", got)
		}
		time.Sleep(1200 * time.Millisecond)
		ping := c.next(wire.KindPing)
		time.Sleep(40 * time.Millisecond)
		c.send(wire.KindPong, ping)
		synctest.Wait()
		if st, _ := h.sessions.Inspect(w.Session); st.RTTMillis < 40 {
			t.Fatalf("round trip %v ms", st.RTTMillis)
		}
	})
}

func TestReliableLaneIsAcknowledgedWithin250ms(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		c, _ := h.join("hall", "ann")
		c.say("one")
		c.say("two")
		time.Sleep(250 * time.Millisecond)
		if n, err := wire.ParseAck(c.next(wire.KindAck)); err != nil || n != 2 {
			t.Fatal(n, err)
		}
	})
}

func TestFalseAcknowledgementIsAProtocolError(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		c, _ := h.join("hall", "ann")
		c.send(wire.KindAck, wire.AppendAck(nil, 1000))
		if code := c.closeCode(); code != wire.CodeProtocol {
			t.Fatal(code.Name())
		}
		if len(h.sessions.Sessions()) != 0 {
			t.Fatal("the session outlived a terminal error")
		}
	})
}

func TestFlooderIsThrottledThenClosed(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{MessagesPerSecond: 50}, func(t *testing.T, h *house) {
		honest, _ := h.join("hall", "honest")
		flooder, _ := h.join("hall", "flooder")
		for i := range 2000 {
			flooder.send(wire.KindRelayFast, wire.AppendRelay(nil, nil, []byte("x")))
			if i%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		if code := flooder.closeCode(); code != wire.CodeRateLimited {
			t.Fatal(code.Name())
		}
		if n := honest.count(wire.KindRelayedFast); n == 0 || n > 110 {
			t.Fatalf("the honest one got %d of the flood", n)
		}
		for range 60 { // 60 Hz of inputs and some chat pass
			honest.send(wire.KindInput, nil)
			time.Sleep(time.Second / 40)
		}
		if honest.count(wire.KindClose) != 0 {
			t.Fatal("an honest client was closed")
		}
	})
}

func TestUnknownKindsAreSkippedAndCounted(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		a, _ := h.join("hall", "ann")
		b, _ := h.join("hall", "bob")
		var msg []byte
		msg = wire.AppendFrame(msg, 7, []byte("control of the future"))
		b.send(7, msg)
		b.send(18, []byte("reliable of the future"))
		b.send(27, []byte("unreliable of the future"))
		b.say("known")
		if got := a.heard(); !slices.Equal(got, []string{"known"}) {
			t.Fatal(got)
		}
		time.Sleep(time.Second)
		if n, _ := wire.ParseAck(b.next(wire.KindAck)); n != 2 {
			t.Fatalf("%d frames acknowledged, want the unknown one and the known one", n)
		}
	})
}

func TestDrainRefusesNewcomersAndLetsMembersResume(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		a, w := h.join("hall", "ann")
		h.sessions.Drain(10 * time.Second)
		if d := decode[wire.Draining](t, wire.KindDraining, a.next(wire.KindDraining)); d.DeadlineMS != 10_000 {
			t.Fatalf("%+v", d)
		}
		late := h.connect()
		late.sendJSON(wire.KindHello, hello("hall", "late"))
		if code := late.closeCode(); code != wire.CodeGoingAway || !code.Retry() {
			t.Fatal(code.Name())
		}
		a.drop()
		if _, w := h.resume(w.Resume.Secret, a.all); !w.Resumed || w.Gap {
			t.Fatalf("%+v", w)
		}
	})
}

func TestCloseTellsEveryoneToComeBack(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		a, _ := h.join("hall", "ann")
		guest := h.connect()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.sessions.Close(ctx); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*raw{a, guest} {
			if code := c.closeCode(); code != wire.CodeGoingAway {
				t.Fatal(code.Name())
			}
		}
	})
}

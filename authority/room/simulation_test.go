package room_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/wire"
)

const tick = time.Second / 30

func TestTicksDoNotDrift(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		time.Sleep(tick)
		m.apply()
		start := time.Now()
		last := uint32(0)
		for range 3000 {
			time.Sleep(tick)
			for _, f := range of(wire.KindSnapshot, m.apply()) {
				if f.tick <= last {
					t.Fatalf("tick %d after %d", f.tick, last)
				}
				last = f.tick
			}
		}
		if want := uint32(time.Since(start) / tick); last < want-2 || last > want+2 {
			t.Fatalf("tick %d after %v, want %d", last, time.Since(start), want)
		}
	})
}

func TestLateTicksAreCaughtUpAtMostFourAndThenSkipped(t *testing.T) {
	t.Parallel()
	obs := &ticks{}
	inBubble(t, room.Options{Observer: obs}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		time.Sleep(10 * tick)
		m.apply()
		m.request(1, "sleep", "3s")
		time.Sleep(tick)
		m.take()
		time.Sleep(2900 * time.Millisecond)
		m.take()
		time.Sleep(150 * time.Millisecond) // the sleep ends
		state, _ := w.Inspect(t.Context(), "a")
		if state.Tick < 11 || state.Tick > 22 {
			t.Fatalf("tick %d: about 90 were missed, few should be caught up", state.Tick)
		}
		if obs.skipped < 70 {
			t.Fatalf("%d ticks counted as skipped", obs.skipped)
		}
		before := state.Tick
		time.Sleep(time.Second)
		state, _ = w.Inspect(t.Context(), "a")
		if got := state.Tick - before; got < 29 || got > 31 {
			t.Fatalf("%d ticks in the second after the pause", got)
		}
	})
}

func TestJoinIsWelcomeThenFullSnapshotThenTheRest(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		a := join(t, w, "a", "ann")
		time.Sleep(5 * tick)
		a.apply()
		for i := range uint32(40) {
			a.request(i+1, "mark", "")
		}
		b := join(t, w, "a", "bob")
		for i := range uint32(20) {
			a.request(i+41, "mark", "")
		}
		time.Sleep(tick)
		frames := b.apply()
		if len(frames) < 2 || frames[0].kind != wire.KindFull {
			t.Fatalf("first frame is %v", frames)
		}
		if len(of(wire.KindFull, frames)) != 1 || len(of(wire.KindEvent, frames)) == 0 {
			t.Fatalf("frames %v", frames)
		}
		time.Sleep(10 * tick)
		b.apply()
		a.apply()
		time.Sleep(3 * tick)
		a.apply()
		b.apply()
		if a.view.Hash() != b.view.Hash() || b.view.Len() != 62 {
			t.Fatalf("worlds differ: %d and %d entities", a.view.Len(), b.view.Len())
		}
	})
}

func TestRepeatedRequestRepeatsItsResponseOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		responses := func() (rs []wire.Response) {
			time.Sleep(2 * tick)
			for _, f := range of(wire.KindResponse, m.take()) {
				r, err := wire.ParseResponse(f.body)
				if err != nil {
					t.Fatal(err)
				}
				rs = append(rs, r)
			}
			return rs
		}
		m.request(1, "count", "")
		first := responses()
		m.request(1, "count", "")
		m.request(1, "count", "")
		again := responses()
		if len(first) != 1 || len(again) != 2 || !bytes.Equal(first[0].Payload, again[0].Payload) || !bytes.Equal(first[0].Payload, again[1].Payload) {
			t.Fatalf("%v then %v", first, again)
		}
		m.request(2, "count", "")
		if r := responses(); r[0].Payload[0] != first[0].Payload[0]+1 {
			t.Fatalf("the repetition had an effect: %v", r)
		}
		for id := uint32(3); id <= 300; id++ {
			m.request(id, "echo", string(rune('a'+id%26)))
			if r := responses(); len(r) != 1 || r[0].ID != id || string(r[0].Payload) != string(rune('a'+id%26)) {
				t.Fatalf("request %d: %v", id, r)
			}
		}
		m.request(1, "count", "")
		if r := responses(); r[0].Code != wire.CodeDuplicateRequest {
			t.Fatalf("long spent id: %v", r)
		}
		m.request(301, "nonsense", "")
		if r := responses(); r[0].Code != wire.CodeUnknownRequest {
			t.Fatalf("unknown request: %v", r)
		}
	})
}

func TestOpenRequestsAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		for id := uint32(1); id <= 70; id++ {
			m.request(id, "later", "")
		}
		time.Sleep(tick)
		limited := 0
		for _, f := range of(wire.KindResponse, m.take()) {
			if r, _ := wire.ParseResponse(f.body); r.Code == wire.CodeRateLimited {
				limited++
			}
		}
		if limited != 6 {
			t.Fatalf("%d refused, want 6", limited)
		}
	})
}

func TestResyncIsServedAtMostOnceASecondAndNeverForgotten(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		time.Sleep(tick)
		m.apply()
		fulls := 0
		for range 10 { // five seconds of asking twice a tick
			for range 15 {
				m.send(wire.KindResync, nil)
				m.send(wire.KindResync, nil)
				time.Sleep(tick)
				fulls += len(of(wire.KindFull, m.apply()))
			}
		}
		if fulls < 4 || fulls > 5 {
			t.Fatalf("%d full snapshots in 5 s", fulls)
		}
	})
}

func TestSeatThatDoesNotAcknowledgeIsServedLess(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		for range 30 {
			time.Sleep(tick)
			m.apply()
		}
		time.Sleep(time.Second) // falls behind
		m.take()
		time.Sleep(2 * time.Second)
		frames := m.take()
		if n := len(of(wire.KindSnapshot, frames)); n < 7 || n > 9 {
			t.Fatalf("%d snapshots in 2 s without acknowledgement, want one per 250 ms", n)
		}
		for _, f := range frames {
			m.view.Apply(f.body)
		}
		m.ack()
		time.Sleep(time.Second)
		if n := len(of(wire.KindSnapshot, m.apply())); n < 9 {
			t.Fatalf("%d snapshots in the second after catching up", n)
		}
	})
}

func TestAwaySeatGetsNoSnapshotsAndCatchesUp(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		a, b := join(t, w, "a", "ann"), join(t, w, "a", "bob")
		run := func(n int) {
			for range n {
				time.Sleep(tick)
				a.apply()
				b.apply()
			}
		}
		run(5)
		a.request(1, "mark", "")
		a.request(2, "mark", "")
		run(5)
		b.seat.Presence(authority.Away)
		run(1)
		b.take()
		for i := range uint32(100) { // longer than any history
			a.request(3+2*i, "unmark", "")
			a.request(4+2*i, "mark", "")
			time.Sleep(tick)
			a.apply()
		}
		if n := of(wire.KindSnapshot, b.take()); len(n) != 0 {
			t.Fatalf("%d snapshots for a seat that is away", len(n))
		}
		b.seat.Presence(authority.Back)
		run(5)
		if fulls := b.view; fulls.Hash() != a.view.Hash() {
			t.Fatal("the returned world differs")
		}
	})
}

func TestGapBringsRosterAndFullSnapshot(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		a, _ := join(t, w, "a", "ann"), join(t, w, "a", "bob")
		time.Sleep(tick)
		a.apply()
		time.Sleep(tick)
		a.apply()
		a.seat.Presence(authority.Away)
		a.seat.Presence(authority.BackWithGap)
		time.Sleep(tick)
		frames := a.apply()
		if len(of(wire.KindFull, frames)) != 1 || len(of(wire.KindPeer, frames)) != 1 {
			t.Fatalf("frames after a gap: %v", frames)
		}
	})
}

func TestJSONSeatGetsTheWholeWorldAtFiveHertz(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m, err := tryJoin(t, w, authority.Join{Room: "a", Identity: "json", JSON: true})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		frames := m.take()
		if len(of(wire.KindFull, frames)) != 0 {
			t.Fatal("a full snapshot for a JSON seat")
		}
		snaps := of(wire.KindSnapshot, frames)
		if len(snaps) < 8 || len(snaps) > 11 {
			t.Fatalf("%d snapshots in 2 s", len(snaps))
		}
		var s struct {
			Tick     uint32
			Entities []map[string]any
		}
		if err := json.Unmarshal(snaps[0].body, &s); err != nil {
			t.Fatalf("%v in %s", err, snaps[0].body)
		}
		if s.Tick == 0 || len(s.Entities) != 1 || s.Entities[0]["type"] != "token" {
			t.Fatalf("%s", snaps[0].body)
		}
	})
}

func TestMalformedInputEndsItsSenderOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		a, b := join(t, w, "a", "ann"), join(t, w, "a", "bob")
		b.send(wire.KindInput, []byte{1, 2, 3})
		time.Sleep(tick)
		if a.code() != 0 || b.code() != wire.CodeProtocol {
			t.Fatal(a.code(), b.code())
		}
		time.Sleep(tick)
		a.apply()
		if st, _ := w.Inspect(t.Context(), "a"); st.Members != 1 || st.Entities != 1 {
			t.Fatalf("%+v", st)
		}
	})
}

func TestPanicOfAGameEndsItsRoomOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		a, b := join(t, w, "a", "ann"), join(t, w, "b", "bob")
		a.request(1, "panic", "")
		a.request(2, "echo", "")
		time.Sleep(2 * tick)
		if a.code() != wire.CodeRoomFailed || b.code() != 0 {
			t.Fatal(a.code(), b.code())
		}
		again := join(t, w, "a", "ann")
		if again.adm.Room.Instance == a.adm.Room.Instance || again.adm.Tick != 0 {
			t.Fatalf("%+v", again.adm)
		}
	})
}

func TestInputsAreAppliedInOrderAcrossTheWrap(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		time.Sleep(tick)
		m.apply()
		total := 0
		seq := uint16(65525)
		for i := range 22 {
			payload := bytes.Repeat([]byte{1}, i%5+1)
			total += len(payload)
			acked, mask := m.view.Ack()
			body := wire.AppendInput(nil, wire.Input{Seq: seq, Acked: acked, Mask: mask, Inputs: [][]byte{payload}})
			m.send(wire.KindInput, body)
			m.send(wire.KindInput, body) // doubled on the way
			seq++
			time.Sleep(tick)
			m.apply()
		}
		time.Sleep(5 * tick)
		m.apply()
		if x := m.view.Get(1, 1); int(x) != total {
			t.Fatalf("moved by %d, want %d", x, total)
		}
	})
}

package room_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/wire"
)

func TestRelayGoesToOneSomeOrAllOthers(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		var m []*member
		for i := range 4 {
			m = append(m, join(t, w, "relay", fmt.Sprint(i)))
		}
		tests := []struct {
			to   []uint32
			want [4]int
		}{
			{nil, [4]int{0, 1, 1, 1}},
			{[]uint32{m[2].adm.You}, [4]int{0, 0, 1, 0}},
			{[]uint32{m[1].adm.You, m[3].adm.You, 999}, [4]int{0, 1, 0, 1}},
			{[]uint32{m[0].adm.You}, [4]int{}}, // nobody talks to himself
		}
		for _, lane := range []wire.Lane{wire.Reliable, wire.Unreliable} {
			up, down := wire.KindRelay, wire.KindRelayed
			if lane == wire.Unreliable {
				up, down = wire.KindRelayFast, wire.KindRelayedFast
			}
			for _, tt := range tests {
				for _, x := range m {
					x.take()
				}
				m[0].send(up, wire.AppendRelay(nil, tt.to, []byte("payload")))
				for i, x := range m {
					frames := of(down, x.take())
					if len(frames) != tt.want[i] {
						t.Fatalf("%v to %v: member %d got %d", lane, tt.to, i, len(frames))
					}
					for _, f := range frames {
						r, err := wire.ParseRelayed(lane, f.body)
						if err != nil || r.Sender != m[0].adm.You || string(r.Payload) != "payload" {
							t.Fatalf("%+v %v", r, err)
						}
					}
				}
			}
		}
	})
}

func TestFastMessagesAreStampedPerSender(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		a, b := join(t, w, "relay", "a"), join(t, w, "relay", "b")
		a.take()
		var last uint16
		for i := range 70_000 { // past the wrap
			a.send(wire.KindRelayFast, wire.AppendRelay(nil, nil, nil))
			if i%200 != 0 {
				continue
			}
			for _, f := range of(wire.KindRelayedFast, b.take()) {
				r, err := wire.ParseRelayed(wire.Unreliable, f.body)
				if err != nil {
					t.Fatal(err)
				}
				if last != 0 && r.Stamp != last+1 {
					t.Fatalf("stamp %d after %d", r.Stamp, last)
				}
				last = r.Stamp
			}
		}
	})
}

func TestSizesAreTheSameOnBothSidesOfTheLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind  wire.Kind
		limit int
	}{{wire.KindRelay, wire.MaxReliablePayload}, {wire.KindRelayFast, wire.MaxUnreliablePayload}} {
		t.Run(tt.kind.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
				a, b := join(t, w, "relay", "a"), join(t, w, "relay", "b")
				for _, n := range []int{tt.limit - 1, tt.limit} {
					a.send(tt.kind, wire.AppendRelay(nil, nil, make([]byte, n)))
					frames := b.take()
					if got := len(frames[len(frames)-1].body); got < n {
						t.Fatalf("%d bytes arrived of %d", got, n)
					}
				}
				a.send(tt.kind, wire.AppendRelay(nil, nil, make([]byte, tt.limit+1)))
				if a.code() != wire.CodeTooBig || b.code() != 0 {
					t.Fatal(a.code(), b.code())
				}
			})
		})
	}
}

func TestMessageToANewcomerArrives(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		b := join(t, w, "relay", "b")
		for i := range 200 {
			b.take()
			a := join(t, w, "relay", fmt.Sprint("a", i))
			b.send(wire.KindRelay, wire.AppendRelay(nil, []uint32{a.adm.You}, []byte("hi")))
			if got := of(wire.KindRelayed, a.take()); len(got) != 1 {
				t.Fatalf("round %d: %d messages", i, len(got))
			}
			a.seat.Leave(wire.CodeLeft)
		}
	})
}

func TestRosterThatFitsNoFrameIsToldInPieces(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		if _, err := w.Create(t.Context(), authority.RoomSpec{Name: "crowd", Cap: 1000}); err != nil {
			t.Fatal(err)
		}
		profile := json.RawMessage(`"` + strings.Repeat("<", 1000) + `"`) // not to be escaped
		var last *member
		for i := range 200 {
			last, _ = tryJoin(t, w, authority.Join{Room: "crowd", Identity: fmt.Sprint(i), Profile: profile})
		}
		if f := wire.JSONFrame(wire.KindWelcome, wire.Welcome{Peers: last.adm.Peers}); f.Size() > 40_000 {
			t.Fatalf("the welcome's roster has %d bytes", f.Size())
		}
		told := len(last.adm.Peers) + len(of(wire.KindPeer, last.take()))
		if told != 200 || len(last.adm.Peers) > 40 {
			t.Fatalf("%d in the welcome, %d told in all", len(last.adm.Peers), told)
		}
		last.seat.Presence(authority.BackWithGap)
		told = 0
		for _, f := range of(wire.KindPeer, last.take()) {
			var n wire.PeerNotice
			if err := json.Unmarshal(f.body, &n); err != nil {
				t.Fatal(err)
			}
			told += max(1, len(n.Peers))
		}
		if told != 200 {
			t.Fatalf("%d told after a gap", told)
		}
	})
}

func TestSeatThatFloodsItsInboxIsTold(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		a := join(t, w, "game", "a") // frames wait for the tick
		refused := 0
		for range 6000 {
			if !a.seat.Deliver(wire.CopyFrame(wire.KindResync, nil)) {
				refused++
			}
		}
		if refused < 1000 {
			t.Fatalf("%d refused", refused)
		}
		synctest.Wait()
	})
}

func BenchmarkRelayToSeven(b *testing.B) {
	w := room.NewWorker(room.Options{OnDemand: true, Templates: []room.Template{{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindRelay}}}})
	var seats []authority.Seat
	got := make(chan int, 1024)
	for i := range 8 {
		s, _, err := w.Join(b.Context(), authority.Join{Room: "r", Identity: fmt.Sprint(i), Outbox: &sink{got: got, first: i == 1}})
		if err != nil {
			b.Fatal(err)
		}
		seats = append(seats, s)
	}
	body := wire.AppendRelay(nil, nil, make([]byte, 64))
	b.ReportAllocs()
	b.ResetTimer()
	batch := make([]*wire.Frame, 1)
	for range b.N {
		batch[0] = wire.CopyFrame(wire.KindRelay, body)
		seats[0].Deliver(batch...)
		for n := 0; n < 1; n += <-got {
		}
	}
}

// sink releases what it gets.
type sink struct {
	got   chan int
	first bool
}

func (s *sink) Send(frames []*wire.Frame) {
	n := 0
	for _, f := range frames {
		if f.Kind == wire.KindRelayed {
			n++
		}
		f.Release()
	}
	if s.first && n > 0 {
		s.got <- n
	}
}

func (s *sink) Close(*wire.Error) {}

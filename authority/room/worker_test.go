package room_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/wire"
)

// ticks counts what a room's clock reports.
type ticks struct {
	mu      sync.Mutex
	run     int
	skipped int
	rooms   int
	members int
}

func (o *ticks) Tick(time.Duration)          { o.mu.Lock(); o.run++; o.mu.Unlock() }
func (o *ticks) Lag(time.Duration)           {}
func (o *ticks) Skipped(n int)               { o.mu.Lock(); o.skipped += n; o.mu.Unlock() }
func (o *ticks) Rooms(_ string, delta int)   { o.mu.Lock(); o.rooms += delta; o.mu.Unlock() }
func (o *ticks) Members(_ string, delta int) { o.mu.Lock(); o.members += delta; o.mu.Unlock() }
func (o *ticks) Snapshot(bool, int)          {}
func (o *ticks) Resync()                     {}
func (o *ticks) Input(string)                {}
func (o *ticks) Ignored(wire.Kind)           {}

func TestEmptyRoomClosesOnTime(t *testing.T) {
	t.Parallel()
	obs := &ticks{}
	inBubble(t, room.Options{Observer: obs}, func(t *testing.T, w *room.Worker) {
		for _, kind := range []string{authority.KindRelay, authority.KindAuthority} {
			spec := authority.RoomSpec{Name: "q", Kind: kind, EmptyTimeout: 2 * time.Second}
			if kind == authority.KindAuthority {
				spec.Game = "tokens"
			}
			if _, err := w.Create(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1900 * time.Millisecond)
			if _, err := w.Inspect(t.Context(), "q"); err != nil {
				t.Fatalf("%s room gone early: %v", kind, err)
			}
			time.Sleep(200 * time.Millisecond)
			if _, err := w.Inspect(t.Context(), "q"); codeOf(err) != wire.CodeNoRoom {
				t.Fatalf("%s room still there: %v", kind, err)
			}
		}
		if obs.rooms != 0 {
			t.Fatalf("%d rooms on the gauge", obs.rooms)
		}
	})
}

func TestRoomStaysWhileItHasMembers(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "relay", "ann")
		time.Sleep(time.Hour)
		if _, err := w.Inspect(t.Context(), "relay"); err != nil {
			t.Fatal(err)
		}
		m.seat.Leave(wire.CodeLeft)
		time.Sleep(room.DefaultEmptyTimeout + time.Second)
		if _, err := w.Inspect(t.Context(), "relay"); codeOf(err) != wire.CodeNoRoom {
			t.Fatal(err)
		}
	})
}

func TestRoomMadeAnewIsNotHurtByItsPredecessor(t *testing.T) {
	t.Parallel()
	obs := &ticks{}
	inBubble(t, room.Options{Observer: obs}, func(t *testing.T, w *room.Worker) {
		instances := map[string]bool{}
		for i := range 30 {
			st, err := w.Create(t.Context(), authority.RoomSpec{Name: "r", Kind: authority.KindAuthority, Game: "tokens"})
			if err != nil {
				t.Fatal(err)
			}
			instances[st.Instance] = true
			var members []*member
			for n := range 3 {
				members = append(members, join(t, w, "r", fmt.Sprint(n)))
			}
			time.Sleep(3 * tick)
			for _, m := range members {
				if m.code() != 0 || m.adm.Tick > 1 {
					t.Fatalf("round %d: closed with %v at tick %d", i, m.code(), m.adm.Tick)
				}
			}
			if err := w.Close(t.Context(), "r", ""); err != nil {
				t.Fatal(err)
			}
			for _, m := range members {
				if m.code() != wire.CodeRoomClosed {
					t.Fatalf("round %d: %v", i, m.code())
				}
			}
		}
		if len(instances) != 30 || obs.members != 0 || obs.rooms != 0 {
			t.Fatalf("%d instances, %d members, %d rooms", len(instances), obs.members, obs.rooms)
		}
	})
}

func TestJoinDuringCloseLandsOrIsRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		for i := range 200 {
			name := fmt.Sprintf("relay%d", i%3)
			first := join(t, w, name, "first")
			var wg sync.WaitGroup
			var late *member
			var err error
			wg.Go(func() { late, err = tryJoin(t, w, authority.Join{Room: name, Identity: "late"}) })
			wg.Go(func() { w.Close(t.Context(), name, "") })
			wg.Wait()
			if err != nil && codeOf(err) != wire.CodeRoomClosed {
				t.Fatal(err)
			}
			if err == nil && late.code() == 0 && late.adm.Room.Instance == first.adm.Room.Instance {
				t.Fatal("seated in the room that was closed")
			}
		}
	})
}

func TestAbandonedJoinLeavesNoSeat(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		m := join(t, w, "a", "ann")
		m.request(1, "sleep", "5s")
		time.Sleep(2 * tick) // the room is busy
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := w.Join(ctx, authority.Join{Room: "a", Identity: "bob", Outbox: &member{t: t}})
		if codeOf(err) != wire.CodeOverloaded {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if st, _ := w.Inspect(t.Context(), "a"); st.Members != 1 {
			t.Fatalf("%d members", st.Members)
		}
	})
}

func TestSpecsThatCanNotBeAreRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{MaxRooms: 3}, func(t *testing.T, w *room.Worker) {
		for _, spec := range []authority.RoomSpec{
			{Kind: "lobby"}, {Kind: authority.KindAuthority}, {Kind: authority.KindAuthority, Game: "chess"},
			{Cap: -1}, {Cap: 10_001}, {Kind: authority.KindAuthority, Game: "tokens", TickRate: 121},
			{Kind: authority.KindRelay, TickRate: 30},
		} {
			spec.Name = "x"
			if _, err := w.Create(t.Context(), spec); err == nil {
				t.Errorf("%+v was accepted", spec)
			}
		}
		for i := range 3 {
			if _, err := w.Create(t.Context(), authority.RoomSpec{Name: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Create(t.Context(), authority.RoomSpec{Name: "0"}); err == nil {
			t.Fatal("a name was given twice")
		}
		if _, err := w.Create(t.Context(), authority.RoomSpec{Name: "more"}); codeOf(err) != wire.CodeOverloaded {
			t.Fatal(err)
		}
	})
}

func TestGameImpliesItsKind(t *testing.T) {
	t.Parallel()
	inBubble(t, room.Options{}, func(t *testing.T, w *room.Worker) {
		st, err := w.Create(t.Context(), authority.RoomSpec{Name: "x", Game: "tokens"})
		if err != nil || st.Kind != authority.KindAuthority {
			t.Errorf("%+v, %v", st, err)
		}
		if _, err := w.Create(t.Context(), authority.RoomSpec{Name: "y", Game: "chess"}); err == nil || !strings.Contains(err.Error(), "tokens") {
			t.Errorf("%v does not say which games there are", err)
		}
	})
}

func TestThousandsOfRoomsInOneProcess(t *testing.T) {
	t.Parallel()
	obs := &ticks{}
	inBubble(t, room.Options{Observer: obs}, func(t *testing.T, w *room.Worker) {
		for i := range 3000 {
			join(t, w, fmt.Sprintf("relay%d", i), "ann")
		}
		for i := range 300 {
			join(t, w, fmt.Sprintf("game%d", i), "ann")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		rooms, err := w.List(t.Context())
		if err != nil || len(rooms) != 3300 {
			t.Fatal(len(rooms), err)
		}
		if obs.run < 300*29 || obs.skipped != 0 {
			t.Fatalf("%d ticks, %d skipped", obs.run, obs.skipped)
		}
	})
}

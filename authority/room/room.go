package room

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/wire"
)

// behaviour is what the kinds of room differ in. The room's goroutine calls it.
type behaviour interface {
	// joined, presence and left follow the roster, which is already changed.
	joined(s *seat)
	presence(s *seat, p authority.Presence)
	left(s *seat)
	// deliver takes one frame of a seat, and its reference.
	deliver(s *seat, f *wire.Frame)
	// tick runs one tick; only called if the room has a tick rate.
	tick()
}

// Room is one group of seats. Its goroutine is [Room.run].
type Room struct {
	// immutable
	spec     authority.RoomSpec
	instance string
	created  time.Time
	worker   *Worker
	obs      Observer
	inbox    *inbox
	urgent   bool          // frames wake the room; else they wait for the tick
	done     chan struct{} // closed when the goroutine has ended

	// owned by the room's goroutine
	behave  behaviour
	sim     *simulation // nil in a room without a world
	cap     int
	nextID  uint32
	seats   []*seat // by id
	vacant  time.Time
	batch   []item // of this turn
	closing *wire.Error
}

func newRoom(w *Worker, spec authority.RoomSpec, instance string) *Room {
	r := &Room{
		spec: spec, instance: instance, created: time.Now(), worker: w, obs: w.opts.Observer,
		inbox: newInbox(), done: make(chan struct{}), cap: spec.Cap, vacant: time.Now(),
	}
	if spec.Kind == authority.KindAuthority {
		r.sim = newSimulation(r, w.opts.Games[spec.Game])
		r.behave = r.sim
	} else {
		r.behave, r.urgent = relay{r}, true
	}
	return r
}

// run is the room's goroutine. It ends when the room was closed, has been empty
// for its time, or failed.
func (r *Room) run() {
	defer close(r.done)
	defer r.end()
	defer r.survive()
	clock := newClock(r.spec.TickRate)
	defer clock.stop()
	for r.closing == nil {
		select {
		case <-r.inbox.wake:
			r.turn()
			if r.sim == nil {
				r.flush()
			}
		case <-clock.next(r.vacancy()):
			for range clock.due(r.obs) {
				r.beat()
			}
		}
		r.expire()
	}
}

// beat runs one tick.
func (r *Room) beat() {
	start := time.Now()
	r.turn()
	r.behave.tick()
	r.flush()
	r.obs.Tick(time.Since(start))
}

// turn does what was posted since the last one.
func (r *Room) turn() {
	r.batch = r.inbox.take(r.batch[:0])
	for i, it := range r.batch {
		r.batch[i] = item{} // what a panic leaves behind is what was not done
		switch {
		case it.do != nil:
			it.do()
		case it.seat.gone.Load():
			it.frame.Release()
		default:
			it.seat.waiting.Add(-1)
			it.seat.bytes.Add(-int64(it.frame.Size()))
			r.behave.deliver(it.seat, it.frame)
		}
	}
}

// flush ends a turn: what each seat is to get leaves in one call.
func (r *Room) flush() {
	var choked []*seat
	for _, s := range r.seats {
		if s.choked {
			choked = append(choked, s)
			continue
		}
		s.flush()
	}
	for _, s := range choked {
		r.expel(s, wire.Errorf(wire.CodeSlowConsumer, "more than %d messages wait in the room", maxOut))
	}
}

// vacancy returns how long the room may stay empty from now, or a negative
// duration if that is no question.
func (r *Room) vacancy() time.Duration {
	if len(r.seats) > 0 || r.spec.EmptyTimeout < 0 {
		return -1
	}
	return max(0, time.Until(r.vacant.Add(r.spec.EmptyTimeout)))
}

func (r *Room) expire() {
	if r.closing == nil && r.vacancy() == 0 {
		r.closing = wire.Errorf(wire.CodeRoomClosed, "the room was empty")
	}
}

// survive turns a panic of a game into the end of this room alone.
func (r *Room) survive() {
	if p := recover(); p != nil {
		r.closing = wire.Errorf(wire.CodeRoomFailed, "room %s failed", r.spec.Name)
		r.worker.opts.Logger.Error("room failed", "domain", "simulation", "room", r.spec.Name,
			"instance", r.instance, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
}

// end closes every seat and the door. Posts that came too late are answered.
func (r *Room) end() {
	r.worker.forget(r)
	r.worker.opts.Logger.Info("room closed", "domain", "simulation", "room", r.spec.Name, "instance", r.instance,
		"code", r.closing.Code.Name(), "reason", r.closing.Reason)
	for _, it := range append(r.batch, r.inbox.close()...) {
		switch {
		case it.frame != nil:
			it.frame.Release()
		case it.do != nil:
			it.do() // leaves and joins find the room closing
		}
	}
	for _, s := range r.seats {
		s.gone.Store(true)
		if r.closing.Code != wire.CodeRoomFailed {
			s.flush()
		}
		s.drop()
		s.join.Outbox.Close(r.closing)
	}
	r.seats = nil
}

// ask runs fn on the room's goroutine and waits for it. The error is that of
// ctx, or no_room if the room has closed.
func (r *Room) ask(ctx context.Context, fn func()) error {
	ran := make(chan struct{})
	if !r.inbox.post(true, item{do: func() { fn(); close(ran) }}) {
		return wire.Errorf(wire.CodeNoRoom, "room %s has closed", r.spec.Name)
	}
	select {
	case <-ran:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Room) state(roster bool) authority.RoomState {
	st := authority.RoomState{
		Name: r.spec.Name, Instance: r.instance, Kind: r.spec.Kind, Game: r.spec.Game,
		TickRate: r.spec.TickRate, Cap: r.cap, Members: len(r.seats), Created: r.created,
	}
	if r.sim != nil {
		st.Tick, st.Entities = r.sim.now, r.sim.store.Len()
	}
	if roster {
		for _, s := range r.seats {
			st.Roster = append(st.Roster, authority.Member{
				ID: s.id, Identity: s.join.Identity, Name: s.join.Name, Session: s.join.Session, Away: s.away,
			})
		}
	}
	return st
}

package room

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/wire"
)

// Options of a worker.
type Options struct {
	// Games by name, for rooms of kind authority.
	Games map[string]authority.Game
	// OnDemand lets a join make the room it names, from the first template
	// whose pattern matches.
	OnDemand  bool
	Templates []Template
	// MaxRooms bounds the rooms; default 10,000.
	MaxRooms int
	// CheckName refuses names of rooms; nil accepts all.
	CheckName func(name string) error
	// Observer counts; nil for none.
	Observer Observer
	// Logger; nil discards.
	Logger *slog.Logger
}

// Template says how rooms with matching names are made.
type Template struct {
	// Pattern as in path.Match, without slashes: "arena*".
	Pattern string
	// Spec of the room; its Name is ignored.
	Spec authority.RoomSpec
}

// Defaults of a room.
const (
	DefaultTickRate     = 30
	DefaultCap          = 64
	DefaultEmptyTimeout = 30 * time.Second
	maxTickRate         = 120
	// maxGameBytes bounds what a game adds to a welcome, which is one frame.
	maxGameBytes = 24 << 10
	maxCap       = 10_000
)

// Worker hosts rooms. Safe for concurrent use.
type Worker struct {
	opts Options

	mu     sync.Mutex // guards rooms and closed; never held while waiting for a room
	rooms  map[string]*Room
	closed bool
	wg     sync.WaitGroup
}

var (
	_ authority.Rooms   = (*Worker)(nil)
	_ authority.Control = (*Worker)(nil)
)

// NewWorker returns a worker without rooms.
func NewWorker(o Options) *Worker {
	if o.MaxRooms == 0 {
		o.MaxRooms = 10_000
	}
	if o.Observer == nil {
		o.Observer = nopObserver{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Worker{opts: o, rooms: map[string]*Room{}}
}

// Join implements authority.Rooms.
func (w *Worker) Join(ctx context.Context, j authority.Join) (authority.Seat, authority.Admission, error) {
	// A room may close between being found and being asked: then another is made.
	for range 3 {
		r, err := w.find(j.Room, w.opts.OnDemand)
		if err != nil {
			return nil, authority.Admission{}, err
		}
		s, a, err := r.enter(ctx, j)
		if !errors.Is(err, errClosed) {
			if err != nil {
				return nil, authority.Admission{}, err
			}
			return s, a, nil
		}
	}
	return nil, authority.Admission{}, wire.Errorf(wire.CodeRoomClosed, "room %s has just closed", j.Room)
}

var errClosed = errors.New("room has closed")

// enter asks the room for a seat. A caller who gives up leaves no seat behind.
func (r *Room) enter(ctx context.Context, j authority.Join) (*seat, authority.Admission, error) {
	var (
		s      *seat
		a      authority.Admission
		failed *wire.Error
		state  atomic.Int32 // 1: the room has answered, 2: the caller has gone
	)
	err := r.ask(ctx, func() {
		if s, a, failed = r.admit(j); !state.CompareAndSwap(0, 1) && s != nil {
			r.leave(s, wire.CodeJoinTimeout)
		}
	})
	switch {
	case err != nil && ctx.Err() == nil: // the door was already shut
		return nil, a, errClosed
	case err != nil && state.CompareAndSwap(0, 2):
		return nil, authority.Admission{}, wire.Errorf(wire.CodeOverloaded, "room %s did not answer in time", j.Room)
	case failed != nil && failed.Code == wire.CodeRoomClosed:
		return nil, a, errClosed
	case failed != nil:
		return nil, a, failed
	}
	return s, a, nil
}

// find returns the room of that name, and makes it if it may.
func (w *Worker) find(name string, make_ bool) (*Room, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.rooms[name]; r != nil {
		return r, nil
	}
	if !make_ {
		return nil, wire.Errorf(wire.CodeNoRoom, "there is no room %q", name)
	}
	if w.opts.CheckName != nil {
		if err := w.opts.CheckName(name); err != nil {
			return nil, wire.Errorf(wire.CodeBadName, "%v", err)
		}
	}
	for _, t := range w.opts.Templates {
		if ok, _ := path.Match(t.Pattern, name); ok {
			spec := t.Spec
			spec.Name = name
			return w.open(spec)
		}
	}
	return nil, wire.Errorf(wire.CodeNoRoom, "there is no room %q, and no template for it", name)
}

// open makes a room and starts it. The caller holds w.mu.
func (w *Worker) open(spec authority.RoomSpec) (*Room, error) {
	if w.closed {
		return nil, wire.Errorf(wire.CodeGoingAway, "the server takes no new rooms")
	}
	if len(w.rooms) >= w.opts.MaxRooms {
		return nil, wire.Errorf(wire.CodeOverloaded, "the limit of %d rooms is reached", w.opts.MaxRooms)
	}
	if err := w.complete(&spec); err != nil {
		return nil, err
	}
	r := newRoom(w, spec, newInstance())
	if r.sim != nil {
		if n := len(r.sim.schema) + len(r.sim.world.ClientConfig()); n > maxGameBytes {
			return nil, wire.Errorf(wire.CodeInternal, "game %s: schema and client config have %d bytes, the limit is %d", spec.Game, n, maxGameBytes)
		}
	}
	w.rooms[spec.Name] = r
	w.opts.Observer.Rooms(spec.Kind, 1)
	w.wg.Go(r.run)
	w.opts.Logger.Info("room opened", "domain", "simulation", "room", spec.Name, "instance", r.instance,
		"kind", spec.Kind, "game", spec.Game)
	return r, nil
}

// complete fills the defaults of a spec and refuses what can not be.
func (w *Worker) complete(s *authority.RoomSpec) error {
	if s.Kind == "" && s.Game != "" { // only rooms of kind authority have one
		s.Kind = authority.KindAuthority
	}
	s.Kind = cmp.Or(s.Kind, authority.KindRelay)
	s.Cap = cmp.Or(s.Cap, DefaultCap)
	s.EmptyTimeout = cmp.Or(s.EmptyTimeout, DefaultEmptyTimeout)
	if s.Cap < 1 || s.Cap > maxCap {
		return fmt.Errorf("cap: %d, accepted are 1 to %d", s.Cap, maxCap)
	}
	switch s.Kind {
	case authority.KindRelay:
		if s.Game != "" || s.TickRate != 0 {
			return fmt.Errorf("kind relay: takes no game and no tick_rate")
		}
	case authority.KindAuthority:
		if w.opts.Games[s.Game] == nil {
			return fmt.Errorf("game: %q is not known here, accepted are: %s", s.Game, strings.Join(slices.Sorted(maps.Keys(w.opts.Games)), ", "))
		}
		s.TickRate = cmp.Or(s.TickRate, DefaultTickRate)
		if s.TickRate < 1 || s.TickRate > maxTickRate {
			return fmt.Errorf("tick_rate: %d, accepted are 1 to %d Hz", s.TickRate, maxTickRate)
		}
		if s.Seed == 0 {
			s.Seed = randomSeed()
		}
	default:
		return fmt.Errorf("kind: %q, accepted are %s and %s", s.Kind, authority.KindRelay, authority.KindAuthority)
	}
	return nil
}

// forget takes a room that ends off the directory; a newer one of that name
// stays.
func (w *Worker) forget(r *Room) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rooms[r.spec.Name] == r {
		delete(w.rooms, r.spec.Name)
	}
	w.opts.Observer.Rooms(r.spec.Kind, -1)
	w.opts.Observer.Members(r.spec.Kind, -len(r.seats))
}

// Close ends every room with the code going_away and waits until their
// goroutines have ended, or ctx.
func (w *Worker) Shutdown(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	for _, r := range w.rooms {
		r.shut(wire.Errorf(wire.CodeGoingAway, "the server is going away"))
	}
	w.mu.Unlock()
	ended := make(chan struct{})
	go func() { w.wg.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("rooms did not end in time: %w", ctx.Err())
	}
}

// shut asks a room to end with a code.
func (r *Room) shut(e *wire.Error) {
	r.inbox.post(true, item{do: func() {
		if r.closing == nil {
			r.closing = e
		}
	}})
}

func newInstance() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func randomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]) | 1
}

// snapshot of the directory, by name.
func (w *Worker) all() []*Room {
	w.mu.Lock()
	defer w.mu.Unlock()
	rooms := make([]*Room, 0, len(w.rooms))
	for _, r := range w.rooms {
		rooms = append(rooms, r)
	}
	slices.SortFunc(rooms, func(a, b *Room) int { return cmp.Compare(a.spec.Name, b.spec.Name) })
	return rooms
}

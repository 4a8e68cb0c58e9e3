package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/wire"
)

// inBubble runs a test with a worker in fake time.
func inBubble(t *testing.T, o room.Options, test func(t *testing.T, w *room.Worker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if o.Templates == nil {
			o.OnDemand = true
			o.Templates = []room.Template{
				{Pattern: "relay*", Spec: authority.RoomSpec{Kind: authority.KindRelay}},
				{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindAuthority, Game: "tokens", Seed: 7}},
			}
		}
		if o.Games == nil {
			o.Games = map[string]authority.Game{"tokens": tokens{}}
		}
		w := room.NewWorker(o)
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := w.Shutdown(ctx); err != nil {
				t.Error(err)
			}
		}()
		test(t, w)
	})
}

// member is a seat whose frames are collected.
type member struct {
	t    *testing.T
	seat authority.Seat
	adm  authority.Admission
	view *replica.View

	mu     sync.Mutex
	frames []got
	closed *wire.Error
}

type got struct {
	kind wire.Kind
	tick uint32
	body []byte
	at   time.Time
}

func (m *member) Send(frames []*wire.Frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range frames {
		m.frames = append(m.frames, got{f.Kind, f.Tick, append([]byte(nil), f.Body()...), time.Now()})
		f.Release()
	}
}

func (m *member) Close(e *wire.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = e
}

func tryJoin(t *testing.T, w *room.Worker, j authority.Join) (*member, error) {
	t.Helper()
	m := &member{t: t}
	j.Outbox = m
	if j.Name == "" {
		j.Name = j.Identity
	}
	var err error
	m.seat, m.adm, err = w.Join(t.Context(), j)
	if err == nil && len(m.adm.Schema) > 0 {
		schema, err := replica.ParseSchema(m.adm.Schema)
		if err != nil {
			t.Fatal(err)
		}
		m.view = replica.NewView(schema)
	}
	return m, err
}

func join(t *testing.T, w *room.Worker, room, identity string) *member {
	t.Helper()
	m, err := tryJoin(t, w, authority.Join{Room: room, Identity: identity})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// take returns what was collected, and forgets it.
func (m *member) take() []got {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	frames := m.frames
	m.frames = nil
	return frames
}

func (m *member) code() wire.Code {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed == nil {
		return 0
	}
	return m.closed.Code
}

func (m *member) send(k wire.Kind, body []byte) { m.seat.Deliver(wire.CopyFrame(k, body)) }

func (m *member) request(id uint32, name, payload string) {
	m.send(wire.KindRequest, wire.AppendRequest(nil, wire.Request{ID: id, Name: name, Payload: []byte(payload)}))
}

// apply takes what came, applies the snapshots and acknowledges them.
func (m *member) apply() []got {
	m.t.Helper()
	frames := m.take()
	for _, f := range frames {
		var err error
		switch f.kind {
		case wire.KindFull:
			_, _, err = m.view.ApplyFull(f.body)
		case wire.KindSnapshot:
			_, err = m.view.Apply(f.body)
		}
		if err != nil {
			m.t.Fatalf("%s: %v", f.kind, err)
		}
	}
	m.ack()
	return frames
}

func (m *member) ack() {
	tick, mask := m.view.Ack()
	m.send(wire.KindInput, wire.AppendInput(nil, wire.Input{Acked: tick, Mask: mask}))
}

// of filters frames by kind.
func of(k wire.Kind, frames []got) (some []got) {
	for _, f := range frames {
		if f.kind == k {
			some = append(some, f)
		}
	}
	return some
}

func codeOf(err error) wire.Code {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// tokens is a small game: each member has a token that inputs move; requests
// spawn, remove, echo, stay unanswered, sleep and panic.
type tokens struct{}

func (tokens) Name() string { return "tokens" }

func (tokens) Schema() *replica.Schema {
	return replica.MustSchema(
		replica.Type{Name: "token", Fields: []replica.Field{{Name: "owner", Max: 1000}, {Name: "x", Max: 100_000}}},
		replica.Type{Name: "mark"},
	)
}

func (g tokens) NewWorld(authority.Setup) authority.World {
	return &board{store: replica.NewStore(g.Schema()), of: map[uint32]replica.ID{}}
}

type board struct {
	store *replica.Store
	of    map[uint32]replica.ID // looked up, never ranged over
	marks []replica.ID
	away  int
	done  int
}

func (b *board) Entities() *replica.Store      { return b.store }
func (b *board) ClientConfig() json.RawMessage { return json.RawMessage(`{"size":9}`) }

func (b *board) Hash() uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(b.store.Hash()), byte(b.store.Hash() >> 8), byte(b.away), byte(b.done)})
	return h.Sum64()
}

func (b *board) Step(tick uint32, commands []authority.Command, out *authority.Effects) {
	for _, c := range commands {
		switch c.Kind {
		case authority.CommandJoin:
			id := b.store.Spawn(0)
			b.store.Set(id, 0, int32(c.Member))
			b.of[c.Member] = id
		case authority.CommandLeave:
			b.store.Despawn(b.of[c.Member], 4)
			delete(b.of, c.Member)
		case authority.CommandAway:
			b.away++
		case authority.CommandBack:
			b.away--
		case authority.CommandInput:
			id := b.of[c.Member]
			b.store.Set(id, 1, b.store.Get(id, 1)+int32(len(c.Payload)))
		case authority.CommandRequest:
			b.request(c, out)
		}
	}
}

func (b *board) request(c authority.Command, out *authority.Effects) {
	b.done++
	switch c.Name {
	case "echo":
		out.Respond(c, wire.CodeNone, append([]byte(nil), c.Payload...))
	case "count":
		out.Respond(c, wire.CodeNone, []byte{byte(b.done)})
	case "mark":
		b.marks = append(b.marks, b.store.Spawn(1))
		out.Emit(authority.Everyone, "marked", []byte("yes"))
		out.Respond(c, wire.CodeNone, nil)
	case "unmark":
		b.store.Despawn(b.marks[0], 2)
		b.marks = b.marks[1:]
		out.Respond(c, wire.CodeNone, nil)
	case "later":
	case "sleep":
		d, _ := time.ParseDuration(string(c.Payload))
		time.Sleep(d)
		out.Respond(c, wire.CodeNone, nil)
	case "panic":
		panic("a fault of the game")
	default:
		out.Respond(c, wire.CodeUnknownRequest, nil)
	}
}

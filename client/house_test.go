package client_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

// house is a real session manager over a real room worker.
type house struct {
	t        *testing.T
	sessions *session.Manager
	worker   *room.Worker
	shoal    *shoal
}

func openHouse(t *testing.T, o session.Options) *house {
	h := &house{t: t, shoal: newShoal()}
	h.worker = room.NewWorker(room.Options{
		OnDemand: true,
		Games:    map[string]authority.Game{"shoal": h.shoal, arena.Name: arena.New()},
		Templates: []room.Template{
			{Pattern: "hall*", Spec: authority.RoomSpec{Kind: authority.KindRelay}},
			{Pattern: "arena*", Spec: authority.RoomSpec{Kind: authority.KindAuthority, Game: arena.Name, Seed: 1}},
			{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindAuthority, Game: "shoal", Seed: 1}},
		},
	})
	o.Rooms, o.Admit = h.worker, anyone{}
	h.sessions = session.NewManager(o)
	return h
}

func (h *house) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.sessions.Close(ctx); err != nil {
		h.t.Error(err)
	}
	if err := h.worker.Shutdown(ctx); err != nil {
		h.t.Error(err)
	}
	time.Sleep(2 * link.CloseGrace) // the links' last words
}

type anyone struct{}

func (anyone) Admit(h wire.Hello, _ netip.AddrPort) (session.Grant, *wire.Error) {
	return session.Grant{Identity: h.Identity, Name: h.Name}, nil
}

// lines are the links that a client has had, to be cut.
type lines struct {
	mu    sync.Mutex
	links []*link.Link
}

// of returns a dialer that remembers the links of d.
func (ls *lines) of(d client.Dialer) client.Dialer {
	return func(ctx context.Context, h link.Handler) (*link.Link, error) {
		l, err := d(ctx, h)
		if err == nil {
			ls.mu.Lock()
			ls.links = append(ls.links, l)
			ls.mu.Unlock()
		}
		return l, err
	}
}

// newest returns the last link made.
func (ls *lines) newest() *link.Link {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.links[len(ls.links)-1]
}

// shoal is a game of many small things that move, appear and vanish all the
// time. It says a numbered event every tick, answers every request with its
// payload, and remembers what happened, for comparison with what clients saw.
type shoal struct {
	schema *replica.Schema

	mu     sync.Mutex
	hashes map[uint32]uint32 // of the entities, by tick
	inputs map[uint32][]byte // that were applied, by member
	asked  map[uint32]int    // requests that took effect, by member
}

const shoalSize = 60

func newShoal() *shoal {
	return &shoal{
		schema: replica.MustSchema(replica.Type{Name: "fish", Fields: []replica.Field{
			{Name: "x", Min: 0, Max: 65535}, {Name: "y", Min: 0, Max: 65535}, {Name: "hue", Min: 0, Max: 255},
		}}),
		hashes: map[uint32]uint32{}, inputs: map[uint32][]byte{}, asked: map[uint32]int{},
	}
}

func (g *shoal) Name() string            { return "shoal" }
func (g *shoal) Schema() *replica.Schema { return g.schema }

func (g *shoal) NewWorld(s authority.Setup) authority.World {
	return &water{game: g, store: replica.NewStore(g.schema), seed: s.Seed}
}

// hash returns the hash of a tick, once the next tick has begun.
func (g *shoal) hash(tick uint32) (uint32, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, ok := g.hashes[tick]
	return h, ok
}

type water struct {
	game  *shoal
	store *replica.Store
	seed  uint64
	fish  []replica.ID
}

func (w *water) Entities() *replica.Store      { return w.store }
func (w *water) Hash() uint64                  { return uint64(w.store.Hash()) }
func (w *water) ClientConfig() json.RawMessage { return nil }

func (w *water) random(n int) int {
	w.seed = w.seed*6364136223846793005 + 1442695040888963407
	return int(w.seed>>33) % n
}

func (w *water) Step(tick uint32, commands []authority.Command, out *authority.Effects) {
	g := w.game
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hashes[tick-1] = w.store.Hash()
	for _, c := range commands {
		switch c.Kind {
		case authority.CommandInput:
			g.inputs[c.Member] = append(g.inputs[c.Member], c.Payload...)
		case authority.CommandRequest:
			g.asked[c.Member]++
			out.Respond(c, wire.CodeNone, append([]byte(nil), c.Payload...))
		}
	}
	for len(w.fish) < shoalSize {
		id := w.store.Spawn(0)
		w.store.Set(id, 2, int32(w.random(256)))
		w.fish = append(w.fish, id)
	}
	for _, id := range w.fish {
		for f := range 2 {
			w.store.Set(id, f, int32((int(w.store.Get(id, f))+w.random(201)+65436)%65536))
		}
	}
	if tick%3 == 0 {
		i := w.random(len(w.fish))
		w.store.Despawn(w.fish[i], uint8(w.random(8)))
		w.fish = append(w.fish[:i], w.fish[i+1:]...)
	}
	out.Emit(authority.Everyone, "tick", binary.LittleEndian.AppendUint32(nil, tick))
}

package e2e

import (
	"sync/atomic"
	"testing"

	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// player plays the arena as a bot and remembers what it was shown.
type player struct {
	*client.Client
	t    *testing.T
	self atomic.Pointer[client.Client]

	// owned by the client's goroutine; to be read once the client has closed
	bot      *arena.Bot
	seen     map[uint32]sight // by tick
	spawned  map[body]int
	vanished int
	at       map[body][2]int32 // where those are that can move
	moved    map[body]bool     // that have been elsewhere
	departed []uint32          // peers that left
	seq      uint16
	asked    int
	answered int // with whatever result
	failed   error
}

// sight is a player's world at the end of a tick.
type sight struct {
	hash uint32
	held []body
}

// joinArena joins the arena as a bot named name.
func joinArena(t *testing.T, name string, dialers ...client.Dialer) *player {
	t.Helper()
	p := &player{t: t, seen: map[uint32]sight{}, spawned: map[body]int{}, at: map[body][2]int32{}, moved: map[body]bool{}}
	c, err := client.Join(within(t, patience), client.Options{
		Dialers: dialers, Room: "arena", Identity: name, Name: name,
		TickInputs: true, AttemptTimeout: patience / 2, RetryMin: retryMin, RetryMax: retryMax,
		Handler: client.Handler{Snapshot: p.snapshot, Input: p.input, Peer: p.peer},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p.Client = c
	p.self.Store(c)
	t.Cleanup(c.Close)
	return p
}

// crowd lets bots play in this process until the test is over: a world without
// players has little to say.
func (h *house) crowd(t *testing.T, names ...string) {
	t.Helper()
	server, options := h.Local()
	for _, name := range names {
		joinArena(t, name, client.Memory(server, link.Options{}, options))
	}
}

func (p *player) snapshot(v *replica.View, a replica.Applied) {
	now := sight{hash: v.Hash()}
	for id := range v.All() {
		b := body{id, v.Generation(id)}
		now.held = append(now.held, b)
		if x, y := fieldsOfPlace(v.Type(id)); x != y {
			at := [2]int32{v.Get(id, x), v.Get(id, y)}
			if was, known := p.at[b]; known && was != at {
				p.moved[b] = true
			}
			p.at[b] = at
		}
	}
	p.seen[a.Tick] = now
	for _, id := range a.Spawned {
		p.spawned[body{id, v.Generation(id)}]++
	}
	p.vanished += len(a.Despawned)
}

// fieldsOfPlace returns the fields that say where an entity is; equal ones for
// types that never move.
func fieldsOfPlace(typ int) (x, y int) {
	switch typ {
	case arena.TypePlayer:
		return arena.PlayerX, arena.PlayerY
	case arena.TypeEnemy:
		return arena.EnemyX, arena.EnemyY
	case arena.TypeProjectile:
		return arena.ProjectileX, arena.ProjectileY
	}
	return 0, 0
}

func (p *player) peer(n wire.PeerNotice) {
	if n.Event == wire.PeerLeft {
		p.departed = append(p.departed, n.ID)
	}
}

func (p *player) input(seq uint16, _ uint32) []byte {
	c := p.self.Load()
	if c == nil || c.State() != client.Synchronized {
		return nil
	}
	if p.seq++; seq != p.seq {
		p.t.Errorf("input %d comes after %d", seq, p.seq-1)
		p.seq = seq
	}
	if p.bot == nil {
		w := c.Welcome()
		bot, err := arena.NewBot(w.You, w.Room.Config, uint64(w.You))
		if err != nil {
			p.t.Error(err)
			return []byte{0, 0, 0, 0}
		}
		p.bot = bot
	}
	var act arena.Act
	c.World(func(v *replica.View) { act = p.bot.Next(v) })
	if act.Request != "" {
		p.call(c, act)
	}
	if act.Input == nil {
		return []byte{0, 0, 0, 0}
	}
	return act.Input
}

func (p *player) call(c *client.Client, act arena.Act) {
	_, err := c.Call(act.Request, act.Payload, func(_ []byte, err error) {
		switch code := codeOf(err); {
		case err == nil, code == wire.CodeRequestRefused:
			p.answered++
		case code == wire.CodeLeft: // the test is over
		default:
			p.failed = err
		}
	})
	if err == nil {
		p.asked++
	}
}

// check compares what the player was shown with what the server did. It is for
// players whose client has closed.
func (p *player) check(t *testing.T, r *recorder, leastTicks int) {
	t.Helper()
	you, name := p.You(), p.Peers()[p.You()].Name
	compared, wrong, partial := 0, 0, 0
	for tick, seen := range p.seen {
		truth := r.world(tick)
		if truth == nil {
			continue // the last one
		}
		compared++
		// Everything held is as it was. Something may be missing for a moment: the
		// new owner of an id waits until the end of the old one is acknowledged.
		held := world{}
		for _, b := range seen.held {
			held[b] = truth[b]
		}
		if seen.hash != held.hash() {
			wrong++
		}
		if len(seen.held) != len(truth) {
			partial++
		}
	}
	if wrong > 0 || partial > 3+compared/20 || compared < leastTicks {
		t.Errorf("%s: of %d worlds %d are wrong and %d not complete; want at least %d, all right and nearly all complete",
			name, compared, wrong, partial, leastTicks)
	}
	for b, n := range p.spawned {
		if n > 1 {
			t.Errorf("%s: entity %d/%d was spawned %d times", name, b.id, b.generation, n)
		}
	}
	if p.failed != nil {
		t.Errorf("%s: a request failed: %v", name, p.failed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	inputs := r.inputs[you]
	for i := 1; i < len(inputs); i++ {
		if !wire.Newer16(inputs[i], inputs[i-1]) {
			t.Errorf("%s: input %d took effect after %d", name, inputs[i], inputs[i-1])
		}
	}
	if len(inputs) < leastTicks/2 {
		t.Errorf("%s: %d of %d inputs took effect", name, len(inputs), p.seq)
	}
	done := 0
	for q, times := range r.asked {
		if q.member != you {
			continue
		}
		if done++; times > 1 {
			t.Errorf("%s: request %d took effect %d times", name, q.id, times)
		}
	}
	if done < p.answered || done > p.asked {
		t.Errorf("%s: %d requests took effect, %d were sent and %d answered", name, done, p.asked, p.answered)
	}
}

// keepsMoving waits until an input that is made from now on has taken effect.
func (p *player) keepsMoving(t *testing.T) {
	t.Helper()
	var now uint16
	await(t, "an input that is known", func() (ok bool) { now, ok = p.AppliedInput(); return ok })
	await(t, "an input that is new", func() bool {
		done, _ := p.AppliedInput()
		return wire.Newer16(done, now+wire.MaxInputs)
	})
}

package arena

import (
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

var _ View = (*replica.Store)(nil)

// playground is a world with bots in it that see the world itself.
type playground struct {
	*stage
	bots []*Bot
	// log of what they did
	requests  map[string]int
	successes int
	refused   int
	events    map[string]int
}

func newPlayground(t testing.TB, seed uint64, bots uint32) *playground {
	p := &playground{stage: newStage(t, seed), requests: map[string]int{}, events: map[string]int{}}
	var joins []authority.Command
	for member := uint32(1); member <= bots; member++ {
		b, err := NewBot(member, p.ClientConfig(), seed)
		if err != nil {
			t.Fatal(err)
		}
		p.bots = append(p.bots, b)
		joins = append(joins, authority.Command{Kind: authority.CommandJoin, Member: member, Name: "bot"})
	}
	p.step(joins...)
	return p
}

func (p *playground) commands() []authority.Command {
	var commands []authority.Command
	for _, b := range p.bots {
		act := b.Next(p.entities)
		commands = append(commands, authority.Command{Kind: authority.CommandInput, Member: b.member, Payload: slices.Clone(act.Input)})
		if act.Request != "" {
			p.requests[act.Request]++
			commands = append(commands, authority.Command{
				Kind: authority.CommandRequest, Member: b.member, Request: p.tick, Name: act.Request, Payload: act.Payload,
			})
		}
	}
	return commands
}

func (p *playground) play(ticks int) {
	for range ticks {
		p.step(p.commands()...)
		p.refused += p.out.Refused
		for _, r := range p.out.Responses {
			if r.Code == 0 {
				p.successes++
			}
		}
		for _, kind := range []string{GameKill, GamePickup, GameDoor, GameRespawn, GameRoundEnd} {
			p.events[kind] += len(p.told(kind))
		}
	}
}

func TestBotsPlayAPlausibleRound(t *testing.T) {
	t.Parallel()
	p := newPlayground(t, 4, 8)
	rooms := make(map[[3]int32]bool)
	for range 36 {
		p.play(100)
		for _, q := range p.players {
			rooms[[3]int32{int32(q.member), q.body.X / (10 * Tile), q.body.Y / (10 * Tile)}] = true
		}
	}
	if p.refused != 0 {
		t.Errorf("%d of their inputs were refused", p.refused)
	}
	for _, kind := range []string{GameKill, GamePickup, GameDoor, GameRespawn, GameRoundEnd} {
		if p.events[kind] == 0 {
			t.Errorf("no %s in two minutes", kind)
		}
	}
	for _, name := range []string{RequestAttack, RequestInteract, RequestRespawn} {
		if p.requests[name] == 0 {
			t.Errorf("no request %s in two minutes", name)
		}
	}
	asked := p.requests[RequestAttack] + p.requests[RequestInteract] + p.requests[RequestRespawn]
	if p.successes*2 < asked {
		t.Errorf("%d of %d requests succeeded", p.successes, asked)
	}
	if len(rooms) < 8*6 {
		t.Errorf("they saw %d rooms in all", len(rooms))
	}
	t.Logf("requests %v, %d succeeded, events %v, rooms %d", p.requests, p.successes, p.events, len(rooms))
}

// TestPlayKeepsToItsBounds watches a busy field at every pace.
func TestPlayKeepsToItsBounds(t *testing.T) {
	t.Parallel()
	for _, hz := range []int{1, 20, 30, 60, 120} {
		p := newPlayground(t, uint64(hz), 6)
		p.world = newWorld(Schema(), authority.Setup{Seed: uint64(hz), TickRate: hz})
		for i := range p.bots {
			member := uint32(i + 1)
			b, err := NewBot(member, p.ClientConfig(), 1)
			if err != nil {
				t.Fatal(err)
			}
			p.bots[i] = b
			p.step(authority.Command{Kind: authority.CommandJoin, Member: member})
		}
		for range 1500 {
			p.step(p.commands()...)
			p.checkBounds(hz)
		}
	}
}

func (p *playground) checkBounds(hz int) {
	p.t.Helper()
	standing := func(what string, x, y, radius int32) {
		for _, corner := range [4][2]int32{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
			if p.grid.Solid((x+corner[0]*radius)>>8, (y+corner[1]*radius)>>8) {
				p.t.Fatalf("%d Hz, tick %d: %s at (%d, %d) is in a wall", hz, p.tick, what, x, y)
			}
		}
	}
	for _, q := range p.players {
		standing("player", q.body.X, q.body.Y, movement.Radius)
		if q.health < 0 || q.health > MaxPlayerHealth || q.alive() != (q.health > 0) {
			p.t.Fatalf("%d Hz, tick %d: health %d, alive %v", hz, p.tick, q.health, q.alive())
		}
	}
	for i := range p.enemies {
		e := &p.enemies[i]
		standing("enemy", e.x, e.y, breeds[e.kind].radius)
		if e.health <= 0 || e.gone {
			p.t.Fatalf("%d Hz, tick %d: enemy %+v", hz, p.tick, *e)
		}
	}
	for i := range p.bolts {
		standing("projectile", p.bolts[i].x, p.bolts[i].y, 0)
	}
	if len(p.enemies) < baseEnemies || len(p.enemies) > maxEnemies || len(p.items) > maxItems {
		p.t.Fatalf("%d Hz, tick %d: %d enemies, %d items", hz, p.tick, len(p.enemies), len(p.items))
	}
	things := 1 + len(p.players) + len(p.enemies) + len(p.bolts) + len(p.items) + len(p.gates)
	if p.entities.Len() != things {
		p.t.Fatalf("%d Hz, tick %d: %d entities for %d things", hz, p.tick, p.entities.Len(), things)
	}
}

func TestBotIsAFunctionOfItsSeedAndWhatItSees(t *testing.T) {
	t.Parallel()
	a, b := newPlayground(t, 9, 4), newPlayground(t, 9, 4)
	a.play(600)
	b.play(600)
	if a.Hash() != b.Hash() {
		t.Error("two plays of the same bots differ")
	}
}

func TestBotRefusesABadConfig(t *testing.T) {
	t.Parallel()
	for _, config := range []string{"", "{}", `{"map":["x"]}`, `{"map":7}`} {
		if _, err := NewBot(1, []byte(config), 1); err == nil {
			t.Errorf("%q: no error", config)
		}
	}
}

func TestStepAllocatesNothingWhileNothingIsTold(t *testing.T) {
	s := newStage(t, 2)
	var commands []authority.Command
	for member := uint32(1); member <= 8; member++ {
		s.join(member)
		commands = append(commands, press(member, Input{Input: run(90, -90).Input}))
	}
	step := func() {
		for _, p := range s.players {
			p.shieldEnd = 1 << 31 // no damage, so no events
		}
		s.items = s.items[:0]
		s.step(commands...)
	}
	for range 3000 {
		step() // ids and stores reach their size
	}
	if n := testing.AllocsPerRun(500, step); n > 0 {
		t.Errorf("%v allocations per tick", n)
	}
}

func BenchmarkStep(b *testing.B) {
	p := newPlayground(b, 4, 8)
	const ticks = 1800 // of real play, over and over
	recorded := make([][]authority.Command, ticks)
	for i := range recorded {
		recorded[i] = p.commands()
		p.step(recorded[i]...)
	}
	p = newPlayground(b, 4, 8)
	b.ReportAllocs()
	b.ResetTimer()
	events, i := 0, 0
	for b.Loop() {
		p.step(recorded[i]...)
		events += len(p.out.Events)
		if i++; i == ticks {
			b.StopTimer()
			p, i = newPlayground(b, 4, 8), 0
			b.StartTimer()
		}
	}
	b.ReportMetric(float64(events)/float64(b.N), "events/op")
}

func BenchmarkBot(b *testing.B) {
	p := newPlayground(b, 4, 8)
	p.play(300)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.bots[i%len(p.bots)].Next(p.entities)
	}
}

func BenchmarkNewWorld(b *testing.B) {
	g := New()
	for i := uint64(0); b.Loop(); i++ {
		g.NewWorld(authority.Setup{Seed: i, TickRate: 30})
	}
}

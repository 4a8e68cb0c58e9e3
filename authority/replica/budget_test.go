package replica

import (
	"math/rand/v2"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// serveAt commits and applies a delta within a budget.
func (p *pair) serveAt(budget int) Applied {
	p.t.Helper()
	p.tick()
	body, stats := p.peer.Delta(nil, Meta{}, budget)
	p.stats = stats
	return p.apply(body)
}

func TestBudgetIsKeptAndUsed(t *testing.T) {
	t.Parallel()
	for _, budget := range []int{60, 100, 333, 600, 1148} {
		c := newCrowd(2000, 500, 7)
		p := joinedAt(t, c)
		for range 30 {
			c.step()
			body, stats := p.peer.Delta(nil, Meta{}, budget)
			p.apply(body)
			p.ack()
			// A record is at most 9 bytes; counts are reserved at their longest.
			if stats.Bytes > budget || stats.Bytes < budget-10 || stats.Deferred == 0 {
				t.Fatalf("budget %d: %+v", budget, stats)
			}
		}
	}
}

func TestBudgetIsUsedWhereIDsAreFarApart(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	var ids []ID
	for len(ids) < 200 {
		ids = append(ids, s.Spawn(1))
		s.growStore(int(ids[len(ids)-1]) + 250)
	}
	p := joined(t, s)
	r := rand.New(rand.NewPCG(1, 1)) // so that the urgent ones lie between others
	for turn := range 100 {
		for _, id := range ids {
			if r.IntN(4) > 0 {
				s.Set(id, 0, s.Get(id, 0)^1)
			}
		}
		p.serveAt(150)
		p.ack()
		if p.stats.Bytes > 150 || p.stats.Bytes < 149 && p.stats.Deferred > 0 {
			t.Fatalf("turn %d: %+v", turn, p.stats)
		}
	}
}

// joinedAt is joined for a crowd, which counts its ticks itself.
func joinedAt(t *testing.T, c *crowd) *pair {
	t.Helper()
	p := newPair(t, c.store)
	p.full()
	p.ack()
	return p
}

func TestBudgetIsSharedFairly(t *testing.T) {
	t.Parallel()
	const movers = 500
	c := newCrowd(1000, movers, 3)
	p := joinedAt(t, c)
	last, worst, perTick := make(map[ID]uint32), uint32(0), 0
	for range 300 {
		c.step()
		body, stats := p.peer.Delta(nil, Meta{}, 400)
		perTick = stats.Entities
		for _, id := range p.apply(body).Changed {
			if before, ok := last[id]; ok {
				worst = max(worst, c.tick-before)
			}
			last[id] = c.tick
		}
		p.ack()
	}
	if len(last) < movers*95/100 {
		t.Errorf("only %d of %d were ever sent", len(last), movers)
	}
	if turn := uint32(movers / perTick); worst > 2*turn {
		t.Errorf("one waited %d ticks; a turn of all takes %d", worst, turn)
	}
}

func TestWhatIsUnderWayGivesPrecedence(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	var ids []ID
	for range 40 {
		ids = append(ids, s.Spawn(0))
	}
	p := joined(t, s)
	for _, id := range ids[:20] {
		s.Set(id, 0, 1)
	}
	p.send() // not acknowledged
	for _, id := range ids[20:] {
		s.Set(id, 0, 1)
	}
	a := p.serveAt(80)
	if len(a.Changed) < p.stats.Entities*9/10 || p.stats.Deferred == 0 {
		t.Errorf("%d of %d records were news", len(a.Changed), p.stats.Entities)
	}
}

func TestDespawnsGoAheadOfChanges(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	for range 60 {
		s.Spawn(0)
	}
	p := joined(t, s)
	for id := range s.All() {
		if s.Set(id, 0, 1); id%6 == 0 {
			s.Despawn(id, 1)
		}
	}
	if p.serveAt(80); p.stats.Despawns != 10 || p.stats.Deferred == 0 {
		t.Errorf("stats %+v", p.stats)
	}
}

// What was quiet for long and changes now has waited no longer than its change.
func TestQuietEntitiesDoNotPushInFront(t *testing.T) {
	t.Parallel()
	c := newCrowd(1000, 200, 5)
	p := joinedAt(t, c)
	walking := make(map[ID]bool)
	for _, w := range c.walkers {
		walking[w.id] = true
	}
	step := func() (pushed int) {
		c.step()
		body, _ := p.peer.Delta(nil, Meta{}, 300)
		for _, id := range p.apply(body).Changed {
			if !walking[id] {
				pushed++
			}
		}
		p.ack()
		return pushed
	}
	for range 200 {
		step()
	}
	for id := range c.store.All() {
		if !walking[id] {
			c.store.Set(id, 2, 255-c.store.Get(id, 2))
		}
	}
	// One small record may fill what is left of the budget.
	if pushed := step(); pushed > 1 {
		t.Errorf("%d went before those that waited", pushed)
	}
}

func TestFocusIsAlwaysSent(t *testing.T) {
	t.Parallel()
	c := newCrowd(500, 500, 3)
	p := joinedAt(t, c)
	focus := c.walkers[77].id
	p.peer.Focus(focus)
	for range 50 {
		c.step()
		body, _ := p.peer.Delta(nil, Meta{}, 100)
		p.apply(body)
		p.ack()
		if !sameEntity(&c.store.table, &p.view.table, focus) {
			t.Fatal("the focus had to wait")
		}
	}
}

func TestMassDespawnDrainsWithinTheBudget(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	for range 3000 {
		s.Spawn(0)
	}
	p := joined(t, s)
	for id := range s.All() {
		s.Despawn(id, 1)
	}
	turns := 0
	for ; p.view.Len() > 0 && turns < 20; turns++ {
		p.serveAt(wire.MaxDatagram - 2)
	}
	// 3,000 records of 17 bits, none acknowledged: repeats wait for first ones.
	if turns > 7 {
		t.Errorf("took %d snapshots", turns)
	}
	p.ack()
	p.serveAt(100)
	p.same()
}

// A budget too small for anything must not starve the largest entity.
func TestTheMostUrgentGoesWhateverTheBudget(t *testing.T) {
	t.Parallel()
	large := Type{Name: "large"}
	for _, name := range "abcdefghijklmnopqrstuvwxyzABCDEF" {
		large.Fields = append(large.Fields, Field{Name: string(name), Min: -1 << 31, Max: 1<<31 - 1})
	}
	s := NewStore(MustSchema(large, Type{Name: "small", Fields: []Field{{Name: "v", Max: 1}}}))
	p := joined(t, s)
	id := s.Spawn(0)
	var small []ID
	for range 10 {
		small = append(small, s.Spawn(1))
	}
	for turn := 0; !p.view.Alive(id); turn++ {
		for _, other := range small {
			s.Set(other, 0, int32(turn&1))
		}
		if p.serveAt(20); turn > 20 || p.stats.Bytes > 150 {
			t.Fatalf("turn %d: %+v", turn, p.stats)
		}
		p.ack()
	}
}

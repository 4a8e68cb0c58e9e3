package replica

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
	"pgregory.net/rapid"
)

// rig is a world, its server side and a client, with bad lines between them:
// snapshots and acknowledgements are lost, repeated, late and out of order;
// chunks of full snapshots only keep their order.
type rig struct {
	pair
	conditions
	rand *rand.Rand

	worlds    map[uint32]*table // as they were at each tick
	inputs    map[uint32]Meta   // by tick sent; under 0 the current one
	snapshots []flight
	chunks    [][]byte
	acks      []ackFlight

	told  map[ID]uint8 // generations by what the client was told
	input Meta         // what the client knows of its inputs
}

// conditions in percent, but for the budget in bytes.
type conditions struct {
	Loss, Repeat, Late, Churn, Far, Torn int
	Budget                               int
}

type flight struct {
	tick     uint32
	body     []byte
	deferred map[ID]bool
}

type ackFlight struct {
	tick uint32
	mask uint64
}

func newRig(t *rapid.T) *rig {
	s := NewStore(testSchema())
	s.rest = rapid.Uint32Range(0, rest).Draw(t, "rest") // less is harder
	percent := func(name string, limit int) int { return rapid.IntRange(0, limit).Draw(t, name) }
	return &rig{
		pair: pair{t: t, store: s, peer: NewPeer(s), view: NewView(s.Schema())},
		conditions: conditions{
			Loss: percent("loss", 60), Repeat: percent("repeat", 30), Late: percent("late", 90),
			Churn: percent("churn", 90), Far: percent("far", 30), Torn: percent("torn", 3),
			Budget: rapid.IntRange(20, wire.MaxDatagram-2).Draw(t, "budget"),
		},
		rand:   rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
		worlds: make(map[uint32]*table), inputs: make(map[uint32]Meta), told: make(map[ID]uint8),
	}
}

func (r *rig) chance(percent int) bool { return r.rand.IntN(100) < percent }

// turn is a tick and what happens around it.
func (r *rig) turn() {
	r.play()
	r.tick()
	for len(r.snapshots) > 0 && !r.chance(r.Late) {
		r.deliverSnapshot()
	}
	for len(r.chunks) > 0 && !r.chance(r.Late) {
		r.deliverChunk()
	}
	tick, mask := r.view.Ack()
	r.acks = append(r.acks, ackFlight{tick, mask})
	for len(r.acks) > 0 && !r.chance(r.Late) {
		r.deliverAck()
	}
	r.lieAboutTicks()
	if r.chance(r.Torn) {
		r.peer.Resync()
		if r.chance(50) { // a resume with a gap
			r.chunks = nil
		}
	}
}

// play is the game.
func (r *rig) play() {
	for r.chance(r.Churn) && r.store.Len() < 100 {
		r.store.Spawn(r.rand.IntN(4))
	}
	for id := range r.store.All() {
		n := len(r.store.fields(id))
		switch {
		case r.chance(r.Churn / 4):
			r.store.Despawn(id, uint8(r.rand.IntN(16)))
		case n > 0 && r.chance(40):
			r.store.Set(id, r.rand.IntN(n), int32(r.rand.Uint32()))
		}
	}
	if r.chance(50) {
		r.inputs[0] = Meta{HasInput: true, InputSeq: r.inputs[0].InputSeq + 1}
	}
}

// tick is the room's. Ticks may be far apart, as when a client was away.
func (r *rig) tick() {
	jump := uint32(1)
	switch {
	case r.chance(r.Far):
		jump += uint32(r.rand.IntN(2 * rest))
	case r.rand.IntN(500) == 0:
		jump = maxAbsence + 10
	}
	r.tickBy(jump, 20+r.rand.IntN(r.Budget))
}

func (r *rig) tickBy(jump uint32, budget int) {
	r.store.Commit(r.store.Tick() + jump)
	tick, meta := r.store.Tick(), r.inputs[0]
	r.worlds[tick] = cloneTable(&r.store.table)
	if r.peer.NeedsFull() {
		size := MinChunkBytes + r.rand.IntN(100)
		if r.peer.Full(meta, size, func(chunk []byte) {
			if len(chunk) > size {
				r.t.Fatalf("chunk of %d bytes, the limit is %d", len(chunk), size)
			}
			r.chunks = append(r.chunks, slices.Clone(chunk))
		}) == 0 {
			r.t.Fatal("no full snapshot although one is needed")
		}
		r.inputs[tick] = meta
		return
	}
	body, stats := r.peer.Delta(nil, meta, budget)
	if stats.Bytes == 0 {
		return
	}
	if stats.Bytes > max(budget, 150) || stats.Bytes != len(body) {
		r.t.Fatalf("%d bytes, the budget was %d: %+v", len(body), budget, stats)
	}
	r.inputs[tick] = meta
	r.snapshots = append(r.snapshots, flight{tick, body, r.deferred(stats)})
}

// deferred lists the ids of which the last delta did not tell everything.
func (r *rig) deferred(stats DeltaStats) map[ID]bool {
	ids, count := make(map[ID]bool), 0
	for _, x := range r.peer.picks.all {
		if !x.chosen {
			ids[x.id] = true
			count++
		}
		if x.record == despawn && r.store.Alive(x.id) {
			ids[x.id] = true // who has the id now
			count++
		}
	}
	if count != stats.Deferred {
		r.t.Fatalf("%d records had to wait, told are %d", count, stats.Deferred)
	}
	return ids
}

func (r *rig) deliverSnapshot() {
	i := r.rand.IntN(len(r.snapshots))
	f := r.snapshots[i]
	if !r.chance(r.Repeat) {
		r.snapshots = slices.Delete(r.snapshots, i, i+1)
	}
	if !r.chance(r.Loss) {
		r.receive(f)
	}
}

func (r *rig) receive(f flight) {
	newest := r.view.Tick()
	a, err := r.view.Apply(f.body)
	if err != nil {
		r.t.Fatalf("tick %d: %v", f.tick, err)
	}
	if a.Stale != (f.tick <= newest) {
		r.t.Fatalf("tick %d after %d: stale %v", f.tick, newest, a.Stale)
	}
	if a.Stale {
		return
	}
	r.hear(a)
	r.compare(f.tick, f.deferred)
}

func (r *rig) deliverChunk() {
	chunk := r.chunks[0]
	r.chunks = r.chunks[1:]
	a, done, err := r.view.ApplyFull(chunk)
	if err != nil {
		r.t.Fatal(err)
	}
	if done {
		r.hear(a)
		r.compare(a.Tick, nil)
	}
}

// hear keeps count of who was announced, and of the inputs applied.
func (r *rig) hear(a Applied) {
	if a.HasInput {
		r.input = a.Meta
	}
	if r.input != r.inputs[a.Tick] {
		r.t.Fatalf("tick %d: client believes in input %+v, it was %+v", a.Tick, r.input, r.inputs[a.Tick])
	}
	for _, d := range a.Despawned {
		if g, ok := r.told[d.ID]; !ok || g != d.Generation {
			r.t.Fatalf("despawned %+v, who was announced as %d, %v", d, g, ok)
		}
		delete(r.told, d.ID)
	}
	for _, id := range a.Spawned {
		if _, ok := r.told[id]; ok {
			r.t.Fatalf("%d spawned twice", id)
		}
		r.told[id] = r.view.Generation(id)
	}
	for _, id := range a.Changed {
		if _, ok := r.told[id]; !ok {
			r.t.Fatalf("%d changed and was never announced", id)
		}
	}
	if got, want := slices.Sorted(maps.Keys(r.told)), slices.Collect(r.view.All()); !slices.Equal(got, want) {
		r.t.Fatalf("announced are %v, held %v", got, want)
	}
}

// compare checks the client's copy against the world at that tick.
func (r *rig) compare(tick uint32, deferred map[ID]bool) {
	world := r.worlds[tick]
	for id := ID(1); int(id) < max(len(world.typ), len(r.view.typ)); id++ {
		if !deferred[id] && !sameEntity(world, &r.view.table, id) {
			r.t.Fatalf("tick %d: entity %d differs", tick, id)
		}
	}
	if len(deferred) == 0 && r.view.Hash() != hashOf(world) {
		r.t.Fatalf("tick %d: the hashes differ", tick)
	}
}

func (r *rig) deliverAck() {
	i := r.rand.IntN(len(r.acks))
	a := r.acks[i]
	if !r.chance(r.Repeat) {
		r.acks = slices.Delete(r.acks, i, i+1)
	}
	if r.chance(r.Loss) {
		return
	}
	if err := r.peer.Ack(a.tick, a.mask); err != nil && err != ErrAckTooOld {
		r.t.Fatalf("acknowledgement of %d: %v", a.tick, err)
	}
}

func (r *rig) lieAboutTicks() {
	tick := 1 + r.rand.Uint32N(r.store.Tick()+100)
	if _, sent := r.inputs[tick]; sent {
		return
	}
	if err := r.peer.Ack(tick, r.rand.Uint64()); err == nil {
		r.t.Fatalf("tick %d was never sent and its acknowledgement believed", tick)
	}
}

// settle is the quiet after which nothing may be missing.
func (r *rig) settle() {
	for range 12 {
		r.tickBy(1, wire.MaxDatagram-2)
		for len(r.chunks) > 0 {
			r.deliverChunk()
		}
		for _, f := range r.snapshots {
			r.receive(f)
		}
		r.snapshots = nil
		if err := r.peer.Ack(r.view.Ack()); err != nil {
			r.t.Fatal(err)
		}
	}
	r.same()
	for _, word := range r.peer.dirty {
		if word != 0 {
			r.t.Fatal("something is still to be sent")
		}
	}
}

func TestViewEqualsStoreOverBadLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		for range 40 {
			r.store.Spawn(r.rand.IntN(4))
		}
		for range 300 {
			r.turn()
		}
		r.settle()
	})
}

func cloneTable(t *table) *table {
	c := *t
	c.alive, c.generation = slices.Clone(t.alive), slices.Clone(t.generation)
	c.typ, c.values = slices.Clone(t.typ), slices.Clone(t.values)
	return &c
}

func hashOf(t *table) (sum uint32) {
	for id := range t.All() {
		sum += t.hashEntity(id)
	}
	return sum
}

package replica

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// crowd is the world of the measurements: 1,000 players on a map of 1,024 by
// 1,024 m in centimetres with 256 yaws, of whom walkers move at up to 6 m/s,
// 30 times a second.
type crowd struct {
	store   *Store
	walkers []walker
	tick    uint32
}

type walker struct {
	id        ID
	x, y, yaw float64
}

func crowdSchema() *Schema {
	return MustSchema(Type{Name: "player", Fields: []Field{
		{Name: "x", Max: 102400}, {Name: "y", Max: 102400}, {Name: "yaw", Max: 255},
	}})
}

func newCrowd(players, walking int, seed uint64) *crowd {
	c := &crowd{store: NewStore(crowdSchema())}
	r := rand.New(rand.NewPCG(seed, 1))
	for range players {
		c.walkers = append(c.walkers, walker{
			id: c.store.Spawn(0),
			x:  r.Float64() * 102400, y: r.Float64() * 102400, yaw: r.Float64() * 256,
		})
	}
	r.Shuffle(players, func(i, j int) { c.walkers[i], c.walkers[j] = c.walkers[j], c.walkers[i] })
	c.walkers = c.walkers[:walking]
	c.step()
	return c
}

func (c *crowd) step() {
	c.tick++
	for i := range c.walkers {
		w := &c.walkers[i]
		w.yaw += 5 * math.Sin(float64(c.tick)/20+float64(i))
		w.x += 20 * math.Cos(w.yaw*math.Pi/128)
		w.y += 20 * math.Sin(w.yaw*math.Pi/128)
		c.store.Set(w.id, 0, int32(w.x))
		c.store.Set(w.id, 1, int32(w.y))
		c.store.Set(w.id, 2, int32(w.yaw)&255)
	}
	c.store.Commit(c.tick)
}

// delay is the age in ticks of the baselines: a client that acknowledges every
// snapshot, late.
func follow(c *crowd, n int) []*Peer {
	peers := make([]*Peer, n)
	for i := range peers {
		peers[i] = NewPeer(c.store)
		peers[i].Full(Meta{}, MaxChunkBytes, func([]byte) {})
		if err := peers[i].Ack(c.tick, 0); err != nil {
			panic(err)
		}
	}
	return peers
}

const ackDelay = 3

func (c *crowd) serve(peers []*Peer, dst []byte, budget int) (bytes, entities int) {
	for _, p := range peers {
		if c.tick > ackDelay+1 {
			if err := p.Ack(c.tick-ackDelay, ^uint64(0)); err != nil {
				panic(err)
			}
		}
		_, stats := p.Delta(dst[:0], Meta{HasInput: true, InputSeq: uint16(c.tick)}, budget)
		bytes += stats.Bytes
		entities += stats.Entities
	}
	return bytes, entities
}

// BenchmarkDelta is one tick: 64 clients acknowledge and get their snapshots.
func BenchmarkDelta(b *testing.B) {
	for _, changed := range []int{0, 84, 1000} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			c := newCrowd(1000, changed, 1)
			peers := follow(c, 64)
			dst := make([]byte, 0, 2048)
			for range 2 * window {
				c.step()
				c.serve(peers, dst, 1140)
			}
			b.ReportAllocs()
			bytes, entities, ticks := 0, 0, 0
			for b.Loop() {
				b.StopTimer()
				c.step()
				b.StartTimer()
				n, e := c.serve(peers, dst, 1140)
				bytes += n
				entities += e
				ticks++
			}
			b.ReportMetric(float64(bytes)/float64(ticks*len(peers)), "bytes/snapshot")
			if entities > 0 {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(entities), "ns/entity")
				b.ReportMetric(float64(bytes)/float64(entities), "bytes/entity")
			}
		})
	}
}

// BenchmarkCommit is a tick's share of the store: 84 of 1,000 move.
func BenchmarkCommit(b *testing.B) {
	c := newCrowd(1000, 84, 1)
	b.ReportAllocs()
	for b.Loop() {
		c.step()
	}
}

func BenchmarkApply(b *testing.B) {
	c := newCrowd(1000, 84, 1)
	p := &pair{t: b, store: c.store, peer: NewPeer(c.store), view: NewView(c.store.Schema())}
	p.full()
	p.ack()
	var bodies [][]byte
	for range 64 {
		c.step()
		bodies = append(bodies, p.delta())
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		if i%len(bodies) == 0 {
			p.view.tick = p.view.origin
		}
		if _, err := p.view.Apply(bodies[i%len(bodies)]); err != nil {
			b.Fatal(err)
		}
	}
}

package e2e

import (
	"sync"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// recorder is the arena, and remembers what happened in its world. A house has
// one world at most.
type recorder struct {
	authority.Game

	mu     sync.Mutex
	tick   uint32              // that is being simulated
	worlds map[uint32]world    // by tick
	inputs map[uint32][]uint16 // numbers of those that took effect, by member
	asked  map[request]int     // how often a request took effect
}

// world is what there was at the end of a tick: the hash of each entity.
type world map[body]uint32

// body is an entity for as long as it lives.
type body struct {
	id         replica.ID
	generation uint8
}

type request struct{ member, id uint32 }

func newRecorder() *recorder {
	return &recorder{
		Game:   arena.New(),
		worlds: map[uint32]world{}, inputs: map[uint32][]uint16{}, asked: map[request]int{},
	}
}

// NewWorld implements authority.Game.
func (r *recorder) NewWorld(s authority.Setup) authority.World {
	return &recorded{r.Game.NewWorld(s), r}
}

// now returns the tick that is being simulated.
func (r *recorder) now() uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tick
}

// world returns what there was at the end of a tick, nil if that is not over.
func (r *recorder) world(tick uint32) world {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.worlds[tick]
}

// hash of the whole world: docs/protocol.md, Hash.
func (w world) hash() (sum uint32) {
	for _, h := range w {
		sum += h
	}
	return sum
}

type recorded struct {
	authority.World
	r *recorder
}

// Step implements authority.World.
func (w *recorded) Step(tick uint32, commands []authority.Command, out *authority.Effects) {
	before := worldOf(w.Entities()) // committed since the last step
	r := w.r
	r.mu.Lock()
	r.tick = tick
	r.worlds[tick-1] = before
	for _, c := range commands {
		switch c.Kind {
		case authority.CommandInput:
			r.inputs[c.Member] = append(r.inputs[c.Member], c.Seq)
		case authority.CommandRequest:
			r.asked[request{c.Member, c.Request}]++
		}
	}
	r.mu.Unlock()
	w.World.Step(tick, commands, out)
}

func worldOf(s *replica.Store) world {
	w := make(world, s.Len())
	types := s.Schema().Types
	for id := range s.All() {
		typ := s.Type(id)
		words := []uint32{uint32(id), uint32(s.Generation(id)), uint32(typ)}
		for i, f := range types[typ].Fields {
			words = append(words, uint32((s.Get(id, i)-f.Min)/max(f.Step, 1)))
		}
		w[body{id, s.Generation(id)}] = hashWords(words)
	}
	return w
}

// hashWords is an entity's hash: docs/protocol.md, Hash.
func hashWords(words []uint32) uint32 {
	h := uint32(2166136261)
	for _, word := range words {
		h = (h ^ word) * 16777619
		h ^= h >> 15
	}
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

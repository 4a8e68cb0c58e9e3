package faults_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// Types of the zoo's entities.
const (
	stone = iota // has no fields
	tree         // has fields that nobody changes
	mover
	beast // has 40 bytes
)

// zoo is a game that does what requests tell it, each with a number as payload
// unless said otherwise:
//
//	stones, trees, movers, beasts   spawn so many
//	move      so many of the movers change in every tick from now on
//	churn     in every tick one is spawned, and goes when there are more than so many
//	fell      despawns so many trees
//	slow      each of so many ticks takes a tenth of a second
//	hash      answers with the last tick and the hash of the entities at its end
//	echo      answers with its payload, which is opaque
//	say       tells everyone an event "said" with its payload
//	tell      tells one member, by a uint32 before the payload, an event "told"
//
// It remembers the inputs that it was given, by the name of the member.
type zoo struct {
	schema *replica.Schema

	mu     sync.Mutex
	inputs map[string][]uint16
}

func newZoo() *zoo {
	wide := func(name string) replica.Field {
		return replica.Field{Name: name, Min: math.MinInt32, Max: math.MaxInt32}
	}
	var ten []replica.Field
	for i := range 10 {
		ten = append(ten, wide("f"+strconv.Itoa(i)))
	}
	return &zoo{
		inputs: map[string][]uint16{},
		schema: replica.MustSchema(
			replica.Type{Name: "stone"},
			replica.Type{Name: "tree", Fields: []replica.Field{{Name: "height", Max: 1000}}},
			replica.Type{Name: "mover", Fields: []replica.Field{{Name: "x", Max: 65535}, {Name: "y", Max: 65535}}},
			replica.Type{Name: "beast", Fields: ten},
		),
	}
}

// applied returns the numbers of the inputs that the game was given of a member.
func (z *zoo) applied(name string) []uint16 {
	z.mu.Lock()
	defer z.mu.Unlock()
	return append([]uint16(nil), z.inputs[name]...)
}

func (z *zoo) Name() string            { return "zoo" }
func (z *zoo) Schema() *replica.Schema { return z.schema }

func (z *zoo) NewWorld(authority.Setup) authority.World {
	return &grounds{zoo: z, store: replica.NewStore(z.schema), names: map[uint32]string{}}
}

// park is a zoo that has inhabitants before anybody comes.
type park struct{ *zoo }

func (park) Name() string { return "park" }

func (p park) NewWorld(s authority.Setup) authority.World {
	g := p.zoo.NewWorld(s).(*grounds)
	g.spawn(stone, 20)
	g.spawn(tree, 20)
	g.spawn(mover, 20)
	g.moving = 5
	return g
}

type grounds struct {
	zoo   *zoo
	store *replica.Store
	names map[uint32]string
	state uint64 // of the random numbers

	trees, movers, churning []replica.ID
	moving, churn, slow     int
}

func (g *grounds) Entities() *replica.Store      { return g.store }
func (g *grounds) Hash() uint64                  { return uint64(g.store.Hash()) }
func (g *grounds) ClientConfig() json.RawMessage { return nil }

func (g *grounds) random() int32 {
	g.state = g.state*6364136223846793005 + 1442695040888963407
	return int32(g.state >> 33)
}

func (g *grounds) spawn(typ, n int) {
	for range n {
		id := g.store.Spawn(typ)
		for f := range g.zoo.schema.Types[typ].Fields {
			g.store.Set(id, f, g.random()&0xffff)
		}
		switch typ {
		case tree:
			g.trees = append(g.trees, id)
		case mover:
			g.movers = append(g.movers, id)
		}
	}
}

func (g *grounds) Step(tick uint32, commands []authority.Command, out *authority.Effects) {
	for _, c := range commands {
		switch c.Kind {
		case authority.CommandJoin:
			g.names[c.Member] = c.Name
		case authority.CommandInput:
			g.zoo.mu.Lock()
			g.zoo.inputs[g.names[c.Member]] = append(g.zoo.inputs[g.names[c.Member]], c.Seq)
			g.zoo.mu.Unlock()
		case authority.CommandRequest:
			g.request(tick, c, out)
		}
	}
	for _, id := range g.movers[:min(g.moving, len(g.movers))] {
		g.store.Set(id, 0, g.random()&0xffff)
		g.store.Set(id, 1, g.random()&0xffff)
	}
	if g.churn > 0 {
		id := g.store.Spawn(int(tick) % 3)
		g.churning = append(g.churning, id)
	}
	for len(g.churning) > g.churn {
		g.store.Despawn(g.churning[0], 1)
		g.churning = g.churning[1:]
	}
	if g.slow > 0 {
		g.slow--
		<-time.After(100 * time.Millisecond)
	}
}

func (g *grounds) request(tick uint32, c authority.Command, out *authority.Effects) {
	n, _ := strconv.Atoi(string(c.Payload))
	payload := append([]byte(nil), c.Payload...)
	var answer []byte
	switch c.Name {
	case "stones":
		g.spawn(stone, n)
	case "trees":
		g.spawn(tree, n)
	case "movers":
		g.spawn(mover, n)
	case "beasts":
		g.spawn(beast, n)
	case "move":
		g.moving = n
	case "churn":
		g.churn = n
	case "fell":
		for _, id := range g.trees[:n] {
			g.store.Despawn(id, 2)
		}
		g.trees = g.trees[n:]
	case "slow":
		g.slow = n
	case "hash":
		answer = binary.LittleEndian.AppendUint32(nil, tick-1)
		answer = binary.LittleEndian.AppendUint32(answer, g.store.Hash())
	case "echo":
		answer = payload
	case "say":
		out.Emit(authority.Everyone, "said", payload)
	case "tell":
		if len(payload) < 4 {
			out.Respond(c, wire.CodeRequestRefused, nil)
			return
		}
		out.Emit(binary.LittleEndian.Uint32(payload), "told", payload[4:])
	default:
		out.Respond(c, wire.CodeUnknownRequest, nil)
		return
	}
	out.Respond(c, wire.CodeNone, answer)
}

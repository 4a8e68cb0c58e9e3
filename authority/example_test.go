package authority_test

import (
	"encoding/json"
	"fmt"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// walkers is a whole game: each member has a walker on a line. An input's first
// byte says how far it steps, at most 3; the request "home" brings it back.
type walkers struct{ schema *replica.Schema }

const (
	fieldOwner = iota
	fieldX
)

func newWalkers() walkers {
	return walkers{replica.MustSchema(replica.Type{
		Name: "walker",
		Fields: []replica.Field{
			fieldOwner: {Name: "owner", Max: 1 << 20},
			fieldX:     {Name: "x", Max: 1000},
		},
	})}
}

func (walkers) Name() string              { return "walkers" }
func (g walkers) Schema() *replica.Schema { return g.schema }

func (g walkers) NewWorld(authority.Setup) authority.World {
	return &line{entities: replica.NewStore(g.schema), of: map[uint32]replica.ID{}}
}

// line is the world. Its entities are all of its state, so their hash is too.
type line struct {
	entities *replica.Store
	of       map[uint32]replica.ID // by member; looked up, never ranged over
}

func (l *line) Entities() *replica.Store      { return l.entities }
func (l *line) Hash() uint64                  { return uint64(l.entities.Hash()) }
func (l *line) ClientConfig() json.RawMessage { return nil }

func (l *line) Step(_ uint32, commands []authority.Command, out *authority.Effects) {
	for _, c := range commands {
		id := l.of[c.Member]
		switch c.Kind {
		case authority.CommandJoin:
			id = l.entities.Spawn(0)
			l.entities.Set(id, fieldOwner, int32(c.Member))
			l.of[c.Member] = id
		case authority.CommandLeave:
			l.entities.Despawn(id, 1)
			delete(l.of, c.Member)
		case authority.CommandInput: // outside bytes: check them
			if len(c.Payload) != 1 || c.Payload[0] > 3 {
				out.Refused++
				continue
			}
			l.entities.Set(id, fieldX, l.entities.Get(id, fieldX)+int32(c.Payload[0]))
		case authority.CommandRequest:
			if c.Name != "home" {
				out.Respond(c, wire.CodeUnknownRequest, nil)
				continue
			}
			l.entities.Set(id, fieldX, 0)
			out.Respond(c, wire.CodeNone, nil)
			out.Emit(authority.Everyone, "went_home", fmt.Appendf(nil, `{"member":%d}`, c.Member))
		}
	}
}

// A game runs without a room: a test is a loop over Step.
func ExampleGame() {
	var game authority.Game = newWalkers()
	world := game.NewWorld(authority.Setup{Seed: 1, TickRate: 30})
	var out authority.Effects
	step := func(tick uint32, commands ...authority.Command) {
		out.Reset()
		world.Step(tick, commands, &out)
		world.Entities().Commit(tick)
	}
	step(1, authority.Command{Kind: authority.CommandJoin, Member: 7, Name: "Ann"})
	step(2, authority.Command{Kind: authority.CommandInput, Member: 7, Payload: []byte{3}})
	step(3,
		authority.Command{Kind: authority.CommandInput, Member: 7, Payload: []byte{2}},
		authority.Command{Kind: authority.CommandInput, Member: 7, Payload: []byte{200}}, // too fast
	)
	for id := range world.Entities().All() {
		fmt.Println("walker", id, "is at", world.Entities().Get(id, fieldX), "and", out.Refused, "input was refused")
	}
	step(4, authority.Command{Kind: authority.CommandRequest, Member: 7, Request: 1, Name: "home"})
	fmt.Println(out.Events[0].Name, string(out.Events[0].Payload), out.Responses[0].Code.Name())
	// Output:
	// walker 1 is at 5 and 1 input was refused
	// went_home {"member":7} ok
}

package arena_test

import (
	"fmt"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
)

// A room drives a world like this: commands in, entities and effects out.
func Example() {
	game := arena.New()
	world := game.NewWorld(authority.Setup{Seed: 1, TickRate: 30})

	var out authority.Effects
	step := func(tick uint32, commands ...authority.Command) {
		out.Reset()
		world.Step(tick, commands, &out)
		world.Entities().Commit(tick)
	}

	step(1, authority.Command{Kind: authority.CommandJoin, Member: 7, Name: "Ann", Payload: []byte(`{"color":3}`)})
	right := arena.AppendInput(nil, arena.Input{Input: movement.Input{MoveX: movement.MaxMove}, Aim: 64})
	for tick := uint32(2); tick <= 4; tick++ {
		step(tick, authority.Command{Kind: authority.CommandInput, Member: 7, Payload: right})
	}
	step(5, authority.Command{
		Kind: authority.CommandRequest, Member: 7, Request: 1,
		Name: arena.RequestRespawn, Payload: []byte(`{}`),
	})

	entities := world.Entities()
	for id := range entities.All() {
		if entities.Type(id) == arena.TypePlayer {
			fmt.Println("player of", entities.Get(id, arena.PlayerOwner),
				"runs at", entities.Get(id, arena.PlayerVX), "looking along", entities.Get(id, arena.PlayerAim))
		}
	}
	fmt.Println(string(out.Responses[0].Payload))
	// Output:
	// player of 7 runs at 30 looking along 64
	// {"request":1,"success":false,"result":"alive"}
}

// A bot sees only what a client sees, and answers with what a client sends.
func ExampleBot() {
	world := arena.New().NewWorld(authority.Setup{Seed: 1, TickRate: 30})
	bot, err := arena.NewBot(7, world.ClientConfig(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	commands := []authority.Command{{Kind: authority.CommandJoin, Member: 7, Name: "bot"}}
	var out authority.Effects
	best := int32(0)
	for tick := uint32(1); tick <= 900; tick++ {
		out.Reset()
		world.Step(tick, commands, &out)
		world.Entities().Commit(tick)
		for id := range world.Entities().All() {
			if world.Entities().Type(id) == arena.TypePlayer {
				best = max(best, world.Entities().Get(id, arena.PlayerScore))
			}
		}
		act := bot.Next(world.Entities())
		commands = append(commands[:0], authority.Command{Kind: authority.CommandInput, Member: 7, Payload: act.Input})
		if act.Request != "" {
			commands = append(commands, authority.Command{
				Kind: authority.CommandRequest, Member: 7, Request: tick, Name: act.Request, Payload: act.Payload,
			})
		}
	}
	fmt.Println("it scored:", best > 0)
	// Output: it scored: true
}

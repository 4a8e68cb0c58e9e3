package arena

import (
	"encoding/json"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// Name of the game in configuration.
const Name = "arena"

// Game makes arena worlds. Safe for concurrent use.
type Game struct{ schema *replica.Schema }

var _ authority.Game = (*Game)(nil)

// New returns the game.
func New() *Game { return &Game{schema: Schema()} }

// Name returns [Name].
func (g *Game) Name() string { return Name }

// Schema returns the entities of the game.
func (g *Game) Schema() *replica.Schema { return g.schema }

// NewWorld makes a world in the first moment of its first round. The tick rate
// is clamped to 1 to 120 Hz.
func (g *Game) NewWorld(s authority.Setup) authority.World { return newWorld(g.schema, s) }

// world is one arena. What Step reads is in here: all of it is hashed.
type world struct {
	pace   pace   // constant
	config []byte // constant
	worldMap

	tick  uint32
	rng   source
	match match

	players []*player // in order of their joins
	seats   map[uint32]*player
	enemies []enemy
	bolts   []bolt
	items   []item
	gates   []gate
	ways    ways   // to the nearest player
	prey    []tile // scratch: where players are

	itemAt uint32 // when the next item may appear

	entities *replica.Store
	out      *authority.Effects // during Step
}

var _ authority.World = (*world)(nil)

func newWorld(schema *replica.Schema, s authority.Setup) *world {
	w := &world{
		pace:     paceAt(s.TickRate),
		rng:      source{state: s.Seed},
		seats:    make(map[uint32]*player),
		enemies:  make([]enemy, 0, maxEnemies),
		bolts:    make([]bolt, 0, maxProjectiles),
		items:    make([]item, 0, maxItems),
		entities: replica.NewStore(schema),
		out:      new(authority.Effects), // nobody is there to be told
	}
	w.worldMap = generateMap(&w.rng)
	w.ways = newWays(w.grid)
	w.config = w.encodeConfig()
	w.match.id = w.entities.Spawn(TypeMatch)
	w.hangDoors()
	w.beginRound()
	w.publish()
	return w
}

func (w *world) encodeConfig() []byte {
	return encode(Config{
		Map:               w.rows,
		Movement:          w.pace.rules,
		BoltSpeed:         w.pace.boltSpeed,
		SpitSpeed:         w.pace.spitSpeed,
		InteractReach:     interactReach,
		StrikeReach:       strikeReach,
		RespawnTicks:      int32(w.pace.respawn),
		RoundTicks:        int32(w.pace.round),
		IntermissionTicks: int32(w.pace.pause),
	})
}

// Step advances the world by one tick: commands first, then the world by itself.
func (w *world) Step(tick uint32, commands []authority.Command, out *authority.Effects) {
	w.tick, w.out = tick, out
	for _, p := range w.players {
		p.grant()
	}
	for i := range commands {
		w.obey(&commands[i])
	}
	w.stepMatch()
	w.stepPlayers()
	w.stepEnemies()
	w.stepBolts()
	w.stepItems()
	w.stepDoors()
	w.populate()
	w.publish()
	w.out = nil
}

// obey carries out one command. Rooms do not send commands of members that did
// not join or have left; those that come all the same are refused.
func (w *world) obey(c *authority.Command) {
	p := w.seats[c.Member]
	switch {
	case c.Kind == authority.CommandJoin:
		if p == nil {
			w.join(c)
		}
	case c.Kind == authority.CommandRequest:
		w.request(p, c)
	case p == nil:
		w.out.Refused++
	case c.Kind == authority.CommandInput:
		w.input(p, c.Payload)
	case c.Kind == authority.CommandAway:
		w.depart(p)
	case c.Kind == authority.CommandBack:
		p.away = false
	case c.Kind == authority.CommandLeave:
		w.leave(p)
	}
}

// Entities returns the replicated part of the world.
func (w *world) Entities() *replica.Store { return w.entities }

// ClientConfig returns a [Config].
func (w *world) ClientConfig() json.RawMessage { return w.config }

// publish sets all fields of all entities; the store finds what has changed.
func (w *world) publish() {
	w.publishMatch()
	for _, p := range w.players {
		w.publishPlayer(p)
	}
	w.publishEnemies()
	w.publishBolts()
}

// tell emits a game event to everyone.
func (w *world) tell(kind string, payload any) {
	w.out.Emit(authority.Everyone, EventGame, encode(GameEvent{Type: kind, Payload: payload}))
}

// encode returns a message of this package as JSON.
func encode(message any) []byte {
	b, err := json.Marshal(message)
	if err != nil {
		panic("arena: " + err.Error()) // messages are plain structs
	}
	return b
}

// secondsUntil rounds up; 0 if the tick has passed.
func (w *world) secondsUntil(tick uint32) int32 {
	if tick <= w.tick {
		return 0
	}
	return (int32(tick-w.tick) + w.pace.hz - 1) / w.pace.hz
}

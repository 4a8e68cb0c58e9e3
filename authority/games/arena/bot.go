package arena

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// View is what a bot sees of the arena: a client's copy of the entities, or the
// world's own.
type View interface {
	All() iter.Seq[replica.ID]
	Type(id replica.ID) int
	Get(id replica.ID, field int) int32
}

// Act is what a bot does in one tick.
type Act struct {
	// Input is the payload of its input; valid until the next call.
	Input []byte
	// Request is the name of a request to send as well, or "".
	Request string
	// Payload of the request.
	Payload []byte
}

// Bot plays for a member: it roams, hunts what it sees, keeps its distance,
// picks things up, opens doors and comes back from death. It is a pure function
// of its seed and of what it is shown. Not safe for concurrent use.
type Bot struct {
	member uint32
	grid   *movement.Grid
	rng    source

	tick     uint32
	input    []byte // kept for its memory
	doors    []door // kept for its memory
	way      ways
	goal     tile
	goalAt   uint32 // when it looks for another goal
	askAt    uint32 // when it may send another request
	leftward bool   // how it circles
	sway     int32  // its aim is off by this
	self     replica.ID
}

// NewBot returns a bot for the member with that peer id. config is the room's
// config from the welcome: see [Config].
func NewBot(member uint32, config json.RawMessage, seed uint64) (*Bot, error) {
	var c Config
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, fmt.Errorf("arena: config: %w", err)
	}
	grid, err := movement.ParseMap(c.Map)
	if err != nil {
		return nil, fmt.Errorf("arena: config: %w", err)
	}
	return &Bot{
		member: member,
		grid:   grid,
		rng:    source{state: mix(seed) ^ uint64(member)},
		way:    newWays(grid),
	}, nil
}

// Next returns what the bot does in the next tick. Call it once per tick.
func (b *Bot) Next(v View) Act {
	b.tick++
	s := b.look(v)
	var act Act
	var in Input
	switch {
	case b.self == 0:
	case !s.alive:
		b.goalAt = 0
		if s.wait == 0 && b.mayAsk() {
			act.Request, act.Payload = RequestRespawn, []byte("{}")
		}
	default:
		in, act = b.play(&s)
	}
	b.input = AppendInput(b.input[:0], in)
	act.Input = b.input
	return act
}

// scene is what matters to a bot of what it sees.
type scene struct {
	x, y         int32 // where it stands
	alive        bool
	health, wait int32
	fighting     bool // a round is on
	foe          foe  // the nearest that it could shoot at; id 0: none
	item         tile // the nearest
	itemDistance int32
}

// foe is an enemy or another player.
type foe struct {
	id       replica.ID
	x, y     int32
	distance int32 // squared, as all distances here
	alarming bool  // about to attack
}

type door struct {
	tile
	id replica.ID
}

// none is the distance to what is not there.
const none = 1<<31 - 1

// look reads the view: first the bot's own body, since the rest is judged from
// where it stands.
func (b *Bot) look(v View) scene {
	s := scene{foe: foe{distance: none}, itemDistance: none}
	b.doors = b.doors[:0]
	if b.self = b.findSelf(v); b.self == 0 {
		return s
	}
	s.x, s.y = v.Get(b.self, PlayerX), v.Get(b.self, PlayerY)
	s.alive = v.Get(b.self, PlayerFlags)&FlagAlive != 0
	s.health, s.wait = v.Get(b.self, PlayerHealth), v.Get(b.self, PlayerWait)
	for id := range v.All() {
		switch v.Type(id) {
		case TypeMatch:
			s.fighting = v.Get(id, MatchPhase) == PhasePlay
		case TypeDoor:
			d := door{tile{v.Get(id, DoorX), v.Get(id, DoorY)}, id}
			b.grid.SetDoor(d.x, d.y, v.Get(id, DoorOpen) == 1)
			b.doors = append(b.doors, d)
		case TypeEnemy:
			f := foe{id: id, x: v.Get(id, EnemyX), y: v.Get(id, EnemyY)}
			f.alarming = v.Get(id, EnemyState) == EnemyWindup
			s.consider(b.grid, f)
		case TypePlayer:
			if id != b.self && v.Get(id, PlayerFlags)&(FlagAlive|FlagShielded) == FlagAlive {
				s.consider(b.grid, foe{id: id, x: v.Get(id, PlayerX), y: v.Get(id, PlayerY)})
			}
		case TypeItem:
			if v.Get(id, ItemKind) != ItemHealth || s.health < MaxPlayerHealth {
				s.wish(tileAt(v.Get(id, ItemX), v.Get(id, ItemY)))
			}
		}
	}
	return s
}

// findSelf returns the member's own entity, or 0.
func (b *Bot) findSelf(v View) replica.ID {
	if b.self != 0 && b.owns(v, b.self) {
		return b.self
	}
	for id := range v.All() {
		if b.owns(v, id) {
			return id
		}
	}
	return 0
}

func (b *Bot) owns(v View, id replica.ID) bool {
	return v.Type(id) == TypePlayer && uint32(v.Get(id, PlayerOwner)) == b.member
}

// consider keeps the nearest foe that is in sight and range.
func (s *scene) consider(g *movement.Grid, f foe) {
	const sight = 8 * Tile
	dx, dy := f.x-s.x, f.y-s.y
	f.distance = dx*dx + dy*dy
	if f.distance <= sight*sight && f.distance < s.foe.distance && sees(g, s.x, s.y, f.x, f.y) {
		s.foe = f
	}
}

// wish keeps the nearest item.
func (s *scene) wish(t tile) {
	if d := s.distance(t); d < s.itemDistance {
		s.item, s.itemDistance = t, d
	}
}

func (s *scene) distance(t tile) int32 {
	x, y := t.centre()
	return (x-s.x)*(x-s.x) + (y-s.y)*(y-s.y)
}

// play decides for a living body.
func (b *Bot) play(s *scene) (in Input, act Act) {
	heading, ahead := b.travel(s)
	in.Aim = heading
	if s.foe.id != 0 && s.fighting {
		heading, act = b.fight(s, &in, heading)
	}
	in.MoveX, in.MoveY = along(heading, movement.MaxMove)
	if act.Request == "" && b.grid.Door(ahead.x, ahead.y) && b.grid.Solid(ahead.x, ahead.y) {
		act = b.open(s, ahead)
	}
	return in, act
}

// fight aims and attacks, and dances round the foe.
func (b *Bot) fight(s *scene, in *Input, travel uint8) (heading uint8, act Act) {
	toward := angle(s.foe.x-s.x, s.foe.y-s.y)
	if b.tick%12 == 0 {
		b.sway = b.rng.below(9) - 4
		b.leftward = b.leftward != b.rng.oneIn(6)
	}
	in.Aim, in.Attack = toward+uint8(b.sway), true
	circle := toward + 64
	if b.leftward {
		circle = toward - 64
	}
	switch near := int32(2 * Tile); {
	case s.foe.alarming && s.foe.distance < 4*near*near:
		in.Dash = true
		return circle, act
	case s.foe.distance < strikeReach*strikeReach && b.rng.oneIn(8) && b.mayAsk():
		in.Attack = false
		return toward + 128, Act{Request: RequestAttack, Payload: attackPayload(s.foe.id, in.Aim)}
	case s.foe.distance < near*near || s.health < 35:
		return toward + 128 + uint8(b.rng.below(33)-16), act
	case s.itemDistance < 16*Tile*Tile:
		return travel, act
	case s.foe.distance < 4*near*near:
		return circle, act
	}
	return toward, act
}

// travel follows the way to the goal, and returns the tile that comes next too.
func (b *Bot) travel(s *scene) (heading uint8, ahead tile) {
	here := tileAt(s.x, s.y)
	if b.goalAt <= b.tick || b.way.distance(here) == 0 || b.way.distance(here) == nowhere {
		b.choose(s, here)
	}
	ahead = b.way.next(here)
	to := ahead
	for range 5 { // cut corners where there is room
		further := b.way.next(to)
		x, y := further.centre()
		if !fits(b.grid, s.x, s.y, x, y, movement.Radius) {
			break
		}
		to = further
	}
	x, y := to.centre()
	return angle(x-s.x, y-s.y), ahead
}

// choose takes a new goal: an item that is not far, else anywhere.
func (b *Bot) choose(s *scene, here tile) {
	b.goalAt = b.tick + uint32(60+b.rng.below(120))
	if s.itemDistance < 100*Tile*Tile && !b.rng.oneIn(4) {
		b.goal = s.item
	} else {
		width, height := b.grid.Size()
		b.goal = here
		for range 20 {
			t := tile{b.rng.below(width), b.rng.below(height)}
			if !b.grid.Solid(t.x, t.y) {
				b.goal = t
				break
			}
		}
	}
	b.way.find(b.grid, []tile{b.goal}, nowhere-2, true)
}

// open asks for the door on its way.
func (b *Bot) open(s *scene, ahead tile) Act {
	for _, d := range b.doors {
		if d.tile == ahead && s.distance(ahead) < interactReach*interactReach && b.mayAsk() {
			payload := append(strconv.AppendUint([]byte(`{"target":`), uint64(d.id), 10), '}')
			return Act{Request: RequestInteract, Payload: payload}
		}
	}
	return Act{}
}

// mayAsk spaces requests out.
func (b *Bot) mayAsk() bool {
	if b.askAt > b.tick {
		return false
	}
	b.askAt = b.tick + 15
	return true
}

// attackPayload is the JSON of an [Attack]; the aim becomes degrees, to the
// hundredth.
func attackPayload(target replica.ID, aim uint8) []byte {
	hundredths := int64(aim) * 36_000 / 256
	b := strconv.AppendUint([]byte(`{"target":`), uint64(target), 10)
	b = strconv.AppendInt(append(b, `,"aim":`...), hundredths/100, 10)
	b = append(b, '.', byte('0'+hundredths/10%10), byte('0'+hundredths%10))
	return append(b, '}')
}

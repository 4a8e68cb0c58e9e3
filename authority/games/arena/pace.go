package arena

import (
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/input"
)

// Distances that do not depend on the tick rate, in 1/256 tile.
const (
	interactReach = 400 // between centres of player and door
	strikeReach   = 420 // between centres
	pickupReach   = 150
	boltRadius    = 28
	spawnDistance = 6 * Tile // enemies keep from players when they appear
)

// Damage, and what earns a score.
const (
	boltDamage    = 20
	boltDamagePVP = 12
	strikeDamage  = 40
	strikePVP     = 25
	healing       = 40
	gemScore      = 10
	playerKill    = 25
)

// Inputs of a player. Rooms meter them out likewise; the game does not rely on it.
const (
	inputsPerTick = 2               // while it catches up
	savedInputs   = input.MaxCredit // of the ticks that it had none for
)

// Numbers of things.
const (
	baseEnemies    = 56 // never fewer: the field is always alive
	enemiesPerWave = 3
	maxEnemies     = 80
	baseItems      = 12
	maxItems       = 40
	maxProjectiles = 256
	maxScores      = 32 // told at the end of a round
)

// pace holds everything that depends on the tick rate: durations in ticks, and
// speeds in units per tick.
type pace struct {
	hz    int32
	rules movement.Rules

	boltSpeed, spitSpeed int32

	boltLife     uint32
	shot, strike uint32 // until the next attack
	flash        uint32 // an attack is shown
	shield       uint32 // after a spawn
	respawn      uint32
	awayLimit    uint32
	power        uint32
	starved      uint32 // without an input, until a body stops
	doorOpen     uint32
	itemLife     uint32
	itemEvery    uint32
	round, pause uint32
	wave         uint32
	rethink      uint32 // between two looks of the enemies for ways
	breeds       [enemyKinds]breed
}

// paceAt returns the pace for a tick rate in Hz; out of 1 to 120 it is clamped.
func paceAt(tickRate int) pace {
	hz := int32(min(max(tickRate, 1), 120))
	ticks := func(ms int32) uint32 { return uint32(max(ms*hz/1000, 1)) }
	p := pace{
		hz:        hz,
		rules:     movement.RulesAt(int(hz)),
		boltSpeed: perTick(3300, hz),
		spitSpeed: perTick(1800, hz),
		boltLife:  ticks(900),
		shot:      ticks(230),
		strike:    ticks(500),
		flash:     ticks(130),
		shield:    ticks(2000),
		respawn:   ticks(3000),
		awayLimit: ticks(10_000),
		power:     ticks(8000),
		starved:   ticks(300),
		doorOpen:  ticks(12_000),
		itemLife:  ticks(25_000),
		itemEvery: ticks(700),
		round:     ticks(120_000),
		pause:     ticks(8000),
		wave:      ticks(30_000),
		rethink:   ticks(330),
	}
	for kind := range p.breeds {
		p.breeds[kind] = breeds[kind].at(hz)
	}
	return p
}

// perTick turns a speed per second into one per tick that a body may have.
func perTick(perSecond, hz int32) int32 { return min(max(perSecond/hz, 1), movement.MaxSpeed) }

package arena

import (
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// Types of entities, as indices of the schema.
const (
	TypeMatch = iota // exactly one, the state of the round
	TypePlayer
	TypeEnemy
	TypeProjectile
	TypeItem
	TypeDoor
)

// Fields of TypeMatch.
const (
	MatchPhase   = iota // PhasePlay or PhaseIntermission
	MatchRound          // counts from 1
	MatchSeconds        // until the phase ends
	MatchWinner         // peer id of the last round's winner, 0 for none
	MatchWave           // counts within a round, from 1
)

// Phases of a match.
const (
	PhasePlay = iota
	PhaseIntermission
)

// Fields of TypePlayer. PlayerX to PlayerFlags are exactly a movement.State.
const (
	PlayerOwner     = iota // peer id
	PlayerX                // centre, 1/256 tile
	PlayerY                //
	PlayerVX               // 1/256 tile per tick
	PlayerVY               //
	PlayerDash             // ticks until the next dash may start
	PlayerPower            // what it carries: PowerNone, PowerHaste...
	PlayerFlags            // FlagAlive...
	PlayerAim              // 1/256 turn
	PlayerHealth           // 0 to 100
	PlayerPowerLeft        // seconds
	PlayerWait             // seconds until a respawn is allowed
	PlayerScore            //
	PlayerKills            // enemies and players, this round
	PlayerDeaths           // this round
	PlayerColor            // 0 to 15
	PlayerSkin             // 0 to 3
)

// Flags of a player.
const (
	FlagAlive     = movement.Alive // else it can not move, and is to be drawn as gone
	FlagMoving    = 2
	FlagAttacking = 4  // shot or struck within the last few ticks
	FlagShielded  = 8  // can not be hurt: just spawned, away, or has PowerShield
	FlagAway      = 16 // its member's link has gone
	FlagDashing   = 32
)

// Powers of a player.
const (
	PowerNone   = 0
	PowerHaste  = movement.Haste // runs faster
	PowerSpread = 2              // shoots three bolts
	PowerShield = 3              // can not be hurt
)

// Fields of TypeEnemy.
const (
	EnemyKind   = iota // EnemyGrub...
	EnemyX             // centre, 1/256 tile
	EnemyY             //
	EnemyAim           // 1/256 turn
	EnemyHealth        // 0 to 127, in full: see EnemyHealthOf
	EnemyState         // EnemyPatrol...
)

// Kinds of enemies.
const (
	EnemyGrub    = iota // small and slow, bites
	EnemySpitter        // keeps its distance, shoots
	EnemyBrute          // big, charges, hits hard
	enemyKinds
)

// States of an enemy.
const (
	EnemyPatrol = iota
	EnemyChase
	EnemyWindup // will strike or shoot in a moment: the player's cue to move
	EnemyStun   // just hit
)

// Fields of TypeProjectile.
const (
	ProjectileKind  = iota // ProjectileBolt or ProjectileSpit
	ProjectileOwner        // peer id, 0 for an enemy's
	ProjectileX            // 1/256 tile
	ProjectileY            //
	ProjectileAim          // its direction
)

// Kinds of projectiles.
const (
	ProjectileBolt = iota
	ProjectileSpit
)

// Fields of TypeItem.
const (
	ItemKind = iota // ItemHealth...
	ItemX           // centre, 1/256 tile
	ItemY           //
)

// Kinds of items. ItemHaste to ItemShield give the power of the same number.
const (
	ItemHealth = iota
	ItemHaste
	ItemSpread
	ItemShield
	ItemGem // score
	itemKinds
)

// Fields of TypeDoor.
const (
	DoorX    = iota // tile
	DoorY           // tile
	DoorOpen        // 0 or 1
)

// Reasons of despawns.
const (
	GoneReset    = iota // a new round
	GoneKilled          // enemy
	GonePickedUp        // item
	GoneExpired         // projectile or item: its time was over
	GoneLeft            // player
	GoneHit             // projectile: hit a body
	GoneWall            // projectile: hit a wall or door
)

// Size of the map in tiles, and of a tile.
const (
	MapWidth  = 48
	MapHeight = 48
	Tile      = movement.Tile
)

// MaxPlayerHealth is a player's health when it spawns.
const MaxPlayerHealth = 100

// Schema returns the entities of the game.
func Schema() *replica.Schema {
	x := replica.Field{Name: "x", Max: MapWidth*Tile - 1, Unit: 1. / Tile}
	y := replica.Field{Name: "y", Max: MapHeight*Tile - 1, Unit: 1. / Tile}
	aim := replica.Field{Name: "aim", Max: 255, Unit: 360. / 256}
	speed := func(name string) replica.Field {
		return replica.Field{Name: name, Min: -movement.MaxSpeed, Max: movement.MaxSpeed, Unit: 1. / Tile}
	}
	upTo := func(name string, highest int32) replica.Field { return replica.Field{Name: name, Max: highest} }
	owner := upTo("owner", 1<<31-1)
	return replica.MustSchema(
		replica.Type{Name: "match", Fields: []replica.Field{
			upTo("phase", 1), upTo("round", 1<<16-1), upTo("seconds", 1023),
			upTo("winner", 1<<31-1), upTo("wave", 255),
		}},
		replica.Type{Name: "player", Fields: []replica.Field{
			owner, x, y, speed("vx"), speed("vy"), upTo("dash", movement.MaxDash), upTo("power", 3), upTo("flags", 63),
			aim, upTo("health", MaxPlayerHealth), upTo("power_left", 15), upTo("wait", 15),
			upTo("score", 1<<16-1), upTo("kills", 4095), upTo("deaths", 4095), upTo("color", 15), upTo("skin", 3),
		}},
		replica.Type{Name: "enemy", Fields: []replica.Field{
			upTo("kind", 3), x, y, aim, upTo("health", 127), upTo("state", 3),
		}},
		replica.Type{Name: "projectile", Fields: []replica.Field{upTo("kind", 1), owner, x, y, aim}},
		replica.Type{Name: "item", Fields: []replica.Field{upTo("kind", 7), x, y}},
		replica.Type{Name: "door", Fields: []replica.Field{upTo("x", MapWidth-1), upTo("y", MapHeight-1), upTo("open", 1)}},
	)
}

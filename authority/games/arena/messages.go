package arena

import (
	"encoding/json"

	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// Config is what clients are told once, in the welcome's room config. Its numbers
// are raw: units of 1/256 tile, and ticks.
type Config struct {
	// Map has one string per row and one character per tile: '#' wall, '.'
	// floor, '+' door.
	Map []string `json:"map"`
	// Movement are the constants of the movement rule.
	Movement movement.Rules `json:"movement"`
	// BoltSpeed and SpitSpeed are those of projectiles, per tick.
	BoltSpeed int32 `json:"bolt_speed"`
	SpitSpeed int32 `json:"spit_speed"`
	// InteractReach and StrikeReach bound the targets of requests: distance
	// between centres.
	InteractReach int32 `json:"interact_reach"`
	StrikeReach   int32 `json:"strike_reach"`
	// RespawnTicks from death until a respawn is allowed.
	RespawnTicks int32 `json:"respawn_ticks"`
	// RoundTicks and IntermissionTicks are the lengths of the phases.
	RoundTicks        int32 `json:"round_ticks"`
	IntermissionTicks int32 `json:"intermission_ticks"`
}

// Profile of a join.
type Profile struct {
	Color int32 `json:"color"` // 0 to 15
	Skin  int32 `json:"skin"`  // 0 to 3
}

// Names of requests.
const (
	RequestInteract = "interact"
	RequestAttack   = "attack"
	RequestRespawn  = "respawn"
)

// Interact is the payload of RequestInteract.
type Interact struct {
	Target replica.ID `json:"target"` // a door
}

// Attack is the payload of RequestAttack.
type Attack struct {
	// Target is an enemy or a player to strike, or 0 to shoot along Aim.
	Target replica.ID `json:"target"`
	// Aim in degrees, 0 along +x, 90 along +y; a decimal number.
	Aim json.Number `json:"aim"`
}

// Result is the payload of every response, and of EventInteractResult.
type Result struct {
	Request uint32 `json:"request"`
	Success bool   `json:"success"`
	Result  string `json:"result"`
}

// Results of requests. The first group are successes.
const (
	ResultOpened    = "opened"
	ResultClosed    = "closed"
	ResultHit       = "hit"
	ResultShot      = "shot"
	ResultRespawned = "respawned"

	ResultMalformed  = "malformed"    // the payload could not be read
	ResultNoTarget   = "no_target"    // no such entity, or not one to do this to
	ResultOutOfReach = "out_of_reach" // too far away
	ResultNoSight    = "no_sight"     // a wall or door is between
	ResultBlocked    = "blocked"      // something stands in the door
	ResultCooldown   = "cooldown"     // too soon after the last
	ResultDead       = "dead"         // only the living may
	ResultAlive      = "alive"        // only the dead may respawn
	ResultShielded   = "shielded"     // the target can not be hurt
	ResultPaused     = "paused"       // not between rounds
)

// Names of events.
const (
	EventDamage         = "damage"
	EventInteractResult = "interact_result"
	EventGame           = "game_event"
)

// Damage is the payload of EventDamage. It goes to the members behind the target
// and the source.
type Damage struct {
	Target replica.ID `json:"target"` // player or enemy
	Amount int32      `json:"amount"` // health lost
	Source replica.ID `json:"source"` // player or enemy, 0 if it has gone
}

// GameEvent is the payload of EventGame; it goes to everyone. Payload is of the
// type named beside each constant.
type GameEvent struct {
	Type    string `json:"type"`
	Payload any    `json:"payload"`
}

// Types of game events.
const (
	GameKill       = "kill"        // Kill
	GamePickup     = "pickup"      // Pickup
	GameDoor       = "door"        // DoorMoved
	GameRespawn    = "respawn"     // Respawned
	GameWave       = "wave"        // WaveStarted
	GameRoundStart = "round_start" // RoundStarted
	GameRoundEnd   = "round_end"   // RoundEnded
)

// Kill tells of a death.
type Kill struct {
	Victim     replica.ID `json:"victim"`
	VictimPeer uint32     `json:"victim_peer"` // 0 for an enemy
	Kind       int32      `json:"kind"`        // of an enemy, -1 for a player
	Killer     replica.ID `json:"killer"`      // 0 if it has gone
	KillerPeer uint32     `json:"killer_peer"` // 0 for an enemy
	X          int32      `json:"x"`           // where, 1/256 tile
	Y          int32      `json:"y"`
}

// Pickup tells that a player took an item.
type Pickup struct {
	Peer uint32     `json:"peer"`
	Item replica.ID `json:"item"`
	Kind int32      `json:"kind"`
}

// DoorMoved tells that a door was opened or closed; Peer 0: by itself.
type DoorMoved struct {
	Door replica.ID `json:"door"`
	Open bool       `json:"open"`
	Peer uint32     `json:"peer"`
}

// Respawned tells that a player is back.
type Respawned struct {
	Peer   uint32     `json:"peer"`
	Player replica.ID `json:"player"`
}

// WaveStarted tells that enemies get more and tougher.
type WaveStarted struct {
	Wave int32 `json:"wave"`
}

// RoundStarted tells that a round began: everything was reset.
type RoundStarted struct {
	Round int32 `json:"round"`
	Ticks int32 `json:"ticks"`
}

// RoundEnded tells how a round went; best score first.
type RoundEnded struct {
	Round  int32   `json:"round"`
	Winner uint32  `json:"winner"` // peer id, 0 if nobody scored
	Scores []Score `json:"scores"`
}

// Score of one player in a round.
type Score struct {
	Peer   uint32 `json:"peer"`
	Name   string `json:"name"`
	Score  int32  `json:"score"`
	Kills  int32  `json:"kills"`
	Deaths int32  `json:"deaths"`
}

package movement

// Units and bounds.
const (
	// Tile is the width of a tile, in units of position.
	Tile = 256
	// Radius is half the width of a body, which is a square.
	Radius = 88
	// MaxSpeed bounds each component of a velocity, in units per tick: less
	// than a tile, so that a body can not pass through a wall in one step.
	MaxSpeed = 255
	// MaxDash bounds State.Dash, in ticks.
	MaxDash = 255
	// MaxMove is a component of Input at full speed.
	MaxMove = 127
)

// Alive is the bit of State.Flags without which a body does not move.
const Alive = 1

// Haste is the value of State.Power that makes a body run at Rules.Haste.
const Haste = 1

// State of a body: exactly what a player entity replicates of it, so that a
// client can go on from any snapshot.
type State struct {
	X, Y   int32 // centre
	VX, VY int32 // units per tick, -MaxSpeed to MaxSpeed
	Dash   int32 // ticks until the next dash may start
	Power  int32 // Haste, or whatever else the game gives; not changed by Step
	Flags  int32 // Alive, and the game's own bits; not changed by Step
}

// Input of one tick.
type Input struct {
	MoveX, MoveY int32 // -MaxMove to MaxMove, beyond is clamped
	Dash         bool  // start a dash in the direction of the move, if it may
}

// Rules are the constants of a world, for its tick rate. All are above 0.
type Rules struct {
	Speed     int32 `json:"speed"`      // units per tick
	Haste     int32 `json:"haste"`      // units per tick, with the power Haste
	Accel     int32 `json:"accel"`      // units per tick, per tick
	DashSpeed int32 `json:"dash_speed"` // units per tick, during a dash
	DashTicks int32 `json:"dash_ticks"` // a dash lasts
	DashEvery int32 `json:"dash_every"` // ticks from the start of a dash to the next
}

// RulesAt returns the rules for a tick rate in Hz, at least 1.
func RulesAt(tickRate int) Rules {
	hz := int32(max(tickRate, 1))
	perTick := func(perSecond int32) int32 { return min(max(perSecond/hz, 1), MaxSpeed) }
	ticks := func(ms int32) int32 { return min(max(ms*hz/1000, 1), MaxDash) }
	return Rules{
		Speed:     perTick(1320), // 5.2 tiles a second
		Haste:     perTick(1860),
		Accel:     min(max(9000/(hz*hz), 1), MaxSpeed), // full speed in 0.15 s
		DashSpeed: perTick(3600),
		DashTicks: ticks(170),
		DashEvery: ticks(1200),
	}
}

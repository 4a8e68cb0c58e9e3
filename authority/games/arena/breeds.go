package arena

// horizon is beyond what any enemy senses, in tiles.
const horizon = 16

// breed is what all enemies of a kind have in common. In the table speeds are in
// units per second and times in milliseconds; at makes them per tick.
type breed struct {
	health int32
	radius int32  // below half a tile: half the width of its body
	speed  int32  // in the chase; a patrol walks at half of it
	sense  uint16 // tiles of way from which it notices players
	reach  int32  // from which it attacks
	windup int32  // the warning before its attack
	rest   int32  // from one attack to the next
	rush   int32  // speed of its charge, or 0
	damage int32
	score  int32 // for its kill
}

var breeds = [enemyKinds]breed{
	EnemyGrub: {
		health: 30, radius: 72, speed: 640, sense: 9,
		reach: 220, windup: 300, rest: 900, damage: 8, score: 5,
	},
	EnemySpitter: {
		health: 40, radius: 80, speed: 520, sense: 10,
		reach: 7 * Tile, windup: 450, rest: 2200, damage: 10, score: 10,
	},
	EnemyBrute: {
		health: 120, radius: 112, speed: 420, sense: 10,
		reach: 5 * Tile, windup: 650, rest: 3000, rush: 2100, damage: 25, score: 25,
	},
}

// at returns the breed with its speeds and times for a tick rate.
func (b breed) at(hz int32) breed {
	b.speed = max(perTick(b.speed, hz), 2)
	if b.rush > 0 {
		b.rush = perTick(b.rush, hz)
	}
	b.windup = max(b.windup*hz/1000, 1)
	b.rest = max(b.rest*hz/1000, 1)
	return b
}

// EnemyHealthOf returns the full health of a kind of enemy, 1 for an unknown one.
func EnemyHealthOf(kind int32) int32 {
	if kind < 0 || kind >= enemyKinds {
		return 1
	}
	return breeds[kind].health
}

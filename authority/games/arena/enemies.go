package arena

import (
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// enemy is a creature of the arena.
type enemy struct {
	id      replica.ID
	kind    int32
	x, y    int32
	aim     uint8
	health  int32
	state   int32
	until   uint32 // end of the state: of a stun, a windup, or a stretch of a patrol
	readyAt uint32 // next attack
	rushEnd uint32 // a charge is on until then
	goesAt  uint32 // a patrol that has met nobody by then ends
	sighted bool   // its prey is in sight; looked up every few ticks
	free    bool   // it can walk straight to it
	gone    bool   // killed in this tick
}

// populate keeps the arena full: the dead are replaced at once, somewhere else.
func (w *world) populate() {
	kept := w.enemies[:0]
	for _, e := range w.enemies {
		if !e.gone {
			kept = append(kept, e)
		}
	}
	w.enemies = kept
	for int32(len(w.enemies)) < min(baseEnemies+enemiesPerWave*(w.match.wave-1), maxEnemies) {
		w.spawnEnemy()
	}
}

func (w *world) spawnEnemy() {
	e := enemy{
		id:     w.entities.Spawn(TypeEnemy),
		kind:   w.pickKind(),
		aim:    uint8(w.rng.below(256)),
		state:  EnemyPatrol,
		goesAt: w.tick + uint32((20+w.rng.below(40))*w.pace.hz),
	}
	e.health = breeds[e.kind].health
	e.readyAt = w.tick + uint32(w.pace.hz) // nothing bites as it appears
	for range 8 {
		e.x, e.y = w.floor[w.rng.below(int32(len(w.floor)))].centre()
		if !w.playerNear(e.x, e.y, spawnDistance) {
			break
		}
	}
	w.enemies = append(w.enemies, e)
}

// pickKind sends tougher ones in later waves.
func (w *world) pickKind() int32 {
	roll := w.rng.below(100) + 4*(w.match.wave-1)
	switch {
	case roll < 62:
		return EnemyGrub
	case roll < 88:
		return EnemySpitter
	default:
		return EnemyBrute
	}
}

func (w *world) playerNear(x, y, reach int32) bool {
	for _, p := range w.players {
		if p.alive() && within(p.body.X-x, p.body.Y-y, reach) {
			return true
		}
	}
	return false
}

// stepEnemies lets every enemy act.
func (w *world) stepEnemies() {
	if w.tick%w.pace.rethink == 0 {
		w.findWays()
	}
	for i := range w.enemies {
		e := &w.enemies[i]
		prey := w.preyOf(e)
		switch {
		case e.rushEnd > w.tick:
			w.rush(e)
		case e.state == EnemyStun:
			if e.until <= w.tick {
				e.state = EnemyPatrol
			}
		case e.state == EnemyWindup:
			if e.until <= w.tick {
				w.release(e, prey)
			}
		case prey != nil:
			w.chase(e, prey)
		default:
			w.patrol(e)
		}
	}
	w.separate()
}

// findWays looks for the ways to all players that enemies may notice.
func (w *world) findWays() {
	w.prey = w.prey[:0]
	for _, p := range w.players {
		if !p.hidden() {
			w.prey = append(w.prey, tileAt(p.body.X, p.body.Y))
		}
	}
	w.ways.find(w.grid, w.prey, horizon, false)
}

// preyOf returns the nearest player if the enemy knows a way to one that is short
// enough for its senses, else nil.
func (w *world) preyOf(e *enemy) *player {
	if w.match.phase != PhasePlay || w.ways.distance(tileAt(e.x, e.y)) > w.pace.breeds[e.kind].sense {
		return nil
	}
	var prey *player
	nearest := int32(1<<31 - 1)
	for _, p := range w.players {
		dx, dy := p.body.X-e.x, p.body.Y-e.y
		if d := dx*dx + dy*dy; d < nearest && !p.hidden() {
			prey, nearest = p, d
		}
	}
	return prey
}

// patrol walks straight on until something is in the way, or it gets bored.
func (w *world) patrol(e *enemy) {
	if e.goesAt <= w.tick {
		w.entities.Despawn(e.id, GoneExpired)
		e.gone = true
		return
	}
	e.state = EnemyPatrol
	if e.until <= w.tick {
		e.aim += uint8(w.rng.below(128) - 64)
		e.until = w.tick + uint32(w.pace.hz+w.rng.below(2*w.pace.hz))
	}
	if !w.walk(e, e.aim, w.pace.breeds[e.kind].speed/2) {
		e.aim += uint8(64 + w.rng.below(128))
	}
}

// chase goes for a player, each kind in its way.
func (w *world) chase(e *enemy, prey *player) {
	b := &w.pace.breeds[e.kind]
	dx, dy := prey.body.X-e.x, prey.body.Y-e.y
	toward := angle(dx, dy)
	if (w.tick+uint32(e.id))%4 == 0 || e.state != EnemyChase {
		e.sighted = sees(w.grid, e.x, e.y, prey.body.X, prey.body.Y)
		e.free = e.sighted && fits(w.grid, e.x, e.y, prey.body.X, prey.body.Y, b.radius)
	}
	e.state = EnemyChase
	if e.sighted && e.readyAt <= w.tick && within(dx, dy, b.reach) {
		e.aim, e.state = toward, EnemyWindup
		e.until = w.tick + uint32(b.windup)
		return
	}
	heading := toward
	switch {
	case !e.free:
		x, y := w.ways.next(tileAt(e.x, e.y)).centre()
		heading = angle(x-e.x, y-e.y)
	case e.kind == EnemySpitter && within(dx, dy, 3*Tile):
		heading = toward + 128 // too close
	case e.kind == EnemySpitter && within(dx, dy, 5*Tile):
		heading = toward + 64 // circles
	case within(dx, dy, 2*movement.Radius):
		return // face to face
	}
	e.aim = turn(e.aim, heading, 24)
	w.walk(e, e.aim, b.speed)
}

// release ends a windup with the attack that it announced. Its direction was
// fixed when it began: who moves in time is not hit.
func (w *world) release(e *enemy, prey *player) {
	b := &w.pace.breeds[e.kind]
	e.state = EnemyChase
	e.readyAt = w.tick + uint32(b.rest)
	switch e.kind {
	case EnemyGrub:
		if prey != nil && within(prey.body.X-e.x, prey.body.Y-e.y, b.reach+b.reach/4) {
			w.hurtPlayer(prey, b.damage, attacker{id: e.id})
		}
	case EnemySpitter:
		w.fireSpit(e)
	case EnemyBrute:
		e.rushEnd = w.tick + uint32(w.pace.hz/2+1)
	}
}

// rush runs straight on and hits the first in the way, or a wall.
func (w *world) rush(e *enemy) {
	b := &w.pace.breeds[e.kind]
	if !w.walk(e, e.aim, b.rush) {
		w.stun(e, 2)
		return
	}
	for _, p := range w.players {
		if !p.hidden() && within(p.body.X-e.x, p.body.Y-e.y, b.radius+movement.Radius) {
			w.hurtPlayer(p, b.damage, attacker{id: e.id})
			w.stun(e, 1)
			return
		}
	}
}

// stun stops an enemy for some halves of a second.
func (w *world) stun(e *enemy, halves uint32) {
	e.state, e.rushEnd = EnemyStun, 0
	e.until = w.tick + (halves*uint32(w.pace.hz)+1)/2
}

// walk moves an enemy and reports whether nothing stopped it.
func (w *world) walk(e *enemy, heading uint8, speed int32) bool {
	vx, vy := along(heading, speed)
	x, y, rx, ry := movement.Slide(w.grid, e.x, e.y, vx, vy, w.pace.breeds[e.kind].radius)
	e.x, e.y = x, y
	return rx == vx && ry == vy
}

// separate pushes enemies that overlap apart, gently.
func (w *world) separate() {
	const apart, push = 150, 5
	for i := range w.enemies {
		a := &w.enemies[i]
		for j := i + 1; j < len(w.enemies); j++ {
			b := &w.enemies[j]
			dx := a.x - b.x
			if dx >= apart || dx <= -apart {
				continue
			}
			dy := a.y - b.y
			if dy >= apart || dy <= -apart {
				continue
			}
			w.nudge(a, sign(dx)*push, sign(dy)*push)
			w.nudge(b, -sign(dx)*push, -sign(dy)*push)
		}
	}
}

func (w *world) nudge(e *enemy, vx, vy int32) {
	e.x, e.y, _, _ = movement.Slide(w.grid, e.x, e.y, vx, vy, w.pace.breeds[e.kind].radius)
}

func sign(v int32) int32 { return clamp(v, 1) }

// hurtEnemy takes health from an enemy; a player's hit stuns all but brutes.
func (w *world) hurtEnemy(e *enemy, amount int32, by *player) {
	if e.gone || w.match.phase != PhasePlay {
		return
	}
	amount = min(amount, e.health)
	e.health -= amount
	from := attacker{by.id, by.member}
	w.tellDamage(e.id, 0, amount, from)
	if e.health > 0 {
		if e.kind != EnemyBrute && e.state != EnemyWindup {
			e.state, e.until = EnemyStun, w.tick+uint32(w.pace.hz/6+1)
		}
		return
	}
	e.gone = true
	w.entities.Despawn(e.id, GoneKilled)
	by.kills++
	by.score += breeds[e.kind].score
	w.dropLoot(e)
	w.tell(GameKill, Kill{Victim: e.id, Kind: e.kind, Killer: by.id, KillerPeer: by.member, X: e.x, Y: e.y})
}

func (w *world) publishEnemies() {
	for i := range w.enemies {
		e := &w.enemies[i]
		w.entities.Set(e.id, EnemyKind, e.kind)
		w.entities.Set(e.id, EnemyX, e.x)
		w.entities.Set(e.id, EnemyY, e.y)
		w.entities.Set(e.id, EnemyAim, int32(e.aim))
		w.entities.Set(e.id, EnemyHealth, e.health)
		w.entities.Set(e.id, EnemyState, e.state)
	}
}

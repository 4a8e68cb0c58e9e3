package arena

import (
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// bolt is a projectile: a player's bolt or an enemy's spit.
type bolt struct {
	id     replica.ID
	kind   int32
	from   attacker
	x, y   int32
	vx, vy int32
	aim    uint8
	goesAt uint32
	gone   bool
}

func (w *world) fireBolt(p *player, aim uint8) {
	w.fire(bolt{kind: ProjectileBolt, from: attacker{p.id, p.member}, x: p.body.X, y: p.body.Y, aim: aim}, w.pace.boltSpeed)
}

func (w *world) fireSpit(e *enemy) {
	w.fire(bolt{kind: ProjectileSpit, from: attacker{id: e.id}, x: e.x, y: e.y, aim: e.aim}, w.pace.spitSpeed)
}

// fire sends a projectile off. Beyond maxProjectiles it does not: the world is
// bounded whatever players do.
func (w *world) fire(b bolt, speed int32) {
	if len(w.bolts) == maxProjectiles {
		return
	}
	b.id = w.entities.Spawn(TypeProjectile)
	b.vx, b.vy = along(b.aim, speed)
	b.goesAt = w.tick + w.pace.boltLife
	if b.kind == ProjectileSpit {
		b.goesAt += w.pace.boltLife
	}
	w.bolts = append(w.bolts, b)
	w.entities.Set(b.id, ProjectileKind, b.kind)
	w.entities.Set(b.id, ProjectileOwner, int32(b.from.member))
	w.entities.Set(b.id, ProjectileAim, int32(b.aim))
}

// stepBolts moves the projectiles, in half steps: a step may be longer than what
// it could hit is wide.
func (w *world) stepBolts() {
	for i := range w.bolts {
		b := &w.bolts[i]
		if b.goesAt <= w.tick {
			w.endBolt(b, GoneExpired)
			continue
		}
		halfX, halfY := b.vx/2, b.vy/2
		if !w.flyTo(b, b.x+halfX, b.y+halfY) {
			w.flyTo(b, b.x+b.vx-halfX, b.y+b.vy-halfY)
		}
	}
	kept := w.bolts[:0]
	for _, b := range w.bolts {
		if !b.gone {
			kept = append(kept, b)
		}
	}
	w.bolts = kept
}

// flyTo moves a projectile to a point and reports whether that was its end.
func (w *world) flyTo(b *bolt, x, y int32) (ended bool) {
	if w.grid.Solid(x>>8, y>>8) {
		w.endBolt(b, GoneWall)
		return true
	}
	b.x, b.y = x, y
	if w.hitsPlayer(b) || b.kind == ProjectileBolt && w.hitsEnemy(b) {
		w.endBolt(b, GoneHit)
		return true
	}
	return false
}

func (w *world) endBolt(b *bolt, reason uint8) {
	b.gone = true
	w.entities.Despawn(b.id, reason)
}

// hitsPlayer hurts the first player at a projectile's point, never its owner.
// A shield stops it without harm; an absent body does not.
func (w *world) hitsPlayer(b *bolt) bool {
	for _, p := range w.players {
		if p.member == b.from.member || p.hidden() || !within(p.body.X-b.x, p.body.Y-b.y, movement.Radius+boltRadius) {
			continue
		}
		damage := breeds[EnemySpitter].damage
		if b.kind == ProjectileBolt {
			damage = boltDamagePVP
		}
		w.hurtPlayer(p, damage, b.from)
		return true
	}
	return false
}

// hitsEnemy hurts the first enemy at a projectile's point. A bolt outlives its
// shooter's stay: then it harms nobody.
func (w *world) hitsEnemy(b *bolt) bool {
	for i := range w.enemies {
		e := &w.enemies[i]
		if e.gone || !within(e.x-b.x, e.y-b.y, breeds[e.kind].radius+boltRadius) {
			continue
		}
		if by := w.seats[b.from.member]; by != nil {
			w.hurtEnemy(e, boltDamage, by)
		}
		return true
	}
	return false
}

func (w *world) publishBolts() {
	for i := range w.bolts {
		b := &w.bolts[i]
		w.entities.Set(b.id, ProjectileX, b.x)
		w.entities.Set(b.id, ProjectileY, b.y)
	}
}

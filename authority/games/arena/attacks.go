package arena

import "github.com/gatehouse/gatehouse/authority/replica"

// shoot sends a player's bolts along its aim.
func (w *world) shoot(p *player) {
	w.beginAttack(p, w.pace.shot)
	w.fireBolt(p, p.aim)
	if p.body.Power == PowerSpread {
		w.fireBolt(p, p.aim-8)
		w.fireBolt(p, p.aim+8)
	}
}

// beginAttack starts the wait for the next one. Who attacks gives up the shield
// of its spawn.
func (w *world) beginAttack(p *player, wait uint32) {
	p.readyAt = w.tick + wait
	p.flashEnd = w.tick + w.pace.flash
	p.shieldEnd = 0
}

// strike hits a target that is close and in sight, if it can be hurt.
func (w *world) strike(p *player, target replica.ID, aim uint8) (success bool, result string) {
	e, victim := w.enemyOf(target), w.playerOf(target)
	var x, y int32
	switch {
	case e != nil:
		x, y = e.x, e.y
	case victim != nil && victim != p && victim.alive():
		x, y = victim.body.X, victim.body.Y
	default:
		return false, ResultNoTarget
	}
	switch {
	case !within(x-p.body.X, y-p.body.Y, strikeReach):
		return false, ResultOutOfReach
	case !sees(w.grid, p.body.X, p.body.Y, x, y):
		return false, ResultNoSight
	case victim != nil && w.shielded(victim):
		return false, ResultShielded
	}
	p.aim = aim
	w.beginAttack(p, w.pace.strike)
	if e != nil {
		w.hurtEnemy(e, strikeDamage, p)
	} else {
		w.hurtPlayer(victim, strikePVP, attacker{p.id, p.member})
	}
	return true, ResultHit
}

func (w *world) playerOf(id replica.ID) *player {
	for _, p := range w.players {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (w *world) enemyOf(id replica.ID) *enemy {
	for i := range w.enemies {
		if e := &w.enemies[i]; e.id == id && !e.gone {
			return e
		}
	}
	return nil
}

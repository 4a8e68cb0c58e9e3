package arena

import (
	"encoding/json"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// player is a member and its body.
type player struct {
	id          replica.ID
	member      uint32
	name        string
	color, skin int32

	body   movement.State // Flags holds Alive only; the others are made in publish
	aim    uint8
	health int32

	away      bool
	awayUntil uint32 // an absent body is taken off the field

	credit    int32  // inputs it may still use: speed is what inputs make of ticks
	used      int32  // of them in this tick; begins at 0
	fedAt     uint32 // tick of the last input
	readyAt   uint32 // next attack
	flashEnd  uint32 // its attack is shown
	shieldEnd uint32
	powerEnd  uint32
	respawnAt uint32 // when dead

	score, kills, deaths int32
}

func (p *player) alive() bool { return p.body.Flags&FlagAlive != 0 }

// hidden reports whether enemies take no notice of the player.
func (p *player) hidden() bool { return !p.alive() || p.away }

func (w *world) shielded(p *player) bool {
	return p.away || p.shieldEnd > w.tick || p.body.Power == PowerShield
}

// join seats a member with a body on the field.
func (w *world) join(c *authority.Command) {
	p := &player{
		id:     w.entities.Spawn(TypePlayer),
		member: c.Member,
		name:   c.Name,
		credit: 1,
		fedAt:  w.tick,
	}
	if p.id == 0 {
		return // no entity is free; the member can watch
	}
	profile := parseProfile(c.Payload, c.Member)
	p.color, p.skin = profile.Color, profile.Skin
	w.players = append(w.players, p)
	w.seats[c.Member] = p
	w.place(p)
}

// parseProfile never fails: a profile is for all games and need not suit this.
func parseProfile(b []byte, member uint32) Profile {
	p := Profile{Color: -1}
	if len(b) > maxProfileBytes || json.Unmarshal(b, &p) != nil || p.Color < 0 || p.Color > 15 {
		p.Color = int32(member % 16)
	}
	if p.Skin < 0 || p.Skin > 3 {
		p.Skin = 0
	}
	return p
}

const maxProfileBytes = 4096

// place puts a player on the field, whole and shielded for a moment, at the best
// of a few places.
func (w *world) place(p *player) {
	var best tile
	bestDistance := int32(-1)
	for range 8 {
		t := w.floor[w.rng.below(int32(len(w.floor)))]
		if d := w.distanceToDanger(t, p); d > bestDistance {
			best, bestDistance = t, d
		}
	}
	p.body = movement.State{Flags: FlagAlive}
	p.body.X, p.body.Y = best.centre()
	p.health = MaxPlayerHealth
	p.shieldEnd = w.tick + w.pace.shield
	p.powerEnd, p.flashEnd, p.respawnAt = 0, 0, 0
}

// distanceToDanger is the square of the distance to the nearest enemy or player.
func (w *world) distanceToDanger(t tile, self *player) int32 {
	x, y := t.centre()
	nearest := int32(1<<31 - 1)
	for i := range w.enemies {
		dx, dy := w.enemies[i].x-x, w.enemies[i].y-y
		nearest = min(nearest, dx*dx+dy*dy)
	}
	for _, p := range w.players {
		if p != self && p.alive() {
			dx, dy := p.body.X-x, p.body.Y-y
			nearest = min(nearest, dx*dx+dy*dy)
		}
	}
	return nearest
}

// depart makes an absent member's body safe, and idle.
func (w *world) depart(p *player) {
	p.away = true
	p.awayUntil = w.tick + w.pace.awayLimit
	p.body.VX, p.body.VY = 0, 0
}

// leave takes a member's player away for good.
func (w *world) leave(p *player) {
	w.entities.Despawn(p.id, GoneLeft)
	delete(w.seats, p.member)
	for i, q := range w.players {
		if q == p {
			w.players = append(w.players[:i], w.players[i+1:]...)
			break
		}
	}
}

// grant gives a player the right to one more input. What it does not use it may
// save, within a bound: so a stall of its line can be made up for, and over time
// no one runs faster than the clock.
func (p *player) grant() {
	p.credit, p.used = min(p.credit+1, savedInputs), 0
}

// input moves the body by one tick, and attacks.
func (w *world) input(p *player, payload []byte) {
	in, err := ParseInput(payload)
	if err != nil || p.credit == 0 || p.used == inputsPerTick || p.away {
		w.out.Refused++
		return
	}
	p.credit--
	p.used++
	p.fedAt = w.tick
	p.body = movement.Step(w.grid, w.pace.rules, p.body, in.Input)
	if !p.alive() {
		return
	}
	p.aim = in.Aim
	if in.Attack && w.match.phase == PhasePlay && p.readyAt <= w.tick {
		w.shoot(p)
	}
}

// stepPlayers lets time pass for the players.
func (w *world) stepPlayers() {
	for _, p := range w.players {
		if p.body.Power != PowerNone && p.powerEnd <= w.tick {
			p.body.Power = PowerNone
		}
		if w.tick-p.fedAt > w.pace.starved {
			p.body.VX, p.body.VY = 0, 0
		}
		if p.away && p.alive() && p.awayUntil <= w.tick {
			w.takeOff(p)
		}
	}
}

// takeOff leaves a player without a body until it asks for another.
func (w *world) takeOff(p *player) {
	p.body.Flags, p.body.VX, p.body.VY, p.body.Power = 0, 0, 0, PowerNone
	p.health, p.powerEnd, p.shieldEnd = 0, 0, 0
	p.respawnAt = w.tick
}

// hurtPlayer takes health from a player, and its life with the last of it.
func (w *world) hurtPlayer(p *player, amount int32, from attacker) {
	if !p.alive() || w.shielded(p) || w.match.phase != PhasePlay {
		return
	}
	if !w.entities.Alive(from.id) {
		from.id = 0
	}
	amount = min(amount, p.health)
	p.health -= amount
	w.tellDamage(p.id, p.member, amount, from)
	if p.health > 0 {
		return
	}
	kill := Kill{
		Victim: p.id, VictimPeer: p.member, Kind: -1,
		Killer: from.id, KillerPeer: from.member, X: p.body.X, Y: p.body.Y,
	}
	w.takeOff(p)
	p.deaths++
	p.respawnAt = w.tick + w.pace.respawn
	if killer := w.seats[from.member]; killer != nil {
		killer.kills++
		killer.score += playerKill
	}
	w.dropItem(ItemGem, p.body.X, p.body.Y)
	w.tell(GameKill, kill)
}

// attacker is who a damage comes from; member is 0 for an enemy.
type attacker struct {
	id     replica.ID
	member uint32
}

// tellDamage tells the members that are concerned.
func (w *world) tellDamage(target replica.ID, victim uint32, amount int32, from attacker) {
	payload := encode(Damage{Target: target, Amount: amount, Source: from.id})
	if victim != 0 {
		w.out.Emit(victim, EventDamage, payload)
	}
	if from.member != 0 && from.member != victim && w.seats[from.member] != nil {
		w.out.Emit(from.member, EventDamage, payload)
	}
}

func (w *world) publishPlayer(p *player) {
	flags := p.body.Flags & FlagAlive
	if p.alive() {
		if p.body.VX != 0 || p.body.VY != 0 {
			flags |= FlagMoving
		}
		if p.flashEnd > w.tick {
			flags |= FlagAttacking
		}
		if w.shielded(p) {
			flags |= FlagShielded
		}
		if p.body.Dash > w.pace.rules.DashEvery-w.pace.rules.DashTicks {
			flags |= FlagDashing
		}
	}
	if p.away {
		flags |= FlagAway
	}
	wait := int32(0)
	if !p.alive() {
		wait = w.secondsUntil(p.respawnAt)
	}
	e := w.entities
	e.Set(p.id, PlayerOwner, int32(p.member))
	e.Set(p.id, PlayerX, p.body.X)
	e.Set(p.id, PlayerY, p.body.Y)
	e.Set(p.id, PlayerVX, p.body.VX)
	e.Set(p.id, PlayerVY, p.body.VY)
	e.Set(p.id, PlayerDash, p.body.Dash)
	e.Set(p.id, PlayerPower, p.body.Power)
	e.Set(p.id, PlayerFlags, flags)
	e.Set(p.id, PlayerAim, int32(p.aim))
	e.Set(p.id, PlayerHealth, p.health)
	e.Set(p.id, PlayerPowerLeft, w.secondsUntil(p.powerEnd))
	e.Set(p.id, PlayerWait, wait)
	e.Set(p.id, PlayerScore, p.score)
	e.Set(p.id, PlayerKills, p.kills)
	e.Set(p.id, PlayerDeaths, p.deaths)
	e.Set(p.id, PlayerColor, p.color)
	e.Set(p.id, PlayerSkin, p.skin)
}

package arena

import (
	"encoding/json"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/wire"
)

// request answers a request; p is nil if the member has no player. A repeated
// request never comes here: the room repeats its response.
func (w *world) request(p *player, c *authority.Command) {
	var success bool
	var result string
	switch c.Name {
	case RequestInteract:
		success, result = w.interact(p, c.Payload)
	case RequestAttack:
		success, result = w.attack(p, c.Payload)
	case RequestRespawn:
		success, result = w.respawn(p, c.Payload)
	default:
		w.out.Respond(*c, wire.CodeUnknownRequest, nil)
		return
	}
	code := wire.CodeNone
	if !success {
		code = wire.CodeRequestRefused
	}
	payload := encode(Result{Request: c.Request, Success: success, Result: result})
	w.out.Respond(*c, code, payload)
	if c.Name == RequestInteract {
		// The response completes the call at once; the event is for those who
		// show it: it is held until the snapshot in which the door has moved.
		w.out.Emit(c.Member, EventInteractResult, payload)
	}
}

// read decodes a request's payload; an absent one is an empty object.
func read(payload []byte, into any) bool {
	return len(payload) == 0 || len(payload) <= maxJSONBytes && json.Unmarshal(payload, into) == nil
}

// interact opens or closes a door.
func (w *world) interact(p *player, payload []byte) (success bool, result string) {
	var in Interact
	if !read(payload, &in) {
		return false, ResultMalformed
	}
	if p == nil || !p.alive() || p.away {
		return false, ResultDead
	}
	g := w.gateOf(in.Target)
	if g == nil {
		return false, ResultNoTarget
	}
	x, y := g.centre()
	switch {
	case !within(x-p.body.X, y-p.body.Y, interactReach):
		return false, ResultOutOfReach
	case !g.open:
		w.moveDoor(g, true, p.member)
		return true, ResultOpened
	case w.occupied(g):
		return false, ResultBlocked
	default:
		w.moveDoor(g, false, p.member)
		return true, ResultClosed
	}
}

// attack strikes the target, or shoots if there is none.
func (w *world) attack(p *player, payload []byte) (success bool, result string) {
	var in Attack
	if !read(payload, &in) {
		return false, ResultMalformed
	}
	aim, ok := degrees(in.Aim)
	switch {
	case !ok:
		return false, ResultMalformed
	case p == nil || !p.alive() || p.away:
		return false, ResultDead
	case w.match.phase != PhasePlay:
		return false, ResultPaused
	case p.readyAt > w.tick:
		return false, ResultCooldown
	case in.Target != 0:
		return w.strike(p, in.Target, aim)
	}
	p.aim = aim
	w.shoot(p)
	return true, ResultShot
}

// respawn brings a dead player back once its wait is over.
func (w *world) respawn(p *player, payload []byte) (success bool, result string) {
	switch {
	case !read(payload, &struct{}{}):
		return false, ResultMalformed
	case p == nil || p.away:
		return false, ResultDead
	case p.alive():
		return false, ResultAlive
	case p.respawnAt > w.tick:
		return false, ResultCooldown
	}
	w.place(p)
	w.tell(GameRespawn, Respawned{Peer: p.member, Player: p.id})
	return true, ResultRespawned
}

package arena

import (
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
)

// gate is a door of the map: its entity, and whether it stands open.
type gate struct {
	tile
	id       replica.ID
	open     bool
	closesAt uint32 // by itself, once nobody stands in it
}

func (w *world) hangDoors() {
	for _, t := range w.doors {
		g := gate{tile: t, id: w.entities.Spawn(TypeDoor)}
		w.entities.Set(g.id, DoorX, t.x)
		w.entities.Set(g.id, DoorY, t.y)
		w.gates = append(w.gates, g)
	}
}

func (w *world) gateOf(id replica.ID) *gate {
	for i := range w.gates {
		if w.gates[i].id == id {
			return &w.gates[i]
		}
	}
	return nil
}

// stepDoors closes doors that have been open long enough.
func (w *world) stepDoors() {
	for i := range w.gates {
		if g := &w.gates[i]; g.open && g.closesAt <= w.tick && !w.occupied(g) {
			w.moveDoor(g, false, 0)
		}
	}
}

// occupied reports whether a body is in the doorway: nobody is walled in.
func (w *world) occupied(g *gate) bool {
	x, y := g.centre()
	for _, p := range w.players {
		if p.alive() && touches(p.body.X-x, p.body.Y-y, movement.Radius) {
			return true
		}
	}
	for i := range w.enemies {
		if e := &w.enemies[i]; !e.gone && touches(e.x-x, e.y-y, breeds[e.kind].radius) {
			return true
		}
	}
	return false
}

// touches reports whether a square body at (dx, dy) from a tile's centre
// overlaps the tile.
func touches(dx, dy, radius int32) bool {
	return max(abs(dx), abs(dy)) <= Tile/2+radius
}

// moveDoor opens or closes a door; by is 0 if it closes by itself.
func (w *world) moveDoor(g *gate, open bool, by uint32) {
	g.open, g.closesAt = open, w.tick+w.pace.doorOpen
	w.setGate(g)
	w.tell(GameDoor, DoorMoved{Door: g.id, Open: open, Peer: by})
}

// setGate tells the grid and the clients how a door stands.
func (w *world) setGate(g *gate) {
	value := int32(0)
	if g.open {
		value = 1
	}
	w.grid.SetDoor(g.x, g.y, g.open)
	w.entities.Set(g.id, DoorOpen, value)
}

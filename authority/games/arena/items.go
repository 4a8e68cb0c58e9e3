package arena

import "github.com/gatehouse/gatehouse/authority/replica"

// item lies on the floor until someone takes it or its time is over.
type item struct {
	id     replica.ID
	kind   int32
	x, y   int32
	goesAt uint32
	gone   bool
}

// stepItems gives items to who touches them, and keeps some lying about.
func (w *world) stepItems() {
	for i := range w.items {
		it := &w.items[i]
		if it.goesAt <= w.tick {
			w.endItem(it, GoneExpired)
			continue
		}
		for _, p := range w.players {
			if !p.hidden() && within(p.body.X-it.x, p.body.Y-it.y, pickupReach) && w.take(p, it) {
				break
			}
		}
	}
	kept := w.items[:0]
	for _, it := range w.items {
		if !it.gone {
			kept = append(kept, it)
		}
	}
	w.items = kept
	if len(w.items) < baseItems && w.itemAt <= w.tick {
		w.itemAt = w.tick + w.pace.itemEvery
		w.strewItem()
	}
}

// strewItem puts one somewhere; the better ones like to be behind doors.
func (w *world) strewItem() {
	kind, from := w.rng.below(itemKinds), w.floor
	if len(w.vaults) > 0 && (kind == ItemSpread || kind == ItemShield || w.rng.oneIn(3)) {
		from = w.vaults
	}
	x, y := from[w.rng.below(int32(len(from)))].centre()
	w.dropItem(kind, x, y)
}

// dropLoot leaves something where an enemy died, sometimes.
func (w *world) dropLoot(e *enemy) {
	switch roll := w.rng.below(100); {
	case e.kind == EnemyBrute && roll < 50, roll < 25:
		w.dropItem(ItemGem, e.x, e.y)
	case roll > 92:
		w.dropItem(ItemHealth, e.x, e.y)
	}
}

func (w *world) dropItem(kind, x, y int32) {
	if len(w.items) == maxItems {
		return
	}
	it := item{id: w.entities.Spawn(TypeItem), kind: kind, x: x, y: y, goesAt: w.tick + w.pace.itemLife}
	w.items = append(w.items, it)
	w.entities.Set(it.id, ItemKind, kind)
	w.entities.Set(it.id, ItemX, x)
	w.entities.Set(it.id, ItemY, y)
}

func (w *world) endItem(it *item, reason uint8) {
	it.gone = true
	w.entities.Despawn(it.id, reason)
}

// take gives an item to a player, unless it has no use for it.
func (w *world) take(p *player, it *item) bool {
	switch it.kind {
	case ItemHealth:
		if p.health == MaxPlayerHealth {
			return false
		}
		p.health = min(p.health+healing, MaxPlayerHealth)
	case ItemGem:
		p.score += gemScore
	default:
		p.body.Power = it.kind
		p.powerEnd = w.tick + w.pace.power
	}
	w.endItem(it, GonePickedUp)
	w.tell(GamePickup, Pickup{Peer: p.member, Item: it.id, Kind: it.kind})
	return true
}

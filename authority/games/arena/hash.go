package arena

// Hash covers everything that a later Step may depend on.
func (w *world) Hash() uint64 {
	h := hasher{sum: uint64(w.tick)}
	h.add(w.rng.state, uint64(w.itemAt), uint64(w.entities.Hash()), uint64(w.entities.Len()))
	h.match(&w.match)
	for _, p := range w.players {
		h.player(p)
	}
	for i := range w.enemies {
		h.enemy(&w.enemies[i])
	}
	for i := range w.bolts {
		h.bolt(&w.bolts[i])
	}
	for i := range w.items {
		it := &w.items[i]
		h.add(uint64(it.id), pair(it.kind, 0), pair(it.x, it.y), uint64(it.goesAt))
	}
	for i := range w.gates {
		g := &w.gates[i]
		h.add(uint64(g.id), pair(g.x, g.y), bit(g.open), uint64(g.closesAt))
	}
	for _, far := range w.ways.far {
		h.sum = h.sum*0x100000001b3 ^ uint64(far)
	}
	h.add(h.sum)
	return h.sum
}

// hasher mixes words into a sum; their order counts.
type hasher struct{ sum uint64 }

func (h *hasher) add(words ...uint64) {
	for _, word := range words {
		h.sum = mix(h.sum*0x9e3779b97f4a7c15 + word)
	}
}

func (h *hasher) match(m *match) {
	h.add(uint64(m.id), pair(m.phase, m.round), uint64(m.wave), uint64(m.winner), uint64(m.endsAt), uint64(m.waveAt))
}

func (h *hasher) player(p *player) {
	b := &p.body
	h.add(uint64(p.id), uint64(p.member), uint64(len(p.name)), pair(p.color, p.skin),
		pair(b.X, b.Y), pair(b.VX, b.VY), pair(b.Dash, b.Power), pair(b.Flags, p.health), uint64(p.aim),
		bit(p.away), uint64(p.awayUntil), uint64(p.credit), uint64(p.fedAt), uint64(p.readyAt), uint64(p.flashEnd),
		uint64(p.shieldEnd), uint64(p.powerEnd), uint64(p.respawnAt), pair(p.score, p.kills), uint64(p.deaths))
	for i := range len(p.name) {
		h.add(uint64(p.name[i]))
	}
}

func (h *hasher) enemy(e *enemy) {
	h.add(uint64(e.id), pair(e.x, e.y), pair(e.kind, e.health), pair(e.state, int32(e.aim)),
		uint64(e.until), uint64(e.readyAt), uint64(e.rushEnd), uint64(e.goesAt), bit(e.sighted)|bit(e.free)<<1)
}

func (h *hasher) bolt(b *bolt) {
	h.add(uint64(b.id), pair(b.x, b.y), pair(b.vx, b.vy), pair(b.kind, int32(b.aim)),
		uint64(b.from.id), uint64(b.from.member), uint64(b.goesAt))
}

func pair(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

package replica

import (
	"encoding/binary"

	"github.com/gatehouse/gatehouse/wire"
)

// DeltaStats tells of one delta snapshot. Bytes is 0 if there was none.
type DeltaStats struct {
	Bytes    int
	Entities int // records of living entities
	Full     int // those of them that were sent whole
	Despawns int
	Deferred int // records that had to wait for a later snapshot
}

// Delta appends the body of a delta snapshot of the store's last tick, of at
// most budget bytes. Its most urgent record is in it even if the budget is too
// small for that (at most 150 bytes). It returns dst as it is while the client
// needs a full snapshot or has not acknowledged one, and when that tick was sent
// already. It allocates nothing in a steady state.
func (p *Peer) Delta(dst []byte, m Meta, budget int) ([]byte, DeltaStats) {
	tick := p.store.tick
	if p.NeedsFull() || p.stage != following || tick <= p.sent {
		return dst, DeltaStats{}
	}
	p.notice()
	if p.gather(); p.stage != following {
		return dst, DeltaStats{}
	}
	start := len(dst)
	dst = p.appendHeader(dst, m)
	k := &p.picks
	entities := len(k.all) - k.despawns
	room := (budget-(len(dst)-start))*8 - bitvarBits(uint32(k.despawns)) - bitvarBits(uint32(entities))
	fits := k.bits <= room
	if !fits {
		p.choose(room)
	}
	w := wire.NewBitWriter(dst)
	stats := p.writePicks(&w, p.record(tick, m), fits)
	dst = w.Bytes()
	stats.Bytes = len(dst) - start
	return dst, stats
}

// appendHeader leaves the input out when the client is known to know it: an
// idle client's snapshots stay small.
func (p *Peer) appendHeader(dst []byte, m Meta) []byte {
	flags, tick := byte(0), p.store.tick
	if m.HasInput && m != p.input {
		flags |= flagInput
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(tick))
	dst = binary.AppendUvarint(dst, uint64(tick-p.applied))
	if flags&flagInput != 0 {
		dst = binary.LittleEndian.AppendUint16(dst, m.InputSeq)
	}
	return dst
}

// writePicks writes the chosen records, or every one, and remembers them in s.
func (p *Peer) writePicks(w *wire.BitWriter, s *send, every bool) DeltaStats {
	stats := p.count(every)
	w.Uvarint(uint32(stats.Despawns))
	if stats.Despawns > 0 {
		p.writeDespawns(w, s)
	}
	w.Uvarint(uint32(stats.Entities))
	last := ID(0)
	for i := range p.picks.all {
		x := &p.picks.all[i]
		if !x.chosen || x.record == despawn {
			continue
		}
		writeGap(w, last, x.id)
		last = x.id
		if x.record == whole {
			p.writeWhole(w, x.id)
		} else {
			p.store.writeChanged(w, x.id, x.fields)
		}
		p.carry(s, x.id, false)
	}
	return stats
}

func (p *Peer) count(every bool) (stats DeltaStats) {
	for i := range p.picks.all {
		x := &p.picks.all[i]
		x.chosen = x.chosen || every
		if x.record == despawn && p.store.alive.has(x.id) {
			stats.Deferred++ // who has the id now
		}
		switch {
		case !x.chosen:
			stats.Deferred++
		case x.record == despawn:
			stats.Despawns++
		case x.record == whole:
			stats.Full++
			stats.Entities++
		default:
			stats.Entities++
		}
	}
	return stats
}

func (p *Peer) writeDespawns(w *wire.BitWriter, s *send) {
	last := ID(0)
	for i := range p.picks.all {
		x := &p.picks.all[i]
		if !x.chosen || x.record != despawn {
			continue
		}
		writeGap(w, last, x.id)
		last = x.id
		w.Write(uint32(p.generation[x.id])|uint32(p.reason[x.id])<<generationBits, generationBits+reasonBits)
		p.carry(s, x.id, true)
	}
}

func (p *Peer) writeWhole(w *wire.BitWriter, id ID) {
	w.Write(1, 1)
	p.store.writeWhole(w, id)
	p.state[id], p.generation[id] = offered, p.store.generation[id]
}

// writeChanged writes a delta record: the changed fields' values as they are.
func (t *table) writeChanged(w *wire.BitWriter, id ID, changed uint32) {
	fields := t.fields(id)
	w.Write(0, 1)
	w.Write(changed, uint(len(fields)))
	for i, v := range t.row(id) {
		if changed>>i&1 != 0 {
			w.Write(v, fields[i].bits)
		}
	}
}

func (p *Peer) carry(s *send, id ID, gone bool) {
	s.carried = append(s.carried, carried{id: id, generation: p.generation[id], gone: gone})
	p.queued[id] = s.tick
}

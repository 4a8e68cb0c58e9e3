package replica

import (
	"encoding/binary"

	"github.com/gatehouse/gatehouse/wire"
)

// Bounds of a chunk of a full snapshot in bytes.
const (
	MaxChunkBytes = 16 << 10
	MinChunkBytes = 256
)

// span is the part of the world that one chunk carries.
type span struct {
	after ID // the last id before it
	count int
}

// Full emits the store's last tick as a full snapshot in chunks of at most
// chunkBytes (between [MinChunkBytes] and [MaxChunkBytes]), in order, and
// returns their number. A chunk is only good until emit returns. Until the
// client has acknowledged the tick, [Peer.Delta] yields nothing.
//
// It emits nothing and returns 0 if no full snapshot is needed, if nothing was
// committed yet, and if the client was sent that tick already: an acknowledgement
// must tell which of the two was applied. Then the next tick will do.
func (p *Peer) Full(m Meta, chunkBytes int, emit func(chunk []byte)) int {
	tick := p.store.tick
	if !p.NeedsFull() || tick <= p.sent {
		return 0
	}
	p.restart(tick, m)
	p.partition(min(max(chunkBytes, MinChunkBytes), MaxChunkBytes))
	var buf []byte
	for i := range p.spans {
		buf = p.appendChunk(buf[:0], m, i)
		emit(buf)
	}
	return len(p.spans)
}

// restart forgets what the client was sent and offers it everything.
func (p *Peer) restart(tick uint32, m Meta) {
	p.growTo(len(p.store.typ))
	for i := range p.sends {
		p.sends[i].judged = true
	}
	clear(p.dirty)
	clear(p.state)
	for id := range p.store.All() {
		p.state[id], p.generation[id] = offered, p.store.generation[id]
	}
	p.record(tick, m).full = true
	p.stage, p.seen, p.applied, p.input = fullPending, tick, 0, Meta{}
}

// partition fills chunks one after the other.
func (p *Peer) partition(chunkBytes int) {
	room := (chunkBytes-maxFullHeader)*8 - bitvarBits(MaxEntities)
	p.spans = append(p.spans[:0], span{})
	used, last := 0, ID(0)
	for id := range p.store.All() {
		cost := p.store.wholeBits(id)
		if used+cost+gapBits(last, id) > room {
			p.spans = append(p.spans, span{after: id - 1})
			used, last = 0, 0
		}
		used += cost + gapBits(last, id)
		last = id
		p.spans[len(p.spans)-1].count++
	}
}

func (p *Peer) appendChunk(dst []byte, m Meta, index int) []byte {
	flags := byte(0)
	if m.HasInput {
		flags |= flagInput
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(p.store.tick))
	dst = binary.AppendUvarint(dst, uint64(index))
	dst = binary.AppendUvarint(dst, uint64(len(p.spans)))
	if m.HasInput {
		dst = binary.LittleEndian.AppendUint16(dst, m.InputSeq)
	}
	w := wire.NewBitWriter(dst)
	s := p.spans[index]
	w.Uvarint(uint32(s.count))
	last, id := ID(0), s.after
	for range s.count {
		id = p.store.alive.after(id)
		writeGap(&w, last, id)
		p.store.writeWhole(&w, id)
		last = id
	}
	return w.Bytes()
}

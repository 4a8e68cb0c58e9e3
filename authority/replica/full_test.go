package replica

import (
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// chunks returns a world's full snapshot.
func (p *pair) chunks(size int) (chunks [][]byte) {
	n := p.peer.Full(Meta{HasInput: true, InputSeq: 4}, size, func(chunk []byte) {
		chunks = append(chunks, slices.Clone(chunk))
	})
	if n != len(chunks) {
		p.t.Fatalf("says %d chunks, emits %d", n, len(chunks))
	}
	return chunks
}

func TestFullSnapshotComesInChunks(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	for i := range 3000 {
		s.Spawn(i % 4)
	}
	s.Commit(1)
	for _, size := range []int{0, MinChunkBytes, 1000, MaxChunkBytes, 1 << 30} {
		p := newPair(t, s)
		chunks := p.chunks(size)
		limit := min(max(size, MinChunkBytes), MaxChunkBytes)
		for i, chunk := range chunks {
			if len(chunk) > limit || i < len(chunks)-1 && len(chunk) < limit-40 {
				t.Fatalf("chunk %d of %d has %d bytes, the limit is %d", i, len(chunks), len(chunk), limit)
			}
			if p.view.Len() != 0 {
				t.Fatal("applied in parts")
			}
			a, done, err := p.view.ApplyFull(chunk)
			if err != nil || done != (i == len(chunks)-1) {
				t.Fatalf("chunk %d: done %v, %v", i, done, err)
			}
			if done && (a.Tick != 1 || len(a.Spawned) != 3000 || a.Meta != (Meta{HasInput: true, InputSeq: 4})) {
				t.Errorf("applied tick %d, %d spawned, %+v", a.Tick, len(a.Spawned), a.Meta)
			}
		}
		p.same()
	}
}

func TestFullSnapshotOfAnEmptyWorld(t *testing.T) {
	t.Parallel()
	p := joined(t, NewStore(testSchema()))
	p.same()
	if p.view.Tick() != 1 {
		t.Error("not acknowledged")
	}
}

func TestLateJoinerGetsEverything(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	s.Spawn(0) // before anyone is there
	s.Spawn(2) // without fields
	first := joined(t, s)
	for range 200 { // unchanged for long
		first.send()
		first.ack()
	}
	for range 30 {
		s.Spawn(1) // in the very tick
		first.tick()
		late := newPair(t, s)
		late.full()
		late.same()
		late.ack()
		first.apply(first.delta())
		first.same()
		s.Set(1, 0, int32(s.Tick()))
		first.send()
		late.apply(late.delta())
		first.same()
		late.same()
	}
}

func TestChangesWhileAFullSnapshotIsUnderWayFollowIt(t *testing.T) {
	t.Parallel()
	for _, ticks := range []int{1, history, history + 1, 300} {
		s := NewStore(testSchema())
		gone, moved := s.Spawn(0), s.Spawn(0)
		p := newPair(t, s)
		s.Commit(1)
		p.full()
		s.Despawn(gone, 1)
		s.Set(moved, 0, 9)
		s.Spawn(1)
		for range ticks {
			p.tick()
		}
		p.ack()
		p.send()
		p.same()
		if p.stats != (DeltaStats{Bytes: p.stats.Bytes, Entities: 2, Full: 1, Despawns: 1}) {
			t.Errorf("after %d ticks: %+v", ticks, p.stats)
		}
	}
}

func TestFullSnapshotReplacesEverything(t *testing.T) {
	t.Parallel()
	s := haste()
	kept, changed, gone, other := s.Spawn(0), s.Spawn(0), s.Spawn(0), s.Spawn(0)
	p := joined(t, s)
	s.Set(changed, 0, 1)
	s.Despawn(other, 1)
	s.Despawn(gone, 1)
	s.Commit(2)
	if id := s.Spawn(1); id != other {
		t.Fatalf("got id %d, want %d again", id, other)
	}
	p.peer.Resync()
	p.tick()
	a := p.full()
	p.same()
	if !slices.Equal(a.Spawned, []ID{other}) || !slices.Equal(a.Changed, []ID{changed}) || len(a.Despawned) != 2 {
		t.Errorf("applied %+v", a)
	}
	if p.view.Alive(gone) || !p.view.Alive(kept) {
		t.Error("not replaced")
	}
}

// A room that was lost begins its ticks again.
func TestFullSnapshotOfAnOlderTickCounts(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	s.Commit(999)
	p := joined(t, s)
	p.send()
	anew := NewStore(s.Schema())
	anew.Spawn(0)
	p.store, p.peer = anew, NewPeer(anew)
	p.tick()
	p.full()
	p.ack()
	p.send()
	p.same()
	if tick, mask := p.view.Ack(); tick != 2 || mask != 1 {
		t.Errorf("acknowledges %d with mask %b", tick, mask)
	}
}

func TestChunksOutOfTurn(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	for range 100 {
		s.Spawn(0)
	}
	s.Commit(1)
	p := newPair(t, s)
	chunks := p.chunks(MinChunkBytes)
	p.peer.Resync()
	s.Spawn(0)
	s.Commit(2)
	next := p.chunks(MinChunkBytes)
	if len(chunks) < 4 || len(next) < 4 {
		t.Fatal("too few chunks")
	}
	feed := func(chunk []byte, want error) {
		t.Helper()
		if _, done, err := p.view.ApplyFull(chunk); !errors.Is(err, want) || done {
			t.Errorf("done %v, got %v, want %v", done, err, want)
		}
	}
	feed(chunks[1], ErrResync)
	feed(chunks[0], nil)
	feed(chunks[2], ErrResync)
	feed(chunks[1], ErrResync) // the error discarded the first
	feed(chunks[0], nil)
	feed(chunks[1], nil)
	feed(chunks[1], ErrResync)
	feed(chunks[0], nil)
	feed(next[1], ErrResync)
	feed(chunks[0], nil)
	feed(chunks[1], nil)
	feed(next[0], nil) // another snapshot discards what waits
	if p.view.Len() != 0 || p.view.Tick() != 0 {
		t.Fatal("applied in parts")
	}
	for _, chunk := range next[1:] {
		if _, _, err := p.view.ApplyFull(chunk); err != nil {
			t.Fatal(err)
		}
	}
	p.same()
	feed(next[1], ErrResync)
}

func TestHostileFullSnapshots(t *testing.T) {
	t.Parallel()
	s := NewStore(testSchema())
	chunk := func(header []byte, bits func(w *wire.BitWriter)) []byte {
		w := wire.NewBitWriter(header)
		bits(&w)
		return w.Bytes()
	}
	nothing := func(w *wire.BitWriter) { w.Uvarint(0) }
	mark := func(w *wire.BitWriter, gap uint32) {
		w.Uvarint(gap)
		w.Write(1, 8)
		w.Write(2, 2)
	}
	for name, body := range map[string][]byte{
		"empty":            {},
		"no chunks":        chunk([]byte{0, 1, 0, 0}, nothing),
		"index past count": chunk([]byte{0, 1, 1, 1}, nothing),
		"tick 0":           chunk([]byte{0, 0, 0, 1}, nothing),
		"unknown flag":     chunk([]byte{2, 1, 0, 1}, nothing),
		"long uvarint":     chunk([]byte{0, 255, 255, 255, 255, 255, 255, 1, 0, 1}, nothing),
		"input cut off":    {1, 1, 0, 1, 7},
		"count lies": chunk([]byte{0, 1, 0, 1}, func(w *wire.BitWriter) {
			w.Uvarint(1 << 31)
			mark(w, 0)
		}),
		"count is one too many": chunk([]byte{0, 1, 0, 1}, func(w *wire.BitWriter) {
			w.Uvarint(2)
			mark(w, 0)
		}),
		"id too large": chunk([]byte{0, 1, 0, 1}, func(w *wire.BitWriter) {
			w.Uvarint(1)
			mark(w, MaxEntities)
		}),
		"id wraps": chunk([]byte{0, 1, 0, 1}, func(w *wire.BitWriter) {
			w.Uvarint(1)
			mark(w, 1<<32-1)
		}),
		"unknown type": chunk([]byte{0, 1, 0, 1}, func(w *wire.BitWriter) {
			w.Uvarint(1)
			w.Uvarint(0)
			w.Write(1, 8)
			w.Write(3, 2)
			w.Write(0, 32)
			w.Write(0, 3)
		}),
		"more than it counts": chunk([]byte{0, 1, 0, 1}, func(w *wire.BitWriter) {
			w.Uvarint(0)
			mark(w, 0)
		}),
	} {
		v := NewView(s.Schema())
		if name == "unknown type" { // with 3 types the number 3 is free
			v = NewView(MustSchema(s.Schema().Types[:3]...))
		}
		if _, done, err := v.ApplyFull(body); err == nil || done || v.Len() != 0 || v.Tick() != 0 {
			t.Errorf("%s: done %v, %v", name, done, err)
		}
	}
	twice := NewView(s.Schema())
	one := func(w *wire.BitWriter) { w.Uvarint(1); mark(w, 5) }
	if _, _, err := twice.ApplyFull(chunk([]byte{0, 1, 0, 2}, one)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := twice.ApplyFull(chunk([]byte{0, 1, 1, 2}, one)); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("an entity in two chunks: %v", err)
	}
}

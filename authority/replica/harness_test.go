package replica

import (
	"slices"

	"github.com/gatehouse/gatehouse/wire"
)

// pair is a store, the peer of one client, and that client's view; what goes
// between them goes through the test's hands.
type pair struct {
	t     failer
	store *Store
	peer  *Peer
	view  *View
	stats DeltaStats // of the last delta
}

// failer is a *testing.T, a *testing.B or a *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newPair(t failer, s *Store) *pair {
	return &pair{t: t, store: s, peer: NewPeer(s), view: NewView(s.Schema())}
}

// joined returns a pair that has its full snapshot behind it.
func joined(t failer, s *Store) *pair {
	t.Helper()
	p := newPair(t, s)
	p.tick()
	p.full()
	p.ack()
	return p
}

// tick commits the next tick.
func (p *pair) tick() { p.store.Commit(p.store.Tick() + 1) }

// full sends and applies a full snapshot.
func (p *pair) full() Applied {
	p.t.Helper()
	var got Applied
	complete := false
	chunks := p.peer.Full(Meta{}, MaxChunkBytes, func(chunk []byte) {
		a, done, err := p.view.ApplyFull(chunk)
		if err != nil {
			p.t.Fatal(err)
		}
		got, complete = a, done
	})
	if chunks == 0 || !complete {
		p.t.Fatalf("%d chunks, complete %v", chunks, complete)
	}
	return got
}

// delta makes a delta snapshot for a datagram.
func (p *pair) delta() []byte {
	p.t.Helper()
	var body []byte
	body, p.stats = p.peer.Delta(nil, Meta{}, wire.MaxDatagram-2)
	if p.stats.Bytes == 0 || p.stats.Bytes != len(body) {
		p.t.Fatalf("delta of %d bytes, stats %+v", len(body), p.stats)
	}
	return body
}

func (p *pair) apply(body []byte) Applied {
	p.t.Helper()
	a, err := p.view.Apply(body)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// send commits, makes a delta and applies it; the client does not acknowledge.
func (p *pair) send() Applied {
	p.t.Helper()
	p.tick()
	return p.apply(p.delta())
}

// lose commits and makes a delta that never arrives.
func (p *pair) lose() {
	p.t.Helper()
	p.tick()
	p.delta()
}

func (p *pair) ack() {
	p.t.Helper()
	if err := p.peer.Ack(p.view.Ack()); err != nil {
		p.t.Fatal(err)
	}
}

// same fails the test unless the client holds exactly the world.
func (p *pair) same() {
	p.t.Helper()
	if got, want := slices.Collect(p.view.All()), slices.Collect(p.store.All()); !slices.Equal(got, want) {
		p.t.Fatalf("view has %v, store has %v", got, want)
	}
	for id := range p.store.All() {
		if !sameEntity(&p.store.table, &p.view.table, id) {
			p.t.Fatalf("entity %d: view has %v, store has %v", id, p.view.row(id), p.store.row(id))
		}
	}
	if p.view.Hash() != p.store.Hash() || p.view.Len() != p.store.Len() {
		p.t.Fatal("same entities, other hash or length")
	}
}

func sameEntity(a, b *table, id ID) bool {
	return a.Alive(id) == b.Alive(id) && (!a.Alive(id) ||
		a.Generation(id) == b.Generation(id) && a.Type(id) == b.Type(id) && slices.Equal(a.row(id), b.row(id)))
}

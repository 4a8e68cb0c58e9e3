package replica

const (
	// window is how many of the last snapshots may still be acknowledged.
	window = 64
	// maxAbsence is after how many ticks without a look at the store, or with
	// a despawn that is never acknowledged, a client is served afresh. An id
	// can come back with an old generation after twice that: both together are
	// still too short to take one entity for another.
	maxAbsence = rest * 256 / 2
)

// Peer is the server's side of one client: what it is known to hold, what it
// was sent, and what it is sent next. It is owned like its store, and looks at
// the store between a commit and the next change.
//
// A client starts with a full snapshot, and gets deltas once it has
// acknowledged that. The life of an entity at the client:
//
//	absent ──full sent──▶ offered ──acknowledged──▶ held ──despawned──▶ leaving ──acknowledged──▶ absent
//	                         └──────────despawned─────────────────────────▲
//
// Offered entities are repeated in full and leaving ones as despawns, until a
// snapshot that carried them is acknowledged. While an id is leaving, an entity
// that has it anew waits: so a client never has to tell two dead ones apart.
type Peer struct {
	store *Store

	stage     stage
	sent      uint32 // newest tick sent
	seen      uint32 // up to this tick dirty knows the store's changes
	applied   uint32 // newest tick known to be applied: the baseline that deltas name
	focus     ID
	input     Meta // newest input that the client is known to know applied
	lastAcked uint32
	lastMask  uint64

	// columns by id
	state      []state
	generation []uint8  // of the entity offered, held or leaving
	reason     []uint8  // of one leaving
	base       []uint32 // held: its baseline; leaving: tick since when
	queued     []uint32 // tick since which it waits to be sent (again)

	dirty  bitset // ids that the client may not hold as they are
	sends  [window]send
	newest int // index into sends

	picks picks
	spans []span
}

type stage uint8

const (
	needsFull stage = iota
	fullPending
	following
)

type state uint8

const (
	absent state = iota
	offered
	held
	leaving
)

// send is one snapshot that was sent.
type send struct {
	tick    uint32
	full    bool
	judged  bool // applied, lost, or overtaken by a full one
	input   Meta
	carried []carried
}

// carried is a record that was sent. An acknowledgement may come late, when the
// id has another owner.
type carried struct {
	id         ID
	generation uint8
	gone       bool
}

// AckError says why an acknowledgement was not believed.
type AckError string

// Acknowledgements that are ignored.
const (
	ErrAckFuture    AckError = "ack_future"     // of a tick after the newest sent
	ErrAckNeverSent AckError = "ack_never_sent" // of a tick between those sent
	ErrAckTooOld    AckError = "ack_too_old"    // of a tick before the last 64 sent
)

// Error implements error.
func (e AckError) Error() string { return "acknowledgement ignored: " + string(e) }

// Reason is the error as a metric's label.
func (e AckError) Reason() string { return string(e) }

// NewPeer returns the peer of a client that holds nothing.
func NewPeer(s *Store) *Peer { return &Peer{store: s} }

// NeedsFull reports whether nothing but a full snapshot will do: at first, after
// [Peer.Resync], when a client was not served for thousands of ticks, and when
// it has not acknowledged a despawn for as long.
func (p *Peer) NeedsFull() bool {
	if p.stage == following && p.store.tick-p.seen >= maxAbsence {
		p.stage = needsFull
	}
	return p.stage == needsFull
}

// Resync makes the next snapshot a full one, whatever the client was sent.
func (p *Peer) Resync() { p.stage = needsFull }

// Focus names the entity that is sent before all others when a snapshot does
// not hold everything: the player's own. 0 for none.
func (p *Peer) Focus(id ID) { p.focus = id }

// Ack takes a client's acknowledgement: the newest tick it has applied, and bit
// i of mask set if it applied tick acked-1-i. Acknowledgements may be lost,
// repeated and reordered. One of a tick that can not be true is not believed
// and returns an [AckError].
func (p *Peer) Ack(acked uint32, mask uint64) error {
	switch {
	case acked == 0, acked == p.lastAcked && mask == p.lastMask:
		return nil
	case acked > p.sent:
		return ErrAckFuture
	}
	if err := p.check(acked); err != nil {
		return err
	}
	p.lastAcked, p.lastMask = acked, mask
	for i := range window {
		s := &p.sends[(p.newest+1+i)%window] // the oldest first
		if s.judged || s.tick == 0 || s.tick > acked {
			continue
		}
		// A client drops what is older than it has: what it has not applied by
		// now it never will.
		s.judged = true
		if back := acked - s.tick; back == 0 || back <= 64 && mask>>(back-1)&1 != 0 {
			p.confirm(s)
		}
	}
	return nil
}

// check returns an error unless that tick is one of those in the window.
func (p *Peer) check(acked uint32) error {
	oldest := p.sent
	for i := range p.sends {
		switch tick := p.sends[i].tick; tick {
		case 0:
		case acked:
			return nil
		default:
			oldest = min(oldest, tick)
		}
	}
	if acked < oldest {
		return ErrAckTooOld
	}
	return ErrAckNeverSent
}

// confirm makes an applied snapshot, newer than those before, the baseline of
// what it carried.
func (p *Peer) confirm(s *send) {
	p.applied = s.tick
	if s.input.HasInput {
		p.input = s.input
	}
	if s.full {
		p.confirmFull(s.tick)
		return
	}
	for _, c := range s.carried {
		if p.generation[c.id] != c.generation {
			continue
		}
		switch at := p.state[c.id]; {
		case c.gone && at == leaving:
			p.state[c.id] = absent
			if !p.store.alive.has(c.id) {
				p.dirty.unset(c.id)
			}
		case !c.gone && (at == offered || at == held):
			p.state[c.id], p.base[c.id] = held, s.tick
			if p.store.newest[c.id] <= s.tick {
				p.dirty.unset(c.id)
			}
		}
	}
}

// confirmFull begins the deltas, unless another full snapshot was asked for.
func (p *Peer) confirmFull(tick uint32) {
	if p.stage == fullPending {
		p.stage = following
	}
	for id, at := range p.state {
		if at == offered {
			p.state[id], p.base[id] = held, tick
		}
	}
}

// record returns the send of a new snapshot, in the place of the oldest.
func (p *Peer) record(tick uint32, m Meta) *send {
	p.newest = (p.newest + 1) % window
	s := &p.sends[p.newest]
	*s = send{tick: tick, input: m, carried: s.carried[:0]}
	p.sent = tick
	return s
}

// notice adds to dirty what the store has changed since the last look.
func (p *Peer) notice() {
	s := p.store
	p.growTo(len(s.typ))
	if s.tick-p.seen <= history {
		for tick := p.seen + 1; tick <= s.tick; tick++ {
			if log := &s.recent[tick%history]; log.tick == tick {
				for w, word := range log.ids {
					p.mark(w, word, tick)
				}
			}
		}
	} else {
		for id, tick := range s.newest {
			if tick > p.seen {
				p.mark(id>>6, 1<<(id&63), tick)
			}
		}
	}
	p.seen = s.tick
}

// mark makes a word of ids dirty. Those that were clean begin to wait.
func (p *Peer) mark(w int, word uint64, tick uint32) {
	for fresh := word &^ p.dirty[w]; fresh != 0; fresh &= fresh - 1 {
		p.queued[lowest(w, fresh)] = tick - 1
	}
	p.dirty[w] |= word
}

func (p *Peer) growTo(n int) {
	p.state = extend(p.state, n)
	p.generation = extend(p.generation, n)
	p.reason = extend(p.reason, n)
	p.base = extend(p.base, n)
	p.queued = extend(p.queued, n)
	p.dirty = p.dirty.grow(n)
}

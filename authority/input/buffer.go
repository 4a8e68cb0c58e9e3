package input

import (
	"bytes"

	"github.com/gatehouse/gatehouse/wire"
)

// Bounds of a buffer.
const (
	// Ahead is how far an input may be ahead of the last one applied.
	Ahead = 64
	// MaxWaiting is how many inputs may wait to be applied.
	MaxWaiting = 32
	// Backlog is how many may wait without hurry: it evens out jitter.
	Backlog = 2
	// MaxCredit is how many ticks without an input may be made up for later.
	MaxCredit = 32
)

// Why an input was not taken; the labels of the metric.
const (
	// Repeated: it is there already, or was applied lately. Clients repeat
	// inputs until a snapshot names them, so these are no fault.
	Repeated = "repeated"
	// Conflict: repeated with another payload. The first stays.
	Conflict = "conflict"
	// Stale: long before the last one applied, or skipped.
	Stale = "stale"
	// Far: more than [Ahead] ahead.
	Far = "far"
	// Hoard: [MaxWaiting] wait already.
	Hoard = "hoard"
	// Restart: so many in a row were stale or far that the client's numbering
	// must have gone on without us; it was taken up where it is.
	Restart = "restart"
)

// Input is one input that is due. Its payload is the buffer's, and good until
// the next [Buffer.Add].
type Input struct {
	Seq        uint16
	ClientTick uint32
	Payload    []byte
}

// Buffer orders the inputs of one seat and meters them out to ticks. The zero
// value is ready. It is owned by the room's goroutine, and allocates nothing
// once its slots have the size of the game's inputs.
//
// Each input is applied at most once, in the order of seq. A missing one is
// waited for only as long as no later one has come: later frames repeat it, so
// what such a frame does not fill was given up by the client.
//
// A tick applies one input, or two while more than [Backlog] wait. Each tick
// earns one input and at most [MaxCredit] are saved up; so a burst after a
// stall is worked off at double speed, and over time nobody gets more inputs
// than ticks however fast they are sent.
type Buffer struct {
	started bool
	last    uint16 // seq of the last one applied or skipped
	applied bool   // whether last was ever applied
	waiting int
	credit  int
	used    int // in this tick
	astray  int // stale and far ones in a row

	slots [Ahead]slot // by seq modulo Ahead
}

type slot struct {
	full       bool // waiting
	known      bool // seq, payload are of an input that came
	seq        uint16
	clientTick uint32
	payload    []byte
}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer { return &Buffer{} }

// Applied returns the seq of the last input applied; false before the first.
func (b *Buffer) Applied() (seq uint16, ok bool) { return b.last, b.applied }

// Waiting returns how many inputs wait.
func (b *Buffer) Waiting() int { return b.waiting }

// Add takes the inputs of a parsed frame, and copies what it keeps. It calls
// refused with the reason for each input that it does not take.
func (b *Buffer) Add(in *wire.Input, refused func(reason string)) {
	n := uint16(len(in.Inputs))
	if n == 0 {
		return
	}
	if !b.started {
		b.start(in.Seq - n)
	}
	for i, payload := range in.Inputs {
		before := n - 1 - uint16(i)
		if reason := b.add(in.Seq-before, in.ClientTick-uint32(before), payload); reason != "" {
			refused(reason)
		}
	}
	// The client's numbers may have gone on without us: a frozen tab, a line
	// that was dead for seconds. Refusing for ever would end its game.
	if b.astray >= Ahead && b.waiting == 0 {
		b.start(in.Seq)
		refused(Restart)
	}
}

// start makes the next input the one after last.
func (b *Buffer) start(last uint16) {
	for i := range b.slots {
		b.slots[i].known = false
	}
	b.started, b.last, b.astray = true, last, 0
}

func (b *Buffer) add(seq uint16, clientTick uint32, payload []byte) (refused string) {
	s := &b.slots[seq%Ahead]
	same := s.known && s.seq == seq
	switch {
	case same && bytes.Equal(s.payload, payload):
		b.astray = 0
		return Repeated
	case same:
		b.astray = 0
		return Conflict
	case !wire.Newer16(seq, b.last):
		b.astray++
		return Stale
	case seq-b.last > Ahead:
		b.astray++
		return Far
	case b.waiting == MaxWaiting:
		return Hoard
	}
	s.full, s.known, s.seq, s.clientTick = true, true, seq, clientTick
	s.payload = append(s.payload[:0], payload...)
	b.waiting++
	b.astray = 0
	return ""
}

// Next returns the next input that the tick may apply. When there is none it
// returns false, and that ends the tick: call it until then, once per tick.
func (b *Buffer) Next() (in Input, ok bool) {
	if b.used == 0 {
		b.credit = min(b.credit+1, MaxCredit)
	}
	if b.waiting == 0 || b.credit == 0 || b.used == 2 || b.used == 1 && b.waiting <= Backlog {
		b.used = 0
		return Input{}, false
	}
	b.used++
	b.credit--
	b.waiting--
	s := b.first()
	s.full = false
	b.last, b.applied = s.seq, true
	return Input{Seq: s.seq, ClientTick: s.clientTick, Payload: s.payload}, true
}

// first finds the waiting input next after the last applied.
func (b *Buffer) first() *slot {
	seq := b.last + 1
	for !b.slots[seq%Ahead].full {
		seq++
	}
	return &b.slots[seq%Ahead]
}

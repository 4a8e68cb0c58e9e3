package input

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// seat is a buffer with what it refused.
type seat struct {
	Buffer
	refused []string
}

// send adds a frame of n inputs of which newest is the last. Payloads name their
// seq.
func (s *seat) send(newest uint16, n int) {
	in := wire.Input{Seq: newest, ClientTick: 1000 + uint32(newest)}
	for i := range n {
		in.Inputs = append(in.Inputs, payload(newest-uint16(n-1-i)))
	}
	s.add(&in)
}

func (s *seat) add(in *wire.Input) {
	s.Add(in, func(reason string) { s.refused = append(s.refused, reason) })
}

func payload(seq uint16) []byte { return fmt.Append(nil, seq) }

// tick applies what one tick may.
func (s *seat) tick(t *testing.T) (seqs []uint16) {
	t.Helper()
	for in, ok := s.Next(); ok; in, ok = s.Next() {
		if string(in.Payload) != string(payload(in.Seq)) || in.ClientTick != 1000+uint32(in.Seq) {
			t.Errorf("input %d: payload %s, client tick %d", in.Seq, in.Payload, in.ClientTick)
		}
		if last, ok := s.Applied(); !ok || last != in.Seq {
			t.Errorf("applied %d, says %d, %v", in.Seq, last, ok)
		}
		seqs = append(seqs, in.Seq)
	}
	return seqs
}

func (s *seat) expect(t *testing.T, reasons ...string) {
	t.Helper()
	if !slices.Equal(s.refused, reasons) {
		t.Errorf("refused %v, want %v", s.refused, reasons)
	}
	s.refused = nil
}

func TestInputsAreAppliedOnceInOrder(t *testing.T) {
	t.Parallel()
	var s seat
	if _, ok := s.Applied(); ok || s.tick(t) != nil {
		t.Error("something was applied before anything came")
	}
	s.send(1, 1)
	s.send(3, 1) // ahead of 2
	s.send(2, 2)
	s.send(3, 3)
	var got []uint16
	for range 5 {
		got = append(got, s.tick(t)...)
	}
	if !slices.Equal(got, []uint16{1, 2, 3}) {
		t.Errorf("applied %v", got)
	}
	s.expect(t, Repeated, Repeated, Repeated, Repeated)
}

func TestSeqWraps(t *testing.T) {
	t.Parallel()
	var s seat
	var got, want []uint16
	seq := uint16(65500)
	for i := range 100 {
		want = append(want, seq)
		switch seq {
		case 65535: // one twice at the seam
			s.send(seq, 1)
			s.send(seq, 1)
			s.expect(t, Repeated)
		case 1: // two the wrong way round
			s.send(2, 1)
			s.send(1, 1)
		case 2:
		default:
			s.send(seq, min(3, i+1))
		}
		s.refused = nil
		got = append(got, s.tick(t)...)
		seq++
	}
	got = append(got, s.tick(t)...)
	if !slices.Equal(got, want) {
		t.Errorf("applied %v", got)
	}
}

func TestAMissingInputIsSkippedOnceALaterOneIsThere(t *testing.T) {
	t.Parallel()
	var s seat
	s.send(1, 1)
	s.tick(t)
	if got := s.tick(t); got != nil {
		t.Fatalf("applied %v", got)
	}
	s.send(4, 1)
	if got := s.tick(t); !slices.Equal(got, []uint16{4}) {
		t.Errorf("applied %v", got)
	}
	s.send(3, 2)
	s.expect(t, Stale, Stale)
}

func TestWhatCanNotBeAnInputIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		seq    uint16
		reason string
	}{
		{"just in reach", 100 + Ahead, ""},
		{"just out of reach", 101 + Ahead, Far},
		{"almost half a ring ahead", 100 + 32767, Far},
		{"half a ring away", 100 + 32768, Stale},
		{"long ago", 20, Stale},
	} {
		var s seat
		s.send(100, 1)
		s.tick(t)
		s.send(c.seq, 1)
		if c.reason == "" {
			s.expect(t)
		} else {
			s.expect(t, c.reason)
		}
	}
}

func TestTheFirstOfTwoConflictingInputsStays(t *testing.T) {
	t.Parallel()
	var s seat
	s.send(7, 1)
	forged := wire.Input{Seq: 7, Inputs: [][]byte{[]byte("other")}}
	s.add(&forged)
	if got := s.tick(t); !slices.Equal(got, []uint16{7}) {
		t.Errorf("applied %v", got)
	}
	s.add(&forged)
	s.expect(t, Conflict, Conflict)
	if got := s.tick(t); got != nil {
		t.Errorf("applied again: %v", got)
	}
}

func TestPayloadsAreCopied(t *testing.T) {
	t.Parallel()
	var s seat
	frame := []byte("1")
	s.add(&wire.Input{Seq: 1, ClientTick: 1001, Inputs: [][]byte{frame}})
	frame[0] = 'x'
	s.tick(t)
}

func TestHoardsAreRefused(t *testing.T) {
	t.Parallel()
	var s seat
	s.send(1, 1)
	s.tick(t)
	s.send(33, 32)
	s.send(34, 1)
	s.expect(t, Hoard)
	if s.Waiting() != MaxWaiting {
		t.Errorf("%d wait", s.Waiting())
	}
}

// Ten inputs per tick for a long time: no more than one tick's worth is applied
// per tick, but for what was saved up.
func TestFloodingGainsNothing(t *testing.T) {
	t.Parallel()
	var s seat
	applied := 0
	const ticks = 1000
	for seq := range uint16(ticks) {
		s.send(100+seq*10, 10)
		applied += len(s.tick(t))
	}
	if applied > ticks || applied < ticks*9/10 {
		t.Errorf("%d inputs in %d ticks", applied, ticks)
	}
}

func TestABurstAfterAStallIsWorkedOffAtDoubleSpeed(t *testing.T) {
	t.Parallel()
	var s seat
	s.send(1, 1)
	s.tick(t)
	for range 100 {
		s.tick(t)
	}
	s.send(31, 30)
	var perTick []int
	for s.Waiting() > 0 {
		perTick = append(perTick, len(s.tick(t)))
	}
	// 30 wait: 14 ticks of 2, and the last 2 without hurry.
	if len(perTick) != 16 || perTick[0] != 2 || perTick[13] != 2 || perTick[14] != 1 {
		t.Errorf("worked off as %v", perTick)
	}
	// A saved credit is worth MaxCredit ticks, however long the stall.
	saved := 0
	for seq := uint16(31); saved < 200; saved++ {
		seq += 2
		s.send(seq, 2)
		if n := len(s.tick(t)); n < 2 && s.Waiting() > Backlog {
			break
		}
	}
	if saved > MaxCredit+Backlog {
		t.Errorf("played at double speed for %d ticks", saved)
	}
}

// A client whose numbers went on while nothing got through must not be refused
// for ever.
func TestAClientThatWentOnWithoutUsIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	for _, gap := range []uint16{200, 20000, 40000, 65000} {
		var s seat
		seq := uint16(100)
		s.send(seq, 1)
		s.tick(t)
		seq += gap
		ticks := 0
		for got := []uint16(nil); got == nil; ticks++ {
			if ticks > 10 {
				t.Fatalf("gap %d: still refused", gap)
			}
			seq++
			s.send(seq, 32)
			got = s.tick(t)
		}
		if !slices.Contains(s.refused, Restart) {
			t.Errorf("gap %d: not told", gap)
		}
		if last, _ := s.Applied(); last != seq {
			t.Errorf("gap %d: applied %d, the newest is %d", gap, last, seq)
		}
	}
}

func TestAnEmptyFrameIsNoInput(t *testing.T) {
	t.Parallel()
	var s seat
	s.send(500, 0)
	s.send(1, 1)
	if got := s.tick(t); !slices.Equal(got, []uint16{1}) {
		t.Errorf("applied %v", got)
	}
	s.expect(t)
}

func TestBufferAllocatesNothingInSteadyState(t *testing.T) {
	b := NewBuffer()
	in := wire.Input{Inputs: [][]byte{make([]byte, 20), make([]byte, 20), make([]byte, 20)}}
	refusals := 0
	count := func(string) { refusals++ }
	turn := func() {
		in.Seq++
		in.Inputs[2][0], in.Inputs[1][0], in.Inputs[0][0] = byte(in.Seq), byte(in.Seq-1), byte(in.Seq-2)
		b.Add(&in, count)
		for _, ok := b.Next(); ok; _, ok = b.Next() {
		}
	}
	for range 2 * Ahead {
		turn()
	}
	if n := testing.AllocsPerRun(200, turn); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
	if seq, _ := b.Applied(); in.Seq-seq > Backlog || refusals == 0 {
		t.Errorf("applied %d of %d, refused %d", seq, in.Seq, refusals)
	}
}

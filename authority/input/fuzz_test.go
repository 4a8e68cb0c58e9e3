package input

import (
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// FuzzBuffer feeds frames, each after a byte with its length, and a tick after
// each: whatever comes, no input is applied twice or out of order, none that was
// not sent, and over time no more than there were ticks.
func FuzzBuffer(f *testing.F) {
	frame := func(seq uint16, inputs ...[]byte) []byte {
		b := wire.AppendInput(nil, wire.Input{Seq: seq, Inputs: inputs})
		return append([]byte{byte(len(b))}, b...)
	}
	one, two := []byte("a"), []byte("b")
	f.Add(frame(1, one))
	f.Add(append(frame(65535, one, two), frame(1, two, one, one)...))
	f.Add(append(frame(10, one), frame(200, one)...))
	f.Add(append(frame(10, one), frame(10, two)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		var (
			buffer         Buffer
			in             wire.Input
			ticks, applied int
			restarted      bool
			sent           = make(map[uint16]bool)
		)
		for len(b) > 0 {
			n := min(int(b[0]), len(b)-1)
			body := b[1 : 1+n]
			b = b[1+n:]
			if wire.ParseInput(body, &in) == nil {
				for i := range in.Inputs {
					sent[in.Seq-uint16(i)] = true
				}
				buffer.Add(&in, func(reason string) { restarted = restarted || reason == Restart })
			}
			if buffer.Waiting() > MaxWaiting {
				t.Fatalf("%d wait", buffer.Waiting())
			}
			ticks++
			last, any := buffer.Applied()
			for due, ok := buffer.Next(); ok; due, ok = buffer.Next() {
				if applied++; applied > ticks {
					t.Fatalf("%d inputs in %d ticks", applied, ticks)
				}
				if !sent[due.Seq] {
					t.Fatalf("input %d was never sent", due.Seq)
				}
				if any && !restarted && !wire.Newer16(due.Seq, last) {
					t.Fatalf("input %d after %d", due.Seq, last)
				}
				last, any = due.Seq, true
			}
		}
	})
}

package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

func TestSearchClosesInOnTheLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 3, 20, 77, 400} {
		s := &side{next: 24}
		steps := 0
		for ; !s.finished; steps++ {
			if steps > 40 {
				t.Fatalf("limit %d: no end after %d steps", limit, steps)
			}
			r := result{rooms: s.next, window: time.Second, kept: s.next <= limit}
			r.tally.delivered = uint64(s.next)
			s.narrow(r)
		}
		if got := s.best.rooms; got > limit || float64(got)*precision < float64(limit)-1 {
			t.Errorf("limit %d: found %d in %d steps", limit, got, steps)
		}
	}
}

func TestSearchGivesUpWhereNothingIsKept(t *testing.T) {
	t.Parallel()
	s := &side{next: 24}
	for steps := 0; !s.finished; steps++ {
		if steps > 20 {
			t.Fatal("no end")
		}
		s.narrow(result{rooms: s.next, window: time.Second})
	}
	if s.best.kept {
		t.Error("something was kept")
	}
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	var h histogram
	for us := 1; us <= 100_000; us++ {
		h.add(time.Duration(us) * time.Microsecond)
	}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		got, want := h.quantile(q), time.Duration(q*100_000)*time.Microsecond
		if got < want*97/100 || got > want*104/100 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

func TestEveryByteOfAMessageIsChecked(t *testing.T) {
	t.Parallel()
	good := appendPayload(nil, 5, 1, 1)
	for i := range good {
		if i < 8 {
			continue // the time of sending may be any
		}
		l := &load{players: make([]player, roomSize)}
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		l.heard(0, bad)
		if l.tally.broken != 1 {
			t.Errorf("byte %d may be anything", i)
		}
	}
	l := &load{players: make([]player, roomSize), until: 10}
	frame := wire.AppendFrame(nil, wire.KindRelayed, append([]byte{7}, good...))
	if err := l.receive(0, wire.Reliable, frame); err != nil || l.tally.broken != 0 || l.tally.delivered != 1 {
		t.Errorf("a good message: %v, %+v", err, l.tally.broken)
	}
	if err := l.receive(0, wire.Reliable, frame); err != nil || l.tally.broken != 1 {
		t.Error("a doubled message is not noticed")
	}
}

func TestWebSocketFramesAreCutOut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		head         []byte
		size, header int
	}{
		{[]byte{0x82}, 0, 0},
		{[]byte{0x82, 5}, 5, 2},
		{[]byte{0x82, 126, 1}, 0, 0},
		{[]byte{0x82, 126, 1, 2}, 258, 4},
		{[]byte{0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0}, 65536, 10},
	} {
		if size, header := frameSize(tc.head); size != tc.size || header != tc.header {
			t.Errorf("%v: %d bytes after %d, want %d after %d", tc.head, size, header, tc.size, tc.header)
		}
	}
}

func TestBenchmarkOutputIsRead(t *testing.T) {
	t.Parallel()
	got := parseBenchmarks([]byte("goos: linux\n" +
		"BenchmarkDelta/changed=84-2 \t 10\t 500 ns/op\t 3.25 bytes/entity\t 0 B/op\t 0 allocs/op\nok x 1s\n" +
		"BenchmarkFanOut \t 10\t 7 ns/op\n"))
	if v := got["Delta/changed=84"]; v["bytes/entity"] != 3.25 || v["ns/op"] != 500 || len(v) != 4 {
		t.Errorf("got %v", v)
	}
	if v := got["FanOut"]; v["ns/op"] != 7 {
		t.Errorf("got %v", v)
	}
}

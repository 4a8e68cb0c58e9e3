package wire_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

func TestReleaseTooOftenPanics(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(f *wire.Frame){
		"release twice":        func(f *wire.Frame) { f.Release(); f.Release() },
		"retain after the end": func(f *wire.Frame) { f.Release(); f.Retain(1) },
		"release all too often": func(f *wire.Frame) {
			f.Retain(1)
			wire.ReleaseAll([]*wire.Frame{f, f, f})
		},
	} {
		// Larger than every pool: nobody else can have taken the frame meanwhile.
		f := wire.NewFrame(wire.KindEvent, 1<<18)
		if !panics(func() { misuse(f) }) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}

func TestRetainedFrameLivesUntilTheLastRelease(t *testing.T) {
	t.Parallel()
	f := wire.CopyFrame(wire.KindEvent, []byte("shared"))
	f.Retain(7)
	var links sync.WaitGroup
	for range 8 {
		links.Go(func() {
			if string(f.Body()) != "shared" {
				t.Error("the body changed under a holder")
			}
			f.Release()
		})
	}
	links.Wait()
}

func TestPooledFrameComesBackClean(t *testing.T) {
	t.Parallel()
	for range 1000 { // a pool may forget, but not for ever
		f := wire.CopyFrame(wire.KindSnapshot, []byte("old"))
		f.Key, f.Tick = 1, 2
		f.Readdress(1, []byte("longer"))
		f.Release()
		f = wire.NewFrame(wire.KindEvent, 3)
		if f.Kind != wire.KindEvent || f.Key != 0 || f.Tick != 0 || len(f.Body()) != 0 {
			t.Fatalf("%+v", f)
		}
		f.Release()
	}
}

func TestFrameSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 111, 112, 113, 2046, 2047, 2048, wire.MaxReliableBody} {
		f := wire.CopyFrame(wire.KindFull, make([]byte, n))
		message := wire.AppendFrame(nil, f.Kind, f.Body())
		if f.Size() != len(message) || len(message)-n != wire.HeaderSize(n) {
			t.Errorf("body of %d: size %d, %d on the wire", n, f.Size(), len(message))
		}
		if k, body, rest, err := wire.NextFrame(message); err != nil || k != wire.KindFull || len(body) != n || len(rest) != 0 {
			t.Errorf("body of %d: %s, %d, %d, %v", n, k, len(body), len(rest), err)
		}
		f.Release()
	}
}

func TestReaddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		cut    int
		prefix string
		moves  bool // the payload had to be copied
	}{
		{"shorter", 5, "ab", false},
		{"as long", 5, "abcde", false},
		{"into the headroom", 0, "0123456789abcdef", false},
		{"beyond the headroom", 0, "0123456789abcdefg", true},
		{"all of it", 12, "x", false},
	} {
		body := []byte("head payload")
		f := wire.CopyFrame(wire.KindRelay, body)
		before := &f.Body()[len(body)-1]
		f.Readdress(c.cut, []byte(c.prefix))
		if want := c.prefix + string(body[c.cut:]); string(f.Body()) != want {
			t.Errorf("%s: %q, want %q", c.name, f.Body(), want)
		}
		if c.cut < len(body) {
			if moved := &f.Body()[len(f.Body())-1] != before; moved != c.moves {
				t.Errorf("%s: copied %v", c.name, moved)
			}
		}
		f.Write([]byte("+"))
		if !bytes.HasSuffix(f.Body(), []byte("+")) {
			t.Errorf("%s: does not grow", c.name)
		}
		f.Release()
	}
}

// A relayed message of any sender fits where the relay it came from fitted.
func TestRelayedPayloadsFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		up, down wire.Kind
		payload  int
		targets  int
		message  int
	}{
		{wire.KindRelayFast, wire.KindRelayedFast, wire.MaxUnreliablePayload, 5, wire.MaxDatagram},
		{wire.KindRelay, wire.KindRelayed, wire.MaxReliablePayload, wire.MaxRelayTargets, wire.MaxMessage},
	} {
		body := wire.AppendRelay(nil, many(c.targets), make([]byte, c.payload))
		if n := len(wire.AppendFrame(nil, c.up, body)); n > c.message {
			t.Errorf("%s of %d bytes, limit %d", c.up, n, c.message)
		}
		r, err := wire.ParseRelay(c.up.Lane(), body)
		if err != nil || len(r.Payload) != c.payload {
			t.Fatalf("%s: %v", c.up, err)
		}
		f := wire.CopyFrame(c.down, body)
		prefix := wire.AppendRelayedPrefix(nil, c.down.Lane(), 1<<32-1, 1<<16-1)
		f.Readdress(len(body)-len(r.Payload), prefix)
		if f.Size() > c.message {
			t.Errorf("%s of %d bytes, limit %d", c.down, f.Size(), c.message)
		}
		if got, err := wire.ParseRelayed(c.down.Lane(), f.Body()); err != nil || got.Sender != 1<<32-1 || len(got.Payload) != c.payload {
			t.Errorf("%s: %v", c.down, err)
		}
		f.Release()
	}
}

func TestEncodingAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("pools forget under the race detector")
	}
	payload, message := make([]byte, 64), make([]byte, 0, 4096)
	var in wire.Input
	inputs := [][]byte{payload, payload, payload}
	round := func() {
		f := wire.NewFrame(wire.KindRelayedFast, 80)
		f.Write(payload)
		f.Readdress(0, wire.AppendRelayedPrefix(message[:0], wire.Unreliable, 7, 9))
		message = wire.AppendFrame(message[:0], f.Kind, f.Body())
		f.Release()
		_, body, _, err := wire.NextFrame(message)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = wire.ParseRelayed(wire.Unreliable, body); err != nil {
			t.Fatal(err)
		}
		message = wire.AppendInput(message[:0], wire.Input{Seq: 3, Inputs: inputs})
		if err := wire.ParseInput(message, &in); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations to encode and decode", n)
	}
}

func BenchmarkEncodeFrame(b *testing.B) {
	for _, n := range []int{64, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			payload, message := make([]byte, n), make([]byte, 0, 4096)
			b.ReportAllocs()
			for b.Loop() {
				f := wire.CopyFrame(wire.KindRelayedFast, payload)
				message = wire.AppendFrame(message[:0], f.Kind, f.Body())
				f.Release()
			}
		})
	}
}

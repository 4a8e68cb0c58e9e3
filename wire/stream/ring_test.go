package stream_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

func frame(n uint64, size int) *wire.Frame {
	f := wire.NewFrame(wire.KindEvent, size+8)
	f.Write(binary.LittleEndian.AppendUint64(nil, n))
	f.Write(make([]byte, size))
	return f
}

// unpack returns the serial numbers of a packed message.
func unpack(t interface{ Fatal(...any) }, message []byte) (serials []uint64) {
	for len(message) > 0 {
		_, body, rest, err := wire.NextFrame(message)
		if err != nil {
			t.Fatal(err)
		}
		serials, message = append(serials, binary.LittleEndian.Uint64(body)), rest
	}
	return serials
}

// model is a ring that is obviously right: all frames ever, and where it is.
type model struct {
	retain bool
	limit  int
	sizes  []int // cost of each frame since the last clear
	serial []uint64
	first  uint64 // oldest kept
}

func (m *model) bytes() (n int) {
	for _, size := range m.sizes[m.first-1:] {
		n += size
	}
	return n
}

func (m *model) sent() uint64 { return uint64(len(m.sizes)) }

func TestRingAgreesWithItsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &model{retain: rapid.Bool().Draw(t, "retain"), limit: rapid.IntRange(0, 4000).Draw(t, "limit"), first: 1}
		r := stream.NewRing(m.limit, m.retain)
		cursor, serial := uint64(1), uint64(0)
		var held []*wire.Frame
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				serial++
				f := frame(serial, rapid.IntRange(0, 300).Draw(t, "size"))
				f.Retain(1)
				held = append(held, f)
				cost := f.Size() + 64
				err := r.Push(f)
				if fits := m.bytes()+cost <= m.limit; fits != (err == nil) {
					t.Fatalf("push of %d into %d of %d: %v", cost, m.bytes(), m.limit, err)
				}
				if err == nil {
					m.sizes, m.serial = append(m.sizes, cost), append(m.serial, serial)
				}
			},
			"pack": func(t *rapid.T) {
				limit := rapid.IntRange(0, 2000).Draw(t, "limit")
				before := max(cursor, m.first)
				message, n := r.Pack(nil, &cursor, limit)
				got := unpack(t, message)
				if want := m.serial[before-1 : before-1+uint64(n)]; !slices.Equal(got, want) || cursor != before+uint64(n) {
					t.Fatalf("packed %v, want %v; cursor %d", got, want, cursor)
				}
				if n == 0 && before <= m.sent() || n > 1 && len(message) > limit {
					t.Fatalf("%d frames of %d bytes with limit %d", n, len(message), limit)
				}
				if !m.retain {
					m.first = cursor
				}
			},
			"ack": func(t *rapid.T) {
				received := rapid.Uint64Range(0, m.sent()+2).Draw(t, "received")
				err := r.Ack(received)
				if future := received > m.sent(); future != errors.Is(err, stream.ErrAck) {
					t.Fatalf("ack of %d, %d sent: %v", received, m.sent(), err)
				}
				if err == nil {
					m.first = max(m.first, received+1)
				}
			},
			"rewind": func(t *rapid.T) {
				received := rapid.Uint64Range(0, m.sent()+2).Draw(t, "received")
				at, ok := r.Rewind(received)
				if want := received <= m.sent() && received+1 >= m.first; ok != want || ok && at != received+1 {
					t.Fatalf("rewind to %d of %d to %d: %d, %v", received, m.first, m.sent(), at, ok)
				}
				if received <= m.sent() {
					m.first = max(m.first, received+1)
				}
				if ok {
					cursor = at
				}
			},
			"clear": func(t *rapid.T) {
				r.Clear()
				m.sizes, m.serial, m.first, cursor = nil, nil, 1, 1
			},
			"": func(t *rapid.T) {
				behind, bytes := r.Behind(cursor)
				if want := int(m.sent() + 1 - max(cursor, m.first)); behind != want || bytes != m.bytes() || r.Sent() != m.sent() {
					t.Fatalf("behind %d of %d, %d bytes of %d, sent %d of %d", behind, want, bytes, m.bytes(), r.Sent(), m.sent())
				}
			},
		})
		// Every frame was released by the ring exactly once: ours is the last.
		r.Clear()
		for i, f := range held {
			func() {
				defer func() {
					if recover() != nil {
						t.Fatalf("frame %d was released too often", i)
					}
				}()
				f.Release()
			}()
		}
	})
}

func TestRingRefusesWhatNoReceiverTakes(t *testing.T) {
	t.Parallel()
	r := stream.NewRing(1<<20, true)
	if err := r.Push(wire.CopyFrame(wire.KindFull, make([]byte, wire.MaxReliableBody+1))); !errors.Is(err, wire.ErrTooBig) {
		t.Errorf("%v", err)
	}
	if err := r.Push(wire.CopyFrame(wire.KindFull, make([]byte, wire.MaxReliableBody))); err != nil || r.Sent() != 1 {
		t.Errorf("%v, %d sent", err, r.Sent())
	}
}

func TestAcknowledgementFromTheFarFuture(t *testing.T) {
	t.Parallel()
	r := stream.NewRing(1000, true)
	if r.Push(frame(1, 1)) != nil || !errors.Is(r.Ack(1<<64-1), stream.ErrAck) {
		t.Error("an acknowledgement of everything was believed")
	}
	if _, ok := r.Rewind(1<<64 - 1); ok {
		t.Error("a resume from the future was served")
	}
	if n, _ := r.Behind(1); n != 1 {
		t.Error("the frame is gone")
	}
}

// Two links of one session, an acknowledger and a pusher at once.
func TestRingIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := stream.NewRing(1<<16, true)
	var all sync.WaitGroup
	const pushes = 5000
	for range 2 {
		all.Go(func() {
			cursor := uint64(1)
			var last uint64
			for cursor <= pushes {
				message, _ := r.Pack(nil, &cursor, 1000)
				for _, serial := range unpack(t, message) {
					if serial <= last {
						t.Errorf("%d came after %d", serial, last)
					}
					last = serial
				}
				if err := r.Ack(cursor - 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for n := uint64(1); n <= pushes; {
			if r.Push(frame(n, 10)) == nil {
				n++
			}
		}
	})
	all.Wait()
}

func TestCounter(t *testing.T) {
	t.Parallel()
	var c stream.Counter
	for _, k := range []wire.Kind{wire.KindPing, wire.KindWelcome, wire.KindSnapshot, wire.KindInput, 7, 20} {
		if c.Count(k, stream.AckBytes) || c.Owing() {
			t.Errorf("%s was counted", k)
		}
	}
	for _, k := range []wire.Kind{wire.KindEvent, wire.KindSwitch, 8, 19} {
		c.Count(k, 1)
	}
	if c.Received() != 4 || !c.Owing() || c.Acked() != 4 || c.Owing() {
		t.Errorf("%+v", c)
	}
	if !c.Count(wire.KindFull, stream.AckBytes) || c.Acked() != 5 || c.Count(wire.KindFull, 100) {
		t.Error("an acknowledgement is due after AckBytes, once")
	}
	c.Reset()
	if c.Received() != 0 || c.Owing() {
		t.Error("reset")
	}
}

// However small its frames, a sender is acknowledged long before the smallest
// usable ring is full.
func TestAcknowledgementsComeBeforeTheRingIsFull(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 100, 10_000, wire.MaxReliablePayload} {
		r := stream.NewRing(2*wire.MaxMessage, true)
		var c stream.Counter
		for n := uint64(1); ; n++ {
			f := frame(n, size)
			body := len(f.Body())
			if r.Push(f) != nil {
				t.Errorf("full after %d frames of %d bytes, with no acknowledgement due", n, size)
				break
			}
			if c.Count(wire.KindEvent, body) {
				if n > 300 {
					t.Errorf("%d frames of %d bytes before an acknowledgement", n, size)
				}
				break
			}
		}
	}
}

func TestRingAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("pools forget under the race detector")
	}
	r := stream.NewRing(1<<20, true)
	cursor, message := uint64(1), make([]byte, 0, 4096)
	payload := make([]byte, 64)
	round := func() {
		if err := r.Push(wire.CopyFrame(wire.KindEvent, payload)); err != nil {
			t.Fatal(err)
		}
		message, _ = r.Pack(message[:0], &cursor, cap(message))
		if cursor%10 == 0 {
			if err := r.Ack(cursor - 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

func BenchmarkRing(b *testing.B) {
	r := stream.NewRing(1<<20, true)
	cursor, message := uint64(1), make([]byte, 0, 4096)
	payload := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Push(wire.CopyFrame(wire.KindEvent, payload)); err != nil {
			b.Fatal(err)
		}
		message, _ = r.Pack(message[:0], &cursor, cap(message))
		if err := r.Ack(cursor - 1); err != nil {
			b.Fatal(err)
		}
	}
}

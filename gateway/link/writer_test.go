package link

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

// written is one message as the loop handed it over.
type written struct {
	at     time.Duration
	lane   wire.Lane
	frames int
}

// loop runs WriteLoop over a one-token wake channel and notes every message.
type loop struct {
	stub
	wake, quit chan struct{}
	start      time.Time
	out        []written
	err        error
	done       chan struct{}
}

func (w *loop) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func startLoop(o Options, info Info) (*Link, *loop) {
	w := &loop{stub: stub{info: info}, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), start: time.Now()}
	l := New(w, newRecorder(), o)
	go func() {
		defer close(w.done)
		w.err = l.WriteLoop(w.wake, w.quit, func(lane wire.Lane, msg []byte) error {
			n := 0
			for rest := msg; len(rest) > 0; n++ {
				_, _, rest, _ = wire.NextFrame(rest)
			}
			w.out = append(w.out, written{time.Since(w.start), lane, n})
			return nil
		})
	}()
	return l, w
}

func (w *loop) stop() {
	close(w.quit)
	<-w.done
}

// No snapshot of a 30 Hz stream is held back, whatever events come between.
func TestCalmLinkWritesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, w := startLoop(Options{}, Info{})
		var sent []time.Duration
		for i := range 300 {
			sent = append(sent, time.Since(w.start))
			l.Send(keyed(wire.KindSnapshot, wire.SnapshotKey, "s"))
			synctest.Wait()
			time.Sleep(time.Second / 60)
			if i%10 == 0 { // three events a second, at the same moment
				for range 3 {
					sent = append(sent, time.Since(w.start))
					l.Send(frame(wire.KindEvent, "e"))
					synctest.Wait()
				}
			}
			time.Sleep(time.Second / 60)
		}
		w.stop()
		if len(w.out) != len(sent) {
			t.Fatalf("%d messages for %d sends", len(w.out), len(sent))
		}
		for i, m := range w.out {
			if m.at != sent[i] {
				t.Fatalf("message %d left after %v, sent after %v", i, m.at, sent[i])
			}
		}
	})
}

func TestBusyLinkCoalescesWithinTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window    time.Duration
		perSecond int
		least     float64 // frames per message
		most      time.Duration
	}{
		{0, 140, 1.7, defaultFlushWindow},
		{0, 1000, 7, defaultFlushWindow},
		{10 * time.Millisecond, 1000, 9, 10 * time.Millisecond},
		{time.Hour, 1000, 9, maxFlushWindow},
		{2 * time.Millisecond, 1000, 1.9, 2 * time.Millisecond},
		{-1, 1000, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, w := startLoop(Options{FlushWindow: c.window}, Info{})
			gap := time.Second / time.Duration(c.perSecond)
			var sent []time.Duration
			for range 4 * c.perSecond {
				sent = append(sent, time.Since(w.start))
				l.Send(keyed(wire.KindRelayedFast, 1, "64 bytes of position"))
				time.Sleep(gap)
			}
			w.stop()
			frames := 0
			for _, m := range w.out {
				for range m.frames {
					if held := m.at - sent[frames]; held < 0 || held > c.most {
						t.Fatalf("%+v: frame %d was held for %v", c, frames, held)
					}
					frames++
				}
			}
			if frames != len(sent) {
				t.Fatalf("%+v: %d of %d frames", c, frames, len(sent))
			}
			if got := float64(frames) / float64(len(w.out)); got < c.least {
				t.Errorf("%+v: %.1f frames per message", c, got)
			}
		})
	}
}

func TestControlEndsTheWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, w := startLoop(Options{}, Info{})
		for range 1000 {
			l.Send(frame(wire.KindEvent, "busy"))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		l.Send(frame(wire.KindEvent, "held"))
		synctest.Wait()
		before := len(w.out)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if len(w.out) != before {
			t.Fatal("a busy link did not hold an event back")
		}
		l.Send(frame(wire.KindPong, ""))
		synctest.Wait()
		if len(w.out) != before+1 || w.out[before].frames != 2 {
			t.Errorf("the pong waited, or left alone: %+v", w.out[before:])
		}
		w.stop()
	})
}

func TestTickLeavesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, w := startLoop(Options{}, Info{OneStream: true})
		for range 30 {
			l.SendAll([]*wire.Frame{
				frame(wire.KindEvent, "1"), keyed(wire.KindSnapshot, wire.SnapshotKey, "2"), frame(wire.KindResponse, "3"),
			})
			time.Sleep(time.Second / 30)
		}
		w.stop()
		for i, m := range w.out {
			if m.frames != 3 || m.lane != wire.Reliable {
				t.Fatalf("message %d: %+v", i, m)
			}
		}
		if len(w.out) != 30 {
			t.Errorf("%d messages for 30 ticks", len(w.out))
		}
	})
}

func TestQuitFlushesTheGoodbye(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, w := startLoop(Options{}, Info{})
		for range 500 { // busy, so that the quit ends a window
			l.Send(frame(wire.KindEvent, strings.Repeat("x", 100)))
			time.Sleep(time.Millisecond)
		}
		sent := 500
		l.Close(wire.Errorf(wire.CodeGoingAway, "bye"))
		w.stop()
		frames := 0
		for _, m := range w.out {
			frames += m.frames
		}
		if frames != sent+1 || w.err != nil {
			t.Errorf("%d frames of %d and the close frame, %v", frames, sent, w.err)
		}
	})
}

func TestWriteErrorEndsTheLoop(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	w := &loop{wake: make(chan struct{}, 1), quit: make(chan struct{})}
	l := New(w, newRecorder(), Options{})
	l.Send(frame(wire.KindEvent, ""))
	l.Send(keyed(wire.KindRelayedFast, 1, ""))
	calls := 0
	err := l.WriteLoop(w.wake, w.quit, func(wire.Lane, []byte) error {
		calls++
		return fmt.Errorf("write: %w", broken)
	})
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("pools forget under the race detector")
	}
	w := &loop{wake: make(chan struct{}, 1), quit: make(chan struct{})}
	for _, oneStream := range []bool{true, false} {
		w.info.OneStream = oneStream
		l := New(w, newRecorder(), Options{})
		write := func(wire.Lane, []byte) error { return nil }
		payload := make([]byte, 64)
		round := func() {
			f := wire.CopyFrame(wire.KindRelayedFast, payload)
			f.Key = 1
			l.Send(f)
			l.Send(wire.CopyFrame(wire.KindRelayed, payload))
			l.Send(wire.CopyFrame(wire.KindPong, payload[:8]))
			if l.writeAll(write) != nil {
				t.Fatal("write failed")
			}
		}
		for range 100 {
			round()
		}
		if n := testing.AllocsPerRun(1000, round); n != 0 {
			t.Errorf("one stream %v: %v allocations per send and flush", oneStream, n)
		}
	}
}

// One encoded frame goes to the links of a room of eight.
func BenchmarkFanOut(b *testing.B) {
	const links = 8
	var room [links]*Link
	for i := range room {
		room[i] = New(&stub{}, newRecorder(), Options{})
	}
	payload := make([]byte, 64)
	write := func(wire.Lane, []byte) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		f := wire.CopyFrame(wire.KindRelayedFast, payload)
		f.Key = 1
		f.Retain(links - 1)
		for _, l := range room {
			l.Send(f)
		}
		for _, l := range room {
			if err := l.writeAll(write); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/links, "ns/delivery")
}

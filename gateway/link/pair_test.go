package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

func TestPairCarriesBothLanes(t *testing.T) {
	t.Parallel()
	for _, join := range []func(a, b Handler, oa, ob Options) (*Link, *Link){Pair, PairOneStream} {
		synctest.Test(t, func(t *testing.T) {
			ha, hb := newRecorder(), newRecorder()
			a, b := join(ha, hb, Options{}, Options{})
			for i := range 100 {
				a.Send(frame(wire.KindEvent, fmt.Sprint("event ", i)))
				b.Send(keyed(wire.KindInput, 1, fmt.Sprint("input ", i)))
			}
			synctest.Wait()
			time.Sleep(time.Second)
			events, inputs := hb.of(wire.KindEvent), ha.of(wire.KindInput)
			if len(events) != 100 || len(inputs) != 100 || events[99] != "event 99" || inputs[42] != "input 42" {
				t.Errorf("%d events, %d inputs", len(events), len(inputs))
			}
			a.Close(wire.Errorf(wire.CodeLeft, "bye"))
			<-ha.ended
			<-hb.ended
			ha.check(t)
			hb.check(t)
		})
	}
}

func TestCloseTellsThePeerWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ha, hb := newRecorder(), newRecorder()
		a, _ := Pair(ha, hb, Options{}, Options{})
		a.Send(frame(wire.KindEvent, "last words"))
		a.Close(wire.Errorf(wire.CodeKicked, "out"))
		<-ha.ended
		<-hb.ended
		equal(t, "before the close frame", hb.of(wire.KindEvent), []string{"last words"})
		if goodbye := hb.of(wire.KindClose); len(goodbye) != 1 || !strings.Contains(goodbye[0], `"kicked"`) {
			t.Errorf("close frames: %q", goodbye)
		}
		for _, h := range []*recorder{ha, hb} {
			if h.check(t); !errors.Is(h.err, &wire.Error{Code: wire.CodeKicked}) {
				t.Errorf("ended with %v", h.err)
			}
		}
	})
}

func TestRefusedMessageClosesTheLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ha, hb := newRecorder(), newRecorder()
		hb.refuse = wire.Errorf(wire.CodeProtocol, "nonsense")
		a, b := Pair(ha, hb, Options{}, Options{})
		a.Send(frame(wire.KindEvent, "nonsense"))
		<-ha.ended
		<-hb.ended
		if !b.Closing() || hb.messages != 1 || len(ha.of(wire.KindClose)) != 1 {
			t.Errorf("%d messages, close frames %q", hb.messages, ha.of(wire.KindClose))
		}
	})
}

func TestOversizeMessageClosesTheLink(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lane  wire.Lane
		bytes int
		fits  bool
	}{
		{wire.Unreliable, wire.MaxDatagram, true}, {wire.Unreliable, wire.MaxDatagram + 1, false},
		{wire.Reliable, wire.MaxMessage, true}, {wire.Reliable, wire.MaxMessage + 1, false},
	} {
		s, h := &stub{}, &silent{}
		l := New(s, h, Options{})
		if l.Receive(c.lane, make([]byte, c.bytes)) != c.fits {
			t.Errorf("%+v", c)
		}
		if !c.fits && (len(s.closes) != 1 || s.closes[0] != wire.CodeTooBig || h.messages != 0) {
			t.Errorf("%+v: closed with %v, %d messages handled", c, s.closes, h.messages)
		}
	}
}

// silent takes anything.
type silent struct{ messages int }

func (*silent) Opened(*Link) {}
func (h *silent) Receive(*Link, wire.Lane, []byte) *wire.Error {
	h.messages++
	return nil
}
func (*silent) Ended(*Link, error) {}

// A reader that stops costs its own link its queue, and nobody else anything.
func TestStalledReaderIsABoundedLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ha, hb, seen := newRecorder(), newRecorder(), newCounters()
		a, b := Pair(ha, hb, Options{ReliableBytes: 128 << 10, Observer: seen}, Options{})
		resume := Stall(b)
		sent := 0
		for a.Send(frame(wire.KindEvent, strings.Repeat("x", 1<<10))) {
			if sent++; sent > 1000 {
				t.Fatal("the reliable lane has no bound")
			}
			synctest.Wait() // let the writer write what it can
		}
		if sent < 100 {
			t.Fatalf("full after %d KiB", sent)
		}
		resume()
		time.Sleep(time.Second)
		if n := len(hb.of(wire.KindEvent)); n != sent {
			t.Errorf("%d of %d accepted events came through", n, sent)
		}
		for range 1000 { // an idle line takes them, a stalled one drops them
			a.Send(keyed(wire.KindRelayedFast, 1, strings.Repeat("y", 1000)))
			synctest.Wait()
		}
		Stall(b)
		for range 1000 {
			a.Send(keyed(wire.KindRelayedFast, 1, strings.Repeat("y", 1000)))
			time.Sleep(20 * time.Millisecond)
		}
		if seen.dropped(DropTransport) < 900 {
			t.Errorf("%d datagrams lost to a full buffer", seen.dropped(DropTransport))
		}
		Cut(a)
		<-ha.ended
		<-hb.ended
	})
}

func TestCloseOfAStalledPeerEndsWithinTheGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ha, hb := newRecorder(), newRecorder()
		a, b := PairOneStream(ha, hb, Options{}, Options{})
		Stall(b)
		for range 200 {
			a.Send(frame(wire.KindEvent, strings.Repeat("x", 1<<10)))
		}
		time.Sleep(time.Second)
		start := time.Now()
		a.Close(wire.Errorf(wire.CodeKicked, ""))
		<-ha.ended
		if took := time.Since(start); took > CloseGrace {
			t.Errorf("ended after %v", took)
		}
		<-hb.ended
	})
}

func TestCutTellsBothEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ha, hb := newRecorder(), newRecorder()
		a, b := Pair(ha, hb, Options{}, Options{})
		a.Send(frame(wire.KindEvent, "1"))
		synctest.Wait()
		Cut(b)
		<-ha.ended
		<-hb.ended
		if !errors.Is(ha.err, ErrCut) || !errors.Is(hb.err, ErrCut) {
			t.Errorf("%v, %v", ha.err, hb.err)
		}
		a.Send(frame(wire.KindEvent, "2"))
		a.Close(wire.Errorf(wire.CodeInternal, "late"))
		Cut(a)
		equal(t, "received", hb.of(wire.KindEvent), []string{"1"})
	})
}

// Sends, closes and cuts from everywhere at once; the race detector watches.
func TestPairSurvivesConcurrentEnds(t *testing.T) {
	t.Parallel()
	for round := range 50 {
		ha, hb := newRecorder(), newRecorder()
		sim := &Netsim{Latency: time.Millisecond, Jitter: time.Millisecond, Loss: 0.1, Seed: uint64(round)}
		if round%2 == 0 {
			sim = nil
		}
		a, b := Pair(ha, hb, Options{Netsim: sim}, Options{})
		start := make(chan struct{})
		for range 4 {
			go func() {
				<-start
				for i := range 50 {
					a.Send(numbered(wire.KindEvent, uint32(i)))
					b.Send(keyed(wire.KindInput, 1, "input"))
				}
			}()
		}
		go func() { <-start; a.Close(wire.Errorf(wire.CodeLeft, "")) }()
		go func() { <-start; b.Close(wire.Errorf(wire.CodeGoingAway, "")) }()
		if round%3 == 0 {
			go func() { <-start; Cut(a) }()
		}
		close(start)
		for _, h := range []*recorder{ha, hb} {
			select {
			case <-h.ended:
			case <-time.After(10 * CloseGrace):
				t.Fatal("a link did not end")
			}
			h.check(t)
		}
	}
}

// Memory links carry bots by the thousand: a message costs no allocation.
func TestPairAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("pools forget under the race detector")
	}
	h := &counting{got: make(chan struct{}, 1)}
	a, _ := Pair(newRecorder(), h, Options{FlushWindow: -1}, Options{})
	defer Cut(a)
	payload := binary.LittleEndian.AppendUint64(nil, 1)
	round := func() {
		f := wire.CopyFrame(wire.KindSnapshot, payload)
		f.Key = wire.SnapshotKey
		a.Send(f)
		<-h.got
	}
	for range 100 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations per message", n)
	}
}

type counting struct {
	silent
	got chan struct{}
}

func (h *counting) Receive(*Link, wire.Lane, []byte) *wire.Error {
	h.got <- struct{}{}
	return nil
}

package link

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

func TestControlLeavesFirst(t *testing.T) {
	t.Parallel()
	l := New(&stub{info: Info{OneStream: true}}, newRecorder(), Options{})
	l.Send(keyed(wire.KindRelayedFast, 1, "fast"))
	l.Send(frame(wire.KindEvent, "event"))
	l.Send(frame(wire.KindPong, "pong"))
	equal(t, "one stream", packed(t, l, wire.Reliable), []string{"pong", "event", "fast"})
	equal(t, "then", packed(t, l, wire.Reliable), nil)

	l = New(&stub{}, newRecorder(), Options{})
	l.Send(frame(wire.KindEvent, "event"))
	l.Send(keyed(wire.KindRelayedFast, 1, "fast"))
	l.Send(frame(wire.KindPong, "pong"))
	equal(t, "reliable", packed(t, l, wire.Reliable), []string{"pong", "event"})
	equal(t, "unreliable", packed(t, l, wire.Unreliable), []string{"fast"})
}

func TestNewestSnapshotReplacesOlder(t *testing.T) {
	t.Parallel()
	seen := newCounters()
	l := New(&stub{}, newRecorder(), Options{Observer: seen})
	for i := range 3 {
		l.Send(keyed(wire.KindRelayedFast, 7, fmt.Sprint("r", i)))
		l.Send(keyed(wire.KindSnapshot, wire.SnapshotKey, fmt.Sprint("s", i)))
	}
	equal(t, "unreliable", packed(t, l, wire.Unreliable), []string{"r0", "s2", "r1", "r2"})
	if n := seen.dropped(DropSuperseded); n != 2 {
		t.Errorf("%d superseded, want 2", n)
	}
}

func TestFullUnreliableQueueDropsTheSendersOldest(t *testing.T) {
	t.Parallel()
	seen := newCounters()
	l := New(&stub{}, newRecorder(), Options{UnreliableFrames: 4, Observer: seen})
	l.Send(keyed(wire.KindSnapshot, wire.SnapshotKey, "snapshot"))
	l.Send(keyed(wire.KindRelayedFast, 1, "a1"))
	l.Send(keyed(wire.KindRelayedFast, 2, "b1"))
	l.Send(keyed(wire.KindRelayedFast, 2, "b2"))
	l.Send(keyed(wire.KindRelayedFast, 2, "b3")) // displaces b1
	l.Send(keyed(wire.KindRelayedFast, 3, "c1")) // displaces a1, the oldest that is no snapshot
	equal(t, "unreliable", packed(t, l, wire.Unreliable), []string{"snapshot", "b2", "b3", "c1"})
	if a, b := seen.dropped(DropSenderOldest), seen.dropped(DropOldest); a != 1 || b != 1 {
		t.Errorf("%d of the sender's, %d of others, want 1 and 1", a, b)
	}
}

func TestFullReliableLaneSaysSo(t *testing.T) {
	t.Parallel()
	l := New(&stub{}, newRecorder(), Options{ReliableBytes: 300})
	big := strings.Repeat("x", 100)
	if !l.Send(frame(wire.KindEvent, big)) {
		t.Fatal("refused within the bound")
	}
	if l.SendAll([]*wire.Frame{frame(wire.KindEvent, big), frame(wire.KindEvent, "small")}) {
		t.Fatal("took more than the bound")
	}
	if frames, _, _ := l.Queued(); frames != 2 {
		t.Errorf("%d frames wait, want the first and the small one", frames)
	}
}

func TestOversizeFramesNeverReachTheWire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		oneStream bool
		kind      wire.Kind
		bytes     int
		passes    bool
	}{
		{false, wire.KindSnapshot, wire.MaxDatagram - 2, true},
		{false, wire.KindSnapshot, wire.MaxDatagram - 1, false},
		{true, wire.KindSnapshot, wire.MaxReliableBody, true}, // a world in the JSON dialect
		{true, wire.KindSnapshot, wire.MaxReliableBody + 1, false},
		{false, wire.KindWelcome, wire.MaxReliableBody, true},
		{false, wire.KindWelcome, wire.MaxReliableBody + 1, false},
		{false, wire.KindEvent, wire.MaxReliableBody, true},
		{false, wire.KindEvent, wire.MaxReliableBody + 1, false},
	} {
		l := New(&stub{info: Info{OneStream: c.oneStream}}, newRecorder(), Options{})
		l.Send(frame(c.kind, strings.Repeat("x", c.bytes)))
		lane := c.kind.Lane()
		if c.oneStream {
			lane = wire.Reliable
		}
		if n := len(packed(t, l, lane)); n == 1 != c.passes {
			t.Errorf("%+v: %d frames packed", c, n)
		}
	}
}

func TestMessagesStayWithinTheirBounds(t *testing.T) {
	t.Parallel()
	for _, oneStream := range []bool{false, true} {
		l := New(&stub{info: Info{OneStream: oneStream}}, newRecorder(), Options{ReliableBytes: 1 << 20})
		for i := range 200 {
			l.Send(frame(wire.KindEvent, strings.Repeat("x", 37*i)))
			l.Send(keyed(wire.KindRelayedFast, uint32(i), strings.Repeat("y", 5*i)))
		}
		l.Send(frame(wire.KindEvent, strings.Repeat("x", wire.MaxReliableBody)))
		var frames, unreliable int
		for {
			reliable, fast := l.Pack(wire.Reliable, nil), l.Pack(wire.Unreliable, nil)
			if oneStream && len(fast) > 0 {
				t.Fatal("a link with one stream packed a datagram")
			}
			if len(reliable) > wire.MaxMessage || len(fast) > wire.MaxDatagram {
				t.Fatalf("messages of %d and %d bytes", len(reliable), len(fast))
			}
			if len(reliable)+len(fast) == 0 {
				break
			}
			for _, rest := range [][]byte{reliable, fast} {
				for len(rest) > 0 {
					k, _, r, err := wire.NextFrame(rest)
					if err != nil {
						t.Fatal(err)
					}
					if rest = r; k.Lane() == wire.Unreliable {
						unreliable++
					}
					frames++
				}
			}
		}
		if frames != 401 || unreliable != 200 {
			t.Errorf("one stream %v: %d frames, %d unreliable", oneStream, frames, unreliable)
		}
	}
}

// A snapshot waits for one message of bulk on a shared stream, not for all.
func TestBulkDoesNotStarveTheOtherLane(t *testing.T) {
	t.Parallel()
	l := New(&stub{info: Info{OneStream: true}}, newRecorder(), Options{})
	for range 10 {
		l.Send(frame(wire.KindFull, strings.Repeat("x", 16<<10)))
	}
	l.Send(keyed(wire.KindSnapshot, wire.SnapshotKey, "snapshot"))
	if first := packed(t, l, wire.Reliable); len(first) != 2 || first[1] != "snapshot" {
		t.Errorf("the first message has %d frames", len(first))
	}
}

func TestCloseFrameIsTheLast(t *testing.T) {
	t.Parallel()
	seen, c := newCounters(), &stub{}
	l := New(c, newRecorder(), Options{Observer: seen})
	l.Send(frame(wire.KindEvent, "event"))
	l.Send(frame(wire.KindPong, "pong"))
	l.Send(keyed(wire.KindRelayedFast, 1, "fast"))
	l.Close(wire.Errorf(wire.CodeKicked, "out"))
	l.Close(wire.Errorf(wire.CodeInternal, "again"))
	if !l.Send(frame(wire.KindEvent, "late")) {
		t.Error("a closed link asks to be closed as a slow consumer")
	}
	got := packed(t, l, wire.Reliable)
	if len(got) != 3 || got[0] != "pong" || got[1] != "event" || !strings.Contains(got[2], `"kicked"`) {
		t.Errorf("packed %q", got)
	}
	equal(t, "then", append(packed(t, l, wire.Reliable), packed(t, l, wire.Unreliable)...), nil)
	if n := seen.dropped(DropClosed); n != 2 {
		t.Errorf("%d dropped as closed, want the fast one and the late one", n)
	}
	if len(c.closes) != 1 || c.closes[0] != wire.CodeKicked {
		t.Errorf("the transport was closed with %v", c.closes)
	}
}

func TestSlowConsumerIsToldAtOnce(t *testing.T) {
	t.Parallel()
	for _, code := range []wire.Code{wire.CodeSlowConsumer, wire.CodeReplaced} {
		l := New(&stub{}, newRecorder(), Options{})
		ring := stream.NewRing(1<<20, true)
		for range 40 {
			if ring.Push(frame(wire.KindEvent, strings.Repeat("x", 1000))) != nil {
				t.Fatal("full")
			}
		}
		l.Attach(ring, 1)
		l.Close(wire.Errorf(code, ""))
		if got := packed(t, l, wire.Reliable); len(got) != 1 || !strings.Contains(got[0], code.Name()) {
			t.Errorf("%s: %d frames packed", code.Name(), len(got))
		}
		if behind, _ := ring.Behind(1); behind != 40 {
			t.Errorf("%s: the session's ring lost frames: %d left", code.Name(), behind)
		}
	}
}

func TestControlQueueIsBounded(t *testing.T) {
	t.Parallel()
	seen := newCounters()
	l := New(&stub{}, newRecorder(), Options{Observer: seen})
	for range 10 * maxControl {
		l.Send(frame(wire.KindPong, "12345678"))
	}
	if n := len(packed(t, l, wire.Reliable)); n != maxControl {
		t.Errorf("%d control frames waited, bound %d", n, maxControl)
	}
	if n := seen.dropped(DropOldest); n != 9*maxControl {
		t.Errorf("%d dropped", n)
	}
}

func TestAttachedRingContinuesAndDiscardsTheOwn(t *testing.T) {
	t.Parallel()
	seen := newCounters()
	l := New(&stub{}, newRecorder(), Options{Observer: seen})
	l.Send(frame(wire.KindEvent, "own"))
	ring := stream.NewRing(1<<10, true)
	for _, body := range []string{"one", "two", "three"} {
		if err := ring.Push(frame(wire.KindEvent, body)); err != nil {
			t.Fatal(err)
		}
	}
	l.Attach(ring, 2)
	equal(t, "attached", packed(t, l, wire.Reliable), []string{"two", "three"})
	if n := seen.dropped(DropClosed); n != 1 {
		t.Errorf("%d of the own ring dropped, want 1", n)
	}
	// Another link of the session acknowledged what this one never sent.
	for _, body := range []string{"four", "five", "six"} {
		if err := ring.Push(frame(wire.KindEvent, body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := ring.Ack(5); err != nil {
		t.Fatal(err)
	}
	equal(t, "after the acknowledgement", packed(t, l, wire.Reliable), []string{"six"})
}

func TestEndReleasesWhatTheLinkOwns(t *testing.T) {
	t.Parallel()
	h := newRecorder()
	l := New(&stub{}, h, Options{})
	// Larger than every pool: no other test can be given a released one.
	own := func(k wire.Kind) *wire.Frame {
		f := wire.NewFrame(k, 1<<18)
		f.Retain(1)
		return f
	}
	sent := []*wire.Frame{own(wire.KindPong), own(wire.KindEvent), own(wire.KindRelayedFast), own(wire.KindSnapshot)}
	for _, f := range sent {
		l.Send(f)
	}
	l.Ended(errors.New("reset"))
	late := own(wire.KindEvent)
	l.Send(late)
	l.Close(wire.Errorf(wire.CodeInternal, "late"))
	l.Attach(stream.NewRing(100, true), 1)
	for i, f := range append(sent, late) {
		f.Release() // ours; one more must be one too many
		if !panics(f.Release) {
			t.Errorf("frame %d was still held", i)
		}
	}
	equal(t, "after the end", append(packed(t, l, wire.Reliable), packed(t, l, wire.Unreliable)...), nil)
}

func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}

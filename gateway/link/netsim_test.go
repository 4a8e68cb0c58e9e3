package link

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

func TestParseNetsim(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Netsim{
		"latency=80ms,jitter=20ms,loss=3%,dup=1%,reorder=2%,seed=7": {80 * time.Millisecond, 20 * time.Millisecond, 0.03, 0.01, 0.02, 7},
		" loss=100% , seed=18446744073709551615":                    {Loss: 1, Seed: 1<<64 - 1},
		"latency=10s":                                               {Latency: 10 * time.Second},
		"loss=0.5%":                                                 {Loss: 0.005},
	} {
		got, err := ParseNetsim(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := ParseNetsim(got.String()); err != nil || again != got {
			t.Errorf("%q does not come back from %q: %+v, %v", text, got, again, err)
		}
	}
	for text, says := range map[string]string{
		"":                          `"" is not a field`,
		"latency=80ms,":             `"" is not a field`,
		"lag=80ms":                  `"lag" is not a field: want latency, jitter, loss, dup, reorder or seed`,
		"latency":                   `latency "": want a duration`,
		"latency=80":                `latency "80": want a duration from 0s to 10s, such as 80ms`,
		"latency=-1ms":              "want a duration",
		"jitter=11s":                `jitter "11s": want a duration from 0s to 10s`,
		"loss=3":                    `loss "3": want a percentage from 0% to 100%, such as 3%`,
		"loss=101%":                 "want a percentage",
		"loss=-1%":                  "want a percentage",
		"loss=NaN%":                 "want a percentage",
		"dup=%":                     "want a percentage",
		"reorder=1%%":               "want a percentage",
		"seed=-1":                   "seed \"-1\": want a whole number",
		"seed=18446744073709551616": "want a whole number",
		"loss=1%,loss=2%":           "loss is given twice",
	} {
		if got, err := ParseNetsim(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v; want an error that says %q", text, got, err, says)
		}
	}
}

func FuzzParseNetsim(f *testing.F) {
	f.Add("latency=80ms,jitter=20ms,loss=3%,dup=1%,reorder=2%,seed=7")
	f.Add("loss=1e2%")
	f.Add("loss=0x1p-1074%")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNetsim(text)
		if err != nil {
			return
		}
		if n.Latency < 0 || n.Latency > maxNetsimDelay || n.Jitter < 0 || n.Jitter > maxNetsimDelay {
			t.Errorf("%q: %+v", text, n)
		}
		for _, p := range []float64{n.Loss, n.Duplicate, n.Reorder} {
			if !(p >= 0 && p <= 1) {
				t.Errorf("%q: %+v", text, n)
			}
		}
		if _, err := ParseNetsim(n.String()); err != nil {
			t.Errorf("%q is printed as %q: %v", text, n, err)
		}
	})
}

// timed notes when each numbered frame came.
type timed struct {
	*recorder
	start time.Time
	came  []arrival
}

type arrival struct {
	n  uint32
	at time.Duration
}

func (h *timed) Receive(l *Link, lane wire.Lane, msg []byte) *wire.Error {
	for rest := msg; len(rest) > 0; {
		var body []byte
		_, body, rest, _ = wire.NextFrame(rest)
		h.came = append(h.came, arrival{binary.LittleEndian.Uint32(body), time.Since(h.start)})
	}
	return h.recorder.Receive(l, lane, msg)
}

// run sends 2,000 numbered frames of a kind at 50 Hz through a network on the
// sender's or the receiver's side, and returns what came and what was done to it.
func run(t *testing.T, n Netsim, k wire.Kind, oneStream, receiver bool) (came []arrival, counts NetsimCounts) {
	synctest.Test(t, func(t *testing.T) {
		h := &timed{recorder: newRecorder(), start: time.Now()}
		var oa, ob Options
		if receiver {
			ob.Netsim = &n
		} else {
			oa.Netsim = &n
		}
		sender := newRecorder()
		connect := Pair
		if oneStream {
			connect = PairOneStream
		}
		a, b := connect(sender, h, oa, ob)
		for i := range frames {
			f := numbered(k, uint32(i))
			f.Key = 1
			a.Send(f)
			time.Sleep(period)
		}
		time.Sleep(time.Minute)
		counts = a.NetsimStats().Out
		if receiver {
			counts = b.NetsimStats().In
		}
		a.Close(wire.Errorf(wire.CodeLeft, ""))
		<-sender.ended
		<-h.ended
		h.check(t)
		came = slices.DeleteFunc(h.came, func(a arrival) bool { return a.n >= frames }) // the close frame
	})
	return came, counts
}

const (
	frames = 2000
	period = 20 * time.Millisecond
)

func TestNetsimHurtsTheUnreliableLane(t *testing.T) {
	t.Parallel()
	n := Netsim{Latency: 100 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05, Duplicate: 0.01, Reorder: 0.02, Seed: 1}
	for _, receiver := range []bool{false, true} {
		came, c := run(t, n, wire.KindRelayedFast, false, receiver)
		if c.Messages < frames || c.Lost < 60 || c.Lost > 150 || c.Duplicated < 8 || c.Duplicated > 40 || c.Reordered < 15 || c.Reordered > 80 || c.Resent > 1 {
			t.Errorf("%+v", c)
		}
		if got := uint64(len(came)); got != frames+c.Duplicated-c.Lost {
			t.Errorf("%d came of %+v", got, c)
		}
		overtaken := 0
		for i, a := range came {
			sent := time.Duration(a.n) * period
			if d := a.at - sent; d < 70*time.Millisecond || d > 230*time.Millisecond {
				t.Fatalf("frame %d took %v", a.n, d)
			}
			if i > 0 && a.n < came[i-1].n {
				overtaken++
			}
		}
		if overtaken < 20 {
			t.Errorf("%d frames were overtaken", overtaken)
		}
	}
}

func TestNetsimDelaysButKeepsTheReliableLane(t *testing.T) {
	t.Parallel()
	n := Netsim{Latency: 100 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05, Duplicate: 0.5, Reorder: 0.5, Seed: 1}
	for _, c := range []struct {
		kind                wire.Kind
		oneStream, receiver bool
	}{
		{wire.KindEvent, false, false}, {wire.KindEvent, false, true},
		{wire.KindEvent, true, false}, {wire.KindRelayedFast, true, false}, {wire.KindRelayedFast, true, true},
	} {
		came, counts := run(t, n, c.kind, c.oneStream, c.receiver)
		if len(came) != frames || counts.Lost != 0 || counts.Duplicated != 0 || counts.Reordered != 0 || counts.Resent < 60 {
			t.Errorf("%+v: %d came, %+v", c, len(came), counts)
		}
		late := 0
		for i, a := range came {
			if a.n != uint32(i) {
				t.Fatalf("%+v: frame %d came in place of %d", c, a.n, i)
			}
			d := a.at - time.Duration(a.n)*period
			if d < 70*time.Millisecond {
				t.Fatalf("%+v: frame %d took %v", c, a.n, d)
			}
			if d > 250*time.Millisecond {
				late++ // it, or one before it, was sent again
			}
		}
		if late < 60 {
			t.Errorf("%+v: %d frames waited for a retransmission", c, late)
		}
	}
}

func TestNetsimIsDeterministic(t *testing.T) {
	t.Parallel()
	n := Netsim{Latency: 50 * time.Millisecond, Jitter: 40 * time.Millisecond, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Seed: 42}
	once, _ := run(t, n, wire.KindRelayedFast, false, true)
	twice, _ := run(t, n, wire.KindRelayedFast, false, true)
	if !slices.Equal(once, twice) {
		t.Error("the same seed gave two networks")
	}
	n.Seed++
	other, _ := run(t, n, wire.KindRelayedFast, false, true)
	if slices.Equal(once, other) {
		t.Error("another seed gave the same network")
	}
}

func TestNetsimExtremes(t *testing.T) {
	t.Parallel()
	if came, _ := run(t, Netsim{}, wire.KindRelayedFast, false, false); len(came) != frames {
		t.Errorf("a perfect network lost %d", frames-len(came))
	}
	if came, _ := run(t, Netsim{Loss: 1}, wire.KindRelayedFast, false, false); len(came) != 0 {
		t.Errorf("a dead network delivered %d", len(came))
	}
	if came, _ := run(t, Netsim{Loss: 1, Latency: time.Millisecond}, wire.KindEvent, false, false); len(came) != frames {
		t.Errorf("the reliable lane lost %d", frames-len(came))
	}
}

// What is in flight is bounded: a fast sender is pushed back, not kept.
func TestNetsimBoundsWhatIsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ha, hb := newRecorder(), newRecorder()
		slow := &Netsim{Latency: 10 * time.Second}
		a, b := Pair(ha, hb, Options{Netsim: slow, ReliableBytes: 1 << 20}, Options{Netsim: slow})
		sent := 0
		for a.Send(frame(wire.KindEvent, strings.Repeat("x", 10_000))) {
			if sent++; sent > 1000 {
				t.Fatal("the network has no bound")
			}
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
		}
		for range 2000 {
			a.Send(keyed(wire.KindRelayedFast, 1, strings.Repeat("y", 1000)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		for _, l := range []*Link{a, b} {
			l.sim.mu.Lock()
			for lane := range l.sim.in {
				for _, f := range []*flight{&l.sim.in[lane], &l.sim.out[lane]} {
					if f.bytes > flightBytes+wire.MaxMessage {
						t.Errorf("%d bytes in flight", f.bytes)
					}
				}
			}
			l.sim.mu.Unlock()
		}
		time.Sleep(time.Minute)
		if n := len(hb.of(wire.KindEvent)); n != sent {
			t.Errorf("%d of %d reliable frames came", n, sent)
		}
		Cut(a)
		<-ha.ended
		<-hb.ended
		ha.check(t)
		hb.check(t)
	})
}

// A goodbye is not lost to a long line: neither end waits for it to cross.
func TestNetsimLetsGoodbyesThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ha, hb := newRecorder(), newRecorder()
		far := &Netsim{Latency: 5 * time.Second, Loss: 0.5, Seed: 3}
		a, _ := Pair(ha, hb, Options{Netsim: far}, Options{Netsim: far})
		a.Send(frame(wire.KindEvent, "last words"))
		time.Sleep(time.Second)
		start := time.Now()
		a.Close(wire.Errorf(wire.CodeKicked, ""))
		<-ha.ended
		<-hb.ended
		if took := time.Since(start); took > CloseGrace {
			t.Errorf("the end took %v", took)
		}
		equal(t, "events", hb.of(wire.KindEvent), []string{"last words"})
		if len(hb.of(wire.KindClose)) != 1 {
			t.Error("no close frame")
		}
		hb.check(t)
	})
}

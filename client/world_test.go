package client_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/wire"
)

// world is a small world and its way to one client.
type world struct {
	store *replica.Store
	peer  *replica.Peer
	ids   []replica.ID
	tick  uint32
	input replica.Meta
}

func newWorld() *world {
	schema := replica.MustSchema(replica.Type{Name: "thing", Fields: []replica.Field{
		{Name: "x", Min: 0, Max: 1000}, {Name: "y", Min: 0, Max: 1000},
	}})
	s := replica.NewStore(schema)
	return &world{store: s, peer: replica.NewPeer(s)}
}

func (w *world) welcome() wire.Welcome {
	m := relayWelcome()
	m.Room.Kind, m.TickRate = "authority", 30
	m.Schema, _ = json.Marshal(w.store.Schema())
	return m
}

func (w *world) spawn(n int) {
	for range n {
		w.ids = append(w.ids, w.store.Spawn(0))
	}
}

func (w *world) move(v int32) {
	for _, id := range w.ids {
		w.store.Set(id, 0, v)
	}
}

func (w *world) commit() {
	w.tick++
	w.store.Commit(w.tick)
}

// full sends a full snapshot.
func (e *end) full(w *world) {
	w.peer.Full(w.input, replica.MaxChunkBytes, func(chunk []byte) { e.say(wire.KindFull, chunk) })
}

// delta encodes a delta snapshot.
func (e *end) delta(w *world) []byte {
	e.t.Helper()
	body, _ := w.peer.Delta(nil, w.input, 1100)
	if len(body) == 0 {
		e.t.Fatal("no delta: the client has not acknowledged the full snapshot")
	}
	return body
}

// input takes the client's next input frame into account.
func (e *end) input(w *world) wire.Input {
	e.t.Helper()
	var in wire.Input
	if err := wire.ParseInput(e.expect(wire.KindInput), &in); err != nil {
		e.t.Fatal(err)
	}
	if err := w.peer.Ack(in.Acked, in.Mask); err != nil {
		e.t.Errorf("acknowledgement: %v", err)
	}
	return in
}

// joinWorld joins a client and brings it its first full snapshot.
func (s *script) joinWorld(o client.Options, w *world) (*client.Client, *end) {
	s.t.Helper()
	w.spawn(3)
	w.commit()
	c, e := s.join(o, w.welcome())
	e.full(w)
	if err := c.Ready(within(s.t, time.Second)); err != nil {
		s.t.Fatal(err)
	}
	e.input(w)
	return c, e
}

func hashOf(c *client.Client) (h uint32) {
	c.World(func(v *replica.View) { h = v.Hash() })
	return h
}

func TestDeltasAreAppliedAndAcknowledged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{}, w)
		defer c.Close()
		for i := range 4 {
			w.move(int32(i + 1))
			w.commit()
			e.say(wire.KindSnapshot, e.delta(w))
			waitFor(t, "snapshot", func() bool { return c.Stats().Tick == w.tick })
		}
		if in := e.input(w); in.Acked != w.tick || in.Mask&0xf != 0xf || len(in.Inputs) != 0 {
			t.Errorf("after four snapshots: acked %d with %b, want %d with four ones", in.Acked, in.Mask, w.tick)
		}
		if hashOf(c) != w.store.Hash() {
			t.Error("the world differs")
		}
		if st := c.Stats(); st.Snapshots != 4 || st.Fulls != 1 {
			t.Errorf("stats are %+v", st)
		}
	})
}

func TestSnapshotsOfAThinLineAreAcknowledgedWithoutDelay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{}, w)
		defer c.Close()
		w.commit()
		e.say(wire.KindSnapshot, e.delta(w))
		sent := time.Now()
		if in := e.input(w); in.Acked != w.tick || time.Since(sent) > 150*time.Millisecond {
			t.Errorf("one snapshot: acked %d after %v", in.Acked, time.Since(sent))
		}
	})
}

func TestAcknowledgementOfAFullSnapshotIsRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{}, w) // has consumed the first, as if it were lost
		defer c.Close()
		for range 3 {
			before := time.Now()
			if in := e.input(w); in.Acked != w.tick || time.Since(before) > time.Second {
				t.Errorf("acked %d after %v", in.Acked, time.Since(before))
			}
		}
	})
}

func TestStaleAndDoubledSnapshotsChangeNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{}, w)
		defer c.Close()
		w.move(1)
		w.commit()
		older := e.delta(w)
		w.move(2)
		w.commit()
		newer := e.delta(w)
		for _, body := range [][]byte{newer, older, newer} {
			e.say(wire.KindSnapshot, body)
			pause()
		}
		if st := c.Stats(); st.Stale != 2 || st.Snapshots != 1 || hashOf(c) != w.store.Hash() {
			t.Errorf("stats are %+v", st)
		}
	})
}

func TestMissingBaselineAsksForAResyncOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		states := make(chan client.State, 16)
		c, e := s.joinWorld(client.Options{Handler: client.Handler{State: func(s client.State, _ error) { states <- s }}}, w)
		defer c.Close()
		body := []byte{0, 9, 4, 0, 0} // tick 9 upon tick 5, which the client does not hold
		for range 3 {
			e.say(wire.KindSnapshot, body)
			pause()
		}
		if c.State() != client.Resynchronizing {
			t.Fatalf("state is %v", c.State())
		}
		e.expect(wire.KindResync)
		w.peer.Resync()
		w.commit()
		e.full(w)
		if err := c.Ready(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
		for len(e.frames) > 0 {
			if f := <-e.frames; f.kind == wire.KindResync {
				t.Error("resync was asked for twice")
			}
		}
		if st := c.Stats(); st.Resyncs != 1 {
			t.Errorf("stats are %+v", st)
		}
	})
}

func TestMalformedSnapshotIsRepairedByAResync(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{}, w)
		defer c.Close()
		e.say(wire.KindSnapshot, []byte{0xff})
		e.expect(wire.KindResync)
		if st := c.Stats(); st.Malformed != 1 {
			t.Errorf("stats are %+v", st)
		}
	})
}

func TestEventsWaitForTheirTick(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		type told struct {
			name string
			at   time.Time
		}
		events := make(chan told, 16)
		c, e := s.joinWorld(client.Options{Handler: client.Handler{
			Event: func(e wire.Event) { events <- told{e.Name, time.Now()} },
		}}, w)
		defer c.Close()
		say := func(name string, tick uint32) {
			e.say(wire.KindEvent, wire.AppendEvent(nil, wire.Event{Tick: tick, Name: name}))
		}
		say("now", w.tick)
		say("next", w.tick+1)
		say("never", w.tick+100)
		pause()
		if len(events) != 1 || (<-events).name != "now" {
			t.Fatal("an event of a tick that was applied must be told at once, later ones not")
		}
		w.commit()
		e.say(wire.KindSnapshot, e.delta(w))
		sent := time.Now()
		if ev := <-events; ev.name != "next" || time.Since(sent) > 50*time.Millisecond {
			t.Errorf("%q came after %v", ev.name, time.Since(sent))
		}
		if ev := <-events; ev.name != "never" || time.Since(sent) > 300*time.Millisecond {
			t.Errorf("%q came after %v", ev.name, time.Since(sent))
		}
	})
}

func TestEventsThatWaitAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		var told atomic.Int64
		c, e := s.joinWorld(client.Options{Handler: client.Handler{Event: func(wire.Event) { told.Add(1) }}}, w)
		defer c.Close()
		const all = 2000
		for range all {
			e.say(wire.KindEvent, wire.AppendEvent(nil, wire.Event{Tick: w.tick + 100, Name: "later"}))
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if n := told.Load(); n != all-1024 {
			t.Errorf("%d of %d events were told early, want all but 1,024", n, all)
		}
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if n := told.Load(); n != all {
			t.Errorf("%d of %d events were told", n, all)
		}
	})
}

func TestInputsAreRepeatedUntilApplied(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{}, w)
		defer c.Close()
		for i := range 3 {
			if _, err := c.SendInput([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
			in := e.input(w)
			if int(in.Seq) != i+1 || len(in.Inputs) != i+1 || in.Inputs[i][0] != byte(i) {
				t.Errorf("frame %d: seq %d, inputs %v", i, in.Seq, in.Inputs)
			}
		}
		w.input = replica.Meta{InputSeq: 2, HasInput: true}
		w.commit()
		e.say(wire.KindSnapshot, e.delta(w))
		waitFor(t, "applied input", func() bool { seq, ok := c.AppliedInput(); return ok && seq == 2 })
		if in := e.input(w); in.Seq != 3 || len(in.Inputs) != 1 || in.Inputs[0][0] != 2 {
			t.Errorf("after 2 was applied: seq %d, inputs %v", in.Seq, in.Inputs)
		}
	})
}

func TestInputFramesFitADatagram(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{}, w)
		defer c.Close()
		var last wire.Input
		for range 40 {
			if _, err := c.SendInput(make([]byte, wire.MaxInputBytes)); err != nil {
				t.Fatal(err)
			}
			last = e.input(w)
		}
		if len(last.Inputs) != 4 || last.Seq != 40 {
			t.Errorf("seq %d with %d inputs of 255 bytes, want 40 with 4", last.Seq, len(last.Inputs))
		}
		if _, err := c.SendInput(make([]byte, wire.MaxInputBytes+1)); err == nil {
			t.Error("an input of 256 bytes was accepted")
		}
	})
}

func TestTickerSendsAnInputPerTick(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, w := newScript(t), newWorld()
		c, e := s.joinWorld(client.Options{TickInputs: true}, w)
		defer c.Close()
		if err := c.SetInput([]byte("go")); err != nil {
			t.Fatal(err)
		}
		first := e.input(w)
		for len(first.Inputs) == 0 {
			first = e.input(w)
		}
		before := time.Now()
		in := first
		for in.Seq < first.Seq+30 {
			in = e.input(w)
		}
		if took := time.Since(before); took < 950*time.Millisecond || took > 1050*time.Millisecond {
			t.Errorf("30 ticks at 30 Hz took %v", took)
		}
		if string(in.Inputs[len(in.Inputs)-1]) != "go" {
			t.Errorf("input is %q", in.Inputs)
		}
		if err := c.SetInput(nil); err != nil {
			t.Fatal(err)
		}
		pause()
		for len(e.frames) > 0 {
			<-e.frames
		}
		if next := e.input(w); next.Seq > in.Seq+2 {
			t.Errorf("seq went on to %d after SetInput(nil)", next.Seq)
		}
	})
}

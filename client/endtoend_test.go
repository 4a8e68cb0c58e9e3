package client_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

// The world that a client rebuilds is the server's, tick for tick, whatever the
// network does to the snapshots: with two lanes and with one stream.
func TestWorldIsRebuiltUnderLoss(t *testing.T) {
	t.Parallel()
	bad := &link.Netsim{
		Latency: 100 * time.Millisecond, Jitter: 30 * time.Millisecond,
		Loss: 0.05, Duplicate: 0.01, Reorder: 0.02, Seed: 7,
	}
	lanes := map[string]func(link.Handler, link.Options, link.Options) client.Dialer{
		"two lanes": client.Memory, "one stream": client.MemoryOneStream,
	}
	for name, dial := range lanes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := openHouse(t, session.Options{})
				defer h.close()
				var ls lines
				compared, wrong := 0, 0
				events := []uint32{}
				c, err := client.Join(t.Context(), client.Options{
					Dialers: []client.Dialer{ls.of(dial(h.sessions, link.Options{Netsim: bad}, link.Options{}))},
					Room:    "sea", Identity: "ann", TickInputs: true,
					Handler: client.Handler{
						Snapshot: func(v *replica.View, a replica.Applied) {
							want, ok := h.shoal.hash(a.Tick)
							if !ok {
								t.Errorf("tick %d came before it was over", a.Tick)
							}
							compared++
							if v.Hash() != want {
								wrong++
							}
						},
						Event: func(e wire.Event) { events = append(events, binary.LittleEndian.Uint32(e.Payload)) },
						Input: func(seq uint16, _ uint32) []byte { return binary.LittleEndian.AppendUint16(nil, seq) },
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				for i := range 60 {
					time.Sleep(time.Second)
					ask := fmt.Appendf(nil, "%d", i)
					if got, err := c.Request(within(t, time.Minute), "echo", ask); err != nil || string(got) != string(ask) {
						t.Fatalf("request %d: %q, %v", i, got, err)
					}
				}
				c.Close()
				st := c.Stats()
				if wrong > 0 || compared < 60*30*8/10 {
					t.Errorf("%d of %d worlds differ", wrong, compared)
				}
				if st.Resyncs+st.Malformed+st.Resumes > 0 || st.Fulls != 1 {
					t.Errorf("stats are %+v", st)
				}
				if st.RTT < 150*time.Millisecond || st.RTT > 400*time.Millisecond {
					t.Errorf("round trip is %v", st.RTT)
				}
				for i := range events {
					if events[i] != events[0]+uint32(i) {
						t.Fatalf("event %d is of tick %d, after one of %d", i, events[i], events[0])
					}
				}
				h.shoal.checkInputs(t, c.You(), 60*30*9/10)
				checkNetsim(t, ls.newest(), name == "two lanes")
			})
		})
	}
}

// checkNetsim asserts that the network was as bad as it should be.
func checkNetsim(t *testing.T, l *link.Link, lossy bool) {
	t.Helper()
	st := l.NetsimStats()
	for _, d := range []link.NetsimCounts{st.In, st.Out} {
		if lossy && (d.Lost < 20 || d.Duplicated == 0 || d.Reordered == 0) || !lossy && d.Resent < 20 {
			t.Errorf("the network was too good: %+v", d)
		}
	}
}

// checkInputs asserts that the world applied a member's inputs in order, none
// twice; they carry their number.
func (g *shoal) checkInputs(t *testing.T, member uint32, least int) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	all := g.inputs[member]
	if len(all)/2 < least {
		t.Errorf("%d inputs were applied, want at least %d", len(all)/2, least)
	}
	for i := 2; i < len(all); i += 2 {
		if a, b := binary.LittleEndian.Uint16(all[i-2:]), binary.LittleEndian.Uint16(all[i:]); !wire.Newer16(b, a) {
			t.Fatalf("input %d was applied after %d", b, a)
		}
	}
}

// Two members talk while their links are cut at random moments and come back
// over either kind: every message arrives once, in order, both ways.
func TestNothingIsLostOrDoubledByCuts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := openHouse(t, session.Options{OutboxBytes: 1 << 20})
		defer h.close()
		rnd := rand.New(rand.NewPCG(1, 2))
		bad := &link.Netsim{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02, Seed: 3}
		pair := client.Memory(h.sessions, link.Options{Netsim: bad}, link.Options{})
		stream := client.MemoryOneStream(h.sessions, link.Options{Netsim: bad}, link.Options{})
		type speaker struct {
			*client.Client
			lines lines
			said  uint32
			heard []uint32
			away  int
		}
		var both [2]*speaker
		for i := range both {
			s := &speaker{}
			both[i] = s
			c, err := client.Join(t.Context(), client.Options{
				Dialers: []client.Dialer{s.lines.of(pair), s.lines.of(stream)}, Room: "hall", Identity: fmt.Sprint(i),
				RetryMin: time.Millisecond, RetryMax: 20 * time.Millisecond,
				Handler: client.Handler{
					Relayed: func(_ wire.Lane, m wire.Relayed) { s.heard = append(s.heard, binary.LittleEndian.Uint32(m.Payload)) },
					Peer: func(n wire.PeerNotice) {
						if n.Event == wire.PeerLeft {
							t.Error("a member left")
						}
					},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s.Client = c
		}
		const cuts = 1000
		for n := range cuts {
			for _, s := range both {
				for range rnd.IntN(4) {
					s.said++
					if err := s.Relay(wire.Reliable, binary.LittleEndian.AppendUint32(nil, s.said)); err != nil {
						t.Fatalf("cut %d: %v", n, err)
					}
				}
			}
			s := both[rnd.IntN(2)]
			if rnd.IntN(2) == 0 {
				s.Prefer(s.lines.of(stream))
			} else {
				s.Prefer(s.lines.of(pair))
			}
			link.Cut(s.lines.newest())
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
		}
		for _, s := range both {
			if err := s.Ready(within(t, time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		both[0].Close()
		both[1].Close()
		resumes := both[0].Stats().Resumes + both[1].Stats().Resumes
		if resumes < cuts/3 {
			t.Errorf("only %d resumes", resumes)
		}
		for i, s := range both {
			other := both[1-i]
			if len(s.heard) != int(other.said) {
				t.Errorf("%d heard %d of %d messages", i, len(s.heard), other.said)
			}
			for k, v := range s.heard {
				if v != uint32(k+1) {
					t.Fatalf("%d heard %d as message %d", i, v, k+1)
				}
			}
			if st := s.Stats(); st.Gaps > 0 {
				t.Errorf("%d gaps", st.Gaps)
			}
		}
	})
}

// A client that is away for a while comes back into the same world: no second
// member, no second spawn, and the same entities as the server.
func TestResumeIntoAWorld(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := openHouse(t, session.Options{})
		defer h.close()
		var ls lines
		spawned := map[string]int{}
		wrong := 0
		c, err := client.Join(t.Context(), client.Options{
			Dialers: []client.Dialer{ls.of(client.Memory(h.sessions, link.Options{}, link.Options{}))},
			Room:    "sea", Identity: "ann", RetryMin: time.Millisecond, RetryMax: 20 * time.Millisecond,
			Handler: client.Handler{Snapshot: func(v *replica.View, a replica.Applied) {
				for _, id := range a.Spawned {
					spawned[fmt.Sprintf("%d/%d", id, v.Generation(id))]++
				}
				time.Sleep(time.Second / 29) // until the server has gone past the tick
				if want, ok := h.shoal.hash(a.Tick); !ok || v.Hash() != want {
					wrong++
				}
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		you := c.You()
		for i := range 50 {
			time.Sleep(time.Duration(100+i*20) * time.Millisecond)
			link.Cut(ls.newest())
			pause()
			if err := c.Ready(within(t, time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		c.Close()
		if wrong > 0 || c.You() != you || len(c.Peers()) != 1 {
			t.Errorf("%d worlds differ, you are %d of %v", wrong, c.You(), c.Peers())
		}
		for id, n := range spawned {
			if n > 1 {
				t.Errorf("entity %s was spawned %d times", id, n)
			}
		}
		if st := c.Stats(); st.Resumes < 50 || st.Gaps+st.Malformed > 0 {
			t.Errorf("stats are %+v", st)
		}
	})
}

func TestSecondJoinOfAnIdentityEndsTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := openHouse(t, session.Options{})
		defer h.close()
		o := client.Options{Dialers: []client.Dialer{client.Memory(h.sessions, link.Options{}, link.Options{})}, Room: "hall", Identity: "ann"}
		first, err := client.Join(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		second, err := client.Join(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		<-first.Done() // and does not fight back
		if err := second.Leave(within(t, time.Minute)); err != nil {
			t.Error(err)
		}
	})
}

func TestSwitchBetweenTransportsLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := openHouse(t, session.Options{})
		defer h.close()
		bad := &link.Netsim{Latency: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02, Seed: 5}
		ways := []client.Dialer{
			client.MemoryOneStream(h.sessions, link.Options{Netsim: bad}, link.Options{}),
			client.Memory(h.sessions, link.Options{Netsim: bad}, link.Options{}),
		}
		var events []uint32
		away := 0
		c, err := client.Join(t.Context(), client.Options{Dialers: ways, Room: "sea", Handler: client.Handler{
			Event: func(e wire.Event) { events = append(events, binary.LittleEndian.Uint32(e.Payload)) },
			State: func(s client.State, _ error) {
				if s == client.Away {
					away++
				}
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i := range 40 {
			time.Sleep(333 * time.Millisecond)
			if err := c.Switch(within(t, time.Minute), ways[(i+1)%2]); err != nil {
				t.Fatalf("switch %d: %v", i, err)
			}
		}
		time.Sleep(time.Second)
		c.Close()
		if away > 0 {
			t.Errorf("away %d times: a switch is not an absence", away)
		}
		if len(events) < 300 {
			t.Errorf("only %d events", len(events))
		}
		for i := range events {
			if events[i] != events[0]+uint32(i) {
				t.Fatalf("event %d is of tick %d, after one of %d", i, events[i], events[i-1])
			}
		}
	})
}

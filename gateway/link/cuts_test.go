package link

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

// listener is the receiving end of a numbered stream: it outlives its links.
type listener struct {
	silent
	mu      sync.Mutex
	counter stream.Counter
	next    uint32
	fault   string
}

func (c *listener) Receive(l *Link, _ wire.Lane, msg []byte) *wire.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest := msg; len(rest) > 0; {
		k, body, r, err := wire.NextFrame(rest)
		if err != nil {
			return wire.Errorf(wire.CodeProtocol, "%v", err)
		}
		rest = r
		due := c.counter.Count(k, len(body))
		if !k.Numbered() {
			continue
		}
		if n := binary.LittleEndian.Uint32(body); n != c.next && c.fault == "" {
			c.fault = "a reliable message was lost or doubled"
		}
		c.next++
		if due || c.next%7 == 0 {
			l.Send(wire.CopyFrame(wire.KindAck, wire.AppendAck(nil, c.counter.Acked())))
		}
	}
	return nil
}

func (c *listener) received() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counter.Received()
}

// acknowledged is the sending end: it hands acknowledgements to the ring.
type acknowledged struct {
	silent
	ring *stream.Ring
}

func (h *acknowledged) Receive(_ *Link, _ wire.Lane, msg []byte) *wire.Error {
	for rest := msg; len(rest) > 0; {
		k, body, r, err := wire.NextFrame(rest)
		if err != nil || k != wire.KindAck {
			return wire.Errorf(wire.CodeProtocol, "%s: %v", k, err)
		}
		rest = r
		received, err := wire.ParseAck(body)
		if err == nil {
			err = h.ring.Ack(received)
		}
		if err != nil {
			return wire.Errorf(wire.CodeProtocol, "%v", err)
		}
	}
	return nil
}

// A numbered stream goes on over one link after another, each cut or closed at
// some moment with messages under way, and over a network that hurts.
func TestStreamSurvivesEveryCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const cuts = 10_000
		rng := rand.New(rand.NewPCG(1, 2))
		ring := stream.NewRing(1<<20, true)
		server, client := &acknowledged{ring: ring}, &listener{}
		sent := uint32(0)
		for cut := range cuts {
			var o Options
			if cut%2 == 1 {
				o.Netsim = &Netsim{Latency: 2 * time.Millisecond, Jitter: 2 * time.Millisecond, Loss: 0.1, Seed: uint64(cut)}
			}
			cursor, ok := ring.Rewind(client.received())
			if !ok {
				t.Fatalf("cut %d: the ring can not go on after %d", cut, client.received())
			}
			connect := Pair
			if cut%3 == 0 {
				connect = PairOneStream
			}
			a, b := connect(server, client, o, Options{})
			a.Attach(ring, cursor)
			for range rng.IntN(8) {
				if err := ring.Push(numbered(wire.KindEvent, sent)); err != nil {
					t.Fatal(err)
				}
				sent++
				a.Flush()
				time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
			}
			switch rng.IntN(4) {
			case 0:
				a.Close(wire.Errorf(wire.CodeReplaced, ""))
			case 1:
				b.Close(wire.Errorf(wire.CodeGoingAway, ""))
			default:
				Cut(a)
			}
			synctest.Wait() // the old link is over before the new one begins
			if client.fault != "" {
				t.Fatalf("cut %d: %s", cut, client.fault)
			}
		}
		a, _ := Pair(server, client, Options{}, Options{})
		cursor, _ := ring.Rewind(client.received())
		a.Attach(ring, cursor)
		time.Sleep(time.Second)
		if got := client.received(); got != uint64(sent) || sent < 3*cuts || client.fault != "" {
			t.Errorf("%d of %d received; %s", got, sent, client.fault)
		}
		Cut(a)
	})
}

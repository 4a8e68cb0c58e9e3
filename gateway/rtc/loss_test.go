package rtc_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/wire"
)

// lossy is a UDP proxy in front of a listener that loses packets of both
// directions, once told to.
type lossy struct {
	front  *net.UDPConn
	target *net.UDPAddr
	loss   atomic.Int32 // percent
	lost   atomic.Int32
	all    sync.WaitGroup
}

func newLossy(t *testing.T, l *rtc.Listener) *lossy {
	t.Helper()
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	p := &lossy{front: front, target: net.UDPAddrFromAddrPort(l.UDP())}
	p.all.Go(p.serve)
	t.Cleanup(func() {
		_ = front.Close()
		p.all.Wait()
	})
	return p
}

func (p *lossy) drops(rng *rand.Rand) bool {
	if rng.Int32N(100) >= p.loss.Load() {
		return false
	}
	p.lost.Add(1)
	return true
}

// serve forwards what clients send, each through a socket of its own.
func (p *lossy) serve() {
	rng := rand.New(rand.NewPCG(1, 1))
	back := map[string]*net.UDPConn{}
	defer func() {
		for _, c := range back {
			_ = c.Close()
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, from, err := p.front.ReadFromUDP(buf)
		if err != nil {
			return
		}
		c := back[from.String()]
		if c == nil {
			if c, err = net.DialUDP("udp", nil, p.target); err != nil {
				return
			}
			back[from.String()] = c
			p.all.Go(func() { p.returns(c, from) })
		}
		if !p.drops(rng) {
			_, _ = c.Write(buf[:n])
		}
	}
}

func (p *lossy) returns(c *net.UDPConn, to *net.UDPAddr) {
	rng := rand.New(rand.NewPCG(2, 2))
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if !p.drops(rng) {
			_, _ = p.front.WriteToUDP(buf[:n], to)
		}
	}
}

// through makes an answer name the proxy in place of the listener.
func (p *lossy) through(l *rtc.Listener) func(string) string {
	real := fmt.Sprintf(" %d typ host", l.UDP().Port())
	proxied := fmt.Sprintf(" %d typ host", p.front.LocalAddr().(*net.UDPAddr).Port)
	return func(answer string) string { return strings.ReplaceAll(answer, real, proxied) }
}

// tally is what arrived of what send numbers on each lane.
type tally struct {
	arrived, late int // unreliable messages; late ones came after newer ones
	newest        int
	next          int // reliable event that is due
	ended         bool
}

const lastNumber = 1 << 20

func (y *tally) take(t *testing.T, m message) {
	t.Helper()
	for rest := []byte(m.body); len(rest) > 0; {
		k, body, more, err := wire.NextFrame(rest)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscan(string(body), &n); err != nil {
			t.Fatal(err)
		}
		switch {
		case n == lastNumber:
			y.ended = true
		case k == wire.KindInput:
			y.arrived++
			if n < y.newest {
				y.late++
			}
			y.newest = max(y.newest, n)
		case n != y.next:
			t.Fatalf("event %d came when %d was due", n, y.next)
		default:
			y.next++
		}
		rest = more
	}
}

// TestLanesUnderLoss holds each lane to its promise where it costs something: the
// reliable one brings everything in order, the unreliable one what was not lost,
// at once, and nothing again. The library retransmits on a negotiated channel
// unless it is told twice not to.
func TestLanesUnderLoss(t *testing.T) {
	t.Parallel()
	const unreliable, reliable = 400, 40
	for _, up := range []bool{false, true} {
		t.Run(fmt.Sprintf("up=%t", up), func(t *testing.T) {
			t.Parallel()
			each := link.Options{FlushWindow: -1} // a message per frame
			l, server := listen(t, rtc.Options{Link: each})
			proxy := newLossy(t, l)
			client := newRecorder()
			from, to := dial(t, signal(t, l, proxy.through(l)), client, rtc.DialOptions{Link: each}), server
			if other := await(t, "link", server.opened); !up {
				from, to = other, client
			}

			proxy.loss.Store(15)
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for i := range unreliable {
				from.Send(frame(wire.KindInput, fmt.Sprint(i)))
				if i%(unreliable/reliable) == 0 {
					from.Send(frame(wire.KindEvent, fmt.Sprint(i/(unreliable/reliable))))
				}
				<-tick.C
			}
			proxy.loss.Store(0)

			// The last number goes until it arrives: on a lane that is ordered, that
			// is when everything before it has.
			var got tally
			for deadline := time.Now().Add(patient); !got.ended || got.next < reliable; {
				select {
				case m := <-to.got:
					got.take(t, m)
				case <-tick.C:
					from.Send(frame(wire.KindInput, fmt.Sprint(lastNumber)))
				}
				if time.Now().After(deadline) {
					t.Fatalf("within %v came %+v", patient, got)
				}
			}
			t.Logf("%+v, %d packets lost", got, proxy.lost.Load())
			if got.arrived > unreliable*97/100 || got.arrived < unreliable/2 {
				t.Errorf("%d of %d unreliable messages arrived at 15 %% loss", got.arrived, unreliable)
			}
			if got.late > unreliable/20 {
				t.Errorf("%d unreliable messages came after newer ones", got.late)
			}
		})
	}
}

//go:build !noenet && !race

package enet_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// counter is a handler that only counts.
type counter struct {
	opened   chan *link.Link
	received atomic.Int64 // messages
	each     chan struct{}
	ended    chan error
}

func newCounter() *counter {
	return &counter{opened: make(chan *link.Link, 64), each: make(chan struct{}, 1<<16), ended: make(chan error, 64)}
}

func (c *counter) Opened(l *link.Link) { c.opened <- l }

func (c *counter) Receive(*link.Link, wire.Lane, []byte) *wire.Error {
	c.received.Add(1)
	select {
	case c.each <- struct{}{}:
	default:
	}
	return nil
}

func (c *counter) Ended(_ *link.Link, err error) { c.ended <- err }

// couple is both ends of one link, counted. Nothing is held back.
func couple(t testing.TB) (server, client *counter, at, to *link.Link) {
	t.Helper()
	server, client = newCounter(), newCounter()
	atOnce := link.Options{FlushWindow: -1}
	l, err := enet.Listen(enet.Options{Address: "127.0.0.1:0", Link: atOnce}, server)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if to, err = enet.Dial(ctx, l.Addr().String(), client, enet.DialOptions{Link: atOnce}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		<-client.ended
	})
	return server, client, <-server.opened, to
}

// Not parallel: it counts what the process allocates. Not with -race, which makes
// pools forget.
func TestMessagesAllocateNothing(t *testing.T) {
	server, client, at, to := couple(t)
	payload := make([]byte, 64)
	timeout := time.After(patience)
	for _, kind := range []wire.Kind{wire.KindEvent, wire.KindInput} {
		exchange := func() {
			to.Send(wire.CopyFrame(kind, payload))
			at.Send(wire.CopyFrame(kind, payload))
			for _, each := range []chan struct{}{server.each, client.each} {
				select {
				case <-each:
				case <-timeout:
					t.Fatal("a message was lost")
				}
			}
		}
		for range 200 {
			exchange()
		}
		// Two messages a run; what the collector drops from a pool now and then
		// stays below one.
		if allocs := testing.AllocsPerRun(500, exchange); allocs > 0 {
			t.Errorf("%s: %.2f allocations for two messages", kind, allocs)
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, kind := range []wire.Kind{wire.KindEvent, wire.KindInput} {
		b.Run(kind.Lane().String(), func(b *testing.B) {
			server, client, at, to := couple(b)
			payload := make([]byte, 64)
			b.ReportAllocs()
			for b.Loop() {
				to.Send(wire.CopyFrame(kind, payload))
				<-server.each
				at.Send(wire.CopyFrame(kind, payload))
				<-client.each
			}
		})
	}
}

// BenchmarkFanOut hands one message to eight links at a time, as a room does.
func BenchmarkFanOut(b *testing.B) {
	for _, kind := range []wire.Kind{wire.KindEvent, wire.KindInput} {
		b.Run(kind.Lane().String(), func(b *testing.B) {
			server, client := newCounter(), newCounter()
			l, err := enet.Listen(enet.Options{Address: "127.0.0.1:0"}, server)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			links := make([]*link.Link, 8)
			for i := range links {
				if _, err := enet.Dial(b.Context(), l.Addr().String(), client, enet.DialOptions{}); err != nil {
					b.Fatal(err)
				}
				links[i] = <-server.opened
			}
			payload := make([]byte, 64)
			b.ReportAllocs()
			sent := int64(0)
			for b.Loop() {
				f := wire.CopyFrame(kind, payload)
				f.Retain(len(links) - 1)
				for _, at := range links {
					if !at.Send(f) {
						b.Fatal("a client is too slow")
					}
				}
				sent += int64(len(links))
				// In step with the slowest, so that nothing is dropped: a message
				// may hold several frames, so count what is queued instead.
				for _, at := range links {
					for n, _, m := at.Queued(); n+m > 128; n, _, m = at.Queued() {
						time.Sleep(50 * time.Microsecond)
					}
				}
			}
			b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "deliveries/s")
			b.ReportMetric(float64(sent)/float64(max(1, client.received.Load())), "frames/message")
		})
	}
}

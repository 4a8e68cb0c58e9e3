//go:build !race

// The race detector makes pools forget at random.

package client_test

import (
	"testing"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

func TestFastMessagesDoNotAllocate(t *testing.T) {
	const batch = 64
	s := newScript(t)
	came := 0
	done := make(chan struct{}, 1)
	c, e := s.join(client.Options{Handler: client.Handler{
		Relayed: func(wire.Lane, wire.Relayed) {
			if came++; came%batch == 0 {
				done <- struct{}{}
			}
		},
	}}, relayWelcome())
	defer c.Close()
	payload := make([]byte, 64)
	stamp := uint16(0)
	receive := func() {
		for range batch {
			stamp++
			f := wire.NewFrame(wire.KindRelayedFast, 80)
			f.Append(func(dst []byte) []byte {
				return append(wire.AppendRelayedPrefix(dst, wire.Unreliable, 2, stamp), payload...)
			})
			e.link.Send(f)
		}
		<-done
	}
	for range 50 { // warm the pools and buffers
		receive()
	}
	if n := testing.AllocsPerRun(50, receive); n > batch/16 {
		t.Errorf("%v allocations for %d fast messages", n, batch)
	}
}

// A tick in a world: a snapshot comes, an input goes.
func TestPlayingDoesNotAllocate(t *testing.T) {
	const warm, counted = 500, 4000
	s, w := newScript(t), newWorld()
	applied := make(chan struct{}, 1)
	hasty := link.Options{FlushWindow: -1}
	c, e := s.joinWorld(client.Options{
		Dialers: []client.Dialer{client.Memory(s, hasty, hasty)},
		Handler: client.Handler{Snapshot: func(*replica.View, replica.Applied) { applied <- struct{}{} }},
	}, w)
	defer c.Close()
	<-applied // the full one
	e.deaf.Store(true)
	var bodies [][]byte
	for range warm + counted + 1 {
		w.move(int32(w.tick % 1000))
		w.commit()
		bodies = append(bodies, e.delta(w))
	}
	input := []byte("left")
	tick := func() {
		e.say(wire.KindSnapshot, bodies[0])
		bodies = bodies[1:]
		<-applied
		if _, err := c.SendInput(input); err != nil {
			t.Fatal(err)
		}
	}
	for range warm {
		tick()
	}
	if n := testing.AllocsPerRun(counted, tick); n >= 1 {
		t.Errorf("%v allocations per tick", n)
	}
}

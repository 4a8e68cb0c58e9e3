//go:build !race

// The race detector makes pools forget at random.

package client_test

import (
	"testing"

	"github.com/gatehouse/gatehouse/client"
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

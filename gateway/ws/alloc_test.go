//go:build !race

package ws_test

import (
	"testing"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/ws"
	"github.com/gatehouse/gatehouse/wire"
)

// TestMessagesAllocateNothing is not parallel, for it counts what the whole
// process allocates: two writes, two reads and a frame per round.
func TestMessagesAllocateNothing(t *testing.T) {
	_, server, url := serve(t, ws.Options{})
	server.receive = func(l *link.Link, msg []byte) *wire.Error {
		l.Send(wire.CopyFrame(wire.KindPong, msg[2:]))
		return nil
	}
	client := newRecorder()
	back := make(chan struct{}, 1)
	client.receive = func(*link.Link, []byte) *wire.Error {
		back <- struct{}{}
		return nil
	}
	l := dial(t, url, client, ws.DialOptions{})
	body := make([]byte, 64)
	round := func() {
		l.Send(wire.CopyFrame(wire.KindPing, body))
		<-back
	}
	for range 100 {
		round() // fills the pools
	}
	if n := testing.AllocsPerRun(2000, round); n >= 1 {
		t.Errorf("%v allocations per message and its answer", n)
	}
}

package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// FuzzMessages gives a joined client any bytes on either lane. Whatever they are,
// it goes on or ends with an error, and can be closed.
func FuzzMessages(f *testing.F) {
	w := newWorld()
	w.spawn(2)
	w.commit()
	w.peer.Full(w.input, 1<<14, func(chunk []byte) {
		f.Add(true, wire.AppendFrame(nil, wire.KindFull, chunk))
	})
	for k := wire.Kind(1); k < 32; k++ {
		f.Add(k.Lane() == wire.Reliable, wire.AppendFrame(nil, k, []byte{1, 2, 3}))
		f.Add(k.Lane() == wire.Reliable, wire.AppendFrame(wire.AppendFrame(nil, k, []byte("{}")), k, nil))
	}
	f.Add(true, wire.AppendFrame(nil, wire.KindPeer, []byte(`{"event":"joined","id":9,"name":"x"}`)))
	f.Add(true, wire.AppendFrame(nil, wire.KindClose, []byte(`{"code":4401}`)))
	f.Fuzz(func(t *testing.T, reliable bool, msg []byte) {
		s := newScript(t)
		var ls lines
		c, _ := s.join(client.Options{
			Dialers:  []client.Dialer{ls.of(s.dialer()), refuseDial},
			RetryMin: time.Hour, RetryMax: time.Hour,
		}, w.welcome())
		lane := wire.Unreliable
		if reliable {
			lane = wire.Reliable
		}
		ls.newest().Receive(lane, msg)
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Microsecond)
		defer cancel()
		_, _ = c.Request(ctx, "after", nil) // has passed through the client's goroutine, or not
		c.Close()
		if c.State() != client.Closed {
			t.Errorf("state is %v", c.State())
		}
	})
}

// Every single-byte change of a message of each kind is survived.
func TestFlippedBytesAreSurvived(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld()
		w.spawn(2)
		w.commit()
		var messages [][]byte
		w.peer.Full(w.input, 1<<14, func(chunk []byte) {
			messages = append(messages, wire.AppendFrame(nil, wire.KindFull, chunk))
		})
		for k, body := range map[wire.Kind][]byte{
			wire.KindAck:         {0},
			wire.KindResponse:    wire.AppendResponse(nil, wire.Response{ID: 1, Payload: []byte("x")}),
			wire.KindEvent:       wire.AppendEvent(nil, wire.Event{Tick: 1, Name: "e", Payload: []byte("x")}),
			wire.KindRelayed:     {2, 'x'},
			wire.KindRelayedFast: {2, 0, 0, 'x'},
			wire.KindPeer:        []byte(`{"event":"away","id":2}`),
			wire.KindClose:       []byte(`{"code":4001}`),
		} {
			messages = append(messages, wire.AppendFrame(nil, k, body))
		}
		for _, msg := range messages {
			for i := range msg {
				for _, flip := range []byte{1 << (i % 8), 0xff} {
					s := newScript(t)
					var ls lines
					c, _ := s.join(client.Options{Dialers: []client.Dialer{ls.of(client.MemoryOneStream(s, link.Options{}, link.Options{}))}}, w.welcome())
					bad := append([]byte(nil), msg...)
					bad[i] ^= flip
					ls.newest().Receive(wire.Reliable, bad)
					pause()
					c.Close()
				}
			}
		}
	})
}

package ws_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/ws"
	"github.com/gatehouse/gatehouse/wire"
)

func TestBothLanesBothWays(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	client := newRecorder()
	there := dial(t, url, client, ws.DialOptions{})
	here := await(t, "link", server.opened)

	for _, way := range []struct {
		name string
		from *link.Link
		to   *recorder
	}{{"up", there, server}, {"down", here, client}} {
		way.from.Send(frame(wire.KindRequest, "reliable"))
		if m := await(t, way.name, way.to.got); m.body != encoded(wire.KindRequest, "reliable") {
			t.Errorf("%s: got %q", way.name, m.body)
		}
		way.from.Send(frame(wire.KindInput, "unreliable"))
		m := await(t, way.name, way.to.got)
		if m.body != encoded(wire.KindInput, "unreliable") || m.lane != wire.Reliable {
			t.Errorf("%s: got %q on %v: one stream has all on the reliable lane", way.name, m.body, m.lane)
		}
	}
	if info := here.Info(); info.Transport != "ws" || !info.OneStream || info.JSON || !info.Remote.Addr().IsLoopback() {
		t.Errorf("info %+v", info)
	}
}

func TestPlainBinaryClient(t *testing.T) {
	t.Parallel()
	for _, asked := range [][]string{nil, {"gatehouse.v1"}, {"other", "gatehouse.v1"}} {
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			t.Parallel()
			_, server, url := serve(t, ws.Options{})
			c := plain(t, url, asked...)
			if want := strings.Join(asked[:min(1, len(asked))], ""); want != "other" && c.Subprotocol() != want {
				t.Errorf("subprotocol %q, want %q", c.Subprotocol(), want)
			}
			l := await(t, "link", server.opened)
			ctx, cancel := context.WithTimeout(context.Background(), patient)
			defer cancel()

			up := []byte{0x08 | 3<<5, 0, 'a', 'b', 'c', 0x14 | 1<<5, 0, 'x'} // request "abc", input "x"
			if err := c.Write(ctx, websocket.MessageBinary, up); err != nil {
				t.Fatal(err)
			}
			if m := await(t, "message", server.got); m.body != string(up) {
				t.Errorf("got % x, want % x", m.body, up)
			}
			l.SendAll([]*wire.Frame{frame(wire.KindSnapshot, "s"), frame(wire.KindEvent, "e")})
			typ, down, err := c.Read(ctx)
			want := []byte{0x0a | 1<<5, 0, 'e', 0x15 | 1<<5, 0, 's'} // reliable first
			if err != nil || typ != websocket.MessageBinary || !bytes.Equal(down, want) {
				t.Errorf("got %v % x, %v, want % x", typ, down, err, want)
			}
		})
	}
}

func TestMessageInTheHandshakesPacket(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	bare(t, url, "gatehouse.v1", 64<<10, "\x82\x83\x00\x00\x00\x00", "\x28\x00a") // masked with zeros
	if m := await(t, "message", server.got); m.body != encoded(wire.KindRequest, "a") {
		t.Errorf("got %q", m.body)
	}
}

func TestFragmentedMessage(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	bare(t, url, "gatehouse.v1", 64<<10,
		"\x02\x81\x00\x00\x00\x00\x28", "\x89\x80\x00\x00\x00\x00", "\x00\x80\x00\x00\x00\x00", "\x80\x82\x00\x00\x00\x00\x00a")
	if m := await(t, "message", server.got); m.body != encoded(wire.KindRequest, "a") {
		t.Errorf("got %q", m.body)
	}
}

func TestPlainJSONClient(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	c := plain(t, url, "gatehouse.json")
	if c.Subprotocol() != "gatehouse.json" {
		t.Fatalf("subprotocol %q", c.Subprotocol())
	}
	l := await(t, "link", server.opened)
	if !l.Info().JSON {
		t.Error("the link does not say that it speaks JSON")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	if err := c.Write(ctx, websocket.MessageText, []byte(`{"kind":"relay","data":{"hi":1}}`)); err != nil {
		t.Fatal(err)
	}
	if m := await(t, "message", server.got); m.body != encoded(wire.KindRelay, "\x00"+`{"hi":1}`) {
		t.Errorf("got %q", m.body)
	}
	l.SendAll([]*wire.Frame{frame(wire.KindPong, ""), frame(wire.KindRelayed, "\x07true")})
	for _, want := range []string{`{"kind":"pong"}`, `{"kind":"relayed","from":7,"data":true}`} {
		typ, text, err := c.Read(ctx)
		if err != nil || typ != websocket.MessageText || string(text) != want {
			t.Errorf("got %v %s, %v, want %s: one frame per message", typ, text, err, want)
		}
	}
}

// closing reads until the end and returns the close frame's code, if one came,
// and the status and reason of the WebSocket close.
func closing(t *testing.T, c *websocket.Conn) (framed wire.Code, status websocket.StatusCode, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	for {
		typ, msg, err := c.Read(ctx)
		var closed websocket.CloseError
		if errors.As(err, &closed) {
			return framed, closed.Code, closed.Reason
		}
		if err != nil {
			t.Fatalf("the connection ended without a close: %v", err)
		}
		for typ == websocket.MessageBinary && len(msg) > 0 {
			k, body, rest, err := wire.NextFrame(msg)
			if err != nil {
				t.Fatal(err)
			}
			var cl wire.Close
			if k == wire.KindClose && wire.DecodeJSON(k, body, &cl) == nil {
				framed = cl.Code
			}
			msg = rest
		}
		if typ == websocket.MessageText && bytes.Contains(msg, []byte(`"kind":"close"`)) {
			_, body, err := wire.ParseJSONText(msg)
			var cl wire.Close
			if err == nil && wire.DecodeJSON(wire.KindClose, body, &cl) == nil {
				framed = cl.Code
			}
		}
	}
}

func TestWrongMessagesAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		subprotocol string
		typ         websocket.MessageType
		msg         []byte
		code        wire.Code
	}{
		{"text to binary", "gatehouse.v1", websocket.MessageText, []byte(`{"kind":"leave"}`), wire.CodeProtocol},
		{"binary to JSON", "gatehouse.json", websocket.MessageBinary, []byte{0x10, 0}, wire.CodeProtocol},
		{"not JSON", "gatehouse.json", websocket.MessageText, []byte(`{"kind":`), wire.CodeProtocol},
		{"unknown kind", "gatehouse.json", websocket.MessageText, []byte(`{"kind":"nonsense"}`), wire.CodeProtocol},
		{"65,536 bytes", "gatehouse.v1", websocket.MessageBinary, filler(wire.MaxMessage + 1), wire.CodeTooBig},
		{"4 MiB", "gatehouse.v1", websocket.MessageBinary, make([]byte, 4<<20), wire.CodeTooBig},
		{"JSON too long", "gatehouse.json", websocket.MessageText, bytes.Repeat([]byte(" "), wire.MaxJSONText+1), wire.CodeTooBig},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, server, url := serve(t, ws.Options{})
			c := plain(t, url, test.subprotocol)
			ctx, cancel := context.WithTimeout(context.Background(), patient)
			defer cancel()
			go func() { _ = c.Write(ctx, test.typ, test.msg) }() // may be cut off
			framed, status, _ := closing(t, c)
			if framed != test.code || status != websocket.StatusCode(test.code) {
				t.Errorf("close frame %d, status %d, want %d", framed, status, test.code)
			}
			if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: test.code}) {
				t.Errorf("ended with %v", err)
			}
			if len(server.got) > 0 {
				t.Errorf("the handler got %d bytes", len((<-server.got).body))
			}
		})
	}
}

func TestLargestMessages(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	client := newRecorder()
	c := plain(t, url)
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	for _, n := range []int{0, 1, 1023, 1024, 1025, 16 << 10, wire.MaxMessage - 1, wire.MaxMessage, 3} {
		if err := c.Write(ctx, websocket.MessageBinary, filler(n)); err != nil {
			t.Fatal(err)
		}
		if m := await(t, "message", server.got); m.body != string(filler(n)) {
			t.Errorf("%d bytes arrived as %d", n, len(m.body))
		}
	}

	dial(t, url, client, ws.DialOptions{})
	await(t, "first link", server.opened)
	down := await(t, "second link", server.opened)
	body := strings.Repeat("x", wire.MaxReliableBody)
	down.Send(frame(wire.KindEvent, body))
	if m := await(t, "message", client.got); m.body != encoded(wire.KindEvent, body) {
		t.Errorf("%d bytes arrived as %d", len(body), len(m.body))
	}

	j := plain(t, url, "gatehouse.json")
	text := []byte(`{"kind":"leave"}`)
	text = append(text, bytes.Repeat([]byte(" "), wire.MaxJSONText-len(text))...)
	if err := j.Write(ctx, websocket.MessageText, text); err != nil {
		t.Fatal(err)
	}
	if m := await(t, "message", server.got); m.body != encoded(wire.KindLeave, "") {
		t.Errorf("got %q", m.body)
	}
}

func TestCloseTellsTheCode(t *testing.T) {
	t.Parallel()
	t.Run("plain client", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, ws.Options{})
		c := plain(t, url)
		l := await(t, "link", server.opened)
		l.Send(frame(wire.KindEvent, "before"))
		l.Close(wire.Errorf(wire.CodeKicked, "%s", strings.Repeat("é", 100))) // 200 bytes, the limit is 123
		framed, status, reason := closing(t, c)
		if framed != wire.CodeKicked || status != 4401 || reason != strings.Repeat("é", 61) {
			t.Errorf("close frame %d, status %d, reason %q", framed, status, reason)
		}
		if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: wire.CodeKicked}) {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("both ends", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, ws.Options{})
		client := newRecorder()
		dial(t, url, client, ws.DialOptions{})
		await(t, "link", server.opened).Close(wire.Errorf(wire.CodeRoomClosed, "night"))
		want := encoded(wire.KindClose, `{"code":4403,"name":"room_closed","reason":"night"}`)
		if m := await(t, "close frame", client.got); m.body != want {
			t.Errorf("got %q, want %q", m.body, want)
		}
		if err := await(t, "end", client.ended); !errors.Is(err, &wire.Error{Code: wire.CodeRoomClosed}) {
			t.Errorf("the client ended with %v", err)
		}
	})
	t.Run("client first", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, ws.Options{})
		client := newRecorder()
		dial(t, url, client, ws.DialOptions{}).Close(wire.Errorf(wire.CodeLeft, "bye"))
		if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: wire.CodeLeft}) {
			t.Errorf("the server ended with %v", err)
		}
		await(t, "end", client.ended)
	})
}

func TestLostConnectionEnds(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	c, _ := bare(t, url, "gatehouse.v1", 4<<10)
	await(t, "link", server.opened)
	_ = c.(*net.TCPConn).SetLinger(0) // a reset
	_ = c.Close()
	err := await(t, "end", server.ended)
	var coded *wire.Error
	if err == nil || errors.As(err, &coded) {
		t.Errorf("ended with %v, want an error without a code", err)
	}
}

func TestPingFloodIsStopped(t *testing.T) {
	t.Parallel()
	_, server, url := serve(t, ws.Options{})
	c, r := bare(t, url, "gatehouse.v1", 64<<10)
	await(t, "link", server.opened)
	ping := "\x89\x80\x00\x00\x00\x00" // masked with zeros, empty
	if _, err := io.WriteString(c, strings.Repeat(ping, 10_000)); err != nil {
		t.Fatal(err)
	}
	if err := await(t, "end", server.ended); !errors.Is(err, &wire.Error{Code: wire.CodeRateLimited}) {
		t.Errorf("ended with %v", err)
	}
	if all, _ := io.ReadAll(r); bytes.Count(all, []byte("\x8a\x00")) > 2*20 { // two windows at most
		t.Errorf("%d pings were answered", bytes.Count(all, []byte("\x8a\x00")))
	}
}

// flood sends until the reliable lane is full.
func flood(l *link.Link) {
	for l.Send(frame(wire.KindEvent, strings.Repeat("x", 8<<10))) {
	}
}

func TestPeerThatNeverReads(t *testing.T) {
	t.Parallel()
	t.Run("kicked", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, ws.Options{})
		bare(t, url, "gatehouse.v1", 4<<10)
		l := await(t, "link", server.opened)
		flood(l)
		began := time.Now()
		l.Close(wire.Errorf(wire.CodeKicked, ""))
		if took := time.Since(began); took > link.CloseGrace/2 {
			t.Errorf("Close took %v", took)
		}
		await(t, "end", server.ended)
		if took := time.Since(began); took > 5*link.CloseGrace {
			t.Errorf("the connection ended after %v, the grace is %v", took, link.CloseGrace)
		}
	})
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		_, server, url := serve(t, ws.Options{Patience: 200 * time.Millisecond})
		bare(t, url, "gatehouse.v1", 4<<10)
		l := await(t, "link", server.opened)
		flood(l)
		if err := await(t, "end", server.ended); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestSlowButSteadyPeerLives(t *testing.T) {
	t.Parallel()
	const patience = time.Second
	_, server, url := serve(t, ws.Options{Patience: patience, Link: link.Options{ReliableBytes: 1 << 20}})
	_, r := bare(t, url, "gatehouse.v1", 64<<10)
	l := await(t, "link", server.opened)
	total := 0
	for l.Send(frame(wire.KindEvent, strings.Repeat("x", 60<<10))) {
		total += 60 << 10
	}
	// 1 MiB at 12 KiB per 30 ms takes several times the patience, and the writer
	// waits most of it.
	pace := time.NewTicker(30 * time.Millisecond)
	defer pace.Stop()
	buf := make([]byte, 12<<10)
	for read := 0; read < total; {
		n, err := io.ReadFull(r, buf)
		read += n
		if err != nil {
			t.Fatalf("after %d of %d bytes: %v", read, total, err)
		}
		if len(server.ended) > 0 {
			t.Fatalf("after %d of %d bytes: ended with %v", read, total, <-server.ended)
		}
		<-pace.C
	}
}

// Command ws is a bare relay over coder/websocket: no session, no limits, no
// queues, one write per message and receiver. It is the floor that Gatehouse's
// WebSocket path is measured against, not an example of a server.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/wire"
)

type relay struct {
	mu    sync.Mutex
	rooms map[string][]*websocket.Conn // slices are replaced, never changed
}

func main() {
	r := &relay{rooms: map[string][]*websocket.Conn{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ln.Addr())
	log.Fatal(http.Serve(ln, http.HandlerFunc(r.serve)))
}

func (r *relay) serve(w http.ResponseWriter, req *http.Request) {
	c, err := websocket.Accept(w, req, &websocket.AcceptOptions{Subprotocols: []string{"gatehouse.v1"}})
	if err != nil {
		return
	}
	defer c.CloseNow()
	ctx := context.Background()
	_, msg, err := c.Read(ctx)
	if err != nil {
		return
	}
	room := roomOf(msg)
	welcome := wire.AppendFrame(nil, wire.KindWelcome, []byte(`{}`))
	if c.Write(ctx, websocket.MessageBinary, welcome) != nil {
		return
	}
	r.change(room, func(m []*websocket.Conn) []*websocket.Conn { return append(slices.Clone(m), c) })
	defer r.change(room, func(m []*websocket.Conn) []*websocket.Conn {
		return slices.DeleteFunc(slices.Clone(m), func(x *websocket.Conn) bool { return x == c })
	})
	for {
		_, msg, err := c.Read(ctx)
		if err != nil {
			return
		}
		r.mu.Lock()
		members := r.rooms[room]
		r.mu.Unlock()
		for _, m := range members {
			if m != c {
				_ = m.Write(ctx, websocket.MessageBinary, msg) // its own reader sees the end
			}
		}
	}
}

func (r *relay) change(room string, fn func([]*websocket.Conn) []*websocket.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rooms[room] = fn(r.rooms[room])
}

func roomOf(msg []byte) string {
	_, body, _, err := wire.NextFrame(msg)
	var h wire.Hello
	if err != nil || json.Unmarshal(body, &h) != nil {
		return ""
	}
	return h.Room
}

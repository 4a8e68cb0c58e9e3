package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// rawKinds are the frames that a raw client knows.
const (
	rawHello    = 1
	rawWelcome  = 2
	rawAck      = 3
	rawPing     = 4
	rawPong     = 5
	rawClose    = 6
	rawFull     = 13
	rawPeer     = 15
	rawLeave    = 16
	rawInput    = 20
	rawSnapshot = 21
)

// rawMember is a member of a roster.
type rawMember struct {
	ID   uint32
	Name string
	Away bool
}

// rawClient is a client over a WebSocket, down to the bytes. It runs the same way
// all the time, so that it moves.
type rawClient struct {
	t    *testing.T
	conn *websocket.Conn
	done sync.WaitGroup
	you  uint32

	mu       sync.Mutex // guards the rest
	world    rawWorld
	seen     map[uint32]uint32 // hash by tick
	counts   map[uint32]int    // entities by tick
	members  map[uint32]string
	received uint64 // numbered frames
	seq      uint16
	leaving  bool
}

// joinRaw joins the arena over the raw bytes of a WebSocket.
func joinRaw(t *testing.T, h *house, name string) *rawClient {
	t.Helper()
	conn, _, err := websocket.Dial(within(t, patience), fmt.Sprintf("ws://%s/v1/ws", h.addresses.HTTP), &websocket.DialOptions{
		HTTPClient:   visitor,
		Subprotocols: []string{"gatehouse.v1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 16)
	c := &rawClient{t: t, conn: conn, seen: map[uint32]uint32{}, counts: map[uint32]int{}, members: map[uint32]string{}}
	if err := c.send(rawHello, fmt.Appendf(nil, `{"versions":[1],"room":"arena","identity":%q,"name":%q}`, name, name)); err != nil {
		t.Fatal(err)
	}
	welcomed := make(chan struct{})
	c.done.Go(func() { c.run(welcomed) })
	t.Cleanup(func() {
		_ = conn.CloseNow()
		c.done.Wait()
	})
	select {
	case <-welcomed:
	case <-time.After(patience):
		t.Fatal("no welcome")
	}
	return c
}

// send writes one frame. The caller holds mu, or nobody else writes yet.
func (c *rawClient) send(kind uint16, body []byte) error {
	frame := binary.LittleEndian.AppendUint16(nil, kind|uint16(min(len(body), 2047))<<5)
	if len(body) >= 2047 {
		frame = binary.LittleEndian.AppendUint16(frame, uint16(len(body)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.conn.Write(ctx, websocket.MessageBinary, append(frame, body...))
}

// run reads until the end of the connection.
func (c *rawClient) run(welcomed chan<- struct{}) {
	first := true
	for {
		kind, message, err := c.conn.Read(context.Background())
		if err != nil {
			return
		}
		c.mu.Lock()
		for r := (rawReader{rest: message}); len(r.rest) > 0; {
			head := r.uint16()
			size := int(head >> 5)
			if size == 2047 {
				size = int(r.uint16())
			}
			body := r.take(size)
			if r.bad || kind != websocket.MessageBinary {
				err = errRaw
				break
			}
			if first && head&31 != rawWelcome {
				err = fmt.Errorf("%w: frame %d comes before the welcome", errRaw, head&31)
				break
			}
			if err = c.frame(head&31, body); err != nil {
				break
			}
			if first {
				first = false
				close(welcomed)
			}
		}
		over := c.leaving
		c.mu.Unlock()
		if err != nil && !over {
			c.t.Errorf("raw client: %v", err)
			_ = c.conn.CloseNow()
			return
		}
	}
}

// frame handles a frame. The caller holds mu.
func (c *rawClient) frame(kind uint16, body []byte) (err error) {
	if kind >= 8 && kind <= 19 {
		c.received++
		if err := c.send(rawAck, binary.AppendUvarint(nil, c.received)); err != nil {
			return err
		}
	}
	switch kind {
	case rawWelcome:
		var w struct {
			You    uint32
			Peers  []rawMember
			Schema json.RawMessage
		}
		if err := json.Unmarshal(body, &w); err != nil {
			return err
		}
		c.you = w.You
		for _, m := range w.Peers {
			c.members[m.ID] = m.Name
		}
		return c.world.schema(w.Schema)
	case rawPing:
		return c.send(rawPong, body)
	case rawClose:
		return fmt.Errorf("closed: %s", body)
	case rawPeer:
		var n struct {
			Event string
			rawMember
		}
		if err := json.Unmarshal(body, &n); err != nil {
			return err
		}
		if n.Event == "left" {
			delete(c.members, n.ID)
		} else if n.Event == "joined" {
			c.members[n.ID] = n.Name
		}
	case rawFull:
		complete, err := c.world.full(bytes.Clone(body))
		if complete {
			return c.applied()
		}
		return err
	case rawSnapshot:
		applied, err := c.world.delta(body)
		if applied {
			return c.applied()
		}
		return err
	}
	return nil
}

// applied notes the world of a tick and acknowledges it with an input: this way,
// and that way after a while.
func (c *rawClient) applied() error {
	w := &c.world
	c.seen[w.tick] = w.hash()
	c.counts[w.tick] = len(w.entities)
	c.seq++
	move := byte(127)
	if c.seq/45%2 == 1 {
		move = 129 // -127
	}
	body := binary.LittleEndian.AppendUint16(nil, c.seq)
	body = binary.LittleEndian.AppendUint32(body, w.tick)
	body = binary.LittleEndian.AppendUint32(body, w.tick)
	body = binary.AppendUvarint(body, w.missed)
	body = append(body, 1, 4, 1, move, 0, byte(c.seq)) // it shoots all around
	return c.send(rawInput, body)
}

// leave ends the session and waits for the end of the connection.
func (c *rawClient) leave() {
	c.mu.Lock()
	c.leaving = true
	err := c.send(rawLeave, nil)
	c.mu.Unlock()
	if err != nil {
		c.t.Errorf("raw client: leave: %v", err)
	}
	c.done.Wait()
}

// position of the member's own body, as numbers of the wire.
func (c *rawClient) position() (x, y uint32, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.world.entities {
		t := c.world.types[e.kind]
		if t.Name == "player" && e.fields[0] == c.you {
			return e.fields[1], e.fields[2], true
		}
	}
	return 0, 0, false
}

// roster returns the members as the client was told.
func (c *rawClient) roster() map[uint32]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.members)
}

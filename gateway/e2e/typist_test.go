package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// typist is a person with a WebSocket and a keyboard: it sends text and reads
// text. Not safe for concurrent use.
type typist struct {
	t    *testing.T
	conn *websocket.Conn
}

// said is any message of the JSON dialect.
type said struct {
	Kind string

	// welcome
	You      uint32
	Resume   json.RawMessage
	Room     struct{ Name, Kind, Game string }
	Peers    []rawMember
	TickRate int `json:"tick_rate"`

	// request, response, event, relay
	ID    uint32
	Code  int
	Name  string
	Data  json.RawMessage
	B64   *string
	From  uint32
	Stamp *uint16

	// peer
	Event  string
	Reason string

	// snapshot
	Tick     uint32
	Input    *uint16
	Entities []map[string]any

	// close
	Versions []int
}

// sitDown opens a connection of the JSON dialect.
func sitDown(t *testing.T, h *house) *typist {
	t.Helper()
	conn, _, err := websocket.Dial(within(t, patience), fmt.Sprintf("ws://%s/v1/ws", h.addresses.HTTP), &websocket.DialOptions{
		HTTPClient:   visitor,
		Subprotocols: []string{"gatehouse.json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.Subprotocol(); got != "gatehouse.json" {
		t.Fatalf("the server speaks %q", got)
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &typist{t, conn}
}

// joinTyping says hello and returns the welcome.
func joinTyping(t *testing.T, h *house, room, name string) (*typist, said) {
	t.Helper()
	p := sitDown(t, h)
	p.say(`{"kind":"hello","versions":[1],"room":%q,"name":%q}`, room, name)
	w := p.read()
	if w.Kind != "welcome" {
		t.Fatalf("the answer to hello is %+v", w)
	}
	return p, w
}

func (p *typist) say(format string, args ...any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the next message.
func (p *typist) read() said {
	p.t.Helper()
	m, err := p.next()
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func (p *typist) next() (m said, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	kind, text, err := p.conn.Read(ctx)
	if err != nil {
		return m, err
	}
	if kind != websocket.MessageText {
		return m, errors.New("a binary message")
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%.200s: %w", text, err)
	}
	return m, nil
}

// expect returns the next message of a kind; others are passed over.
func (p *typist) expect(kind string) said {
	p.t.Helper()
	for {
		m := p.read()
		if m.Kind == kind {
			return m
		}
		if m.Kind == "close" {
			p.t.Fatalf("closed while waiting for %s: %+v", kind, m)
		}
	}
}

// end returns the close frame and the status with which the connection ends.
func (p *typist) end() (last said, status int) {
	p.t.Helper()
	for {
		m, err := p.next()
		var e websocket.CloseError
		switch {
		case err == nil && m.Kind == "close":
			last = m
		case errors.As(err, &e):
			return last, int(e.Code)
		case err != nil:
			p.t.Fatal(err)
		}
	}
}

// own returns the entity of the player with that peer id, nil if there is none.
func (m said) own(you uint32) map[string]any {
	for _, e := range m.Entities {
		if e["type"] == "player" && e["owner"] == float64(you) {
			return e
		}
	}
	return nil
}

// sameJSON compares without regard to spaces.
func sameJSON(raw json.RawMessage, want string) bool {
	return strings.ReplaceAll(string(raw), " ", "") == want
}

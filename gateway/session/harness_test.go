package session_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

// house is a manager over a real room worker, to which raw clients connect in
// memory: they speak frames, not the client library.
type house struct {
	t        *testing.T
	worker   *room.Worker
	sessions *session.Manager
}

// inHouse runs a test in a bubble of fake time and shuts the house down at its
// end; a goroutine that is left over fails the bubble.
func inHouse(t *testing.T, o session.Options, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t}
		h.worker = room.NewWorker(room.Options{
			OnDemand:  true,
			Templates: []room.Template{{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindRelay, Cap: 8}}},
		})
		o.Rooms, o.Admit = h.worker, believer{}
		h.sessions = session.NewManager(o)
		defer h.close()
		test(t, h)
	})
}

func (h *house) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.sessions.Close(ctx); err != nil {
		h.t.Error(err)
	}
	if err := h.worker.Shutdown(ctx); err != nil {
		h.t.Error(err)
	}
	time.Sleep(2 * link.CloseGrace) // links say goodbye in their own time
}

// believer admits whoever a hello says it is.
type believer struct{}

func (believer) Admit(h wire.Hello, _ netip.AddrPort) (session.Grant, *wire.Error) {
	if h.Token == "bad" {
		return session.Grant{}, wire.Errorf(wire.CodeUnauthorized, "bad token")
	}
	return session.Grant{Identity: h.Identity, Name: h.Name}, nil
}

// raw is a client that speaks frames.
type raw struct {
	t    *testing.T
	link *link.Link

	mu     sync.Mutex
	frames []frame // received and not yet taken
	all    int     // numbered frames received on this link
}

type frame struct {
	kind wire.Kind
	body []byte
}

func (h *house) connect() *raw { return h.connectWith(link.Options{}) }

func (h *house) connectWith(o link.Options) *raw {
	c := &raw{t: h.t}
	c.link, _ = link.Pair(c, h.sessions, link.Options{}, o)
	return c
}

func (c *raw) Opened(*link.Link) {}

func (c *raw) Receive(_ *link.Link, _ wire.Lane, msg []byte) *wire.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(msg) > 0 {
		k, body, rest, err := wire.NextFrame(msg)
		if err != nil {
			c.t.Errorf("server sent: %v", err)
			return wire.Errorf(wire.CodeProtocol, "%v", err)
		}
		c.frames = append(c.frames, frame{k, append([]byte(nil), body...)})
		if k.Numbered() {
			c.all++
		}
		msg = rest
	}
	return nil
}

func (c *raw) Ended(*link.Link, error) {}

func (c *raw) send(k wire.Kind, body []byte) { c.link.Send(wire.CopyFrame(k, body)) }

func (c *raw) sendJSON(k wire.Kind, v any) { c.link.Send(wire.JSONFrame(k, v)) }

// next waits until everything has settled and takes the first frame of a kind.
func (c *raw) next(k wire.Kind) []byte {
	c.t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, f := range c.frames {
		if f.kind == k {
			c.frames = append(c.frames[:i], c.frames[i+1:]...)
			return f.body
		}
	}
	c.t.Fatalf("no %s among %v", k, c.frames)
	return nil
}

// count returns how many frames of a kind wait to be taken.
func (c *raw) count(k wire.Kind) (n int) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.frames {
		if f.kind == k {
			n++
		}
	}
	return n
}

func decode[T any](t *testing.T, k wire.Kind, body []byte) (v T) {
	t.Helper()
	if err := wire.DecodeJSON(k, body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func hello(room, identity string) wire.Hello {
	return wire.Hello{Versions: []int{1}, Room: room, Identity: identity, Name: identity}
}

// join connects and joins.
func (h *house) join(room, identity string) (*raw, wire.Welcome) {
	h.t.Helper()
	return h.greet(hello(room, identity))
}

func (h *house) greet(hi wire.Hello) (*raw, wire.Welcome) {
	h.t.Helper()
	c := h.connect()
	c.sendJSON(wire.KindHello, hi)
	return c, decode[wire.Welcome](h.t, wire.KindWelcome, c.next(wire.KindWelcome))
}

// resume connects and resumes.
func (h *house) resume(secret string, received int) (*raw, wire.Welcome) {
	h.t.Helper()
	return h.greet(wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: secret, Received: uint64(received)}})
}

// closeCode returns the code that the client was closed with.
func (c *raw) closeCode() wire.Code {
	c.t.Helper()
	return decode[wire.Close](c.t, wire.KindClose, c.next(wire.KindClose)).Code
}

// notice takes the next notice of a member.
func (c *raw) notice() wire.PeerNotice {
	c.t.Helper()
	return decode[wire.PeerNotice](c.t, wire.KindPeer, c.next(wire.KindPeer))
}

// say relays text to all others on the reliable lane.
func (c *raw) say(text string) {
	c.send(wire.KindRelay, wire.AppendRelay(nil, nil, []byte(text)))
}

// heard takes all texts that were relayed.
func (c *raw) heard() (texts []string) {
	c.t.Helper()
	for range c.count(wire.KindRelayed) {
		m, err := wire.ParseRelayed(wire.Reliable, c.next(wire.KindRelayed))
		if err != nil {
			c.t.Fatal(err)
		}
		texts = append(texts, string(m.Payload))
	}
	return texts
}

package session_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

func TestJoinWelcomesAndTellsOthers(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		a, wa := h.join("hall", "ann")
		b, wb := h.join("hall", "bob")
		if len(wa.Peers) != 1 || len(wb.Peers) != 2 || wb.You == wa.You {
			t.Fatalf("peers %v then %v", wa.Peers, wb.Peers)
		}
		if n := a.notice(); n.Event != wire.PeerJoined || n.ID != wb.You || n.Name != "bob" {
			t.Fatalf("ann was told %+v", n)
		}
		if b.count(wire.KindPeer) != 0 {
			t.Fatal("bob was told of himself")
		}
		if wb.Resume == nil || wb.Resume.Secret == "" || wb.Limits.ReliableBytes != wire.MaxReliablePayload {
			t.Fatalf("welcome %+v", wb)
		}
	})
}

func TestRefusedHellosAreToldWhy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		say  func(c *raw)
		want wire.Code
	}{
		{"unknown versions", func(c *raw) {
			c.sendJSON(wire.KindHello, wire.Hello{Versions: []int{7, 9}, Room: "r"})
		}, wire.CodeVersion},
		{"another frame first", func(c *raw) { c.send(wire.KindPing, nil) }, wire.CodeProtocol},
		{"two frames in the first message", func(c *raw) {
			c.sendJSON(wire.KindHello, hello("r", "x"))
			c.sendJSON(wire.KindHello, hello("r", "x"))
		}, wire.CodeProtocol},
		{"not JSON", func(c *raw) { c.send(wire.KindHello, []byte("{")) }, wire.CodeProtocol},
		{"bad token", func(c *raw) {
			hi := hello("r", "x")
			hi.Token = "bad"
			c.sendJSON(wire.KindHello, hi)
		}, wire.CodeUnauthorized},
		{"wrong secret", func(c *raw) {
			c.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: "guess"}})
		}, wire.CodeSessionExpired},
		{"large profile", func(c *raw) {
			hi := hello("r", "x")
			hi.Profile = append(append([]byte(`"`), make([]byte, 5000)...), '"')
			for i := 1; i <= 5000; i++ {
				hi.Profile[i] = 'x'
			}
			c.sendJSON(wire.KindHello, hi)
		}, wire.CodeTooBig},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, session.Options{}, func(t *testing.T, h *house) {
				c := h.connect()
				tt.say(c)
				cl := decode[wire.Close](t, wire.KindClose, c.next(wire.KindClose))
				if cl.Code != tt.want || cl.Reason == "" {
					t.Fatalf("closed with %+v, want %v", cl, tt.want.Name())
				}
				if tt.want == wire.CodeVersion && len(cl.Versions) == 0 {
					t.Fatal("the versions spoken are not listed")
				}
				if n := len(h.sessions.Sessions()); n != 0 {
					t.Fatalf("%d sessions", n)
				}
			})
		})
	}
}

func TestSilentConnectionIsClosedAtTheJoinTimeout(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{JoinTimeout: time.Second}, func(t *testing.T, h *house) {
		c := h.connect()
		time.Sleep(900 * time.Millisecond)
		if c.count(wire.KindClose) != 0 {
			t.Fatal("closed too early")
		}
		time.Sleep(time.Second)
		if code := c.closeCode(); code != wire.CodeJoinTimeout {
			t.Fatalf("closed with %s", code.Name())
		}
	})
}

func TestRoomCapHoldsWhateverTheRace(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		clients := make([]*raw, 60)
		for i := range clients {
			clients[i] = h.connect()
			clients[i].sendJSON(wire.KindHello, hello("small", string(rune('A'+i))))
		}
		welcomed, full := 0, 0
		for _, c := range clients {
			welcomed += c.count(wire.KindWelcome)
			if c.count(wire.KindClose) == 1 && c.closeCode() == wire.CodeRoomFull {
				full++
			}
		}
		if welcomed != 8 || full != 52 {
			t.Fatalf("%d welcomed, %d refused", welcomed, full)
		}
	})
}

func TestNewcomerWithTheSameIdentityWins(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		observer, _ := h.join("hall", "observer")
		first, w1 := h.join("hall", "twin")
		observer.notice()
		_, w2 := h.join("hall", "twin")
		if code := first.closeCode(); code != wire.CodeDuplicate || code.Retry() {
			t.Fatalf("the first was closed with %s", code.Name())
		}
		if n := observer.notice(); n.Event != wire.PeerLeft || n.ID != w1.You {
			t.Fatalf("observer was told %+v first", n)
		}
		if n := observer.notice(); n.Event != wire.PeerJoined || n.ID != w2.You {
			t.Fatalf("observer was told %+v second", n)
		}
		time.Sleep(3 * time.Second)
		if st := h.sessions.Sessions(); len(st) != 2 {
			t.Fatalf("sessions %v", st)
		}
	})
}

// TestSessionsEndedDuringTheirJoinAreForgotten: the room may end a session
// between its seat and its welcome.
func TestSessionsEndedDuringTheirJoinAreForgotten(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{ResumeGrace: time.Second}, func(t *testing.T, h *house) {
		for range 50 {
			clients := make([]*raw, 20)
			for i := range clients {
				clients[i] = h.connect()
				clients[i].sendJSON(wire.KindHello, hello("hall", "twin"))
			}
			for _, c := range clients {
				c.count(0)
			}
			if n := len(h.sessions.Sessions()); n != 1 {
				t.Fatalf("%d sessions of one identity", n)
			}
		}
	})
}

func TestHelloBelongsOnTheReliableLane(t *testing.T) {
	t.Parallel()
	inHouse(t, session.Options{}, func(t *testing.T, h *house) {
		c := h.connect()
		c.send(wire.KindInput, []byte("x"))
		if code := c.closeCode(); code != wire.CodeProtocol {
			t.Fatal(code.Name())
		}
	})
}

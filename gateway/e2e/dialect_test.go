package e2e

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/wire"
)

func TestTypingPlaysTheArena(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.crowd(t, "bot-1", "bot-2") // so that something happens
	p, w := joinTyping(t, h, "arena", "Ann")
	if w.Room.Name != "arena" || w.Room.Kind != "authority" || w.Room.Game != "arena" || w.TickRate != 30 || w.Resume != nil {
		t.Errorf("welcome is %+v", w)
	}
	if len(w.Peers) != 3 || !slices.ContainsFunc(w.Peers, func(m rawMember) bool { return m.ID == w.You && m.Name == "Ann" }) {
		t.Errorf("the roster of the welcome is %v", w.Peers)
	}

	first := p.expect("snapshot")
	me := first.own(w.You)
	if me == nil {
		t.Fatalf("no player of %d in %v", w.You, first.Entities)
	}
	for _, field := range []string{"id", "x", "y", "aim", "health", "score", "flags"} {
		if _, is := me[field].(float64); !is {
			t.Errorf("%s of a player is %v", field, me[field])
		}
	}
	if x := me["x"].(float64); x <= 0 || x >= 48 || x == math.Trunc(x) && me["y"] == math.Trunc(me["y"].(float64)) {
		t.Errorf("a player is at %v, %v: units are tiles, and it stands in the middle of one", x, me["y"])
	}
	if len(first.Entities) < 50 {
		t.Errorf("%d entities", len(first.Entities))
	}
	p.requests()
	p.runs(w.You, first)
}

// requests: each is answered once it was done, with its id; what is wrong is
// said in the response.
func (p *typist) requests() {
	for _, tc := range []struct {
		id         int
		ask        string
		code       int
		data, what string
	}{
		{1, `"name":"attack","data":{"target":0,"aim":90}`, 0, `{"request":1,"success":true,"result":"shot"}`, "a shot"},
		{1, `"name":"attack","data":{"target":0,"aim":90}`, 0, `{"request":1,"success":true,"result":"shot"}`, "the same again, which has no effect"},
		{2, `"name":"attack","b64":"eyJhaW0iOiJ1cCJ9"`, 4421, `{"request":2,"success":false,"result":"malformed"}`, `{"aim":"up"} in base64`},
		{3, `"name":"interact","data":{"target":999999}`, 4421, `{"request":3,"success":false,"result":"no_target"}`, "a door that is not there"},
		{4, `"name":"fly"`, 4420, ``, "what nobody can do"},
	} {
		p.say(`{"kind":"request","id":%d,%s}`, tc.id, tc.ask)
		if r := p.expect("response"); r.ID != uint32(tc.id) || r.Code != tc.code || !sameJSON(r.Data, tc.data) {
			p.t.Errorf("%s: response %d, code %d, %s", tc.what, r.ID, r.Code, r.Data)
		}
	}
}

// runs moves the player a tile from where it was, and watches the snapshots
// meanwhile: they come at 5 Hz or less.
func (p *typist) runs(you uint32, first said) {
	p.t.Helper()
	const most = 200 // snapshots
	directions := []string{"[1,0]", "[0,1]", "[-1,0]", "[0,-1]"}
	from, last, seq, events := first.own(you), first.Tick, uint16(0), 0
	for n := range most {
		m := p.read()
		switch m.Kind {
		case "event":
			if m.Name == "" || m.Tick == 0 || len(m.Data) == 0 || m.Data[0] != '{' {
				p.t.Errorf("event %+v", m)
			}
			events++
			continue
		case "snapshot":
		default:
			continue
		}
		if m.Tick < last+6 {
			p.t.Errorf("a snapshot of tick %d comes after one of %d", m.Tick, last)
		}
		last = m.Tick
		me := m.own(you)
		far := math.Hypot(me["x"].(float64)-from["x"].(float64), me["y"].(float64)-from["y"].(float64))
		if far >= 1 && m.Input != nil && *m.Input > 0 && *m.Input <= seq && events > 0 {
			return
		}
		if me["health"] == 0. {
			p.say(`{"kind":"request","id":%d,"name":"respawn"}`, 100+n)
		}
		// Six inputs for the six ticks until the next: the way changes every second.
		seq += 6
		one := fmt.Sprintf(`{"data":{"move":%s,"aim":45,"attack":true}}`, directions[n/5%4])
		p.say(`{"kind":"input","seq":%d,"tick":%d,"inputs":[%s]}`, seq, m.Tick, strings.TrimSuffix(strings.Repeat(one+",", 6), ","))
	}
	p.t.Errorf("after %d messages the player has not gone anywhere, or nothing happened (%d events)", most, events)
}

func TestTypingTalksInARelayRoom(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ann, a := joinTyping(t, h, "hall", "Ann")
	bob, b := joinTyping(t, h, "hall", "Bob")
	if n := ann.expect("peer"); n.Event != "joined" || n.ID != b.You || n.Name != "Bob" {
		t.Errorf("Ann was told %+v", n)
	}
	heard := make(chan string, 8)
	native, err := client.Join(within(t, patience), client.Options{
		Dialers: []client.Dialer{(&lines{t: t, house: h}).over("ws")}, Room: "hall", Name: "Go",
		Handler: client.Handler{Relayed: func(lane wire.Lane, m wire.Relayed) { heard <- fmt.Sprint(m.Sender, " ", string(m.Payload)) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer native.Close()
	for _, p := range []*typist{ann, bob} {
		if n := p.expect("peer"); n.Event != "joined" || n.Name != "Go" {
			t.Errorf("told %+v", n)
		}
	}

	ann.say(`{"kind":"relay","data":{"say":"hi"}}`)
	if m := bob.expect("relayed"); m.From != a.You || !sameJSON(m.Data, `{"say":"hi"}`) || m.B64 != nil {
		t.Errorf("Bob heard %+v", m)
	}
	if got, want := <-heard, fmt.Sprint(a.You, ` {"say":"hi"}`); got != want {
		t.Errorf("the client of the binary encoding heard %q, want %q", got, want)
	}
	bob.say(`{"kind":"relay","to":[%d],"b64":%q}`, a.You, base64.StdEncoding.EncodeToString([]byte{0, 255}))
	if m := ann.expect("relayed"); m.From != b.You || m.B64 == nil || *m.B64 != "AP8=" {
		t.Errorf("Ann heard %+v", m)
	}
	bob.say(`{"kind":"relay_fast","data":1}`)
	if m := ann.expect("relayed_fast"); m.From != b.You || m.Stamp == nil || !sameJSON(m.Data, "1") {
		t.Errorf("Ann heard %+v", m)
	}
	if got, want := <-heard, fmt.Sprint(b.You, " 1"); got != want {
		t.Errorf("heard %q, want %q: what was for Ann alone came here", got, want)
	}
	if err := native.Relay(wire.Reliable, []byte{0xff, 1}, a.You); err != nil {
		t.Fatal(err)
	}
	if m := ann.expect("relayed"); m.From != native.You() || m.B64 == nil || *m.B64 != "/wE=" {
		t.Errorf("Ann heard %+v", m)
	}
	ann.say(`{"kind":"request","id":7,"name":"fly"}`)
	if r := ann.expect("response"); r.ID != 7 || r.Code != 4420 {
		t.Errorf("response %+v", r)
	}
	bob.say(`{"kind":"leave"}`)
	if last, status := bob.end(); last.Code != 4400 || status != 4400 {
		t.Errorf("Bob's end is %+v with status %d", last, status)
	}
	if n := ann.expect("peer"); n.Event != "left" || n.ID != b.You || n.Reason != "left" {
		t.Errorf("Ann was told %+v", n)
	}
}

func TestTypingErrorsAreToldByCode(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	const hello = `{"kind":"hello","versions":[1],"room":"hall"}`
	for name, tc := range map[string]struct {
		joined bool
		text   string
		code   int
		says   string // what the reason has in it
	}{
		"not JSON":            {false, `hello`, 4410, "JSON"},
		"not an object":       {false, `[1]`, 4410, "object"},
		"no kind":             {false, `{}`, 4410, "kind"},
		"unknown kind":        {false, `{"kind":"shout"}`, 4410, "shout"},
		"not hello first":     {false, `{"kind":"leave"}`, 4410, "hello"},
		"no version":          {false, `{"kind":"hello","room":"hall"}`, 4409, ""},
		"a version to come":   {false, `{"kind":"hello","versions":[9],"room":"hall"}`, 4409, ""},
		"a name of no room":   {false, `{"kind":"hello","versions":[1],"room":"../etc"}`, 4413, "room"},
		"hello again":         {true, hello, 4410, "hello"},
		"a server's word":     {true, `{"kind":"full"}`, 4410, "full"},
		"request without id":  {true, `{"kind":"request","name":"fly"}`, 4410, "id"},
		"data and base64":     {true, `{"kind":"relay","data":1,"b64":"AA=="}`, 4410, "b64"},
		"no base64":           {true, `{"kind":"relay","b64":"*"}`, 4410, "b64"},
		"to nobody":           {true, `{"kind":"relay","to":[],"data":1}`, 4410, "to"},
		"a payload too large": {true, `{"kind":"relay","data":"` + strings.Repeat("x", wire.MaxReliablePayload) + `"}`, 4411, "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sitDown(t, h)
			if tc.joined {
				p.say(hello)
				p.expect("welcome")
			}
			p.say("%s", tc.text)
			last, status := p.end()
			if last.Code != tc.code || status != tc.code || !strings.Contains(last.Reason, tc.says) {
				t.Errorf("closed with %d %q and status %d, want %d and %q", last.Code, last.Reason, status, tc.code, tc.says)
			}
			if tc.code == 4409 && !slices.Equal(last.Versions, []int{1}) {
				t.Errorf("versions are %v", last.Versions)
			}
		})
	}
	t.Run("a binary message", func(t *testing.T) {
		t.Parallel()
		p := sitDown(t, h)
		if err := p.conn.Write(within(t, patience), websocket.MessageBinary, []byte(hello)); err != nil {
			t.Fatal(err)
		}
		if last, status := p.end(); last.Code != 4410 || status != 4410 {
			t.Errorf("closed with %+v and status %d", last, status)
		}
	})
}

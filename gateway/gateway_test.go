package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway"
	"github.com/gatehouse/gatehouse/gateway/admit"
)

func TestPlayersOfEveryTransportMeet(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	var last *client.Client
	for name, d := range e.dialers("") {
		c, err := e.join(client.Options{Dialers: []client.Dialer{d}, Room: "r", Identity: name, Name: name})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Transport() != name {
			t.Errorf("transport %s, want %s", c.Transport(), name)
		}
		last = c
	}
	eventually(t, "three members", func() bool { return len(last.Peers()) == 3 })
	eventually(t, "a public list with them", func() bool {
		_, body := e.get("/v1/rooms")
		var list struct{ Rooms []gateway.PublicRoom }
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		want := gateway.PublicRoom{Name: "r", Kind: "relay", Members: 3, Cap: 64}
		return len(list.Rooms) == 1 && list.Rooms[0] == want
	})
	_, page := e.do("GET", "http://"+e.Addresses().Admin.String()+"/metrics", "")
	for _, line := range []string{
		`gatehouse_links{transport="ws"} 1`, `gatehouse_links{transport="rtc"} 1`, `gatehouse_links{transport="enet"} 1`,
		`gatehouse_sessions 3`, `gatehouse_room_members_sum 3`, `gatehouse_rtc_pending 0`, `gatehouse_enet_connects_shed_total 0`,
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no metric %s", line)
		}
	}
}

func TestWhatIsNotThereIsAProblem(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	for _, path := range []string{"/v1/nothing", "/v1/", "/nothing", "/metrics", "/admin/v1/rooms"} {
		if w, body := e.get(path); w.StatusCode != http.StatusNotFound || w.Header.Get("Content-Type") != admit.ProblemType {
			t.Errorf("%s: %d %q %s", path, w.StatusCode, w.Header.Get("Content-Type"), body)
		}
	}
}

func TestWrongWayToAskIsSaid(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	w, body := e.get("/v1/ws")
	if w.StatusCode != http.StatusUpgradeRequired || w.Header.Get("Content-Type") != admit.ProblemType || w.Header.Get("Upgrade") != "websocket" {
		t.Errorf("/v1/ws: %d %v %s", w.StatusCode, w.Header, body)
	}
	w, body = e.get("/v1/rtc")
	if w.StatusCode != http.StatusMethodNotAllowed || w.Header.Get("Content-Type") != admit.ProblemType || !strings.Contains(w.Header.Get("Allow"), "POST") {
		t.Errorf("/v1/rtc: %d %v %s", w.StatusCode, w.Header, body)
	}
}

func TestNetsimIsOnEveryLink(t *testing.T) {
	t.Parallel()
	e := newEdge(t, "netsim=latency=100ms")
	for name, d := range e.dialers("") {
		c, err := e.join(client.Options{Dialers: []client.Dialer{d}, Room: "r", Identity: name, PingEvery: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "slow over "+name, func() bool { return c.Stats().RTT >= 190*time.Millisecond })
	}
}

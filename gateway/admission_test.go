package gateway_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/ws"
	"github.com/gatehouse/gatehouse/wire"
)

func TestTokensAdmitOnEveryTransport(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	e := newEdge(t, "env:GATEHOUSE_AUTH_SECRET="+secret)
	tokens, err := admit.NewTokens([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	mint := func(room string, expires time.Duration) string {
		s, err := tokens.Mint(admit.Grant{Identity: "ann", Room: room, Name: "Ann", Expires: time.Now().Add(expires)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name, room, token string
		want              wire.Code
	}{
		{"none", "r", "", wire.CodeUnauthorized},
		{"forged", "r", mint("r", time.Hour) + "x", wire.CodeUnauthorized},
		{"other room", "r", mint("s", time.Hour), wire.CodeUnauthorized},
		{"expired", "r", mint("r", -time.Hour), wire.CodeExpired},
		{"bad room", "../r", mint("*", time.Hour), wire.CodeBadName},
		{"good", "r", mint("r", time.Hour), 0},
		{"any room", "r2", mint("*", time.Hour), 0},
	} {
		for transport, d := range e.dialers(c.token) {
			got, err := e.join(client.Options{Dialers: []client.Dialer{d}, Room: c.room, Token: c.token, Identity: "mallory"})
			var refused *wire.Error
			switch {
			case c.want == 0 && err != nil:
				t.Errorf("%s, %s: %v", c.name, transport, err)
			case c.want == 0:
				if name := got.Peers()[got.You()].Name; name != "Ann" {
					t.Errorf("%s, %s: joined as %q, not as the token says", c.name, transport, name)
				}
				got.Close()
			case !errors.As(err, &refused) || refused.Code != c.want:
				t.Errorf("%s, %s: %v, want %s", c.name, transport, err, c.want.Name())
			}
		}
	}
}

func TestNamesAreJudgedAtTheJoin(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	for _, o := range []client.Options{
		{Room: "a/b"}, {Room: ".."}, {Room: "a b"},
		{Room: "r", Name: "a\nb"}, {Room: "r", Name: " "}, {Room: "r", Name: strings.Repeat("x", 65)},
		{Room: "r", Identity: "a b"}, {Room: "r", Identity: strings.Repeat("x", 129)},
	} {
		for transport, d := range e.dialers("") {
			o.Dialers = []client.Dialer{d}
			_, err := e.join(o)
			var refused *wire.Error
			if !errors.As(err, &refused) || refused.Code != wire.CodeBadName {
				t.Errorf("%s: room %q, name %q, identity %q: %v, want bad_name", transport, o.Room, o.Name, o.Identity, err)
			}
		}
	}
	// An identity may be longer than a name: shown is what fits, whole letters.
	c, err := e.join(client.Options{Dialers: []client.Dialer{e.dialers("")["ws"]}, Room: "部屋1", Identity: strings.Repeat("é", 60)})
	if err != nil {
		t.Fatal(err)
	}
	if name := c.Peers()[c.You()].Name; name != strings.Repeat("é", 32) {
		t.Errorf("shown as %q", name)
	}
	if got := c.Welcome().Room.Name; got != "部屋1" {
		t.Errorf("room %q", got)
	}
}

// A new forged address per request must not be a new client.
func TestConnectionsAreLimitedByTheRealAddress(t *testing.T) {
	t.Parallel()
	for _, proxied := range []bool{false, true} {
		set := []string{"limits.connects_per_second=1", "limits.connects_burst=3"}
		if proxied {
			set = append(set, "http.trusted_proxies=127.0.0.1")
		}
		e := newEdge(t, set...)
		statuses := map[int]int{}
		for i := range 8 {
			header := []string{"X-Forwarded-For", netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}).String(), "X-Real-IP", "203.0.113.200"}
			path, method := "/v1/ws", "GET"
			if i%2 == 1 {
				path, method = "/v1/rtc", "POST"
			}
			w, _ := e.do(method, e.base()+path, "", header...)
			statuses[w.StatusCode]++
			if w.StatusCode == http.StatusTooManyRequests && w.Header.Get("Content-Type") != admit.ProblemType {
				t.Errorf("content type %q", w.Header.Get("Content-Type"))
			}
		}
		if limited := statuses[http.StatusTooManyRequests]; proxied && limited != 0 || !proxied && limited != 5 {
			t.Errorf("proxied %v: %v", proxied, statuses)
		}
	}
}

// What operators see as a player's address follows the same rule as the limits.
func TestOperatorsSeeTheRealAddress(t *testing.T) {
	t.Parallel()
	forged := http.Header{"X-Forwarded-For": {"192.0.2.66, 203.0.113.7:4711"}, "X-Real-Ip": {"192.0.2.67"}, "Forwarded": {"for=192.0.2.68"}}
	for _, c := range []struct {
		set  string
		want string
	}{
		{"http.trusted_proxies=", `"address":"127.0.0.1:`},
		{"http.trusted_proxies=127.0.0.0/8", `"address":"203.0.113.7:4711"`},
	} {
		e := newEdge(t, c.set)
		dial := client.WS(e.base()+"/v1/ws", ws.DialOptions{Header: forged})
		if _, err := e.join(client.Options{Dialers: []client.Dialer{dial}, Room: "r", Identity: "ann"}); err != nil {
			t.Fatal(err)
		}
		_, body := e.do("GET", "http://"+e.Addresses().Admin.String()+"/admin/v1/sessions", "")
		if !strings.Contains(body, c.want) {
			t.Errorf("%s: no %s in %s", c.set, c.want, body)
		}
	}
}

func TestForeignPagesGetNothing(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	for _, path := range []string{"/v1/ws", "/v1/rooms"} {
		if w, body := e.get(path, "Origin", "http://evil.example"); w.StatusCode != http.StatusForbidden || w.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %s", path, w.StatusCode, body)
		}
	}
	if w, body := e.do("POST", e.base()+"/v1/rtc", "v=0", "Content-Type", "application/sdp", "Origin", "http://evil.example"); w.StatusCode != http.StatusForbidden {
		t.Errorf("rtc: %d %s", w.StatusCode, body)
	}
	if w, _ := e.get("/v1/rooms", "Origin", "http://localhost:5173"); w.StatusCode != http.StatusOK || w.Header.Get("Access-Control-Allow-Origin") != "http://localhost:5173" {
		t.Errorf("own page: %d, allowed origin %q", w.StatusCode, w.Header.Get("Access-Control-Allow-Origin"))
	}
}

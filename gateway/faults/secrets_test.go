package faults_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/wire"
)

// texts collects every text and number in a JSON document.
func texts(t *testing.T, document []byte) (all []string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case string, float64:
			all = append(all, fmt.Sprint(v))
		}
	}
	walk(v)
	return all
}

// attempt presents a secret on a connection of its own, and returns the answer.
func (h *house) attempt(t *testing.T, transport, secret string) *wire.Close {
	t.Helper()
	p := h.guest(t, transport, "thief")
	p.connect()
	p.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: secret}})
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.farewell == nil || p.welcomed > 0 {
		t.Fatalf("over %s: a wrong secret gave %d welcomes and no close frame", transport, p.welcomed)
	}
	return p.farewell
}

func TestNothingPublicTakesASessionOver(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *configs.Config) {
		hasty(c)
		c.Sessions.ResumeGrace = configs.Duration(3 * patience)
	})
	overEach(t, func(t *testing.T, transport string) {
		room := "theft-" + transport
		b := h.join(t, "ws", room, "b-"+transport)
		a := h.join(t, transport, room, "a-"+transport)
		b.hears(patience, a.welcome.You, wire.PeerJoined)
		observed := h.join(t, "ws", room, "c-"+transport) // told of a by its welcome
		secret := a.welcome.Resume.Secret

		// Everything that anybody but a can see of it.
		var public [][]byte
		for _, p := range []*player{b, observed} {
			p.mu.Lock()
			w := p.welcome
			w.Resume = nil // their own
			told, _ := json.Marshal([]any{w, p.notices})
			p.mu.Unlock()
			public = append(public, told)
		}
		for _, path := range []string{"sessions", "sessions/" + a.welcome.Session, "rooms", "rooms/" + room} {
			_, body := h.admin("GET", path)
			public = append(public, body)
		}
		_, rooms := h.get("http://" + h.at.HTTP.String() + "/v1/rooms")
		public = append(public, rooms)

		a.line.cut()
		b.hears(5*pingTimeout, a.welcome.You, wire.PeerAway)
		guesses := []string{"", " ", secret[:len(secret)-1], secret + "A", strings.ToLower(secret), b.welcome.Resume.Secret[:8] + secret[8:]}
		for _, document := range public {
			if strings.Contains(string(document), secret) {
				t.Errorf("the secret is public: %s", document)
			}
			guesses = append(guesses, texts(t, document)...)
		}
		slices.Sort(guesses)
		var answers []wire.Close
		for i, guess := range slices.Compact(guesses) {
			answer := h.attempt(t, transports()[i%len(transports())], guess)
			if answer.Code != wire.CodeSessionExpired {
				t.Errorf("%q is answered with %+v", guess, answer)
			}
			answer.Versions = nil
			if len(answers) > 0 && fmt.Sprint(answers[0]) != fmt.Sprint(*answer) {
				t.Errorf("%q is answered with %+v, another with %+v", guess, answer, answers[0])
			}
			answers = append(answers, *answer)
		}

		// From the session that b has: no hello belongs there.
		thief := h.join(t, transport, room, "thief-"+transport)
		thief.sendJSON(wire.KindHello, wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{Secret: a.welcome.Session}})
		if code := thief.end(); code != wire.CodeProtocol {
			t.Errorf("a hello inside a session is answered with %v", code)
		}

		a.resume(transport)
		a.lives()
		if a.welcome.Resume.Secret == secret {
			t.Error("the secret was not changed")
		}
		if answer := h.attempt(t, transport, secret); answer.Code != wire.CodeSessionExpired || fmt.Sprint(*answer) != fmt.Sprint(answers[0]) {
			t.Errorf("a spent secret is answered with %+v", answer)
		}
		a.lives()
		for _, s := range []string{secret, a.welcome.Resume.Secret, b.welcome.Resume.Secret} {
			if strings.Contains(h.logs.String(), s) {
				t.Error("a secret is in the log")
			}
			if _, body := h.get("http://" + h.at.Admin.String() + "/metrics"); strings.Contains(string(body), s) {
				t.Error("a secret is among the metrics")
			}
		}
	})
	t.Run("in a URL", func(t *testing.T) {
		t.Parallel()
		a := h.join(t, "ws", "theft-url", "a-url")
		secret := a.welcome.Resume.Secret
		a.line.cut()
		// Where it would be logged by every proxy it counts for nothing.
		p := h.guest(t, "ws", "thief")
		p.connect()
		status, _ := h.get("http://" + h.at.HTTP.String() + "/v1/ws?resume=" + secret + "&secret=" + secret)
		if status < 400 {
			t.Errorf("status %d", status)
		}
		if strings.Contains(h.logs.String(), secret) {
			t.Error("the URL is in the log")
		}
		a.resume("ws")
	})
}

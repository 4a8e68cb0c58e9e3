package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/ws"
)

// Whoever is not let in shows in the metrics, wherever that was, and in the log.
func TestRefusalsAreCountedAndLogged(t *testing.T) {
	t.Parallel()
	e := newEdge(t, "env:GATEHOUSE_AUTH_SECRET=0123456789abcdef0123456789abcdef")
	offer := func(header ...string) {
		e.do("POST", e.base()+"/v1/rtc", "v=0", append(header, "Content-Type", "application/sdp")...)
	}
	offer()
	offer("Authorization", "Bearer wrong")
	offer("Origin", "http://evil.example")
	e.get("/v1/ws", "Origin", "http://evil.example")
	dial := client.WS(e.base()+"/v1/ws", ws.DialOptions{})
	if _, err := e.join(client.Options{Dialers: []client.Dialer{dial}, Room: "r"}); err == nil {
		t.Error("joined without a token")
	}
	_, page := e.do("GET", "http://"+e.Addresses().Admin.String()+"/metrics", "")
	for _, line := range []string{
		`gatehouse_refused_total{code="unauthorized",where="signaling"} 2`,
		`gatehouse_refused_total{code="forbidden",where="signaling"} 1`,
		`gatehouse_refused_total{code="forbidden",where="upgrade"} 1`,
		`gatehouse_refused_total{code="unauthorized",where="hello"} 1`,
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no metric %s", line)
		}
	}
	for where, want := range map[string]int{"signaling": 3, "upgrade": 1} {
		lines := e.log.lines(fmt.Sprintf(`"where":%q`, where))
		if len(lines) != want || !strings.Contains(lines[0], `"level":"INFO"`) || !strings.Contains(lines[0], `"address":"127.0.0.1:`) {
			t.Errorf("%s: %q", where, lines)
		}
	}
}

// Strangers can not fill the disk: few lines a second, and a count of the rest.
func TestLoggedRefusalsAreASample(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	refused := func() { e.get("/v1/ws", "Origin", "http://evil.example") }
	for range 200 {
		refused()
	}
	eventually(t, "a line that counts what was left out", func() bool {
		refused()
		return len(e.log.lines(`"more_not_logged":`)) > 0
	})
	if n := len(e.log.lines(`"where":"upgrade"`)); n >= 200 {
		t.Errorf("%d lines", n)
	}
}

package session_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

func TestJournalTellsWhySomebodyIsNotInAndKeepsSecrets(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var secrets []string
	inHouse(t, session.Options{Logger: logger}, func(t *testing.T, h *house) {
		a, w := h.join("hall", "ann")
		a.drop()
		time.Sleep(time.Second) // it is away by then
		_, again := h.resume(w.Resume.Secret, a.all)
		secrets = []string{w.Resume.Secret, again.Resume.Secret, "bad"}
		h.sessions.Kick(w.Session, "be nice")
		for range 50 { // more than a second may log
			hi := hello("hall", "eve")
			hi.Token = "bad"
			c := h.connect()
			c.sendJSON(wire.KindHello, hi)
			c.closeCode()
		}
	})
	text := log.String()
	for _, want := range []string{"msg=joined", "msg=away", "msg=resumed", "code=kicked reason=\"be nice\"", "identity=ann", "code=unauthorized"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "msg=refused"); n != 10 {
		t.Errorf("%d refusals logged of 50 in one second", n)
	}
	for _, secret := range secrets[:2] {
		if strings.Contains(text, secret) {
			t.Error("a secret is in the log")
		}
	}
}

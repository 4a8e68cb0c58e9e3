package session

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// TestSweeperSparesASessionBeforeItsWelcome: between its seat and its welcome a
// session is on the books and has no link.
func TestSweeperSparesASessionBeforeItsWelcome(t *testing.T) {
	t.Parallel()
	m := &Manager{opts: Options{ResumeGrace: 2 * time.Second}}
	m.opts.complete()
	s := newSession(m, link.Info{}, wire.Hello{Room: "hall"}, Grant{Identity: "ann"})
	s.attend(time.Now(), false)
	if _, closed := s.over(); closed {
		t.Fatal("ended as if it had been away for ever")
	}
}

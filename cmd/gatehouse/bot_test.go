package main

import (
	"context"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// bots is a run of gatehouse bot in this process.
type bots struct {
	stop func()
	done chan struct{}
	code int
	out  lockedBuffer
	errs lockedBuffer
}

func runBots(t *testing.T, s *served, transport, duration, count string) *bots {
	t.Helper()
	url := strings.TrimSuffix(s.printed["Play"], "/")
	if transport == "enet" {
		url = s.printed["ENet"]
	}
	ctx, stop := context.WithCancel(context.Background())
	b := &bots{done: make(chan struct{})}
	b.stop = func() { stop(); <-b.done }
	go func() {
		defer close(b.done)
		b.code = run([]string{"bot", "--transport", transport, "--url", url, "--duration", duration, "--count", count},
			&process{ctx: ctx, out: &b.out, err: &b.errs})
	}()
	t.Cleanup(b.stop)
	return b
}

func TestBotsPlayOverEveryTransport(t *testing.T) {
	t.Parallel()
	s := serve(t, "--bots=0")
	all := map[string]*bots{}
	for _, transport := range []string{"ws", "rtc", "enet"} {
		all[transport] = runBots(t, s, transport, "2500ms", "3")
	}
	for transport, b := range all {
		<-b.done
		out := b.out.String()
		if b.code != exitOK {
			t.Errorf("%s: exit code %d: %s%s", transport, b.code, out, b.errs.String())
		}
		for _, want := range []string{"3/3 playing", "3 of 3, in", "3 playing, 0 away, 0 ended early", "0 malformed"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", transport, want, out)
			}
		}
		if m := regexp.MustCompile(`snapshots +(\d+) deltas`).FindStringSubmatch(out); m == nil || len(m[1]) < 2 {
			t.Errorf("%s: hardly any snapshots:\n%s", transport, out)
		}
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

func TestBotsThatCanNotJoinFail(t *testing.T) {
	t.Parallel()
	s := serve(t, "--bots=0", "--set", "rooms.templates=[{match: \"arena\", kind: relay, cap: 1}]")
	b := runBots(t, s, "ws", "100ms", "3")
	<-b.done
	if b.code != exitFailed || !strings.Contains(b.out.String(), "2 × room_full") || !strings.Contains(b.errs.String(), "2 of 3") {
		t.Errorf("%d %s%s", b.code, b.out.String(), b.errs.String())
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

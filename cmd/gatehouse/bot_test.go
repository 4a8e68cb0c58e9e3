package main

import (
	"context"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
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
	url := s.base()
	if transport == "enet" {
		url = s.printed["ENet"]
	}
	return runBotsWith(t, nil, "--transport", transport, "--url", url, "--duration", duration, "--count", count)
}

func runBotsWith(t *testing.T, environ []string, args ...string) *bots {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	b := &bots{done: make(chan struct{})}
	b.stop = func() { stop(); <-b.done }
	go func() {
		defer close(b.done)
		b.code = run(append([]string{"bot"}, args...), &process{ctx: ctx, environ: environ, out: &b.out, err: &b.errs})
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
	if b.code != exitFailed || !strings.Contains(b.out.String(), "2 × room_full: ") || !strings.Contains(b.errs.String(), "2 of 3") {
		t.Errorf("%d %s%s", b.code, b.out.String(), b.errs.String())
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

// Each run has identities of its own: the same one would end the older session.
func TestRunsOfBotsLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, "--bots=0")
	args := []string{"--url", s.base(), "--name", "Ann", "--duration", "2s", "--count", "2"}
	one, two := runBotsWith(t, nil, args...), runBotsWith(t, nil, args...)
	name := regexp.MustCompile(`"name":"Ann-[a-z0-9]{3} ws [12]"`)
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		_, body := s.get(s.printed["Admin"] + "/arena")
		if len(name.FindAllString(body, -1)) == 4 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no four bots: %s", body)
		}
	}
	for _, b := range []*bots{one, two} {
		if <-b.done; b.code != exitOK {
			t.Errorf("exit code %d: %s%s", b.code, b.out.String(), b.errs.String())
		}
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

func TestFailedBotsSayTheNextStep(t *testing.T) {
	t.Parallel()
	s := serve(t, "--bots=0", "--set", "rooms.on_demand=false")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--url", s.base()}, []string{"1 bot over ws", "1 × no_room: ", "→ create it: POST /admin/v1/rooms"}},
		{[]string{"--url", "http://" + nobody}, []string{nobody + " refuses connections: is the server running?"}},
		{[]string{"--url", "http://" + nobody, "--transport", "rtc"}, []string{nobody + " refuses connections: is the server running?"}},
		{[]string{"--url", silent.LocalAddr().String(), "--transport", "enet"}, []string{"no answer from " + silent.LocalAddr().String() + " (UDP): is the server running?"}},
	} {
		b := runBotsWith(t, nil, append(c.args, "--duration", "1h")...) // which is not waited for
		<-b.done
		out := b.out.String()
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in %s", c.args, want, out)
			}
		}
		if b.code != exitFailed || strings.Contains(out, "playing") || strings.Contains(out, "messages") {
			t.Errorf("%v: exit code %d: %s", c.args, b.code, out)
		}
		if errs := b.errs.String(); !strings.Contains(errs, "1 of 1 bot failed") {
			t.Errorf("%v: %s", c.args, errs)
		}
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

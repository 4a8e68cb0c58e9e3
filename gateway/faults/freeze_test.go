package faults_test

import (
	"bufio"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/gateway"
)

var announced = regexp.MustCompile(`(ws://|udp |ENet +|Admin +http://)(127\.0\.0\.1:\d+)`)

// child runs the real command as a process of its own, until the test ends.
func child(t *testing.T) (h *house, p *os.Process) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "gatehouse")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/gatehouse").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(binary, "serve", "--dev", "--bots", "2")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GATEHOUSE_HTTP_LISTEN=127.0.0.1:0", "GATEHOUSE_RTC_UDP_LISTEN=127.0.0.1:0",
		"GATEHOUSE_RTC_TCP_LISTEN=127.0.0.1:0", "GATEHOUSE_ENET_LISTEN=127.0.0.1:0", "GATEHOUSE_ADMIN_LISTEN=127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		defer watchdog.Stop()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended: %v\n%s", err, log.String())
		}
	})
	h = &house{t: t, web: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}}
	h.at = addresses(t, bufio.NewScanner(out))
	return h, cmd.Process
}

// addresses reads where the command says that it listens.
func addresses(t *testing.T, out *bufio.Scanner) (a gateway.Addresses) {
	t.Helper()
	for out.Scan() {
		m := announced.FindStringSubmatch(out.Text())
		if m == nil {
			continue
		}
		at := netip.MustParseAddrPort(m[2])
		switch m[1] = strings.TrimSpace(m[1]); {
		case m[1] == "ws://":
			a.HTTP = at
		case m[1] == "udp":
			a.RTCUDP = at
		case m[1] == "ENet":
			a.ENet = at
		default:
			a.Admin = at
			return a
		}
	}
	t.Fatal("the command did not say where it listens")
	return a
}

// A server that stood still for seconds goes on where it was.
func TestFrozenServerSkipsWhatItMissed(t *testing.T) {
	t.Parallel()
	h, process := child(t)
	players := h.trio(t, "arena")
	for _, p := range players {
		p.await("a second of snapshots", func() bool { return len(p.snapshots) > 30 })
	}
	const frozen = 3 * time.Second
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	<-time.After(frozen)
	before := make([]int, len(players))
	for i, p := range players {
		before[i] = p.state(func() int { return len(p.snapshots) })
	}
	thawed := time.Now()
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for i, p := range players {
		p.await("four seconds of snapshots", func() bool { return time.Since(thawed) > 4*time.Second && len(p.snapshots) > before[i] })
		p.mu.Lock()
		last := p.snapshots[before[i]-1].tick
		second, later := 0, 0
		for _, s := range p.snapshots[before[i]:] {
			if s.tick <= last {
				t.Errorf("%s over %s: tick %d after %d", p.name, p.transport, s.tick, last)
			}
			switch at := s.at.Sub(thawed); {
			case at < time.Second:
				second = int(s.tick - p.snapshots[before[i]-1].tick)
			case at < 4*time.Second:
				later++
			}
			last = s.tick
		}
		// One tick and at most 4 late ones at once, then 30 a second; all that were
		// missed would be 90 more.
		if second < 15/slowdown || second > 60 {
			t.Errorf("%s over %s: in the first second after %v the room went on by %d ticks", p.name, p.transport, frozen, second)
		}
		if later < 3*leastRate {
			t.Errorf("%s over %s: %d snapshots in the 3 s after the first", p.name, p.transport, later)
		}
		if p.over || p.welcomed != 1 {
			t.Errorf("%s over %s: line over: %v, %d welcomes", p.name, p.transport, p.over, p.welcomed)
		}
		for _, n := range p.notices {
			if n.Event != "joined" {
				t.Errorf("%s over %s was told that %d is %s", p.name, p.transport, n.ID, n.Event)
			}
		}
		p.mu.Unlock()
	}
	if n := h.metric("ticks_skipped_total"); n < 60 {
		t.Errorf("%v skipped ticks were counted", n)
	}
}

// A room that can not keep up harms no other, and catches up by leaving out.
func TestOverloadedRoomHarmsNoOther(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	overEach(t, func(t *testing.T, transport string) {
		busy := h.join(t, transport, "busy-"+transport, "busy")
		calm := h.join(t, transport, "calm-"+transport, "calm")
		calm.ask("movers", 20)
		calm.ask("move", 20)
		first := busy.state(func() int { return int(busy.view.Tick()) })
		u := calm.pulse()
		busy.ask("slow", 20) // so many ticks of 100 ms
		busy.await("the slow ticks", func() bool { return int(busy.view.Tick()) > first+20 })
		u.holds()
		busy.await("the last of them", func() bool {
			n := len(busy.snapshots)
			return n > 5 && busy.snapshots[n-1].at.Sub(busy.snapshots[n-6].at) < slowdown*350*time.Millisecond
		})
		again := busy.pulse()
		n := again.count
		busy.await("two more seconds", func() bool { return len(busy.snapshots) > n+60 })
		again.holds()
		busy.lives()
		if h.metric("ticks_skipped_total") == 0 {
			t.Error("no skipped tick was counted")
		}
		if busy.welcomed != 1 || calm.welcomed != 1 {
			t.Error("somebody had to come back")
		}
	})
}

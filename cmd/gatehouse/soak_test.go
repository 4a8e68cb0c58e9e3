package main

import (
	"flag"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 3*time.Second, "how long TestSoak lets bots come, play and go")

// Bots of every transport come, play and go again and again; then nothing of them
// may be left.
func TestSoak(t *testing.T) {
	s := serve(t, "--bots=0", "--set", "rooms.empty_timeout=500ms", "--set", "log.level=warn")
	var before, after vitals
	for begin := time.Now(); ; {
		round := min(5*time.Second, max(time.Second, *soak/3))
		var runs []*bots
		for _, transport := range []string{"ws", "rtc", "enet"} {
			runs = append(runs, runBots(t, s, transport, round.String(), "5"))
		}
		for _, b := range runs {
			if <-b.done; b.code != exitOK {
				t.Errorf("exit code %d: %s%s", b.code, b.out.String(), b.errs.String())
			}
		}
		after = s.settle()
		if before == (vitals{}) {
			before = after
		}
		t.Logf("after %s: %+v", time.Since(begin).Round(time.Second), after)
		if t.Failed() || time.Since(begin) > *soak {
			break
		}
	}
	if after.goroutines > before.goroutines+5 {
		t.Errorf("%d goroutines have become %d", before.goroutines, after.goroutines)
	}
	if after.heap > 2*before.heap+(16<<20) {
		t.Errorf("a heap of %d bytes has become %d", before.heap, after.heap)
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

type vitals struct{ goroutines, heap int }

// settle waits until the server is empty and returns what it then holds.
func (s *served) settle() vitals {
	s.t.Helper()
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(100 * time.Millisecond) {
		_, page := s.get(s.printed["Metrics"])
		var left []string
		for _, name := range []string{`gatehouse_sessions`, `gatehouse_links{transport="ws"}`, `gatehouse_links{transport="rtc"}`,
			`gatehouse_links{transport="enet"}`, `gatehouse_members{kind="authority"}`, `gatehouse_rooms{kind="authority"}`, `gatehouse_rtc_pending`} {
			if v := metric(s.t, page, name); v != 0 {
				left = append(left, fmt.Sprintf("%s %g", name, v))
			}
		}
		if len(left) == 0 {
			return vitals{int(metric(s.t, page, "go_goroutines")), int(metric(s.t, page, "go_memstats_heap_inuse_bytes"))}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("left behind: %v", left)
		}
	}
}

func metric(t *testing.T, page, name string) (v float64) {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+name+" ")
	if _, err := fmt.Sscanf(rest, "%g", &v); !ok || err != nil {
		t.Fatalf("no metric %s: %v", name, err)
	}
	return v
}

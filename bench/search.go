package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// latencyLimit is what the 99th percentile must not pass.
	latencyLimit = 50 * time.Millisecond
	warmUp       = 500 * time.Millisecond
	window       = 1500 * time.Millisecond
	tail         = 500 * time.Millisecond
	// growth is by how much the load grows until it is too much.
	growth = 1.6
	// close enough: the limit is between two loads that differ by this factor.
	precision = 1.12
)

// result is what one server did under one load.
type result struct {
	rooms      int
	window     time.Duration
	tally      tally
	p50, p99   time.Duration
	cpu        time.Duration // of the server, in the window
	clientBusy float64       // share of a core
	kept       bool          // within the limits
	lost       bool          // messages were missing or wrong
	why        string        // it was not kept
}

func (r *result) perSecond() float64 {
	if r.window == 0 {
		return 0
	}
	return float64(r.tally.delivered) / r.window.Seconds()
}

// perDelivery returns the server's CPU time per delivery in µs.
func (r *result) perDelivery() float64 {
	return float64(r.cpu.Microseconds()) / float64(max(r.tally.delivered, 1))
}

// side is one of the two servers that are compared, with its players.
type side struct {
	srv     *server
	load    *load
	perConn float64 // KiB of resident memory

	best     result
	tooMuch  int  // the fewest rooms that were too many; 0: not found yet
	next     int  // rooms of the next step
	doubted  bool // the step is a second try
	finished bool
}

// step runs one load and moves the search on.
func (s *side) step(log io.Writer) (result, error) {
	before := s.memory()
	if joined := len(s.load.players); joined < s.next*roomSize {
		if err := s.load.grow(s.next); err != nil {
			return result{}, fmt.Errorf("%s: %w", s.srv.name, err)
		}
		if joined == 0 {
			s.perConn = float64(s.memory()-before) / float64(len(s.load.players)) / 1024
		}
	}
	r, err := s.measure(s.next, warmUp, window)
	if err != nil {
		return r, err
	}
	fmt.Fprintf(log, "    %-11s %4d rooms  %8.0f/s  p50 %6.1f ms  p99 %6.1f ms  %5.2f µs CPU  client %3.0f %%  %s\n",
		s.srv.name, r.rooms, r.perSecond(), ms(r.p50), ms(r.p99), r.perDelivery(), 100*r.clientBusy, r.why)
	s.narrow(r)
	return r, nil
}

// narrow chooses the next load: more while it is kept, then between the most
// that was kept and the least that was not. What was not kept is tried twice: it
// may have been somebody else's process.
func (s *side) narrow(r result) {
	if !r.kept && !s.doubted {
		s.doubted = true
		return
	}
	s.doubted = false
	if r.kept {
		if r.perSecond() > s.best.perSecond() || !s.best.kept {
			s.best = r
		}
	} else {
		s.tooMuch = r.rooms
	}
	switch kept := s.best.rooms; {
	case s.tooMuch == 0:
		s.next = int(float64(r.rooms)*growth) + 1
	case kept == 0:
		s.next = r.rooms / 2
		s.finished = s.next == 0
	default:
		s.next = (kept + s.tooMuch) / 2
		s.finished = float64(s.tooMuch)/float64(kept) < precision || s.next <= kept
	}
}

func (s *side) measure(rooms int, warm, window time.Duration) (result, error) {
	r := result{rooms: rooms, window: window}
	var cpu [2]time.Duration
	var own [2]time.Duration
	var at [2]int64
	edges := 0
	t, err := s.load.measure(rooms, warm, window, tail, func() {
		cpu[edges%2], _ = cpuTime(s.srv.cmd.Process.Pid) // 0 if it died, which the load notices
		own[edges%2], at[edges%2] = ownTime(), now()
		edges++
	})
	if err != nil {
		return r, fmt.Errorf("%s with %d rooms: %w", s.srv.name, rooms, err)
	}
	r.tally, r.cpu = t, cpu[1]-cpu[0]
	r.clientBusy = float64(own[1]-own[0]) / float64(at[1]-at[0])
	r.p50, r.p99 = t.latency.quantile(0.50), t.latency.quantile(0.99)
	planned := uint64(float64(rooms*roomSize*rate) * window.Seconds())
	expected := t.sent * (roomSize - 1)
	switch {
	case t.broken > 0:
		r.lost, r.why = true, fmt.Sprintf("%d messages were broken or out of order", t.broken)
	case t.sent < planned*98/100:
		r.why = "the client could not send as much"
	case t.delivered < expected*99/100:
		r.lost, r.why = true, fmt.Sprintf("%d of %d were not delivered", expected-t.delivered, expected)
	case r.p99 > latencyLimit:
		r.why = "too late"
	default:
		r.kept = true
	}
	return r, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// memory returns the server's resident bytes.
func (s *side) memory() int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.srv.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	pages, _ := strconv.Atoi(f[1])
	return pages * os.Getpagesize()
}

// ownTime is the CPU time that this process has used.
func ownTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // can not fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

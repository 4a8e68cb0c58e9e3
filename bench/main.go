package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	quick := flag.Bool("quick", false, "run one small load per path and check every byte, without a search: about 30 s")
	rooms := flag.Int("rooms", 0, "run one load of so many rooms per path, whatever its latency, without a search")
	only := flag.String("only", "", "comma-separated paths: ws, rtc, rtc-fast, enet, enet-fast (default all)")
	budget := flag.Duration("budget", 55*time.Second, "the most time for the search on one path")
	flag.Parse()
	if err := pinSelf(); err != nil {
		fail(err)
	}
	o := options{only: *only, rooms: *rooms, once: *quick || *rooms > 0, budget: *budget}
	if err := run(o, os.Stdout); err != nil {
		fail(err)
	}
}

// options of a run.
type options struct {
	only   string
	once   bool // one load per server in place of a search
	rooms  int  // of that load; 0: the path's first
	budget time.Duration
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func run(o options, out io.Writer) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gatehouse-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begun := time.Now()
	if err := build(dir); err != nil {
		return err
	}
	fmt.Fprintf(out, "built in %.0f s\n", time.Since(begun).Seconds())
	var rows []row
	var faults []error
	for _, p := range chosen {
		fmt.Fprintf(out, "\n%s: rooms of %d, %d bytes at %d Hz from each\n", p.title, roomSize, payloadBytes, rate)
		r, err := compare(p, dir, o, out)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", p.title, err))
			fmt.Fprintf(out, "    failed: %v\n", err)
		}
		rows = append(rows, r)
	}
	printTable(out, rows)
	if o.only == "" && o.rooms == 0 {
		if err := measureInside(out); err != nil {
			faults = append(faults, err)
		}
	}
	fmt.Fprintf(out, "%.0f s in all\n", time.Since(begun).Seconds())
	return errors.Join(faults...)
}

func choose(only string) ([]path, error) {
	if only == "" {
		return paths(), nil
	}
	var chosen []path
	for name := range strings.SplitSeq(only, ",") {
		found := false
		for _, p := range paths() {
			if p.name == name {
				chosen, found = append(chosen, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-only %s: there is no such path", name)
		}
	}
	return chosen, nil
}

// compare drives Gatehouse and the floor of a path in turns.
func compare(p path, dir string, o options, out io.Writer) (row, error) {
	r := row{path: p}
	floor, err := startFloor(dir, p.floor)
	if err != nil {
		return r, err
	}
	defer floor.stop()
	gatehouse, err := startGatehouse(dir, p.announced)
	if err != nil {
		return r, err
	}
	defer gatehouse.stop()
	sides := [2]*side{}
	for i, srv := range []*server{floor, gatehouse} {
		s := &side{srv: srv, next: cmp.Or(o.rooms, p.rooms), load: newLoad(fmt.Sprintf("bench-%s-%d", p.name, i), p.lane, p.open(srv.addr))}
		defer s.load.carrier.Close()
		sides[i] = s
	}
	err = drive(sides, o, out)
	r.floor, r.ours = sides[0], sides[1]
	return r, err
}

// drive runs the sides' steps in turns until both have found their limit. In
// a run of one load one step each is enough; what counts there is that every message
// came and was right, not how fast.
func drive(sides [2]*side, o options, out io.Writer) error {
	deadline := time.Now().Add(o.budget)
	for !sides[0].finished || !sides[1].finished {
		for i, s := range sides {
			if s.finished {
				continue
			}
			rooms := s.next
			r, err := s.step(out)
			if err != nil {
				return err
			}
			if err := sides[1-i].load.ping(); err != nil {
				return fmt.Errorf("%s: %w", sides[1-i].srv.name, err)
			}
			if o.once {
				s.finished = true
				if r.lost {
					return fmt.Errorf("%s with %d rooms: %s", s.srv.name, rooms, r.why)
				}
				s.best = r
			}
		}
		if time.Now().After(deadline) {
			fmt.Fprintln(out, "    (out of time: the limits are not closed in on)")
			return nil
		}
	}
	return nil
}

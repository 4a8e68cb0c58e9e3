package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"
)

// figure is one number of a benchmark of the main module that has a target.
type figure struct {
	what      string
	benchmark string // with its sub-benchmark, without the "Benchmark" and the cores
	unit      string // as go test prints it
	scale     float64
	target    string
}

func figures() []figure {
	return []figure{
		{"allocations per message relayed to seven, in the room", "RelayToSeven", "allocs/op", 1, "0"},
		{"allocations per message on eight links", "FanOut", "allocs/op", 1, "0"},
		{"delta: ns per entity and client", "Delta/changed=84", "ns/entity", 1, "100"},
		{"delta: ms per tick, 1,000 entities, 84 move, 64 clients", "Delta/changed=84", "ns/op", 1e-6, "0.6"},
		{"delta: allocations per tick", "Delta/changed=84", "allocs/op", 1, "0"},
		{"snapshot: bytes per moving entity", "Delta/changed=84", "bytes/entity", 1, "3.5 (others 8.6 to 45)"},
		{"snapshot: bytes when nothing moves", "Delta/changed=0", "bytes/snapshot", 1, "8"},
	}
}

// measureInside runs the benchmarks of the main module that stand for a target
// and prints what they say.
func measureInside(out io.Writer) error {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark(RelayToSeven|FanOut|Delta)$", "-benchmem", "-benchtime", "0.5s",
		"./authority/room", "./authority/replica", "./gateway/link")
	cmd.Dir = ".."
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, text)
	}
	found := parseBenchmarks(text)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ninside\tmeasured\ttarget")
	for _, f := range figures() {
		v, ok := found[f.benchmark][f.unit]
		if !ok {
			return fmt.Errorf("benchmark %s does not tell its %s", f.benchmark, f.unit)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%s\n", f.what, v*f.scale, f.target)
	}
	return w.Flush()
}

// parseBenchmarks reads what go test prints: by benchmark, the value of each unit.
func parseBenchmarks(text []byte) map[string]map[string]float64 {
	found := map[string]map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		values := map[string]float64{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				values[f[i+1]] = v
			}
		}
		found[name] = values
	}
	return found
}

//go:build browser

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// cProgram is the ENet client in C, and what it says of itself.
type cProgram struct {
	t     *testing.T
	ended chan struct{}

	mu      sync.Mutex // guards the rest
	seen    map[uint32]uint32
	counts  map[uint32]int // entities, by tick
	members map[uint32]string
	events  int
	you     uint32
	faults  []string
}

// buildC compiles the client.
func buildC(t *testing.T) string {
	t.Helper()
	const dir = "../enet/testdata/cclient"
	out := filepath.Join(t.TempDir(), "cclient")
	args := []string{"-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-o", out}
	for _, name := range []string{"main.c", "client.c", "world.c", "json.c", "wire.c"} {
		args = append(args, filepath.Join(dir, name))
	}
	if b, err := exec.CommandContext(t.Context(), "cc", append(args, "-lenet")...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, b)
	}
	return out
}

// startC lets the client play for some time: it runs to the right and shoots.
func startC(t *testing.T, h *house, program, name string, d time.Duration) *cProgram {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d+2*patience)
	cmd := exec.CommandContext(ctx, program, "--port", fmt.Sprint(h.addresses.ENet.Port()), "--room", "arena",
		"--name", name, "--identity", name, "--input", "017f0020", "--duration", fmt.Sprint(d.Seconds()))
	complaints := new(bytes.Buffer)
	cmd.Stderr = complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &cProgram{t: t, ended: make(chan struct{}), seen: map[uint32]uint32{}, counts: map[uint32]int{}, members: map[uint32]string{}}
	go func() {
		defer close(c.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.line(lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the C client ended with %v: %s", err, complaints)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-c.ended
	})
	return c
}

func (c *cProgram) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	verb, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "welcome":
		_, _ = fmt.Sscanf(rest, "you %d", &c.you)
	case "tick":
		var tick, hash uint32
		var entities int
		if _, err := fmt.Sscanf(rest, "%d entities %d hash %x", &tick, &entities, &hash); err != nil {
			c.faults = append(c.faults, text)
			return
		}
		c.seen[tick], c.counts[tick] = hash, entities
	case "member", "peer":
		var n struct {
			Event string
			rawMember
		}
		if err := json.Unmarshal([]byte(rest), &n); err != nil {
			c.faults = append(c.faults, text)
			return
		}
		switch n.Event {
		case "", "joined":
			c.members[n.ID] = n.Name
		case "left":
			delete(c.members, n.ID)
		}
	case "event":
		c.events++
	case "error:", "resync":
		c.faults = append(c.faults, text)
	}
}

// roster returns the members as the client was told.
func (c *cProgram) roster() map[uint32]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[uint32]string{}
	for id, name := range c.members {
		all[id] = name
	}
	return all
}

//go:build browser

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	pages  = "../../web/dist"
	driver = "../../web/e2e/player.mjs"
)

// openHouseWithPages opens a server that serves the demo. The tests of the
// browser are skipped where there is none, but not in continuous integration.
func openHouseWithPages(t *testing.T) *house {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("node"); err != nil {
		missing = "Node is not installed"
	} else if os.Getenv("CHROMIUM") == "" && !anyOf("chromium", "chromium-browser", "google-chrome") {
		missing = "Chromium is not installed"
	}
	switch {
	case missing != "" && os.Getenv("CI") != "":
		t.Fatal(missing)
	case missing != "":
		t.Skip(missing)
	}
	if _, err := os.Stat(pages + "/index.html"); err != nil {
		t.Fatalf("the pages have not been built: %v", err)
	}
	return openHouse(t, "web.dir="+pages)
}

func anyOf(programs ...string) bool {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

// browserPlayer is the demo in a real browser, and what it says of itself.
type browserPlayer struct {
	t     *testing.T
	ended chan struct{}

	mu     sync.Mutex // guards the rest
	seen   map[uint32]uint32
	states []browserState
	peers  []rawMember
	last   browserLine // the one that says done, or why not
}

type browserState struct {
	State, Transport, Fallback string
	You                        uint32
}

// browserLine is any line of the driver.
type browserLine struct {
	browserState
	Peers []rawMember
	Tick  uint32
	Hash  uint32
	Done  bool
	Error string
	Stats struct{ Resumes, Resyncs, Gaps int }
	// Faults are what the page complained about.
	Faults []string
}

// startBrowser lets a browser play for some seconds, and waits until it does.
func startBrowser(t *testing.T, h *house, flags ...string) *browserPlayer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	args := append([]string{driver, fmt.Sprintf("http://%s/", h.addresses.HTTP)}, flags...)
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it has a browser to end
	cmd.WaitDelay = patience
	complaints := new(bytes.Buffer)
	cmd.Stderr = complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browserPlayer{t: t, ended: make(chan struct{}), seen: map[uint32]uint32{}}
	go func() {
		defer close(b.ended)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			b.line(lines.Bytes())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the browser ended with %v: %s%s", err, b.last.Error, complaints)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-b.ended
	})
	for b.state().State != "synchronized" {
		select {
		case <-b.ended:
			t.Fatal("the browser does not play")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return b
}

func (b *browserPlayer) line(text []byte) {
	var l browserLine
	if err := json.Unmarshal(text, &l); err != nil {
		b.t.Errorf("the driver says %q: %v", text, err)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case l.Done, l.Error != "":
		b.last = l
	case l.Tick != 0:
		b.seen[l.Tick] = l.Hash
	case l.Peers != nil:
		b.peers = l.Peers
	case l.State != "":
		b.states = append(b.states, l.browserState)
	}
}

// state returns the newest.
func (b *browserPlayer) state() browserState {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.states) == 0 {
		return browserState{}
	}
	return b.states[len(b.states)-1]
}

// members returns the roster as the page has it.
func (b *browserPlayer) members() map[uint32]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[uint32]string{}
	for _, m := range b.peers {
		all[m.ID] = m.Name
	}
	return all
}

// wait waits for the end of the play, and judges it.
func (b *browserPlayer) wait() {
	b.t.Helper()
	<-b.ended
	if !b.last.Done || len(b.last.Faults) > 0 || b.last.Stats.Gaps+b.last.Stats.Resyncs > 0 {
		b.t.Errorf("the browser played until %+v", b.last)
	}
}

// checkWorlds compares what the page held with what the server had.
func (b *browserPlayer) checkWorlds(h *house) {
	b.t.Helper()
	compared, equal := 0, 0
	for tick, hash := range b.seen {
		if w := h.game.world(tick); w != nil {
			compared++
			if hash == w.hash() {
				equal++
			}
		}
	}
	// A new entity may wait a moment for the end of the last owner of its id.
	if compared < 60 || equal < compared-compared/20 {
		b.t.Errorf("of %d worlds only %d are the server's", compared, equal)
	}
}

func TestBrowserWithoutWebRTCPlaysOverWebSocket(t *testing.T) {
	h := openHouseWithPages(t)
	b := startBrowser(t, h, "--without-webrtc", "--seconds", "5")
	if s := b.state(); s.Transport != "websocket" || s.Fallback == "" {
		t.Errorf("the page says %+v", s)
	}
	if s, err := h.listed(); err != nil || len(s) != 1 || s[0].Transport != "ws" {
		t.Errorf("the server has the sessions %+v, %v", s, err)
	}
	b.wait()
	b.checkWorlds(h)
}

func TestBrowserMovesToAnotherTransportWhileItPlays(t *testing.T) {
	h := openHouseWithPages(t)
	watcher := joinArena(t, "watcher", (&lines{t: t, house: h}).over("ws"))
	b := startBrowser(t, h, "--switch", "websocket", "--seconds", "10")
	await(t, "the page has moved", func() bool { return b.state().Transport == "websocket" })
	b.mu.Lock()
	first, last := b.states[0], b.states[len(b.states)-1]
	b.mu.Unlock()
	if first.Transport != "webrtc" || first.Fallback != "" || first.You != last.You {
		t.Errorf("the page was %+v and became %+v", first, last)
	}
	if sessions, err := h.listed(); err != nil || len(sessions) != 2 {
		t.Errorf("%d sessions, %v", len(sessions), err)
	}
	b.wait()
	b.checkWorlds(h)
	if b.last.Stats.Resumes != 1 {
		t.Errorf("%d resumes", b.last.Stats.Resumes)
	}
	watcher.Close()
	watcher.check(t, h.game, 60)
	h.game.mu.Lock()
	defer h.game.mu.Unlock()
	inputs := h.game.inputs[first.You]
	for i := 1; i < len(inputs); i++ {
		if !wire.Newer16(inputs[i], inputs[i-1]) {
			t.Errorf("input %d of the page took effect after %d", inputs[i], inputs[i-1])
		}
	}
	if len(inputs) < 100 {
		t.Errorf("%d inputs of the page took effect", len(inputs))
	}
}

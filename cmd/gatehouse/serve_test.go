package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// served is gatehouse serve --dev as a process of its own.
type served struct {
	t       *testing.T
	cmd     *exec.Cmd
	printed map[string]string // address by its title
	out     *lockedBuffer     // what it has printed
	read    chan struct{}     // closed when that is all
	errs    *lockedBuffer
	http    *http.Client
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func serve(t *testing.T, args ...string) *served {
	t.Helper()
	free := []string{"serve", "--dev"}
	for _, key := range []string{"http.listen", "admin.listen", "enet.listen", "rtc.udp_listen", "rtc.tcp_listen"} {
		free = append(free, "--set", key+"=127.0.0.1:0")
	}
	cmd := exec.Command(os.Args[0], append(free, args...)...)
	cmd.Env = ownEnviron()
	return start(t, cmd)
}

// ownEnviron makes this binary the program, without the variables that whoever
// runs the tests may have set for a server.
func ownEnviron() []string {
	env := []string{beGatehouse + "=1"}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GATEHOUSE_") {
			env = append(env, pair)
		}
	}
	return env
}

// start runs a server until it has said where it listens.
func start(t *testing.T, cmd *exec.Cmd) *served {
	t.Helper()
	s := &served{t: t, cmd: cmd, printed: map[string]string{},
		out: &lockedBuffer{}, read: make(chan struct{}), errs: &lockedBuffer{},
		http: &http.Client{Transport: &http.Transport{}, Timeout: patience}}
	s.cmd.Stderr = s.errs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.http.CloseIdleConnections()
		_ = s.cmd.Process.Kill() // has ended, if all went well
		_ = s.cmd.Wait()
	})
	line := regexp.MustCompile(`^  (\w+) +(\S+)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(s.out, lines.Text())
		if m := line.FindStringSubmatch(lines.Text()); m != nil {
			s.printed[m[1]] = m[2]
			if m[1] == "Metrics" {
				go func() {
					defer close(s.read)
					for lines.Scan() {
						fmt.Fprintln(s.out, lines.Text())
					}
				}()
				return s
			}
		}
	}
	t.Fatalf("does not start: %s", s.errs)
	return nil
}

// base is the address of the public listener, with a slash.
func (s *served) base() string { return strings.TrimSuffix(s.printed["Rooms"], "v1/rooms") }

func (s *served) get(url string) (status int, body string) {
	s.t.Helper()
	w, err := s.http.Get(url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(w.Body); err != nil {
		s.t.Fatal(err)
	}
	return w.StatusCode, b.String()
}

// end waits until the process has ended by itself and returns its exit code.
func (s *served) end() int {
	s.t.Helper()
	ended := make(chan struct{})
	go func() {
		<-s.read // Wait closes the pipe
		_ = s.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.t.Fatalf("does not end: %s", s.errs)
		return -1
	}
}

func (s *served) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func TestServeForDevelopers(t *testing.T) {
	t.Parallel()
	s := serve(t, "--bots=3")
	for _, title := range []string{"WebSocket", "WebRTC", "ENet", "Rooms", "Admin", "Metrics"} {
		if !strings.Contains(s.printed[title], "127.0.0.1:") || strings.HasSuffix(s.printed[title], ":0") {
			t.Errorf("address of %s: %q", title, s.printed[title])
		}
	}
	if status, body := s.get(s.base() + "healthz"); status != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %s", status, body)
	}
	if status, body := s.get(s.base()); status != 200 || !strings.Contains(body, "<") {
		t.Errorf("the page: %d %s", status, body)
	}
	bots := regexp.MustCompile(`"name":"arena","kind":"authority","game":"arena","members":3`)
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		_, body := s.get(s.printed["Rooms"])
		if bots.MatchString(body) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no arena with three bots: %s", body)
		}
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d after SIGTERM: %s", code, s.errs)
	}
}

// The tests run where no pages were built.
func TestPagesAreAnnouncedIfThereAreSome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want, not string }{
		{dir, "  Play  ", "make web"},
		{"", "run make web, or set web.dir", "Play"},
	} {
		s := serve(t, "--bots=0", "--set", "web.dir="+c.dir)
		s.signal(syscall.SIGTERM)
		if code := s.end(); code != exitOK {
			t.Errorf("exit code %d: %s", code, s.errs)
		}
		if out := s.out.String(); !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
			t.Errorf("web.dir %q: said %s", c.dir, out)
		}
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, "--bots=0", "--set", "sessions.drain_deadline=10m")
	c := runBots(t, s, "ws", "10m", "1")
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, body := s.get(s.printed["Rooms"]); strings.Contains(body, `"members":1`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the bot does not join")
		}
	}
	s.signal(os.Interrupt)
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if status, _ := s.get(s.base() + "readyz"); status == http.StatusServiceUnavailable {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("does not drain")
		}
	}
	s.signal(os.Interrupt)
	start := time.Now()
	if code := s.end(); code == exitOK {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	c.stop()
}

func TestTakenPortIsOneClearError(t *testing.T) {
	t.Parallel()
	s := serve(t, "--bots=0")
	keys := map[string]string{
		"http.listen": s.base(), "admin.listen": s.printed["Admin"], "enet.listen": s.printed["ENet"],
		"rtc.udp_listen": "", "rtc.tcp_listen": "",
	}
	if m := regexp.MustCompile(`udp (\S+), tcp (\S+)`).FindStringSubmatch(s.out.String()); m != nil {
		keys["rtc.udp_listen"], keys["rtc.tcp_listen"] = m[1], m[2]
	}
	hostPort := regexp.MustCompile(`127\.0\.0\.1:\d+`)
	for taken, address := range keys {
		args := []string{"serve", "--dev"}
		for key := range keys {
			at := "127.0.0.1:0"
			if key == taken {
				at = hostPort.FindString(address)
			}
			args = append(args, "--set", key+"="+at)
		}
		code, out, errs := command(t, []string{}, args...)
		if code != exitFailed || out != "" {
			t.Errorf("%s: %d %q %q", taken, code, out, errs)
		}
		for _, want := range []string{taken + ": ", hostPort.FindString(address), "--set " + taken + "=127.0.0.1:28080"} {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: no %q in %q", taken, want, errs)
			}
		}
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

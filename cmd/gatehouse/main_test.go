package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
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

	"go.uber.org/goleak"
)

// beGatehouse in the environment makes the test binary the program itself.
const beGatehouse = "BE_GATEHOUSE"

func TestMain(m *testing.M) {
	if os.Getenv(beGatehouse) != "" {
		main()
		return
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}

const (
	secret   = "0123456789abcdef0123456789abcdef"
	patience = 15 * time.Second
)

// command runs a subcommand in this process.
func command(t *testing.T, environ []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	code = run(args, &process{ctx: ctx, environ: environ, out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestTokensAreMintedAndInspected(t *testing.T) {
	t.Parallel()
	env := []string{"GATEHOUSE_AUTH_SECRET=" + secret}
	code, token, errs := command(t, env, "token", "mint", "--room", "arena", "--identity", "ann", "--name", "Ann B", "--ttl", "90m")
	if code != exitOK {
		t.Fatalf("%d: %s", code, errs)
	}
	code, out, errs := command(t, env, "token", "inspect", strings.TrimSpace(token))
	if code != exitOK {
		t.Fatalf("%d: %s", code, errs)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got["identity"] != "ann" || got["room"] != "arena" || got["name"] != "Ann B" || !strings.HasPrefix(got["expires_in"], "1h") {
		t.Errorf("%v", got)
	}
	other := []string{"GATEHOUSE_AUTH_SECRET=" + strings.Repeat("x", 32)}
	if code, _, errs := command(t, other, "token", "inspect", strings.TrimSpace(token)); code != exitFailed || !strings.Contains(errs, "unauthorized") {
		t.Errorf("another secret: %d %s", code, errs)
	}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command(t, nil, "token", "inspect", "--secret-file", file, strings.TrimSpace(token)); code != exitOK {
		t.Errorf("secret from a file: %d %s", code, errs)
	}
}

func TestWrongUseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := []string{"GATEHOUSE_AUTH_SECRET=" + secret, "GATEHOUSE_ADMIN_TOKEN=0123456789abcdef"}
	for _, c := range []struct {
		name string
		env  []string
		args string
		want string
	}{
		{"no subcommand", good, "", "expected one of"},
		{"unknown subcommand", good, "serv", "serv"},
		{"unknown flag", good, "serve --lisen=:80", "unknown flag --lisen"},
		{"unknown flag of check", good, "config check --strict", "unknown flag --strict"},
		{"superfluous argument", good, "serve now", "now"},
		{"missing flag value", good, "serve --config", "--config"},
		{"missing file", good, "serve --config /does/not/exist.yaml", "/does/not/exist.yaml"},
		{"set without value", good, "serve --set http.listen", "KEY=VALUE"},
		{"set of no key", good, "serve --set htp.listen=:80", "htp.listen"},
		{"set out of range", good, "config check --set sessions.ping_interval=10", "no unit"},
		{"netsim in production", good, "serve --netsim loss=3%", "netsim"},
		{"netsim of no sense", nil, "serve --dev --netsim los=3%", "los"},
		{"netsim with a bare number", nil, "config check --set dev=true --set netsim=latency=80", "latency"},
		{"no secrets", nil, "serve", "auth.secret"},
		{"no secrets for check", nil, "config check", "admin.token"},
		{"unknown variable", append(good, "GATEHOUSE_LISTEN=:80"), "serve", "GATEHOUSE_LISTEN"},
		{"unknown game", good, "config check --set rooms.templates=[{match:a,kind:authority,game:chess}]", "chess"},
		{"too many dev bots", nil, "serve --dev --bots=1000", "--bots"},
		{"no transport", nil, "bot --transport=carrier", "carrier"},
		{"no bots", nil, "bot --count=0", "--count"},
		{"no time", nil, "bot --duration=0s", "--duration"},
		{"a number for a time", nil, "bot --duration=5", "--duration"},
		{"bad room for bots", nil, "bot --room=a/b", "--room"},
		{"bad URL for bots", nil, "bot --url=ftp://x", "--url"},
		{"no port for enet", nil, "bot --transport=enet --url=localhost", "host:port"},
		{"short secret", []string{"GATEHOUSE_AUTH_SECRET=hunter2"}, "token mint --room=a --identity=b", "7 bytes"},
		{"no secret for a token", nil, "token mint --room=a --identity=b", "GATEHOUSE_AUTH_SECRET"},
		{"bad room for a token", good, "token mint --room=a/b --identity=b", "room"},
		{"bad life of a token", good, "token mint --room=a --identity=b --ttl=-1s", "--ttl"},
		{"token without room", good, "token mint --identity=b", "--room"},
	} {
		code, out, errs := command(t, c.env, strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d, want %d; said %q, want %q in it", c.name, code, exitUsage, errs, c.want)
		}
		if strings.Contains(out+errs, "hunter2") || strings.Contains(out+errs, secret) {
			t.Errorf("%s: a secret is told: %s", c.name, out+errs)
		}
	}
}

func TestConfigurationIsCheckedAndShown(t *testing.T) {
	t.Parallel()
	env := []string{"GATEHOUSE_AUTH_SECRET=" + secret, "GATEHOUSE_ADMIN_TOKEN=0123456789abcdef", "GATEHOUSE_ROOMS_CAP=9"}
	if code, _, errs := command(t, env, "config", "check"); code != exitOK {
		t.Errorf("check: %d %s", code, errs)
	}
	code, out, errs := command(t, env, "config", "show", "--set", "sessions.ping_interval=2s")
	if code != exitOK {
		t.Fatalf("show: %d %s", code, errs)
	}
	for _, line := range []string{"  cap: 9 # GATEHOUSE_ROOMS_CAP", "  ping_interval: 2s # --set", "  ping_timeout: 15s", "  # secret: ******** # GATEHOUSE_AUTH_SECRET"} {
		if !strings.Contains(out, line+"\n") {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
	if strings.Contains(out, secret) {
		t.Error("the secret is shown")
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	if code, out, _ := command(t, nil, "--help"); code != exitOK || !strings.Contains(out, "serve") {
		t.Errorf("help: %d %s", code, out)
	}
	if code, out, _ := command(t, nil, "version"); code != exitOK || !strings.Contains(out, "protocol versions [1]") {
		t.Errorf("version: %d %s", code, out)
	}
}

// served is gatehouse serve --dev as a process of its own.
type served struct {
	t       *testing.T
	cmd     *exec.Cmd
	printed map[string]string // address by its title
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
	s := &served{t: t, cmd: exec.Command(os.Args[0], append(free, args...)...), printed: map[string]string{}, errs: &lockedBuffer{},
		http: &http.Client{Transport: &http.Transport{}, Timeout: patience}}
	s.cmd.Env = []string{beGatehouse + "=1"}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GATEHOUSE_") { // whoever runs the tests may have some
			s.cmd.Env = append(s.cmd.Env, pair)
		}
	}
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
		if m := line.FindStringSubmatch(lines.Text()); m != nil {
			s.printed[m[1]] = m[2]
			if m[1] == "Metrics" {
				return s
			}
		}
	}
	t.Fatalf("does not start: %s", s.errs)
	return nil
}

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
	go func() { _ = s.cmd.Wait(); close(ended) }()
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
	for _, title := range []string{"Play", "WebSocket", "WebRTC", "ENet", "Rooms", "Admin", "Metrics"} {
		if !strings.Contains(s.printed[title], "127.0.0.1:") || strings.HasSuffix(s.printed[title], ":0") {
			t.Errorf("address of %s: %q", title, s.printed[title])
		}
	}
	if status, body := s.get(s.printed["Play"] + "healthz"); status != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %s", status, body)
	}
	if status, body := s.get(s.printed["Play"]); status != 200 || !strings.Contains(body, "<") {
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
	for _, sig := range []os.Signal{syscall.SIGTERM} {
		s.signal(sig)
	}
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d after SIGTERM: %s", code, s.errs)
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
		if status, _ := s.get(s.printed["Play"] + "readyz"); status == http.StatusServiceUnavailable {
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
	address := strings.TrimSuffix(strings.TrimPrefix(s.printed["Play"], "http://"), "/")
	code, out, errs := command(t, []string{}, "serve", "--dev", "--set", "http.listen="+address,
		"--set", "admin.listen=127.0.0.1:0", "--set", "enet.listen=127.0.0.1:0", "--set", "rtc.udp_listen=127.0.0.1:0", "--set", "rtc.tcp_listen=127.0.0.1:0")
	if code != exitFailed || !strings.Contains(errs, "http.listen") || !strings.Contains(errs, "in use") || out != "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

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

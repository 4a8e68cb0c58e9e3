package main

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/ws"
)

// What docs/operating.md says to type must work as it stands; only the ports are
// others here.
func TestFromNothingToAServerWithTokens(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	steps := stepsOf(t, "From nothing to a server with tokens")
	if len(steps) != 4 {
		t.Fatalf("%d steps", len(steps))
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "bin", "gatehouse")); err != nil {
		t.Fatal(err)
	}
	if said := shell(t, dir, steps[0]); !strings.Contains(said, "the configuration is good") {
		t.Errorf("the first step said %s", said)
	}

	serve := strings.Fields(steps[1])
	cmd := exec.Command(filepath.Join(dir, serve[0]), serve[1:]...)
	cmd.Dir = dir
	cmd.Env = ownEnviron()
	for _, key := range []string{"HTTP_LISTEN", "ADMIN_LISTEN", "ENET_LISTEN", "RTC_UDP_LISTEN", "RTC_TCP_LISTEN"} {
		cmd.Env = append(cmd.Env, "GATEHOUSE_"+key+"=127.0.0.1:0")
	}
	s := start(t, cmd)
	here := strings.NewReplacer("http://localhost:8080/", s.base(), "http://localhost:8080", strings.TrimSuffix(s.base(), "/"),
		"http://localhost:8090/admin/v1/rooms", s.printed["Admin"])

	said := shell(t, dir, here.Replace(steps[2]))
	if !strings.Contains(said, "3 playing, 0 away, 0 ended early") {
		t.Errorf("the bots said %s", said)
	}
	page, _, _ := strings.Cut(said, "\n")
	u, err := url.Parse(page)
	if err != nil || !strings.HasPrefix(page, s.base()) {
		t.Fatalf("the page's address is %q: %v", page, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ann, err := client.Join(ctx, client.Options{Room: u.Query().Get("room"), Token: u.Query().Get("token"),
		Dialers: []client.Dialer{client.WS(s.base()+"v1/ws", ws.DialOptions{})}})
	if err != nil {
		t.Fatalf("with the page's token: %v", err)
	}
	defer ann.Close()
	if said := shell(t, dir, here.Replace(steps[3])); !strings.Contains(said, `"name":"arena"`) {
		t.Errorf("the operator saw %s", said)
	}
	if err := ann.Leave(ctx); err != nil {
		t.Error(err)
	}
	s.signal(syscall.SIGTERM)
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, s.errs)
	}
}

// stepsOf returns the blocks of commands in a section of docs/operating.md.
func stepsOf(t *testing.T, title string) (steps []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for {
		_, rest, found := strings.Cut(section, "\n```sh\n")
		if !found {
			return steps
		}
		step, after, _ := strings.Cut(rest, "```\n")
		steps, section = append(steps, step), after
	}
}

// shell runs commands, each of which must succeed, and returns what they print.
func shell(t *testing.T, dir, commands string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = dir, ownEnviron()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s\n%s", err, out, errs.String(), commands)
	}
	return string(out)
}

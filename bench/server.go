package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// server is a process under load.
type server struct {
	name string
	cmd  *exec.Cmd
	addr string
	done chan struct{}
}

// start runs a command on the server's core and waits until it has said where
// it can be reached: the first match of the pattern's group on a line of its
// standard output.
func start(name, pattern string, cmd *exec.Cmd) (*server, error) {
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // nobody outlives the bench
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOnServerCore(cmd); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &server{name: name, cmd: cmd, done: make(chan struct{})}
	found := make(chan string, 1)
	go s.watch(out, regexp.MustCompile(pattern), found)
	select {
	case s.addr = <-found:
		return s, nil
	case <-s.done:
		return nil, fmt.Errorf("%s ended before it said where it listens", name)
	case <-time.After(20 * time.Second):
		s.stop()
		return nil, fmt.Errorf("%s did not say where it listens within 20 s", name)
	}
}

// watch reads the standard output to its end, then collects the process.
func (s *server) watch(out io.Reader, pattern *regexp.Regexp, found chan<- string) {
	defer close(s.done)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := pattern.FindStringSubmatch(lines.Text()); m != nil {
			select {
			case found <- m[1]:
			default:
			}
		}
	}
	_ = s.cmd.Wait() // it is killed in the end, which is no news
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// build compiles Gatehouse and the floors into dir.
func build(dir string) error {
	for _, b := range []struct {
		in   string
		args []string
	}{
		{"..", []string{"go", "build", "-o", filepath.Join(dir, "gatehouse"), "./cmd/gatehouse"}},
		{".", []string{"go", "build", "-o", filepath.Join(dir, "ws"), "./floor/ws"}},
		{".", []string{"go", "build", "-o", filepath.Join(dir, "rtc"), "./floor/rtc"}},
		{".", []string{"cc", "-O2", "-o", filepath.Join(dir, "enet"), "floor/enet.c", "-lenet"}},
	} {
		cmd := exec.Command(b.args[0], b.args[1:]...)
		cmd.Dir = b.in
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", b.args, err, out)
		}
	}
	return nil
}

// gatehouseConfig opens relay rooms to everyone, and leaves out what is there to
// hold off a flood from one address, which is what a load is.
const gatehouseConfig = `
dev: true
http: {listen: "127.0.0.1:0"}
rtc: {udp_listen: "127.0.0.1:0", tcp_listen: "127.0.0.1:0"}
enet: {listen: "127.0.0.1:0"}
admin: {listen: "127.0.0.1:0"}
rooms:
  on_demand: true
  cap: 8
  templates:
    - match: "*"
      kind: relay
limits: {connects_per_second: 10000, connects_burst: 10000}
log: {level: error}
`

// startGatehouse starts the real server. The pattern finds the address of the
// transport in what it announces.
func startGatehouse(dir, pattern string) (*server, error) {
	config := filepath.Join(dir, "gatehouse.yaml")
	if err := os.WriteFile(config, []byte(gatehouseConfig), 0o600); err != nil {
		return nil, err
	}
	return start("gatehouse", pattern, exec.Command(filepath.Join(dir, "gatehouse"), "serve", "--config", config, "--dev", "--bots", "0"))
}

func startFloor(dir, name string) (*server, error) {
	return start("floor/"+name, `^(\S+:\d+)$`, exec.Command(filepath.Join(dir, name)))
}

package configs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway/link"
)

const (
	secret = "a-secret-of-the-operators-own-0123456789"
	token  = "an-operators-token-0123456789"
)

// env is what a valid production configuration needs at least.
func env(more ...string) []string {
	return append([]string{"PATH=/bin", "GATEHOUSE_AUTH_SECRET=" + secret, "GATEHOUSE_ADMIN_TOKEN=" + token}, more...)
}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gatehouse.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaultsAreAcceptedWithSecrets(t *testing.T) {
	t.Parallel()
	c, err := configs.Load(configs.Sources{Environ: env()})
	if err != nil {
		t.Fatal(err)
	}
	if c.HTTP.Listen != ":8080" || c.Sessions.ResumeGrace.D() != 30*time.Second || c.Sessions.Outbox != 256<<10 || c.Dev {
		t.Errorf("%+v", c)
	}
	if c.Auth.Secret.Reveal() != secret || c.Admin.Token.Reveal() != token {
		t.Error("secrets of the environment did not arrive")
	}
}

func TestDevNeedsNothingAndStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	c, err := configs.Load(configs.Sources{Set: []configs.Override{{Flag: "--dev", Path: "dev", Value: "true"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []configs.Listen{c.HTTP.Listen, c.RTC.UDPListen, c.RTC.TCPListen, c.ENet.Listen, c.Admin.Listen} {
		if !strings.HasPrefix(string(l), "127.0.0.1:") {
			t.Errorf("listens on %s", l)
		}
	}
	if !c.Rooms.OnDemand || len(c.Rooms.Templates) == 0 {
		t.Error("no rooms on demand")
	}
}

// Each fault must be refused, by its path, with what would be right, and where
// it stands.
func TestFaultsAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		file string
		env  []string
		set  configs.Override
		want configs.Fault // Problem and Accepted: a part of it
	}{
		{name: "flag for an unknown key at the top", set: configs.Override{Flag: "--set", Path: "ping_interval", Value: "5s"},
			want: configs.Fault{Where: "--set", Path: "ping_interval", Problem: "not a key", Accepted: "perhaps sessions.ping_interval"}},
		{name: "flag for an unknown section", set: configs.Override{Flag: "--set", Path: "htp.listen", Value: ":80"},
			want: configs.Fault{Where: "--set", Path: "htp.listen", Problem: "not a key", Accepted: "http, rtc, enet"}},
		{name: "unknown key at the top", file: "sesions: {}",
			want: configs.Fault{Where: ":1", Path: "sesions", Problem: "not a key", Accepted: "sessions"}},
		{name: "unknown key inside", file: "sessions:\n  ping_intervall: 5s",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_intervall", Problem: "not a key", Accepted: "ping_interval"}},
		{name: "wrong indentation", file: "sessions:\nping_interval: 5s",
			want: configs.Fault{Where: ":2", Path: "ping_interval", Problem: "not a key", Accepted: "perhaps sessions.ping_interval"}},
		{name: "section left empty", file: "sessions:\nrooms: {}",
			want: configs.Fault{Where: ":1", Path: "sessions", Problem: "not a section", Accepted: "ping_interval"}},
		{name: "key in another section", file: "rooms:\n  sessions:\n    ping_interval: 5s",
			want: configs.Fault{Where: ":2", Path: "rooms.sessions", Problem: "not a key"}},
		{name: "value where a section is due", file: "http: 8080",
			want: configs.Fault{Where: ":1", Path: "http", Problem: "not a section", Accepted: "listen"}},
		{name: "section where a value is due", file: "dev: {on: true}",
			want: configs.Fault{Where: ":1", Path: "dev", Problem: "not one value", Accepted: "true or false"}},
		{name: "value where a list is due", file: "http:\n  origins: https://a.example",
			want: configs.Fault{Where: ":2", Path: "http.origins", Problem: "not a list", Accepted: "https://"}},
		{name: "duration without unit", file: "sessions:\n  ping_interval: 10",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "no unit", Accepted: "50ms to 5m"}},
		{name: "quoted duration without unit", file: "sessions:\n  ping_interval: \"10\"",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "no unit", Accepted: "50ms to 5m"}},
		{name: "zero without unit", file: "sessions:\n  resume_grace: 0",
			want: configs.Fault{Where: ":2", Path: "sessions.resume_grace", Problem: "no unit", Accepted: "0s to 1h"}},
		{name: "negative duration", file: "sessions:\n  ping_interval: -5s",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "negative", Accepted: "50ms"}},
		{name: "zero duration", file: "sessions:\n  ping_interval: 0s",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "too small", Accepted: "50ms"}},
		{name: "duration too large", file: "sessions:\n  ping_interval: 1h",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "too large", Accepted: "5m"}},
		{name: "never where it can not be", file: "sessions:\n  ping_interval: never",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "not possible", Accepted: "5m"}},
		{name: "words for a duration", file: "sessions:\n  ping_interval: five seconds",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "not a duration", Accepted: "250ms"}},
		{name: "no value", file: "sessions:\n  ping_interval:\n",
			want: configs.Fault{Where: ":2", Path: "sessions.ping_interval", Problem: "no value", Accepted: "250ms"}},
		{name: "size without unit", file: "sessions:\n  outbox: 262144",
			want: configs.Fault{Where: ":2", Path: "sessions.outbox", Problem: "no unit", Accepted: "128KiB"}},
		{name: "size in thousands", file: "sessions:\n  outbox: 256kB",
			want: configs.Fault{Where: ":2", Path: "sessions.outbox", Problem: "not a size", Accepted: "64KiB"}},
		{name: "size that is less than two messages", file: "sessions:\n  outbox: 64KiB",
			want: configs.Fault{Where: ":2", Path: "sessions.outbox", Problem: "too small", Accepted: "128KiB"}},
		{name: "size beyond all numbers", file: "sessions:\n  outbox: 99999999999999999999GiB",
			want: configs.Fault{Where: ":2", Path: "sessions.outbox", Problem: "too large", Accepted: "64MiB"}},
		{name: "zero count", file: "enet:\n  max_peers: 0",
			want: configs.Fault{Where: ":2", Path: "enet.max_peers", Problem: "too small", Accepted: "1 to 4095"}},
		{name: "negative count", file: "enet:\n  max_peers: -1",
			want: configs.Fault{Where: ":2", Path: "enet.max_peers", Problem: "too small", Accepted: "1 to 4095"}},
		{name: "count too large", file: "enet:\n  max_peers: 4096",
			want: configs.Fault{Where: ":2", Path: "enet.max_peers", Problem: "too large", Accepted: "1 to 4095"}},
		{name: "fraction", file: "enet:\n  max_peers: 1.5",
			want: configs.Fault{Where: ":2", Path: "enet.max_peers", Problem: "not a whole number", Accepted: "1 to 4095"}},
		{name: "yes for true", file: "dev: yes",
			want: configs.Fault{Where: ":1", Path: "dev", Problem: "neither", Accepted: "true or false"}},
		{name: "not one of the words", file: "log:\n  level: verbose",
			want: configs.Fault{Where: ":2", Path: "log.level", Problem: "not one of them", Accepted: "debug or info"}},
		{name: "duplicate key", file: "sessions:\n  outbox: 1MiB\n  outbox: 2MiB",
			want: configs.Fault{Where: ":3", Path: "sessions.outbox", Problem: "twice", Accepted: "once"}},
		{name: "duplicate section", file: "rooms: {cap: 5}\nrooms: {cap: 6}",
			want: configs.Fault{Where: ":2", Path: "rooms", Problem: "twice", Accepted: "once"}},
		{name: "no YAML", file: "http:\n\tlisten: x",
			want: configs.Fault{Where: ":", Problem: "not valid YAML"}},
		{name: "two documents", file: "dev: false\n---\ndev: true",
			want: configs.Fault{Where: ":3", Problem: "second document"}},
		{name: "merge key", file: "a: &a {cap: 5}\nrooms:\n  <<: *a",
			want: configs.Fault{Where: ":3", Path: "rooms.<<", Problem: "not a key"}},
		{name: "two listeners on one port", file: "http: {listen: \":8090\"}",
			want: configs.Fault{Path: "admin.listen", Problem: "http.listen", Accepted: "port of its own"}},
		{name: "two UDP listeners on one port", file: "enet: {listen: \"0.0.0.0:8081\"}",
			want: configs.Fault{Where: ":1", Path: "enet.listen", Problem: "rtc.udp_listen", Accepted: "port of its own"}},
		{name: "address without port", file: "http: {listen: \"127.0.0.1\"}",
			want: configs.Fault{Where: ":1", Path: "http.listen", Problem: "not an address with a port", Accepted: "address:port"}},
		{name: "port alone", file: "http:\n  listen: 8080",
			want: configs.Fault{Where: ":2", Path: "http.listen", Problem: "not an address with a port", Accepted: ":port"}},
		{name: "port too large", file: "http: {listen: \":65536\"}",
			want: configs.Fault{Where: ":1", Path: "http.listen", Problem: "not an address with a port", Accepted: ":port"}},
		{name: "host name", file: "http: {listen: \"localhost:80\"}",
			want: configs.Fault{Where: ":1", Path: "http.listen", Problem: "IP address", Accepted: "address:port"}},
		{name: "no public listener", file: "http: {listen: off}",
			want: configs.Fault{Where: ":1", Path: "http.listen", Problem: "can not be off"}},
		{name: "WebRTC over TCP alone", file: "rtc: {udp_listen: off}",
			want: configs.Fault{Path: "rtc.tcp_listen", Problem: "rtc.udp_listen"}},
		{name: "IPv6 for ENet", file: "enet:\n  listen: \"[::]:7777\"",
			want: configs.Fault{Where: ":2", Path: "enet.listen", Problem: "IPv6", Accepted: "IPv4"}},
		{name: "IPv6 loopback for ENet", env: []string{"GATEHOUSE_ENET_LISTEN=[::1]:7777"},
			want: configs.Fault{Where: "GATEHOUSE_ENET_LISTEN", Path: "enet.listen", Problem: "IPv6", Accepted: "IPv4"}},
		{name: "open in dev", file: "dev: true\nhttp: {listen: \":8080\"}",
			want: configs.Fault{Where: ":2", Path: "http.listen", Problem: "reached by others", Accepted: "127.0.0.1"}},
		{name: "ping timeout below the interval", file: "sessions: {ping_interval: 20s}",
			want: configs.Fault{Path: "sessions.ping_timeout", Problem: "20s", Accepted: "more than sessions.ping_interval"}},
		{name: "missing secret", env: []string{"GATEHOUSE_AUTH_SECRET="},
			want: configs.Fault{Path: "auth.secret", Problem: "needed", Accepted: "GATEHOUSE_AUTH_SECRET"}},
		{name: "missing admin token", env: []string{"GATEHOUSE_ADMIN_TOKEN="},
			want: configs.Fault{Path: "admin.token", Problem: "needed", Accepted: "GATEHOUSE_ADMIN_TOKEN"}},
		{name: "short secret", env: []string{"GATEHOUSE_AUTH_SECRET=hunter2"},
			want: configs.Fault{Where: "GATEHOUSE_AUTH_SECRET", Path: "auth.secret", Problem: "7 bytes", Accepted: "32"}},
		{name: "secret in the file", file: "auth:\n  secret: hunter2",
			want: configs.Fault{Where: ":2", Path: "auth.secret", Problem: "secret", Accepted: "auth.secret_file"}},
		{name: "secret on the command line", set: configs.Override{Flag: "--set", Path: "auth.secret", Value: "hunter2"},
			want: configs.Fault{Where: "--set", Path: "auth.secret", Problem: "secret", Accepted: "GATEHOUSE_AUTH_SECRET"}},
		{name: "missing secret file", file: "auth:\n  secret_file: /does/not/exist", env: []string{"GATEHOUSE_AUTH_SECRET="},
			want: configs.Fault{Where: ":2", Path: "auth.secret_file", Problem: "/does/not/exist", Accepted: "path of a file"}},
		{name: "empty secret file", file: "admin:\n  token_file: " + empty, env: []string{"GATEHOUSE_ADMIN_TOKEN="},
			want: configs.Fault{Where: ":2", Path: "admin.token_file", Problem: "empty", Accepted: "path of a file"}},
		{name: "secret file and variable", file: "auth:\n  secret_file: " + empty,
			want: configs.Fault{Where: ":2", Path: "auth.secret_file", Problem: "too", Accepted: "one of them"}},
		{name: "unknown variable", env: []string{"GATEHOUSE_SESIONS_OUTBOX=1MiB"},
			want: configs.Fault{Where: "GATEHOUSE_SESIONS_OUTBOX", Problem: "not a variable", Accepted: "GATEHOUSE_SESSIONS_PING_INTERVAL"}},
		{name: "variable of Kubernetes", env: []string{"GATEHOUSE_SERVICE_HOST=10.0.0.1"},
			want: configs.Fault{Where: "GATEHOUSE_SERVICE_HOST", Problem: "not a variable", Accepted: "enableServiceLinks"}},
		{name: "bad value in a variable", env: []string{"GATEHOUSE_SESSIONS_PING_INTERVAL=10"},
			want: configs.Fault{Where: "GATEHOUSE_SESSIONS_PING_INTERVAL", Path: "sessions.ping_interval", Problem: "no unit", Accepted: "50ms"}},
		{name: "empty variable", env: []string{"GATEHOUSE_SESSIONS_PING_INTERVAL="},
			want: configs.Fault{Where: "GATEHOUSE_SESSIONS_PING_INTERVAL", Path: "sessions.ping_interval", Problem: "not a duration", Accepted: "50ms"}},
		{name: "unknown key in a flag", set: configs.Override{Flag: "--set", Path: "sessions.outboxx", Value: "1MiB"},
			want: configs.Fault{Where: "--set", Path: "sessions.outboxx", Problem: "not a key", Accepted: "sessions.outbox"}},
		{name: "section in a flag", set: configs.Override{Flag: "--set", Path: "sessions", Value: "1MiB"},
			want: configs.Fault{Where: "--set", Path: "sessions", Problem: "a section, not a key"}},
		{name: "origin with path", file: "http:\n  origins:\n    - https://a.example/game",
			want: configs.Fault{Where: ":3", Path: "http.origins[0]", Problem: "not an origin", Accepted: "scheme://host"}},
		{name: "malformed network", file: "http: {trusted_proxies: [10.0.0.0/33]}",
			want: configs.Fault{Where: ":1", Path: "http.trusted_proxies[0]", Problem: "not a network", Accepted: "10.0.0.0/8"}},
		{name: "network with bits set", file: "http: {trusted_proxies: [10.0.0.1/8]}",
			want: configs.Fault{Where: ":1", Path: "http.trusted_proxies[0]", Problem: "10.0.0.0/8"}},
		{name: "everybody as proxy", file: "http: {trusted_proxies: [0.0.0.0/0]}",
			want: configs.Fault{Where: ":1", Path: "http.trusted_proxies[0]", Problem: "every address"}},
		{name: "external address is a name", file: "rtc: {external_ips: [play.example.org]}",
			want: configs.Fault{Where: ":1", Path: "rtc.external_ips[0]", Problem: "not an IP address", Accepted: "203.0.113.7"}},
		{name: "netsim in production", file: "netsim: loss=3%",
			want: configs.Fault{Where: ":1", Path: "netsim", Problem: "worse", Accepted: "dev"}},
		{name: "netsim of no sense", file: "dev: true\nnetsim: los=3%",
			want: configs.Fault{Where: ":2", Path: "netsim", Problem: "los", Accepted: "latency="}},
		{name: "template without kind", file: "rooms: {templates: [{match: a}]}",
			want: configs.Fault{Where: ":1", Path: "rooms.templates[0].kind", Problem: "missing", Accepted: "relay"}},
		{name: "template with bad pattern", file: "rooms: {templates: [{match: \"[\", kind: relay}]}",
			want: configs.Fault{Where: ":1", Path: "rooms.templates[0].match", Problem: "not a pattern"}},
		{name: "template with unknown game", file: "rooms: {templates: [{match: a, kind: authority, game: chess}]}",
			want: configs.Fault{Where: ":1", Path: "rooms.templates[0].game", Problem: "chess", Accepted: "arena"}},
		{name: "relay with a game", file: "rooms: {templates: [{match: a, kind: relay, game: arena}]}",
			want: configs.Fault{Where: ":1", Path: "rooms.templates[0].game", Problem: "simulates nothing"}},
		{name: "template with zero cap", file: "rooms:\n  templates:\n    - match: a\n      kind: relay\n      cap: 0",
			want: configs.Fault{Where: ":5", Path: "rooms.templates[0].cap", Problem: "too small", Accepted: "1 to 10000"}},
		{name: "template with unknown key", file: "rooms: {templates: [{math: a, match: a, kind: relay}]}",
			want: configs.Fault{Where: ":1", Path: "rooms.templates[0].math", Problem: "not a key", Accepted: "match"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := configs.Sources{Environ: env(c.env...), Known: configs.Known{
				Games:  []string{"arena"},
				Netsim: func(text string) error { _, err := link.ParseNetsim(text); return err },
			}}
			if c.file != "" {
				s.File = write(t, c.file)
			}
			if c.set.Path != "" {
				s.Set = []configs.Override{c.set}
			}
			_, err := configs.Load(s)
			var faults configs.Faults
			if !errors.As(err, &faults) {
				t.Fatalf("accepted: %v", err)
			}
			for _, f := range faults {
				if f.Path == c.want.Path && strings.Contains(f.Problem, c.want.Problem) && strings.Contains(f.Accepted, c.want.Accepted) &&
					(strings.HasSuffix(f.Where, c.want.Where) || c.want.Where == ":" && strings.HasPrefix(f.Where, s.File)) {
					if strings.Contains(err.Error(), "hunter2") {
						t.Errorf("a secret is repeated: %v", err)
					}
					return
				}
			}
			t.Errorf("got\n%v\nwant %+v", err, c.want)
		})
	}
}

func TestAllFaultsAreReportedTogether(t *testing.T) {
	t.Parallel()
	_, err := configs.Load(configs.Sources{
		File: write(t, `
sesions: {}
sessions:
  ping_interval: 10
  outbox: 1KiB
enet:
  listen: "[::]:7777"
auth:
  secret_file: /does/not/exist
`),
		Environ: []string{"GATEHOUSE_NO_SUCH=1"},
	})
	var faults configs.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	for _, path := range []string{"sesions", "sessions.ping_interval", "sessions.outbox", "enet.listen", "auth.secret_file", "GATEHOUSE_NO_SUCH", "admin.token"} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%s is missing in\n%v", path, err)
		}
	}
	if len(faults) != 7 {
		t.Errorf("%d faults, want 7:\n%v", len(faults), err)
	}
}

func TestLaterSourcesWin(t *testing.T) {
	t.Parallel()
	file := write(t, "sessions: {ping_interval: 1s, join_timeout: 1s, resume_grace: 1s}\n")
	c, err := configs.Load(configs.Sources{
		File:    file,
		Environ: env("GATEHOUSE_SESSIONS_JOIN_TIMEOUT=2s", "GATEHOUSE_SESSIONS_RESUME_GRACE=2s"),
		Set:     []configs.Override{{Flag: "--set", Path: "sessions.resume_grace", Value: "3s"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Sessions
	if s.PingTimeout.D() != 15*time.Second || s.PingInterval.D() != time.Second || s.JoinTimeout.D() != 2*time.Second || s.ResumeGrace.D() != 3*time.Second {
		t.Errorf("%+v", s)
	}
}

func TestFileFromTheEnvironment(t *testing.T) {
	t.Parallel()
	c, err := configs.Load(configs.Sources{Environ: env("GATEHOUSE_CONFIG=" + write(t, "rooms: {cap: 7}"))})
	if err != nil {
		t.Fatal(err)
	}
	if c.Rooms.Cap != 7 {
		t.Errorf("cap %d", c.Rooms.Cap)
	}
	if _, err := configs.Load(configs.Sources{Environ: env("GATEHOUSE_CONFIG=/does/not/exist")}); err == nil {
		t.Error("a missing file was accepted")
	}
}

func TestListsInTheEnvironment(t *testing.T) {
	t.Parallel()
	c, err := configs.Load(configs.Sources{Environ: env(
		"GATEHOUSE_HTTP_ORIGINS=https://a.example, https://b.example",
		"GATEHOUSE_HTTP_TRUSTED_PROXIES=",
		`GATEHOUSE_ROOMS_TEMPLATES=[{match: "a*", kind: relay, cap: 3, empty_timeout: never}]`,
	)})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.HTTP.Origins, " "); got != "https://a.example https://b.example" {
		t.Errorf("origins %q", got)
	}
	if len(c.HTTP.TrustedProxies) != 0 {
		t.Errorf("proxies %v", c.HTTP.TrustedProxies)
	}
	want := configs.Template{Match: "a*", Kind: "relay", Cap: 3, EmptyTimeout: configs.Never}
	if len(c.Rooms.Templates) != 1 || c.Rooms.Templates[0] != want {
		t.Errorf("templates %+v", c.Rooms.Templates)
	}
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := configs.Load(configs.Sources{Environ: []string{"GATEHOUSE_AUTH_SECRET_FILE=" + path, "GATEHOUSE_ADMIN_LISTEN=off"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Auth.Secret.Reveal() != secret {
		t.Error("the file's secret did not arrive")
	}
}

func TestSecretOfTokensAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		environ []string
		file    string
		want    string // part of the error
	}{
		{"from the environment", []string{"GATEHOUSE_AUTH_SECRET=" + secret}, "", ""},
		{"from the environment's file", []string{"GATEHOUSE_AUTH_SECRET_FILE=" + path}, "", ""},
		{"from a file", nil, path, ""},
		{"the file comes first", []string{"GATEHOUSE_AUTH_SECRET=" + strings.Repeat("x", 40)}, path, ""},
		{"none", nil, "", "is needed"},
		{"missing file", nil, path + "x", "--secret-file: auth.secret_file"},
		{"short", []string{"GATEHOUSE_AUTH_SECRET=hunter2"}, "", "has 7 bytes"},
	} {
		got, err := configs.AuthSecret(c.environ, c.file)
		if c.want == "" && (err != nil || got.Reveal() != secret) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"dev: true", "rooms: {templates: [{match: a, kind: relay}]}", "a: &a\n  b: *a", "? [x]\n: y", "- 1", "http:\n  listen: |\n    x", "\x00", "!!binary x: y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, text)
		c, err := configs.Load(configs.Sources{File: path, Environ: env()})
		if (c == nil) == (err == nil) && err == nil {
			t.Error("neither a configuration nor an error")
		}
	})
}

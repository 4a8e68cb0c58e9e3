package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
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
		{"set of no key in a section", good, "serve --set http.listn=:80", "http.listen, http.origins"},
		{"where to read on", good, "serve --lisen=:80", "Try: gatehouse serve --help"},
		{"where to read on about tokens", good, "token mint --rom=x", "Try: gatehouse token mint --help"},
		{"where to read on about bots", nil, "bot --count=0", "Try: gatehouse bot --help"},
		{"set out of range", good, "config check --set sessions.ping_interval=10", "no unit"},
		{"netsim in production", good, "serve --netsim loss=3%", "needs --dev"},
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
		{"a number for a time", nil, "bot --duration=5", "--duration: \"5\" is no duration (accepted: numbers with units"},
		{"bad name for bots", nil, "bot --name=" + strings.Repeat("x", 60), "--name"},
		{"bad room for bots", nil, "bot --room=a/b", "--room"},
		{"bad URL for bots", nil, "bot --url=ftp://x", "--url"},
		{"no port for enet", nil, "bot --transport=enet --url=localhost", "host:port"},
		{"short secret", []string{"GATEHOUSE_AUTH_SECRET=hunter2"}, "token mint --room=a --identity=b", "7 bytes"},
		{"no secret for a token", nil, "token mint --room=a --identity=b", "GATEHOUSE_AUTH_SECRET"},
		{"bad room for a token", good, "token mint --room=a/b --identity=b", "room"},
		{"bad life of a token", good, "token mint --room=a --identity=b --ttl=-1s", "--ttl"},
		{"life of a token in weeks", good, "token mint --room=a --identity=b --ttl=1w", "--ttl: \"1w\" is no duration (accepted: numbers with units, as in 30s, 90m, 12h or 7d)"},
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
	if code, _, errs := command(t, nil, "config", "check", "--dev", "--netsim", "loss=3%"); code != exitOK {
		t.Errorf("check --dev: %d %s", code, errs)
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
	code, out, errs = command(t, nil, "config", "show", "--set", "sessions.ping_interval=2")
	if code != exitUsage || !strings.Contains(out, "  ping_timeout: 15s\n") || !strings.Contains(errs, "auth.secret") || !strings.Contains(errs, "no unit") {
		t.Errorf("show of what is not good: %d %s%s", code, out, errs)
	}
}

func TestSpansHaveDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "1d": day, "7d12h": 7*day + 12*time.Hour, "0s": 0, "-1s": -time.Second, "65535d": 65535 * day,
	} {
		var s span
		if err := s.UnmarshalText([]byte(text)); err != nil || time.Duration(s) != want {
			t.Errorf("%s: %s, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "d", "5", "1w", "1d5", "-1d", "1dd", "1d-1h", "65536d", "1.5d", "99999999999h"} {
		var s span
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: %s", text, s)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	if code, out, _ := command(t, nil, "--help"); code != exitOK || !strings.Contains(out, "serve") {
		t.Errorf("help: %d %s", code, out)
	}
	for _, how := range []string{"version", "--version"} {
		if code, out, errs := command(t, nil, how); code != exitOK || !strings.Contains(out, "protocol versions [1]") || errs != "" {
			t.Errorf("%s: %d %s%s", how, code, out, errs)
		}
	}
	if code, out, _ := command(t, nil, "serve", "--help"); code != exitOK || !strings.Contains(out, "--set http.listen=127.0.0.1:28080") {
		t.Errorf("help of serve: %d %s", code, out)
	}
}

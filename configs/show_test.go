package configs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/configs"
)

func show(t testing.TB, c *configs.Config) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Show(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShownConfigurationIsTheSame(t *testing.T) {
	t.Parallel()
	file := write(t, `
http:
  origins: ["https://play.example.org"]
  trusted_proxies: [10.0.0.0/8, "fd00::/8"]
rtc:
  external_ips: [203.0.113.7, "2001:db8::1"]
rooms:
  on_demand: true
  empty_timeout: never
  templates:
    - {match: "a: b*", kind: relay, cap: 5}
    - {match: "*", kind: authority, game: arena, tick_rate: 60, empty_timeout: 90s}
`)
	a, err := configs.Load(configs.Sources{File: file, Environ: env("GATEHOUSE_SESSIONS_OUTBOX=1536KiB")})
	if err != nil {
		t.Fatal(err)
	}
	text := show(t, a)
	b, err := configs.Load(configs.Sources{File: write(t, text), Environ: env()})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	// Only where the values come from differs, which nothing exported shows but
	// the comments.
	for i := range reflect.TypeOf(*a).NumField() {
		if f := reflect.TypeOf(*a).Field(i); f.IsExported() {
			if x, y := reflect.ValueOf(*a).Field(i).Interface(), reflect.ValueOf(*b).Field(i).Interface(); !reflect.DeepEqual(x, y) {
				t.Errorf("%s: %+v, shown as %+v", f.Name, x, y)
			}
		}
	}
	if !strings.Contains(text, "outbox: 1536KiB # GATEHOUSE_SESSIONS_OUTBOX\n") {
		t.Errorf("does not say where the outbox comes from:\n%s", text)
	}
}

func TestSecretsNeverComeOut(t *testing.T) {
	t.Parallel()
	c, err := configs.Load(configs.Sources{Environ: env()})
	if err != nil {
		t.Fatal(err)
	}
	text := show(t, c)
	if !strings.Contains(text, "# secret: ********") {
		t.Errorf("does not say that a secret is set:\n%s", text)
	}
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "secret", c.Auth.Secret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "secret", c.Auth.Secret)
	for how, out := range map[string]string{
		"show": text, "%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", *c), "%#v": fmt.Sprintf("%#v", *c),
		"%s": fmt.Sprintf("%s", c.Auth.Secret), "%q": fmt.Sprintf("%q", c.Auth.Secret), "%x": fmt.Sprintf("%x", c.Auth.Secret),
		"JSON": string(encoded), "log": log.String(),
	} {
		for _, s := range []string{secret, token, fmt.Sprintf("%x", secret)} {
			if strings.Contains(out, s) {
				t.Errorf("%s shows a secret: %s", how, out)
			}
		}
	}
}

// The shipped file is the documentation of what the keys are called: all of
// them must be in it, and each must have a rule.
func TestEveryKeyHasADefaultAndARule(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := f.Tag.Get("yaml")
			if name == "" {
				continue
			}
			at := path + name
			if !strings.Contains(string(file), name+":") && f.Type != reflect.TypeFor[configs.Secret]() && !strings.HasPrefix(path, "templates[]") {
				t.Errorf("%s is not in default.yaml", at)
			}
			_, ranged := f.Tag.Lookup("range")
			_, enum := f.Tag.Lookup("enum")
			_, accept := f.Tag.Lookup("accept")
			switch f.Type {
			case reflect.TypeFor[configs.Duration](), reflect.TypeFor[configs.Size](), reflect.TypeFor[int]():
				if !ranged {
					t.Errorf("%s has no range", at)
				}
			case reflect.TypeFor[string](), reflect.TypeFor[[]string]():
				if !enum && !accept {
					t.Errorf("%s does not say what it accepts", at)
				}
			case reflect.TypeFor[[]configs.Template]():
				walk(f.Type.Elem(), "templates[].")
			}
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[configs.Secret]() {
				walk(f.Type, at+".")
			}
		}
	}
	walk(reflect.TypeFor[configs.Config](), "")
	configs.Default(false)
	configs.Default(true)
}

// Who reads the shipped file need read nothing else: above each key stand its
// meaning and its range.
func TestEveryKeyOfTheDefaultsIsExplained(t *testing.T) {
	t.Parallel()
	comments := commentsByPath(t, "default.yaml")
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := f.Tag.Get("yaml")
			if name == "" || f.Type == reflect.TypeFor[configs.Secret]() {
				continue
			}
			comment := comments[path+name]
			if len(comment) < 8 {
				t.Errorf("%s%s has no comment", path, name)
			}
			span, never := strings.CutSuffix(f.Tag.Get("range"), "|never")
			from, to, _ := strings.Cut(span, "..")
			want := append(strings.FieldsFunc(f.Tag.Get("enum"), func(r rune) bool { return r == '|' }), from, to)
			if never {
				want = append(want, "never")
			}
			if f.Type == reflect.TypeFor[[]configs.Template]() {
				for i := range f.Type.Elem().NumField() {
					want = append(want, f.Type.Elem().Field(i).Tag.Get("yaml"))
				}
			}
			for _, word := range want {
				if !strings.Contains(comment, word) {
					t.Errorf("%s%s: no %q in %q", path, name, word, comment)
				}
			}
			if f.Type.Kind() == reflect.Struct {
				walk(f.Type, path+name+".")
			}
		}
	}
	walk(reflect.TypeFor[configs.Config](), "")
}

// commentsByPath returns the comment right above each key of a file.
func commentsByPath(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found, section, comment := map[string]string{}, "", ""
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimSpace(line)
		if words, ok := strings.CutPrefix(bare, "#"); ok {
			comment += words
			continue
		}
		if name, _, ok := strings.Cut(bare, ":"); ok {
			if !strings.HasPrefix(line, " ") {
				section = ""
			}
			found[section+name] = comment
			if bare == name+":" {
				section = name + "."
			}
		}
		comment = ""
	}
	return found
}

func TestQuantitiesSurviveTheirText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0s", "50ms", "1m", "1m30s", "1h", "1h30m", "2h0m1s", "24h", "never", "1.5s"} {
		var d configs.Duration
		if err := d.UnmarshalText([]byte(s)); err != nil || d.String() != s {
			t.Errorf("%q: %q, %v", s, d, err)
		}
	}
	for _, s := range []string{"0B", "1B", "1023B", "1KiB", "64KiB", "1536KiB", "1MiB", "2GiB"} {
		var n configs.Size
		if err := n.UnmarshalText([]byte(s)); err != nil || n.String() != s {
			t.Errorf("%q: %q, %v", s, n, err)
		}
	}
}

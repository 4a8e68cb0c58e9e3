// Package gatehouse_test holds the house together: who may import whom.
package gatehouse_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gatehouse/gatehouse"

// rule bounds what the packages under a folder may import of this module.
type rule struct {
	// folder and everything below it, unless a longer rule matches.
	folder string
	// may lists folders of this module; "x/..." means x and all below.
	may []string
	why string
}

var rules = []rule{
	{"wire", []string{"wire/..."}, "wire is what clients in any language could be built on: it knows nobody"},
	{"authority", []string{"wire", "authority/replica"}, "the border knows frames and entities, never who carries them"},
	{"authority/replica", []string{"wire"}, "replica is pure: of ours it uses the bit codec only"},
	{"authority/input", []string{"wire"}, "sequencing needs nothing but numbers"},
	{"authority/room", []string{"wire", "authority", "authority/replica", "authority/input"}, "a room knows the border, not links, sessions or games"},
	{"authority/games", []string{"wire", "authority", "authority/replica", "authority/input", "authority/games/..."}, "a game could live in another repository"},
	{"gateway/link", []string{"wire/..."}, "the seam knows bytes and lanes"},
	{"gateway/ws", []string{"gateway/link", "wire"}, "a transport knows its library and the seam"},
	{"gateway/rtc", []string{"gateway/link", "wire"}, "a transport knows its library and the seam"},
	{"gateway/enet", []string{"gateway/link", "wire"}, "a transport knows its library and the seam"},
	{"gateway/session", []string{"gateway/link", "gateway/admit", "authority", "wire/..."}, "a session knows its link and its seat, not what is behind either"},
	{"gateway/admit", []string{"wire"}, "admission is about tokens, names and addresses"},
	{"gateway/admin", []string{"gateway/admit", "gateway/session", "authority", "wire"}, "operators see rooms and sessions through their state"},
	{"gateway/metrics", []string{"gateway/link", "gateway/session", "gateway/admit", "authority", "authority/room", "wire"}, "metrics implement the observers of others"},
	{"signaling", []string{"gateway/admit", "authority", "wire"}, "signaling answers offers through an Answerer, whoever that is"},
	{"client", []string{"gateway/link", "gateway/ws", "gateway/rtc", "gateway/enet", "wire/...", "authority/replica", "authority/games/..."}, "a client has links and a copy of the world, no server"},
	{"configs", []string{"gateway/admit"}, "configuration is data; names, origins and proxies are checked by who reads them"},
	{"gateway", []string{"configs", "gateway/...", "signaling", "authority", "authority/room", "wire"}, "composition sees the whole edge"},
	{"cmd", []string{"..."}, "the command wires everything"},
	{".", []string{"..."}, "tests of the whole house"},
}

// libraries that are confined to folders.
var libraries = []struct {
	prefix string
	in     []string
	why    string
}{
	{"github.com/pion/", []string{"gateway/rtc", "signaling", "turn"}, "WebRTC is one transport's business"},
	{"github.com/coder/websocket", []string{"gateway/ws"}, "WebSocket is one transport's business"},
	{"github.com/codecat/go-enet", []string{"gateway/enet"}, "ENet is one transport's business, and cgo"},
	{"github.com/labstack/echo", []string{"gateway", "gateway/admin", "gateway/admit", "signaling"}, "HTTP handlers only"},
	{"github.com/prometheus/", []string{"gateway/metrics"}, "everyone else has an Observer"},
	{"github.com/nats-io/", []string{"cluster"}, "beyond one machine is the cluster's business"},
}

// pure packages import the standard library and what rules allow.
var pure = []string{"wire", "authority/replica", "authority/input", "authority", "authority/room", "authority/games"}

func TestImportsFollowTheHouse(t *testing.T) {
	t.Parallel()
	for _, fault := range violations(t, os.DirFS(".")) {
		t.Error(fault)
	}
}

func TestPlantedImportsAreFound(t *testing.T) {
	t.Parallel()
	planted := map[string]string{
		"wire/x.go":                       `import _ "github.com/gatehouse/gatehouse/authority"`,
		"authority/room/x.go":             `import _ "github.com/gatehouse/gatehouse/gateway/link"`,
		"authority/games/arena/x.go":      `import _ "github.com/gatehouse/gatehouse/authority/room"`,
		"gateway/ws/x.go":                 `import _ "github.com/gatehouse/gatehouse/gateway/session"`,
		"gateway/session/x.go":            `import _ "github.com/pion/webrtc/v4"`,
		"authority/replica/x.go":          `import _ "pgregory.net/rapid"`,
		"client/x.go":                     `import _ "github.com/gatehouse/gatehouse/gateway/session"`,
		"gateway/link/x.go":               `import _ "github.com/gatehouse/gatehouse/cmd/gatehouse"`,
		"somewhere/else/that/is/new/x.go": `import _ "github.com/gatehouse/gatehouse/wire"`,
	}
	for file, imports := range planted {
		dir := t.TempDir()
		full := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("package x\n"+imports+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := violations(t, os.DirFS(dir)); len(got) != 1 {
			t.Errorf("%s with %s: found %q, want one violation", file, imports, got)
		}
	}
}

// violations lists the imports of non-test files that no rule allows.
func violations(t *testing.T, house fs.FS) (faults []string) {
	err := fs.WalkDir(house, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "bench" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(house, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if why := forbidden(path.Dir(file), imported); why != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s: %s", file, imported, why))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// forbidden returns why a package of a folder may not import a path, or "".
func forbidden(folder, imported string) string {
	own, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		return foreign(folder, imported)
	}
	if strings.HasPrefix(own, "cmd/") {
		return "nobody imports cmd"
	}
	r := ruleOf(folder)
	if r == nil {
		return "the folder has no import rule yet"
	}
	for _, may := range r.may {
		tree, deep := strings.CutSuffix(may, "/...")
		if may == "..." || own == may || deep && within(own, tree) {
			return ""
		}
	}
	return r.why
}

func foreign(folder, imported string) string {
	if !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
		return "" // standard library
	}
	for _, l := range libraries {
		if strings.HasPrefix(imported, l.prefix) && !slices.Contains(l.in, folder) {
			return l.why
		}
	}
	for _, p := range pure {
		if within(folder, p) {
			return "the standard library is all it needs"
		}
	}
	return ""
}

// ruleOf returns the rule with the longest folder that holds the given one.
func ruleOf(folder string) *rule {
	var best *rule
	for i := range rules {
		if r := &rules[i]; within(folder, r.folder) && (best == nil || len(r.folder) > len(best.folder)) {
			best = r
		}
	}
	return best
}

func within(folder, tree string) bool {
	return folder == tree || strings.HasPrefix(folder, tree+"/")
}

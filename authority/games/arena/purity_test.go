package arena

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestStepCanNotDependOnAnythingElse looks at every expression of the game and
// its movement rule for floating point, which may differ between processors, for
// clocks, foreign random numbers, goroutines and the order of maps.
func TestStepCanNotDependOnAnythingElse(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.go", "movement/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	checked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		checked++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for n := range ast.Preorder(file) {
			if lit, ok := n.(*ast.BasicLit); ok && name == "schema.go" && lit.Kind == token.FLOAT {
				continue // a unit: for people only
			}
			if reason := impure(n); reason != "" {
				t.Errorf("%s: %s", set.Position(n.Pos()), reason)
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d files looked at", checked)
	}
}

// impure tells what of a node could make two runs of a world differ, or "".
func impure(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind == token.FLOAT {
			return "floating point"
		}
	case *ast.Ident:
		switch n.Name {
		case "float32", "float64", "complex64", "complex128":
			return "floating point"
		}
	case *ast.ImportSpec:
		switch n.Path.Value {
		case `"math"`, `"math/rand"`, `"math/rand/v2"`, `"time"`, `"maps"`:
			return "import of " + n.Path.Value
		}
	case *ast.GoStmt, *ast.SelectStmt:
		return "concurrency"
	case *ast.RangeStmt:
		if sel, ok := n.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "seats" {
			return "the order of a map"
		}
	}
	return ""
}

func TestImpurityIsFound(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"var x = 1.5", "func f(x float64) {}", "func f() { go f() }", `import "time"`, `import "math"`,
		"func f(w *world) { for range w.seats {} }", "func f() { select {} }",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "planted.go", "package arena\n"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for n := range ast.Preorder(file) {
			found = found || impure(n) != ""
		}
		if !found {
			t.Errorf("%q passes", code)
		}
	}
}

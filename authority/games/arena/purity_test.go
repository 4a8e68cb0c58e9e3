package arena

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoFloatingPoint looks at every expression of the game and its movement
// rule: floating point may differ between processors. The units of the schema
// are for people only.
func TestNoFloatingPoint(t *testing.T) {
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
			if floating(n) {
				t.Errorf("%s: floating point", set.Position(n.Pos()))
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d files looked at", checked)
	}
}

// floating reports whether a node brings floating point in. Units are spared by
// their place: schema.go divides untyped constants only.
func floating(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BasicLit:
		return n.Kind == token.FLOAT && n.Value != "1." && n.Value != "360."
	case *ast.Ident:
		switch n.Name {
		case "float32", "float64", "complex64", "complex128":
			return true
		}
	case *ast.ImportSpec:
		switch n.Path.Value {
		case `"math"`, `"math/rand"`, `"math/rand/v2"`, `"time"`:
			return true
		}
	case *ast.RangeStmt:
		// Ranging over the one map of the world would be in a random order.
		if sel, ok := n.X.(*ast.SelectorExpr); ok {
			return sel.Sel.Name == "seats"
		}
	}
	return false
}

package configs

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFileBytes bounds a configuration file.
const maxFileBytes = 1 << 20

// sources says where the value of each path was read.
type sources map[string]string

// decoder reads YAML into the tree. It is ours because the library's own stops
// at the first fault and takes what almost fits.
type decoder struct {
	sources sources
	faults  Faults
	where   func(n ast.Node) string
}

// document reads one YAML document into v, the value of the key at path.
func (d *decoder) document(text []byte, path string, k key, v reflect.Value) (ok bool) {
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) // told with their path below
	if err != nil {
		d.syntax(path, err)
		return false
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return true
	case 1:
		d.value(bodies[0], path, k, v)
	default:
		d.faults = append(d.faults, Fault{d.where(bodies[1]), path, "is a second document", "one document"})
	}
	return true
}

// syntax reports YAML that does not parse, without the source text that the
// library's message would repeat: a secret may stand in it.
func (d *decoder) syntax(path string, err error) {
	f := Fault{d.where(nil), path, "is not valid YAML", ""}
	if e, ok := err.(yaml.Error); ok {
		f.Problem += ": " + e.GetMessage()
		if t := e.GetToken(); t != nil && t.Position != nil {
			f.Where += fmt.Sprintf(":%d", t.Position.Line)
		}
	}
	d.faults = append(d.faults, f)
}

func (d *decoder) value(n ast.Node, path string, k key, v reflect.Value) {
	switch {
	case k.section():
		d.section(n, path, k, v)
	case k.list():
		d.list(n, path, k, v)
	default:
		d.scalar(n, path, k, v)
	}
}

func (d *decoder) section(n ast.Node, path string, k key, v reflect.Value) {
	pairs, ok := mapping(n)
	if !ok {
		d.wrongShape(n, path, k)
		return
	}
	keys, seen := keysOf(v.Type()), map[string]bool{}
	for _, pair := range pairs {
		name := pair.Key.GetToken().Value
		at := join(path, name)
		child, known := find(keys, name)
		switch {
		case !known:
			d.unknown(pair.Key, at, keys)
		case seen[name]:
			d.faults = append(d.faults, Fault{d.where(pair.Key), at, "is given twice", "each key once"})
		case child.secret():
			d.faults = append(d.faults, Fault{d.where(pair.Key), at, "is a secret and does not belong here",
				at + "_file with the path of a file, or the environment variable " + envName(at)})
		default:
			d.value(pair.Value, at, child, v.Field(child.index))
		}
		seen[name] = true
	}
}

// unknown reports a key that is not of this place, and where it would be right:
// wrong indentation is the commonest cause.
func (d *decoder) unknown(n ast.Node, path string, keys []key) {
	_, name, ok := cutLast(path, ".")
	if !ok {
		name = path
	}
	accepted := strings.Join(names(keys), ", ")
	if homes := pathsNamed(name); len(homes) > 0 {
		accepted += "; perhaps " + strings.Join(homes, " or ") + " was meant"
	}
	d.faults = append(d.faults, Fault{d.where(n), path, "is not a key", accepted})
}

func (d *decoder) list(n ast.Node, path string, k key, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.wrongShape(n, path, k)
		return
	}
	element := k
	element.typ = k.typ.Elem()
	all := reflect.MakeSlice(k.typ, len(seq.Values), len(seq.Values))
	for i, one := range seq.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		if element.section() {
			element.accept = ""
		}
		d.value(one, at, element, all.Index(i))
	}
	v.Set(all)
	d.sources[path] = d.where(n)
}

func (d *decoder) scalar(n ast.Node, path string, k key, v reflect.Value) {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
	case *ast.NullNode:
		d.faults = append(d.faults, Fault{d.where(n), path, "has no value", k.accepted()})
		return
	default:
		d.wrongShape(n, path, k)
		return
	}
	d.text(n.GetToken().Value, d.where(n), path, k, v)
}

// text reads the text of one value.
func (d *decoder) text(text, where, path string, k key, v reflect.Value) {
	if err := k.set(v, text); err != nil {
		d.faults = append(d.faults, Fault{where, path, err.Error(), k.accepted()})
		return
	}
	d.sources[path] = where
}

func (d *decoder) wrongShape(n ast.Node, path string, k key) {
	want := "one value"
	switch {
	case k.section():
		want = "a section"
	case k.list():
		want = "a list"
	}
	d.faults = append(d.faults, Fault{d.where(n), path, "is not " + want, k.accepted()})
}

// mapping returns the pairs of a mapping, which the parser has two forms of.
func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func find(keys []key, name string) (key, bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// pathsNamed returns every path of the tree whose last name is name.
func pathsNamed(name string) []string {
	var found []string
	each(func(path string, k key) {
		if k.name == name {
			found = append(found, path)
		}
	})
	return found
}

// each calls fn with every key of the tree that is not a section.
func each(fn func(path string, k key)) {
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		for _, k := range keysOf(t) {
			if at := join(path, k.name); k.section() {
				walk(k.typ, at)
			} else {
				fn(at, k)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

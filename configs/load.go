package configs

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

//go:embed default.yaml
var defaultYAML []byte

//go:embed dev.yaml
var devYAML []byte

// Sources are what a configuration is made of, besides the defaults.
type Sources struct {
	// File is the path of a YAML file; empty for GATEHOUSE_CONFIG, else none.
	File string
	// Environ as [os.Environ] gives it.
	Environ []string
	// Set are values given by flags.
	Set []Override
	Known
}

// Known is what other parts of the program know of values that this package does
// not understand.
type Known struct {
	// Games that rooms may run; nil: not checked.
	Games []string
	// Netsim says what is wrong with a netsim text; nil: not checked.
	Netsim func(text string) error
}

// Override is a value that a flag gives.
type Override struct {
	// Flag as it was written, "--dev".
	Flag string
	// Path of the key, "dev".
	Path string
	// Value as it would stand in a file.
	Value string
}

const (
	envPrefix = "GATEHOUSE_"
	envFile   = "GATEHOUSE_CONFIG"
)

// Load reads and checks a configuration. The error is [Faults], all there are;
// what could be read comes with it, to be shown and for nothing else. It is nil
// only if the file could not be read.
func Load(s Sources) (*Config, error) {
	file, fault := s.read()
	if fault != nil {
		return nil, Faults{*fault}
	}
	c, faults := s.layer(file, false)
	if c.Dev {
		c, faults = s.layer(file, true)
	}
	faults = append(faults, c.readSecrets()...)
	faults = append(faults, c.validate(s.Known)...)
	return c, faults.err()
}

// Default returns the defaults, or those of dev mode.
func Default(dev bool) *Config {
	c, faults := Sources{}.layer(nil, dev)
	if len(faults) > 0 {
		panic(faults) // our own files only, and a test reads them
	}
	c.Dev = dev
	return c
}

func (s *Sources) read() ([]byte, *Fault) {
	where := "--config"
	if s.File == "" {
		where = envFile
		for _, pair := range s.Environ {
			if path, ok := strings.CutPrefix(pair, envFile+"="); ok {
				s.File = path
			}
		}
	}
	if s.File == "" {
		return nil, nil
	}
	text, err := readFile(s.File, maxFileBytes)
	if err != nil {
		return nil, &Fault{where, "", err.Error(), "a YAML file"}
	}
	return text, nil
}

// layer puts the sources over each other, without judging the whole.
func (s Sources) layer(file []byte, dev bool) (*Config, Faults) {
	c := &Config{sources: sources{}}
	d := &decoder{sources: c.sources}
	root, tree := key{typ: reflect.TypeFor[Config]()}, reflect.ValueOf(c).Elem()
	layers := []struct {
		name string
		text []byte
	}{{"default", defaultYAML}, {"dev", devYAML}, {s.File, file}}
	for _, l := range layers {
		if l.name == "dev" && !dev {
			continue
		}
		d.where = func(n ast.Node) string {
			if l.name == "default" || l.name == "dev" || n == nil {
				return l.name
			}
			return fmt.Sprintf("%s:%d", l.name, n.GetToken().Position.Line)
		}
		d.document(l.text, "", root, tree)
	}
	d.environ(s.Environ, tree)
	d.flags(s.Set, tree)
	return c, d.faults
}

// environ reads the variables with our prefix. One that is not a key is a
// fault: it was meant to change something and would not.
func (d *decoder) environ(environ []string, tree reflect.Value) {
	paths := map[string]string{}
	each(func(path string, _ key) { paths[envName(path)] = path })
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || name == envFile {
			continue
		}
		path, ok := paths[name]
		if !ok {
			d.faults = append(d.faults, Fault{name, "", "is not a variable of this program", hintFor(name)})
			continue
		}
		d.single(name, path, value, tree)
	}
}

func hintFor(name string) string {
	if strings.HasPrefix(name, "GATEHOUSE_SERVICE_") || strings.HasPrefix(name, "GATEHOUSE_PORT") {
		return "Kubernetes sets this for a service named gatehouse: set enableServiceLinks: false in the pod"
	}
	return envPrefix + "and the path of a key, as in " + envName("sessions.ping_interval")
}

func (d *decoder) flags(set []Override, tree reflect.Value) {
	for _, o := range set {
		k, _, ok := locate(o.Path, tree)
		switch {
		case !ok:
			d.faults = append(d.faults, Fault{o.Flag, o.Path, "is not a key", pathsBeside(o.Path)})
		case k.section():
			d.faults = append(d.faults, Fault{o.Flag, o.Path, "is a section, not a key", k.accepted()})
		case k.secret():
			d.faults = append(d.faults, Fault{o.Flag, o.Path, "is a secret and does not belong on a command line, which others can see",
				"the environment variable " + envName(o.Path)})
		default:
			d.single(o.Flag, o.Path, o.Value, tree)
		}
	}
}

// pathsBeside names the keys of the section that the path of no key begins with.
func pathsBeside(path string) string {
	tree := reflect.ValueOf(&Config{}).Elem()
	section, name, inside := cutLast(path, ".")
	k, _, ok := locate(section, tree)
	if !inside || !ok || !k.section() {
		section, name, k = "", path, key{typ: tree.Type()}
	}
	var beside []string
	for _, child := range keysOf(k.typ) {
		if !child.secret() { // which no flag may set
			beside = append(beside, join(section, child.name))
		}
	}
	accepted := strings.Join(beside, ", ")
	if homes := pathsNamed(name); len(homes) > 0 {
		accepted += "; perhaps " + strings.Join(homes, " or ") + " was meant"
	}
	return accepted
}

// single reads one value that stands alone. A list is YAML ("[a, b]") or its
// elements with commas between.
func (d *decoder) single(where, path, value string, tree reflect.Value) {
	k, v, _ := locate(path, tree)
	if !k.list() {
		d.text(value, where, path, k, v)
		return
	}
	if !strings.HasPrefix(strings.TrimSpace(value), "[") {
		value = "[" + value + "]"
	}
	d.where = func(ast.Node) string { return where }
	d.document([]byte(value), path, k, v)
}

// locate returns the key at a path and its place in the tree.
func locate(path string, tree reflect.Value) (k key, v reflect.Value, ok bool) {
	k, v = key{typ: tree.Type()}, tree
	for name := range strings.SplitSeq(path, ".") {
		if !k.section() {
			return k, v, false
		}
		if k, ok = find(keysOf(k.typ), name); !ok {
			return k, v, false
		}
		v = v.Field(k.index)
	}
	return k, v, true
}

func envName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

func readFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %s", path, Size(most))
	}
	return text, err
}

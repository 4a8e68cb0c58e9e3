package configs

import (
	"encoding"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// key is one field of the tree: its name and the rules in its tags.
type key struct {
	name   string
	index  int
	bounds string // "50ms..5m", "1..120", "100ms..24h|never"
	enum   []string
	accept string
	typ    reflect.Type
}

func keysOf(t reflect.Type) []key {
	var keys []key
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("yaml"); name != "" {
			k := key{name: name, index: i, typ: f.Type, bounds: f.Tag.Get("range"), accept: f.Tag.Get("accept")}
			if e := f.Tag.Get("enum"); e != "" {
				k.enum = strings.Split(e, "|")
			}
			keys = append(keys, k)
		}
	}
	return keys
}

func (k key) secret() bool { return k.typ == reflect.TypeFor[Secret]() }

// section reports whether the key holds other keys rather than a value.
func (k key) section() bool { return k.typ.Kind() == reflect.Struct && !isText(k.typ) }

// list reports whether the key holds a sequence.
func (k key) list() bool { return k.typ.Kind() == reflect.Slice }

func isText(t reflect.Type) bool {
	return t == reflect.TypeFor[Secret]() || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// set reads text into v, which is of the key's type or an element of it, and
// returns what is wrong with it.
func (k key) set(v reflect.Value, text string) error {
	if k.secret() {
		v.Set(reflect.ValueOf(NewSecret(text)))
		return nil
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			if v.Type() == reflect.TypeFor[netip.Addr]() {
				return fmt.Errorf("%q is not an IP address", text)
			}
			return fmt.Errorf("%q %w", text, err)
		}
		return k.inBounds(v, text)
	}
	switch v.Kind() {
	case reflect.String:
		if len(k.enum) > 0 && !slices.Contains(k.enum, text) {
			return fmt.Errorf("%q is not one of them", text)
		}
		v.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(text == "true")
	case reflect.Int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		v.SetInt(n)
		return k.inBounds(v, text)
	default:
		panic("configs: no rule for " + v.Type().String()) // our own tree only
	}
	return nil
}

// inBounds checks a number, duration or size against the range tag.
func (k key) inBounds(v reflect.Value, text string) error {
	if k.bounds == "" {
		return nil
	}
	low, high, never := k.limits()
	n := v.Int()
	switch {
	case v.Type() == reflect.TypeFor[Duration]() && Duration(n) == Never:
		if !never {
			return fmt.Errorf("%q is not possible here", text)
		}
	case n < low:
		return fmt.Errorf("%q is too small", text)
	case n > high:
		return fmt.Errorf("%q is too large", text)
	}
	return nil
}

// limits reads the range tag in the key's own unit.
func (k key) limits() (low, high int64, never bool) {
	span, _, never := strings.Cut(k.bounds, "|never")
	from, to, _ := strings.Cut(span, "..")
	return k.number(from), k.number(to), never
}

func (k key) number(s string) int64 {
	v := reflect.New(k.typ)
	if u, ok := v.Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(s)); err != nil {
			panic(fmt.Sprintf("configs: range of %s: %v", k.name, err)) // our own tags only
		}
		return v.Elem().Int()
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = math.MinInt64
	}
	return n
}

// accepted says in words what the key takes.
func (k key) accepted() string {
	span, _, never := strings.Cut(k.bounds, "|never")
	from, to, _ := strings.Cut(span, "..")
	switch {
	case k.accept != "":
		return k.accept
	case len(k.enum) > 0:
		return strings.Join(k.enum, " or ")
	case k.section():
		return "the keys " + strings.Join(names(keysOf(k.typ)), ", ")
	}
	form := ""
	switch k.typ {
	case reflect.TypeFor[Duration]():
		form = from + " to " + to + " with its unit, as in 250ms or 2s"
	case reflect.TypeFor[Size]():
		form = from + " to " + to + " with its unit, as in 64KiB or 1MiB"
	case reflect.TypeFor[Listen]():
		return "address:port, :port or off"
	case reflect.TypeFor[[]Network](), reflect.TypeFor[Network]():
		return "networks such as 10.0.0.0/8"
	case reflect.TypeFor[int]():
		form = from + " to " + to
	case reflect.TypeFor[bool]():
		form = "true or false"
	}
	if never {
		form += ", or never"
	}
	return form
}

func names(keys []key) []string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.name
	}
	return all
}

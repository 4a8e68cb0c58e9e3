package configs

import (
	"bytes"
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Show writes the effective values as a configuration file, each with a comment
// that says where it was set, unless it is a default. Secrets are only said to
// be set.
func (c *Config) Show(w io.Writer) error {
	var b bytes.Buffer
	s := shower{w: &b, sources: c.sources}
	s.section(reflect.ValueOf(c).Elem(), "", "")
	_, err := w.Write(b.Bytes())
	return err
}

type shower struct {
	w       io.Writer
	sources sources
}

func (s shower) section(v reflect.Value, path, indent string) {
	for _, k := range keysOf(v.Type()) {
		at, field := join(path, k.name), v.Field(k.index)
		switch {
		case k.secret():
			s.secret(field.Interface().(Secret), k, at, indent)
		case k.section():
			fmt.Fprintf(s.w, "%s%s:\n", indent, k.name)
			s.section(field, at, indent+"  ")
		case k.list() && isSection(k.typ.Elem()) && field.Len() > 0:
			fmt.Fprintf(s.w, "%s%s:%s\n", indent, k.name, s.comment(at))
			s.sections(field, indent+"  ")
		default:
			fmt.Fprintf(s.w, "%s%s: %s%s\n", indent, k.name, scalar(field), s.comment(at))
		}
	}
}

// sections writes a list of sections in flow form, leaving out what is not set.
func (s shower) sections(list reflect.Value, indent string) {
	for i := range list.Len() {
		var parts []string
		for _, k := range keysOf(list.Type().Elem()) {
			if f := list.Index(i).Field(k.index); !f.IsZero() {
				parts = append(parts, k.name+": "+scalar(f))
			}
		}
		fmt.Fprintf(s.w, "%s- {%s}\n", indent, strings.Join(parts, ", "))
	}
}

func (s shower) secret(secret Secret, k key, at, indent string) {
	if secret.Empty() {
		return
	}
	where := s.sources.of(at + "_file")
	if direct, ok := s.sources[at]; ok {
		where = direct
	}
	fmt.Fprintf(s.w, "%s# %s: %s # %s\n", indent, k.name, secret, where)
}

func (s shower) comment(path string) string {
	if where := s.sources[path]; where != "" && where != "default" {
		return " # " + where
	}
	return ""
}

func isSection(t reflect.Type) bool { return key{typ: t}.section() }

func scalar(v reflect.Value) string {
	if v.Kind() == reflect.Slice {
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = scalar(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if v.Kind() == reflect.String {
		return strconv.Quote(v.String())
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		if err != nil {
			return strconv.Quote(err.Error())
		}
		if v.Kind() == reflect.Struct { // addresses: a colon would need quotes
			return strconv.Quote(string(text))
		}
		return string(text)
	}
	return fmt.Sprint(v.Interface())
}

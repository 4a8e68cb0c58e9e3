package replica

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestSchemaFaultsAreNamed(t *testing.T) {
	t.Parallel()
	many := Type{Name: "many"}
	for i := range MaxFields + 1 {
		many.Fields = append(many.Fields, Field{Name: fmt.Sprint("f", i), Max: 1})
	}
	field := func(f Field) Type { return Type{Name: "t", Fields: []Field{f}} }
	for fault, types := range map[string][]Type{
		"schema has 0 types, accepted are 1 to 64":  {},
		"schema has 65 types, accepted are 1 to 64": make([]Type, 65),
		"type many has 33 fields, the limit is 32":  {many},
		`type "a": the name is taken`:               {{Name: "a"}, {Name: "a"}},
		`type "": a name has 1 to 32 bytes`:         {{}},
		`type "a\"b": a name has letters, digits`:   {{Name: `a"b`}},
		`field t "id": the name is taken`:           {field(Field{Name: "id", Max: 1})},
		`field t "é": a name has letters, digits`:   {field(Field{Name: "é", Max: 1})},
		"field t.x: min 3 must be below max 3":      {field(Field{Name: "x", Min: 3, Max: 3})},
		"step -1 above 0":                           {field(Field{Name: "x", Max: 3, Step: -1})},
		"field t.x: unit NaN must be within":        {field(Field{Name: "x", Max: 3, Unit: math.NaN()})},
	} {
		if _, err := NewSchema(types...); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("want %q, got %v", fault, err)
		}
	}
	_, err := NewSchema(Type{Name: "a?"}, field(Field{Name: "x", Min: 1}))
	if err == nil || !strings.Contains(err.Error(), "a?") || !strings.Contains(err.Error(), "t.x") {
		t.Errorf("not all faults: %v", err)
	}
	if _, err := ParseSchema([]byte(`{"types":`)); err == nil {
		t.Error("cut off JSON was accepted")
	}
}

func TestSchemaBits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field Field
		bits  uint
	}{
		{Field{Max: 1}, 1}, {Field{Max: 255}, 8}, {Field{Max: 256}, 9}, {Field{Min: -1, Max: 1}, 2},
		{Field{Min: -1 << 31, Max: 1<<31 - 1}, 32}, {Field{Max: 100, Step: 50}, 2}, {Field{Max: 99, Step: 50}, 1},
		{Field{Max: 99, Step: 100}, 0},
	} {
		c.field.Name = "f"
		s := MustSchema(Type{Name: "t", Fields: []Field{c.field}})
		if got := s.Types[0].Fields[0].bits; got != c.bits {
			t.Errorf("%+v: %d bits, want %d", c.field, got, c.bits)
		}
	}
	for n, want := range map[int]uint{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 64: 6} {
		types := make([]Type, n)
		for i := range types {
			types[i].Name = fmt.Sprint("t", i)
		}
		if got := MustSchema(types...).typeBits; got != want {
			t.Errorf("%d types: %d bits, want %d", n, got, want)
		}
	}
}

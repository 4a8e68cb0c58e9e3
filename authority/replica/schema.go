package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Bounds of a schema.
const (
	MaxTypes = 64
	// MaxFields of a type. 32 fields of at most 32 bits: an entity sent whole
	// is at most 135 bytes and always fits a datagram.
	MaxFields = 32
	// MaxNameBytes bounds the name of a type or field. Names are letters,
	// digits and underscores.
	MaxNameBytes = 32

	maxUnit = 1e9 // with which every value is still a number in JSON
)

// Schema lists the types of entities of a game. It must not be changed after
// [NewSchema]; any number of goroutines may use it.
type Schema struct {
	Types []Type `json:"types"`

	typeBits uint
}

// Type is a kind of entity.
type Type struct {
	Name   string  `json:"name"`
	Fields []Field `json:"fields"`

	bits uint // of all fields
}

// Field is one quantized value of an entity. Values from Min to Max are kept in
// steps of Step: on the wire a value v is the number (v-Min)/Step, rounded down,
// in as few bits as the largest needs.
type Field struct {
	Name string `json:"name"`
	Min  int32  `json:"min"`
	Max  int32  `json:"max"`
	// Step defaults to 1.
	Step int32 `json:"step"`
	// Unit turns the integer into what people read (1/256 for a position in
	// 1/256 tiles). 0 means 1. Only for display and the JSON dialect.
	Unit float64 `json:"unit,omitempty"`

	top  uint32 // the largest number, that of Max
	bits uint
}

// NewSchema checks the types and returns their schema. It takes the types over.
// The error joins all faults.
func NewSchema(types ...Type) (*Schema, error) {
	if len(types) == 0 || len(types) > MaxTypes {
		return nil, fmt.Errorf("schema has %d types, accepted are 1 to %d", len(types), MaxTypes)
	}
	s := &Schema{Types: types, typeBits: uint(bits.Len(uint(len(types) - 1)))}
	var faults []error
	names := make(map[string]bool)
	for i := range s.Types {
		t := &s.Types[i]
		faults = append(faults, checkName("type", t.Name, names), t.check())
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return s, nil
}

func (t *Type) check() error {
	if len(t.Fields) > MaxFields {
		return fmt.Errorf("type %s has %d fields, the limit is %d", t.Name, len(t.Fields), MaxFields)
	}
	if t.Fields == nil {
		t.Fields = []Field{} // in JSON an array, always
	}
	t.bits = 0
	var faults []error
	names := map[string]bool{"id": true, "type": true} // taken in the JSON dialect
	for i := range t.Fields {
		f := &t.Fields[i]
		faults = append(faults, checkName("field "+t.Name, f.Name, names), f.check(t.Name))
		t.bits += f.bits
	}
	return errors.Join(faults...)
}

func (f *Field) check(typ string) error {
	if f.Step == 0 {
		f.Step = 1
	}
	if f.Step < 0 || f.Min >= f.Max {
		return fmt.Errorf("field %s.%s: min %d must be below max %d, and step %d above 0", typ, f.Name, f.Min, f.Max, f.Step)
	}
	if math.IsNaN(f.Unit) || math.Abs(f.Unit) > maxUnit {
		return fmt.Errorf("field %s.%s: unit %v must be within %v", typ, f.Name, f.Unit, maxUnit)
	}
	f.top = f.quantize(f.Max)
	f.bits = uint(bits.Len32(f.top))
	return nil
}

// checkName accepts names that need no escaping anywhere, once each.
func checkName(what, name string, taken map[string]bool) error {
	if len(name) == 0 || len(name) > MaxNameBytes {
		return fmt.Errorf("%s %.40q: a name has 1 to %d bytes", what, name, MaxNameBytes)
	}
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return fmt.Errorf("%s %.40q: a name has letters, digits and underscores only", what, name)
		}
	}
	if taken[name] {
		return fmt.Errorf("%s %.40q: the name is taken", what, name)
	}
	taken[name] = true
	return nil
}

// MustSchema is NewSchema for a program's own constants; it panics on an error.
func MustSchema(types ...Type) *Schema {
	s, err := NewSchema(types...)
	if err != nil {
		panic(err)
	}
	return s
}

// ParseSchema reads a schema from a welcome.
func ParseSchema(b []byte) (*Schema, error) {
	var s Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return NewSchema(s.Types...)
}

// quantize clamps v and returns its number of steps above Min.
func (f *Field) quantize(v int32) uint32 {
	v = min(max(v, f.Min), f.Max)
	return uint32((int64(v) - int64(f.Min)) / int64(f.Step))
}

// value is the inverse of quantize, up to rounding.
func (f *Field) value(q uint32) int32 {
	return int32(int64(f.Min) + int64(q)*int64(f.Step))
}

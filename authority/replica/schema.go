package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
)

// Bounds of a schema.
const (
	MaxTypes  = 64
	MaxFields = 32
	// MaxFullBytes bounds an entity sent whole, so that one always fits a
	// datagram.
	MaxFullBytes = 1000
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

	bits uint
}

// NewSchema checks the types and returns their schema. The error joins all
// faults.
func NewSchema(types ...Type) (*Schema, error) {
	s := &Schema{Types: types}
	var faults []error
	if len(types) == 0 || len(types) > MaxTypes {
		faults = append(faults, fmt.Errorf("schema has %d types, accepted are 1 to %d", len(types), MaxTypes))
	}
	for i := range s.Types {
		faults = append(faults, s.Types[i].check())
	}
	s.typeBits = uint(bits.Len(uint(len(types) - 1)))
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return s, nil
}

func (t *Type) check() error {
	if len(t.Fields) > MaxFields {
		return fmt.Errorf("type %s has %d fields, the limit is %d", t.Name, len(t.Fields), MaxFields)
	}
	total := uint(0)
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Step == 0 {
			f.Step = 1
		}
		if f.Step < 0 || f.Min >= f.Max {
			return fmt.Errorf("field %s.%s: min %d must be below max %d, and step %d above 0", t.Name, f.Name, f.Min, f.Max, f.Step)
		}
		f.bits = uint(bits.Len32(f.quantize(f.Max)))
		total += f.bits
	}
	if total > MaxFullBytes*8 {
		return fmt.Errorf("type %s needs %d bytes in full, the limit is %d", t.Name, (total+7)/8, MaxFullBytes)
	}
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

// value is the inverse of quantize, for a number from outside too: larger ones
// than Max has come out as Max.
func (f *Field) value(q uint32) int32 {
	return int32(min(int64(f.Min)+int64(q)*int64(f.Step), int64(f.Max)))
}

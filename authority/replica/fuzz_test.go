package replica

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// vectorBodies are the seeds: valid bodies of one kind.
func vectorBodies(f *testing.F, kind string) {
	b, err := os.ReadFile(vectorsFile)
	if err != nil {
		f.Fatal(err)
	}
	var file struct {
		Steps []struct{ Kind, Body string }
	}
	if err := json.Unmarshal(b, &file); err != nil {
		f.Fatal(err)
	}
	for _, s := range file.Steps {
		body, err := hex.DecodeString(s.Body)
		if err != nil {
			f.Fatal(err)
		}
		if s.Kind == kind {
			f.Add(body)
		}
	}
}

// populated returns a view that holds something, at tick 1.
func populated(t *testing.T) *View {
	s := NewStore(testSchema())
	for i := range 8 {
		s.Spawn(i % 4)
	}
	return joined(t, s).view
}

// checkView fails if a body did anything but apply whole or be refused whole.
func checkView(t *testing.T, v *View, before *table, tick uint32, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, ErrResync) && !errors.Is(err, wire.ErrMalformed) &&
			!errors.Is(err, wire.ErrTruncated) && !errors.Is(err, wire.ErrTooBig) {
			t.Errorf("an error of no known kind: %v", err)
		}
		if v.Tick() != tick || v.Hash() != hashOf(before) {
			t.Error("refused, and yet something changed")
		}
	}
	ids := slices.Collect(v.All())
	if len(ids) != v.Len() {
		t.Errorf("holds %d, says %d", len(ids), v.Len())
	}
	for _, id := range ids {
		for i, f := range v.fields(id) {
			if got := v.Get(id, i); got < f.Min || got > f.Max {
				t.Errorf("entity %d, field %s is %d", id, f.Name, got)
			}
		}
	}
}

func FuzzApply(f *testing.F) {
	vectorBodies(f, "snapshot")
	f.Fuzz(func(t *testing.T, body []byte) {
		v := populated(t)
		before := cloneTable(&v.table)
		_, err := v.Apply(body)
		checkView(t, v, before, 1, err)
	})
}

func FuzzApplyFull(f *testing.F) {
	vectorBodies(f, "full")
	f.Fuzz(func(t *testing.T, body []byte) {
		v := populated(t)
		before := cloneTable(&v.table)
		_, done, err := v.ApplyFull(body)
		checkView(t, v, before, 1, err)
		if err == nil && !done && v.Hash() != hashOf(before) {
			t.Error("applied in parts")
		}
		if _, _, err := v.ApplyFull(body); err != nil && done {
			t.Errorf("the same again: %v", err)
		}
	})
}

func FuzzParseSchema(f *testing.F) {
	valid, err := json.Marshal(testSchema())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add([]byte(`{"types":[{"name":"a","fields":[{"name":"x","min":-2147483648,"max":2147483647,"step":2147483647,"unit":-1e300}]}]}`))
	f.Add([]byte(`{"types":[{"name":"a\"","fields":[{"name":"id","min":1,"max":0}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		schema, err := ParseSchema(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := ParseSchema(again); err != nil || !reflect.DeepEqual(same, schema) {
			t.Fatalf("not the same when read again: %v", err)
		}
		s := NewStore(schema)
		for typ := range schema.Types {
			id := s.Spawn(typ)
			for i, field := range schema.Types[typ].Fields {
				for _, v := range []int32{field.Min, field.Max, 0, -1 << 31, 1<<31 - 1} {
					if s.Set(id, i, v); s.Get(id, i) < field.Min || s.Get(id, i) > field.Max {
						t.Fatalf("field %s is %d", field.Name, s.Get(id, i))
					}
				}
			}
		}
		if out, _ := s.AppendJSON(nil, 1<<20); !json.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		p := joined(t, s)
		p.same()
	})
}

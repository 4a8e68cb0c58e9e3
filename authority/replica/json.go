package replica

import "strconv"

// AppendJSON appends the entities as a JSON array of objects with id, type (by
// name) and the fields by name, in units: the "entities" of a snapshot in the
// JSON dialect. Those that would take the array beyond limit bytes are left out,
// and whole is false.
func (s *Store) AppendJSON(dst []byte, limit int) (array []byte, whole bool) {
	most := len(dst) + limit - len("]")
	dst = append(dst, '[')
	for id := s.alive.after(0); id != 0; id = s.alive.after(id) {
		end := len(dst)
		if dst[end-1] != '[' {
			dst = append(dst, ',')
		}
		if dst = s.appendEntity(dst, id); len(dst) > most {
			return append(dst[:end], ']'), false
		}
	}
	return append(dst, ']'), true
}

// appendEntity needs no escaping: a schema accepts plain names only.
func (s *Store) appendEntity(dst []byte, id ID) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendUint(dst, uint64(id), 10)
	dst = append(dst, `,"type":"`...)
	dst = append(dst, s.schema.Types[s.typ[id]].Name...)
	dst = append(dst, '"')
	for i, q := range s.row(id) {
		f := &s.fields(id)[i]
		dst = append(append(append(dst, `,"`...), f.Name...), `":`...)
		dst = f.appendUnits(dst, f.value(q))
	}
	return append(dst, '}')
}

// appendUnits writes v as people read it. 15 digits are all that a float64
// surely has: 35 hundredths come out as 0.35, not 0.35000000000000003.
func (f *Field) appendUnits(dst []byte, v int32) []byte {
	if f.Unit == 0 || f.Unit == 1 {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendFloat(dst, float64(v)*f.Unit, 'g', 15, 64)
}

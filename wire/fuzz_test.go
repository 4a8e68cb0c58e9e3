package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

func FuzzNextFrame(f *testing.F) {
	var all []byte
	for _, v := range frames() {
		message := wire.AppendFrame(nil, v.kind, v.body)
		f.Add(message)
		if all = append(all, message...); len(all) > 0 {
			f.Add(all[:min(len(all), 300)])
		}
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		var again []byte
		for rest := message; len(rest) > 0; {
			k, body, r, err := wire.NextFrame(rest)
			if err != nil {
				return
			}
			if k == 0 || len(body) > wire.MaxReliableBody || len(r) >= len(rest) {
				t.Fatalf("%s of %d bytes, %d of %d left", k, len(body), len(r), len(rest))
			}
			again, rest = wire.AppendFrame(again, k, body), r
		}
		// A short length in the long form is the only second spelling.
		if len(again) > len(message) || len(again) == len(message) && !bytes.Equal(again, message) {
			t.Errorf("%x became %x", message, again)
		}
	})
}

// FuzzParse runs the parser of every kind over the same bytes; what parses must
// parse again, alike, from what the dialect makes of it.
func FuzzParse(f *testing.F) {
	for _, v := range frames() {
		f.Add(byte(v.kind), v.body)
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		k := wire.Kind(kind & 31)
		if len(body) > wire.MaxReliableBody {
			return // NextFrame gives no such body
		}
		want, err := parse(k, body)
		if err != nil {
			return
		}
		text, err := wire.AppendJSONText(nil, k, body)
		if err != nil {
			return
		}
		switch k {
		case wire.KindAck, wire.KindRelay, wire.KindRelayFast:
			_, again, err := wire.ParseJSONText(text)
			if err != nil {
				t.Fatalf("%s %x became %s: %v", k, body, text, err)
			}
			got, err := parse(k, again)
			if err != nil {
				t.Fatal(err)
			}
			if !sameButSpaces(t, got, want) {
				t.Errorf("%s %x became %s: %+v, want %+v", k, body, text, got, want)
			}
		}
	})
}

// sameButSpaces compares fields; a payload that is JSON may lose outer spaces.
func sameButSpaces(t *testing.T, a, b any) bool {
	t.Helper()
	x, ok := a.(relayFields)
	if !ok {
		return a == b
	}
	y := b.(relayFields)
	px, py := bytes.TrimSpace(unhex(t, x.Payload)), bytes.TrimSpace(unhex(t, y.Payload))
	return len(x.To) == len(y.To) && bytes.Equal(px, py)
}

func FuzzParseJSONText(f *testing.F) {
	for _, v := range clientTexts {
		f.Add([]byte(v.text))
	}
	f.Add([]byte(`{"kind":"request","id":1,"name":"\ud83d\ude00","data":"\udc00"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, body, err := wire.ParseJSONText(text)
		if err != nil {
			if k != 0 || body != nil {
				t.Fatal("an error with a frame")
			}
			return
		}
		if k == wire.KindFull || k == wire.KindSignal || k == wire.KindSwitch || len(body) > wire.MaxReliableBody {
			t.Fatalf("%s of %d bytes", k, len(body))
		}
		if k == wire.KindHello || k == wire.KindWelcome || k == wire.KindClose || k == wire.KindPeer || k == wire.KindDraining {
			return // any JSON object; DecodeJSON is the judge of its types
		}
		if _, err := parse(k, body); err != nil {
			t.Fatalf("%s became %s %x: %v", text, k, body, err)
		}
		if _, err := wire.AppendJSONText(nil, k, body); err != nil {
			t.Fatalf("%s became %s %x, which has no text: %v", text, k, body, err)
		}
	})
}

// FuzzBits reads whatever there is by whatever widths (33: a bitvar), and writes
// it back: reading that must give the same.
func FuzzBits(f *testing.F) {
	f.Add([]byte{0xff, 0x01, 0x80}, []byte{3, 32, 33, 0, 1})
	f.Add(bytes.Repeat([]byte{0xa5}, 40), []byte{32, 32, 31, 32, 7, 33, 33, 32})
	f.Fuzz(func(t *testing.T, data, widths []byte) {
		read := func(r *wire.BitReader) (values []uint32) {
			for _, width := range widths {
				if width %= 34; width == 33 {
					values = append(values, r.Uvarint())
				} else {
					values = append(values, r.Read(uint(width)))
				}
			}
			return values
		}
		r := wire.NewBitReader(data)
		values := read(&r)
		w := wire.NewBitWriter(nil)
		for i, v := range values {
			if width := uint(widths[i] % 34); width == 33 {
				w.Uvarint(v)
			} else {
				w.Write(v, width)
			}
		}
		if size := w.Len(); r.Err() == nil && size > len(data) {
			t.Errorf("%d bytes became %d", len(data), size)
		}
		again := wire.NewBitReader(w.Bytes())
		if got := read(&again); again.Err() != nil || !slices.Equal(got, values) {
			t.Errorf("%x by %v: %v, then %v", data, widths, values, got)
		}
	})
}

package wire_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

func TestNextFrameRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message []byte
		err     error
	}{
		"nothing":                     {nil, wire.ErrTruncated},
		"half a header":               {[]byte{8}, wire.ErrTruncated},
		"half a long header":          {[]byte{0xe8, 0xff, 0}, wire.ErrTruncated},
		"kind 0":                      {[]byte{0, 0}, wire.ErrBadKind},
		"one byte short":              {wire.AppendFrame(nil, wire.KindEvent, []byte("abc"))[:4], wire.ErrTruncated},
		"long body, one byte short":   {wire.AppendFrame(nil, wire.KindFull, make([]byte, 3000))[:3003], wire.ErrTruncated},
		"one byte more than the most": {wire.AppendFrame(nil, wire.KindFull, make([]byte, wire.MaxReliableBody+1)), wire.ErrTooBig},
	} {
		k, body, rest, err := wire.NextFrame(c.message)
		if !errors.Is(err, c.err) || k != 0 || body != nil || rest != nil {
			t.Errorf("%s: %s, %d bytes, %v", name, k, len(body), err)
		}
	}
}

func TestNextFrameSplitsAMessage(t *testing.T) {
	t.Parallel()
	message := wire.AppendFrame(nil, wire.KindPing, nil)
	message = wire.AppendFrame(message, 30, []byte("of the future"))
	message = wire.AppendFrame(message, wire.KindFull, make([]byte, 2047))
	var sizes []int
	for rest := message; len(rest) > 0; {
		_, body, r, err := wire.NextFrame(rest)
		if err != nil {
			t.Fatal(err)
		}
		if cap(body) != len(body) {
			t.Error("an append to the body would write over the next frame")
		}
		sizes, rest = append(sizes, len(body)), r
	}
	if len(sizes) != 3 || sizes[0] != 0 || sizes[1] != 13 || sizes[2] != 2047 {
		t.Errorf("bodies of %v bytes", sizes)
	}
}

func TestParsersRefuse(t *testing.T) {
	t.Parallel()
	overlong, tooWide := "8080808000", "ffffffff1f" // a 0 in five bytes; 33 bits
	refused := []refusal{{"half a header", "08"}, {"half a long header", "e8ff00"}, {"kind 0", "0000"}, {"one byte short", "6a006162"}}
	for _, r := range refused {
		if _, _, _, err := wire.NextFrame(unhex(t, r.Frame)); err == nil {
			t.Errorf("%s: no error", r.Name)
		}
	}
	name65 := "41" + hex.EncodeToString(bytes.Repeat([]byte("n"), 65))
	for _, c := range []struct {
		name string
		kind wire.Kind
		hex  string
		err  error
	}{
		{"over-long but whole", wire.KindRelayed, overlong, nil},
		{"33 bits", wire.KindRelayed, tooWide, wire.ErrMalformed},
		{"six bytes", wire.KindRelayed, "808080808000", wire.ErrMalformed},
		{"varint cut off", wire.KindRelayed, "8080", wire.ErrMalformed},
		{"no stamp", wire.KindRelayedFast, "0101", wire.ErrMalformed},
		{"request: nothing", wire.KindRequest, "", wire.ErrMalformed},
		{"request: no name", wire.KindRequest, "01", wire.ErrMalformed},
		{"request: empty name", wire.KindRequest, "0100", wire.ErrMalformed},
		{"request: name is longer than the body", wire.KindRequest, "01026e", wire.ErrMalformed},
		{"request: name of 65 bytes", wire.KindRequest, "01" + name65, wire.ErrMalformed},
		{"event: name of 65 bytes", wire.KindEvent, "01" + name65, wire.ErrMalformed},
		{"event: no tick", wire.KindEvent, "", wire.ErrMalformed},
		{"response: no code", wire.KindResponse, "01", wire.ErrMalformed},
		{"response: code of 17 bits", wire.KindResponse, "01808004", wire.ErrMalformed},
		{"relay: no count", wire.KindRelay, "", wire.ErrMalformed},
		{"relay: 65 addressees", wire.KindRelay, "41" + hex.EncodeToString(bytes.Repeat([]byte{1}, 65)), wire.ErrMalformed},
		{"relay: fewer addressees than said", wire.KindRelay, "020180", wire.ErrMalformed},
		{"relay: payload", wire.KindRelay, "00" + zeros(wire.MaxReliablePayload+1), wire.ErrTooBig},
		{"relay: largest payload", wire.KindRelay, "00" + zeros(wire.MaxReliablePayload), nil},
		{"relay_fast: payload", wire.KindRelayFast, "00" + zeros(wire.MaxUnreliablePayload+1), wire.ErrTooBig},
		{"relay_fast: largest payload", wire.KindRelayFast, "00" + zeros(wire.MaxUnreliablePayload), nil},
		{"request: payload", wire.KindRequest, "01016e" + zeros(wire.MaxReliablePayload+1), wire.ErrTooBig},
		{"request: largest payload", wire.KindRequest, "01016e" + zeros(wire.MaxReliablePayload), nil},
		{"ack: nothing", wire.KindAck, "", wire.ErrMalformed},
		{"ack: trailing byte", wire.KindAck, "0100", wire.ErrMalformed},
		{"ack: 65 bits", wire.KindAck, "ffffffffffffffffff02", wire.ErrMalformed},
		{"input: short", wire.KindInput, zeros(11), wire.ErrMalformed},
		{"input: smallest", wire.KindInput, zeros(12), nil},
		{"input: mask of 65 bits", wire.KindInput, zeros(10) + "ffffffffffffffffff0200", wire.ErrMalformed},
		{"input: no count", wire.KindInput, zeros(10) + "8080", wire.ErrMalformed},
		{"input: 33 inputs", wire.KindInput, zeros(11) + "21" + zeros(33), wire.ErrMalformed},
		{"input: 32 inputs", wire.KindInput, zeros(11) + "20" + zeros(32), nil},
		{"input: one input short", wire.KindInput, zeros(11) + "0200", wire.ErrMalformed},
		{"input: payload cut off", wire.KindInput, zeros(11) + "010200", wire.ErrMalformed},
		{"input: trailing byte", wire.KindInput, zeros(11) + "010000", wire.ErrMalformed},
		{"hello: not JSON", wire.KindHello, "00", wire.ErrMalformed},
		{"hello: wrong type", wire.KindHello, hex.EncodeToString([]byte(`{"versions":1}`)), wire.ErrMalformed},
	} {
		body := unhex(t, c.hex)
		if _, err := parse(c.kind, body); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if c.err != nil && len(body) < 2000 {
			refused = append(refused, refusal{c.name, hex.EncodeToString(wire.AppendFrame(nil, c.kind, body))})
		}
	}
	golden(t, "refused.json", refused)
}

// refusal is a link message that every decoder must refuse.
type refusal struct {
	Name  string `json:"name"`
	Frame string `json:"frame"`
}

func zeros(n int) string { return hex.EncodeToString(make([]byte, n)) }

func TestAppendInputPanicsRatherThanCut(t *testing.T) {
	t.Parallel()
	for name, inputs := range map[string][][]byte{
		"33 inputs": make([][]byte, wire.MaxInputs+1),
		"256 bytes": {make([]byte, wire.MaxInputBytes+1)},
	} {
		if !panics(func() { wire.AppendInput(nil, wire.Input{Inputs: inputs}) }) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func TestNewer16(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  uint16
		newer bool
	}{
		{1, 0, true}, {0, 1, false}, {5, 5, false}, {0, 65_535, true}, {65_535, 0, false},
		{32_767, 0, true}, {32_768, 0, false}, {0, 32_768, false}, {10, 32_779, true},
	} {
		if got := wire.Newer16(c.a, c.b); got != c.newer {
			t.Errorf("Newer16(%d, %d) is %v", c.a, c.b, got)
		}
	}
}

func TestKindsKnowTheirWay(t *testing.T) {
	t.Parallel()
	for k := wire.Kind(1); k < 32; k++ {
		control, numbered, unreliable := k < 8, k >= 8 && k < 20, k >= 20
		if k.Control() != control || k.Numbered() != numbered || (k.Lane() == wire.Unreliable) != unreliable {
			t.Errorf("kind %d: control %v, numbered %v, %s", k, k.Control(), k.Numbered(), k.Lane())
		}
		if name := k.String(); name != "unknown" && wire.KindNamed(name) != k {
			t.Errorf("kind %d: %q names %d", k, name, wire.KindNamed(name))
		}
	}
	if wire.KindNamed("") != 0 || wire.KindNamed("unknown") != 0 {
		t.Error("a name that is none names a kind")
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	names := map[string]wire.Code{}
	for _, c := range wire.Codes() {
		if other, taken := names[c.Name()]; taken {
			t.Errorf("%d and %d are both %q", c, other, c.Name())
		}
		names[c.Name()] = c
		if c != wire.CodeNone && (c < 4000 || c > 4999) { // RFC 6455 §7.4.2: private use
			t.Errorf("%d is not a WebSocket code for private use", c)
		}
	}
	if got := wire.Code(4999).Name(); got != "code_4999" {
		t.Errorf("an unknown code is named %q", got)
	}
	err := error(wire.Errorf(wire.CodeRoomFull, "%d of %d", 8, 8))
	if !errors.Is(err, &wire.Error{Code: wire.CodeRoomFull}) || errors.Is(err, &wire.Error{Code: wire.CodeKicked}) {
		t.Error("errors.Is does not compare codes")
	}
	if err.Error() != "room_full: 8 of 8" {
		t.Errorf("%q", err)
	}
}

func TestNegotiate(t *testing.T) {
	t.Parallel()
	if v, err := wire.Negotiate([]int{7, wire.Version}); v != wire.Version || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	for _, client := range [][]int{nil, {0}, {wire.Version + 1}} {
		if _, err := wire.Negotiate(client); !errors.Is(err, &wire.Error{Code: wire.CodeVersion}) {
			t.Errorf("%v: %v", client, err)
		}
	}
}

func TestBitsPastTheEnd(t *testing.T) {
	t.Parallel()
	r := wire.NewBitReader([]byte{0xff})
	if r.Read(7) != 0x7f || r.Err() != nil || r.Left() != 1 {
		t.Error("reading within the end")
	}
	if r.Read(2) != 0 || !errors.Is(r.Err(), wire.ErrTruncated) || r.Bool() || r.Uvarint() != 0 {
		t.Error("reading past the end must give zeros and an error")
	}
	r = wire.NewBitReader(bytes.Repeat([]byte{0xff}, 8)) // groups that never end
	if r.Uvarint() != 0 || r.Err() == nil {
		t.Error("a bitvar of more than 8 groups must be an error")
	}
}

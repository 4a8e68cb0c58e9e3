package wire_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

var update = flag.Bool("update", false, "write the golden vectors anew")

// vector is one frame: the TypeScript SDK reads the same file. Payloads and the
// frame are hex; 64-bit numbers are strings, the mask in hex.
type vector struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Lane     string          `json:"lane"`
	Numbered bool            `json:"numbered"`
	Body     json.RawMessage `json:"body"`
	Frame    string          `json:"frame"`
}

type (
	ackFields struct {
		Received string `json:"received"`
	}
	opaqueFields struct {
		Payload string `json:"payload"`
	}
	requestFields struct {
		ID      uint32 `json:"id"`
		Name    string `json:"name"`
		Payload string `json:"payload"`
	}
	responseFields struct {
		ID      uint32    `json:"id"`
		Code    wire.Code `json:"code"`
		Payload string    `json:"payload"`
	}
	eventFields struct {
		Tick    uint32 `json:"tick"`
		Name    string `json:"name"`
		Payload string `json:"payload"`
	}
	relayFields struct {
		To      []uint32 `json:"to"`
		Payload string   `json:"payload"`
	}
	relayedFields struct {
		Sender  uint32 `json:"sender"`
		Stamp   uint16 `json:"stamp"`
		Payload string `json:"payload"`
	}
	inputFields struct {
		Seq        uint16   `json:"seq"`
		ClientTick uint32   `json:"client_tick"`
		Acked      uint32   `json:"acked"`
		Mask       string   `json:"mask"`
		Inputs     []string `json:"inputs"`
	}
)

// golden compares what the code makes of it with the file, or writes the file.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	var made bytes.Buffer
	e := json.NewEncoder(&made)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, made.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, made.Bytes()) {
		t.Errorf("%s differs from what the code makes; if the change is meant, run with -update and review the diff", path)
	}
}

func readGolden(t testing.TB, name string, v any) {
	t.Helper()
	kept, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(kept, v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVectors(t *testing.T) {
	t.Parallel()
	var all []vector
	for _, v := range frames() {
		body := v.body
		fields, err := parsed(v.kind, body)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		all = append(all, vector{
			Name: v.name, Kind: v.kind.String(), Lane: v.kind.Lane().String(), Numbered: v.kind.Numbered(),
			Body: fields, Frame: hex.EncodeToString(wire.AppendFrame(nil, v.kind, body)),
		})
	}
	golden(t, "vectors.json", all)

	var kept []vector
	readGolden(t, "vectors.json", &kept)
	if len(kept) < 30 {
		t.Fatalf("only %d vectors", len(kept))
	}
	for _, v := range kept {
		k, body, rest, err := wire.NextFrame(unhex(t, v.Frame))
		if err != nil || len(rest) != 0 || k != wire.KindNamed(v.Kind) {
			t.Errorf("%s: %s, %d left, %v", v.Name, k, len(rest), err)
			continue
		}
		got, err := parsed(k, body)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		var want bytes.Buffer
		if err := json.Compact(&want, v.Body); err != nil {
			t.Fatal(err)
		}
		if want.String() != string(got) {
			t.Errorf("%s:\n got %.200s\nwant %.200s", v.Name, got, want.Bytes())
		}
	}
}

// parsed returns the fields of a body as vectors.json has them.
func parsed(k wire.Kind, body []byte) (json.RawMessage, error) {
	fields, err := parse(k, body)
	if err != nil {
		return nil, err
	}
	if raw, ok := fields.(json.RawMessage); ok {
		return raw, nil
	}
	return json.Marshal(fields)
}

// parse runs the parser of a kind; everything that decodes bodies is behind it.
func parse(k wire.Kind, body []byte) (any, error) {
	switch k {
	case wire.KindHello:
		return json.RawMessage(body), wire.DecodeJSON(k, body, new(wire.Hello))
	case wire.KindWelcome:
		return json.RawMessage(body), wire.DecodeJSON(k, body, new(wire.Welcome))
	case wire.KindClose:
		return json.RawMessage(body), wire.DecodeJSON(k, body, new(wire.Close))
	case wire.KindPeer:
		return json.RawMessage(body), wire.DecodeJSON(k, body, new(wire.PeerNotice))
	case wire.KindDraining:
		return json.RawMessage(body), wire.DecodeJSON(k, body, new(wire.Draining))
	case wire.KindAck:
		received, err := wire.ParseAck(body)
		return ackFields{fmt.Sprint(received)}, err
	case wire.KindRequest:
		r, err := wire.ParseRequest(body)
		return requestFields{r.ID, r.Name, hex.EncodeToString(r.Payload)}, err
	case wire.KindResponse:
		r, err := wire.ParseResponse(body)
		return responseFields{r.ID, r.Code, hex.EncodeToString(r.Payload)}, err
	case wire.KindEvent:
		e, err := wire.ParseEvent(body)
		return eventFields{e.Tick, e.Name, hex.EncodeToString(e.Payload)}, err
	case wire.KindRelay, wire.KindRelayFast:
		r, err := wire.ParseRelay(k.Lane(), body)
		to := []uint32{}
		r.Each(func(peer uint32) { to = append(to, peer) })
		return relayFields{to, hex.EncodeToString(r.Payload)}, err
	case wire.KindRelayed, wire.KindRelayedFast:
		r, err := wire.ParseRelayed(k.Lane(), body)
		return relayedFields{r.Sender, r.Stamp, hex.EncodeToString(r.Payload)}, err
	case wire.KindInput:
		var in wire.Input
		err := wire.ParseInput(body, &in)
		inputs := []string{}
		for _, p := range in.Inputs {
			inputs = append(inputs, hex.EncodeToString(p))
		}
		return inputFields{in.Seq, in.ClientTick, in.Acked, fmt.Sprintf("%016x", in.Mask), inputs}, err
	}
	return opaqueFields{hex.EncodeToString(body)}, nil
}

func TestCodesMatchTheTable(t *testing.T) {
	t.Parallel()
	type code struct {
		Code  wire.Code `json:"code"`
		Name  string    `json:"name"`
		Retry bool      `json:"retry"`
		Text  string    `json:"text"`
	}
	var all []code
	for _, c := range wire.Codes() {
		all = append(all, code{c, c.Name(), c.Retry(), c.Text()})
	}
	slices.SortFunc(all, func(a, b code) int { return cmp.Compare(a.Code, b.Code) })
	golden(t, "codes.json", all)
}

// bitOp is one call of a BitWriter: "bits" writes the low N bits of V, "bitvar"
// writes V in groups.
type bitOp struct {
	Op string `json:"op"`
	V  uint32 `json:"v"`
	N  uint   `json:"n"`
}

type bitsVector struct {
	Name string  `json:"name"`
	Ops  []bitOp `json:"ops"`
	Hex  string  `json:"hex"`
}

func TestBitsMatchTheVectors(t *testing.T) {
	t.Parallel()
	var all []bitsVector
	for _, v := range bitSequences() {
		w := wire.NewBitWriter(nil)
		for _, op := range v.Ops {
			if op.Op == "bitvar" {
				w.Uvarint(op.V)
			} else {
				w.Write(op.V, op.N)
			}
		}
		v.Hex = hex.EncodeToString(w.Bytes())
		all = append(all, v)
	}
	golden(t, "bits.json", all)

	for _, v := range all {
		r := wire.NewBitReader(unhex(t, v.Hex))
		for i, op := range v.Ops {
			got := uint32(0)
			if op.Op == "bitvar" {
				got = r.Uvarint()
			} else {
				got = r.Read(op.N)
			}
			if got != op.V {
				t.Errorf("%s: op %d read %d, want %d", v.Name, i, got, op.V)
			}
		}
		if r.Err() != nil || r.Left() > 7 {
			t.Errorf("%s: %v, %d bits left", v.Name, r.Err(), r.Left())
		}
	}
}

func bitSequences() []bitsVector {
	bits := func(v uint32, n uint) bitOp { return bitOp{"bits", v, n} }
	bitvar := func(v uint32) bitOp { return bitOp{Op: "bitvar", V: v} }
	mixed := bitsVector{Name: "every width, one after the other"}
	for n := uint(1); n <= 32; n++ {
		mixed.Ops = append(mixed.Ops, bits(0xdeadbeef&(1<<n-1), n))
	}
	ladder := bitsVector{Name: "bitvars around every group"}
	for shift := 0; shift < 32; shift += 4 {
		ladder.Ops = append(ladder.Ops, bitvar(1<<shift-1), bitvar(1<<shift))
	}
	return []bitsVector{
		{Name: "nothing", Ops: []bitOp{}},
		{Name: "no bits", Ops: []bitOp{bits(0, 0)}},
		{Name: "one bit", Ops: []bitOp{bits(1, 1)}},
		{Name: "first bit is bit 0 of the first byte", Ops: []bitOp{bits(1, 1), bits(0, 6), bits(1, 1)}},
		{Name: "32 bits off a byte boundary", Ops: []bitOp{bits(5, 3), bits(0xffffffff, 32), bits(0x80000001, 32)}},
		{Name: "32 bits behind 7", Ops: []bitOp{bits(0x7f, 7), bits(0x12345678, 32), bits(0, 1)}},
		{Name: "largest bitvar", Ops: []bitOp{bitvar(1<<32 - 1)}},
		mixed,
		ladder,
	}
}

package wire_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// dialectVector pairs a text of the JSON dialect with its frame. What a client
// sends is parsed, what a server sends is made.
type dialectVector struct {
	Name  string `json:"name"`
	From  string `json:"from"`
	Text  string `json:"text"`
	Frame string `json:"frame"`
}

func TestDialect(t *testing.T) {
	t.Parallel()
	var all []dialectVector
	for _, v := range clientTexts {
		k, body, err := wire.ParseJSONText([]byte(v.text))
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		all = append(all, dialectVector{v.name, "client", v.text, hex.EncodeToString(wire.AppendFrame(nil, k, body))})
	}
	for _, v := range serverFrames() {
		text, err := wire.AppendJSONText(nil, v.kind, v.body)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		all = append(all, dialectVector{v.name, "server", string(text), hex.EncodeToString(wire.AppendFrame(nil, v.kind, v.body))})
	}
	golden(t, "dialect.json", all)
}

var clientTexts = []struct{ name, text string }{
	{"hello without acks", `{"kind":"hello","versions":[1],"room":"arena","name":"Ann <Ω>"}`},
	{"hello with acks", `{"kind":"hello","versions":[1],"room":"arena","acks":true}`},
	{"unknown fields are skipped", ` { "mood" : [1,{"a":2}], "kind" : "leave" } `},
	{"ack", `{"kind":"ack","received":18446744073709551615}`},
	{"ping", `{"kind":"ping","b64":"AAECAwQFBgc="}`},
	{"ping, empty", `{"kind":"ping"}`},
	{"pong", `{"kind":"pong","b64":""}`},
	{"request with data", `{"kind":"request","id":1,"name":"interact","data":{"target": 7}}`},
	{"request with b64", `{"kind":"request","id":4294967295,"name":"x","b64":"/w=="}`},
	{"request without payload", `{"kind":"request","id":0,"name":"respawn"}`},
	{"a lone surrogate in a name", `{"kind":"request","id":1,"name":"a\ud800b"}`},
	{"relay to all", `{"kind":"relay","data":"hi"}`},
	{"relay to two", `{"kind":"relay","to":[2, 4294967295],"data":null}`},
	{"relay_fast", `{"kind":"relay_fast","to":[1],"b64":"AA=="}`},
	{"one input", `{"kind":"input","seq":65535,"tick":12,"data":[1,0]}`},
	{"one empty input", `{"kind":"input","seq":0,"tick":0}`},
	{"three inputs", `{"kind":"input","seq":3,"tick":9,"inputs":[{"data":1},{},{"b64":"Aw=="}]}`},
	{"no input", `{"kind":"input","seq":3,"tick":9,"inputs":[]}`},
	{"no tick", `{"kind":"input","seq":3,"data":1}`},
	{"resync", `{"kind":"resync"}`},
}

func serverFrames() []specimen {
	return append(onlyServer(frames()),
		raw("event with data", wire.KindEvent, wire.AppendEvent(nil, wire.Event{Tick: 9, Name: "door", Payload: []byte(`{"open":true}`)})),
		raw("response with a text that is not UTF-8", wire.KindResponse, wire.AppendResponse(nil, wire.Response{ID: 2, Payload: []byte("\"\xff\"")})),
		raw("snapshot", wire.KindSnapshot, []byte(`{"tick":9,"entities":[{"id":1,"type":"player","x":1.5}]}`)),
		raw("snapshot of nothing", wire.KindSnapshot, []byte(" {} ")),
	)
}

// onlyServer leaves what a server sends and the dialect has a form for.
func onlyServer(all []specimen) (kept []specimen) {
	for _, v := range all {
		switch v.kind {
		case wire.KindWelcome, wire.KindAck, wire.KindPing, wire.KindPong, wire.KindClose, wire.KindResponse,
			wire.KindEvent, wire.KindRelayed, wire.KindRelayedFast, wire.KindPeer, wire.KindDraining:
			kept = append(kept, v)
		}
	}
	return kept
}

// Whatever has a form in the dialect comes back from it as the same frame, but
// for what the dialect does not carry: an input's acknowledgement.
func TestDialectRoundTrip(t *testing.T) {
	t.Parallel()
	for _, v := range frames() {
		switch v.kind {
		case wire.KindFull, wire.KindSnapshot: // no form; opaque
			continue
		}
		text, err := wire.AppendJSONText([]byte("before"), v.kind, v.body)
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		k, body, err := wire.ParseJSONText(bytes.TrimPrefix(text, []byte("before")))
		if err != nil || k != v.kind {
			t.Errorf("%s: %s, %v", v.name, k, err)
			continue
		}
		want, err1 := parsed(k, v.body)
		got, err2 := parsed(k, body)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if v.kind == wire.KindInput {
			continue // see TestDialectInput
		}
		if canonical(t, got) != canonical(t, want) {
			t.Errorf("%s:\n got %s\nwant %s\ntext %s", v.name, got, want, text)
		}
	}
}

// canonical spells an object with its members in order, and without the acks
// that the dialect adds.
func canonical(t *testing.T, object []byte) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(object, &members); err != nil {
		t.Fatal(err)
	}
	if members["acks"] == false {
		delete(members, "acks")
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDialectHelloHasNoAcksByDefault(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"kind":"hello","versions":[1]}`:              false,
		`{"kind":"hello","acks":false,"versions":[1]}`: false,
		`{"kind":"hello","acks":true,"versions":[1]}`:  true,
	} {
		k, body, err := wire.ParseJSONText([]byte(text))
		var h wire.Hello
		if err != nil || wire.DecodeJSON(k, body, &h) != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if h.Acks == nil || *h.Acks != want {
			t.Errorf("%s: acks %v, want %v", text, h.Acks, want)
		}
		if bytes.Contains(body, []byte("kind")) {
			t.Errorf("%s: the body names the kind: %s", text, body)
		}
	}
}

func TestDialectInput(t *testing.T) {
	t.Parallel()
	body := wire.AppendInput(nil, wire.Input{Seq: 7, ClientTick: 8, Acked: 6, Mask: 5, Inputs: [][]byte{[]byte("{}"), {}, {0xff}}})
	text, err := wire.AppendJSONText(nil, wire.KindInput, body)
	if err != nil || string(text) != `{"kind":"input","seq":7,"tick":8,"inputs":[{"data":{}},{},{"b64":"/w=="}]}` {
		t.Fatalf("%s, %v", text, err)
	}
	_, body, err = wire.ParseJSONText(text)
	var in wire.Input
	if err != nil || wire.ParseInput(body, &in) != nil {
		t.Fatal(err)
	}
	if in.Seq != 7 || in.ClientTick != 8 || in.Acked != 0 || len(in.Inputs) != 3 || string(in.Inputs[0]) != "{}" || in.Inputs[2][0] != 0xff {
		t.Errorf("%+v", in)
	}
}

func TestDialectRefuses(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name, text string
		err        error
		says       string
	}{
		{"nothing", ``, wire.ErrMalformed, "a message is one JSON object"},
		{"null", `null`, wire.ErrMalformed, "a message is one JSON object"},
		{"an array", `[1]`, wire.ErrMalformed, "a message is one JSON object"},
		{"two objects", `{"kind":"leave"}{}`, wire.ErrMalformed, "a message is one JSON object"},
		{"bottomless", strings.Repeat(`{"kind":`, 12_000), wire.ErrMalformed, "a message is one JSON object"},
		{"too long", `{"kind":"leave","x":"` + long(wire.MaxJSONText) + `"}`, wire.ErrTooBig, "limit 98304"},
		{"not UTF-8", "{\"kind\":\"leave\",\"x\":\"\xff\"}", wire.ErrMalformed, "UTF-8"},
		{"no kind", `{}`, wire.ErrMalformed, "kind: want a string"},
		{"kind by number", `{"kind":8}`, wire.ErrMalformed, "kind: want a string"},
		{"empty kind", `{"kind":""}`, wire.ErrMalformed, `kind ""`},
		{"unknown kind", `{"kind":"dance"}`, wire.ErrMalformed, `kind "dance"`},
		{"full", `{"kind":"full"}`, wire.ErrMalformed, "no form"},
		{"switch", `{"kind":"switch"}`, wire.ErrMalformed, "no form"},
		{"data and b64", `{"kind":"relay","data":1,"b64":""}`, wire.ErrMalformed, "data and b64"},
		{"b64 is a number", `{"kind":"relay","b64":1}`, wire.ErrMalformed, "b64: want"},
		{"b64 is null", `{"kind":"relay","b64":null}`, wire.ErrMalformed, "b64: want"},
		{"b64 without padding", `{"kind":"relay","b64":"/w"}`, wire.ErrMalformed, "b64: want"},
		{"b64 of the other alphabet", `{"kind":"relay","b64":"_w=="}`, wire.ErrMalformed, "b64: want"},
		{"ping of nine bytes", `{"kind":"ping","b64":"AAECAwQFBgcI"}`, wire.ErrMalformed, "at most 8"},
		{"negative id", `{"kind":"request","id":-1,"name":"x"}`, wire.ErrMalformed, "id: want"},
		{"fraction", `{"kind":"request","id":1.5,"name":"x"}`, wire.ErrMalformed, "id: want"},
		{"exponent", `{"kind":"request","id":1e3,"name":"x"}`, wire.ErrMalformed, "id: want"},
		{"33 bits", `{"kind":"request","id":4294967296,"name":"x"}`, wire.ErrMalformed, "0 to 4294967295"},
		{"65 bits", `{"kind":"ack","received":18446744073709551616}`, wire.ErrMalformed, "received: want"},
		{"id as text", `{"kind":"request","id":"1","name":"x"}`, wire.ErrMalformed, "id: want"},
		{"no id", `{"kind":"request","name":"x"}`, wire.ErrMalformed, "id: want"},
		{"no name", `{"kind":"request","id":1}`, wire.ErrMalformed, "name: want"},
		{"empty name", `{"kind":"request","id":1,"name":""}`, wire.ErrMalformed, "1 to 64"},
		{"name of 65 bytes", `{"kind":"request","id":1,"name":"` + long(65) + `"}`, wire.ErrMalformed, "1 to 64"},
		{"to nobody", `{"kind":"relay","to":[]}`, wire.ErrMalformed, "to: want"},
		{"to null", `{"kind":"relay","to":null}`, wire.ErrMalformed, "to: want"},
		{"to an object", `{"kind":"relay","to":{}}`, wire.ErrMalformed, "to: want"},
		{"to 65", `{"kind":"relay","to":[1` + strings.Repeat(",1", 64) + `]}`, wire.ErrMalformed, "at most 64"},
		{"to a name", `{"kind":"relay","to":[1,"ann"]}`, wire.ErrMalformed, "to[1]"},
		{"fast payload", `{"kind":"relay_fast","data":"` + long(wire.MaxUnreliablePayload-1) + `"}`, wire.ErrTooBig, "limit 1120"},
		{"reliable payload", `{"kind":"relay","data":"` + long(wire.MaxReliablePayload-1) + `"}`, wire.ErrTooBig, "limit 61440"},
		{"long hello", `{"kind":"hello","x":"` + long(wire.MaxReliableBody) + `"}`, wire.ErrTooBig, "limit 62464"},
		{"seq of 17 bits", `{"kind":"input","seq":65536,"tick":0}`, wire.ErrMalformed, "seq: want"},
		{"input of 256 bytes", `{"kind":"input","seq":0,"tick":0,"data":"` + long(254) + `"}`, wire.ErrTooBig, "limit 255"},
		{"33 inputs", `{"kind":"input","seq":0,"tick":0,"inputs":[{}` + strings.Repeat(",{}", 32) + `]}`, wire.ErrMalformed, "at most 32"},
		{"input that is no object", `{"kind":"input","seq":0,"tick":0,"inputs":[{},null]}`, wire.ErrMalformed, "inputs[1]"},
		{"long one of inputs", `{"kind":"input","seq":0,"tick":0,"inputs":[{"data":"` + long(254) + `"}]}`, wire.ErrMalformed, "inputs[0]"},
		{"inputs and data", `{"kind":"input","seq":0,"tick":0,"inputs":[],"data":1}`, wire.ErrMalformed, "excludes"},
	} {
		k, body, err := wire.ParseJSONText([]byte(c.text))
		if k != 0 || body != nil || !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %s, %q, %v; want %v that says %q", c.name, k, body, err, c.err, c.says)
		}
	}
}

func TestDialectTakesTheLargest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"kind":"relay_fast","data":"` + strings.Repeat("x", wire.MaxUnreliablePayload-2) + `"}`,
		`{"kind":"relay","data":"` + strings.Repeat("x", wire.MaxReliablePayload-2) + `"}`,
		`{"kind":"input","seq":0,"tick":0,"data":"` + strings.Repeat("x", wire.MaxInputBytes-2) + `"}`,
	} {
		if _, _, err := wire.ParseJSONText([]byte(text)); err != nil {
			t.Errorf("%.30s…: %v", text, err)
		}
	}
	body := wire.AppendRelay(nil, many(wire.MaxRelayTargets), make([]byte, wire.MaxReliablePayload))
	text, err := wire.AppendJSONText(nil, wire.KindRelay, body)
	if err != nil || len(text) > wire.MaxJSONText {
		t.Fatalf("%d bytes of text, %v", len(text), err)
	}
	if _, again, err := wire.ParseJSONText(text); err != nil || !bytes.Equal(again, body) {
		t.Errorf("the largest relay does not come back: %v", err)
	}
}

func TestDialectMakesNothingOfBadBodies(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]specimen{
		"kind 0":               {kind: 0},
		"unknown kind":         {kind: 27},
		"full":                 {kind: wire.KindFull},
		"binary snapshot":      {kind: wire.KindSnapshot, body: []byte{0, 1, 2}},
		"snapshot of an array": {kind: wire.KindSnapshot, body: []byte("[]")},
		"snapshot not UTF-8":   {kind: wire.KindSnapshot, body: []byte("{\"\xff\":1}")},
		"empty request":        {kind: wire.KindRequest},
		"empty input":          {kind: wire.KindInput},
		"long ack":             {kind: wire.KindAck, body: []byte{1, 1}},
	} {
		got, err := wire.AppendJSONText([]byte("kept"), v.kind, v.body)
		if string(got) != "kept" || !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// ParseJSONText parses an object of the JSON dialect (docs/protocol.md §7) and
// returns the frame it stands for, with the body of the binary encoding. Unknown
// fields are skipped; an unknown kind is an error that names it, since a person
// typed it.
//
// A hello without acks gets acks false. An input acknowledges no snapshot. A
// lone surrogate in a name becomes U+FFFD; data is passed on as it was written.
func ParseJSONText(text []byte) (k Kind, body []byte, err error) {
	o, err := parseObject(text)
	if err != nil {
		return 0, nil, err
	}
	name := o.text("kind")
	if o.err != nil {
		return 0, nil, o.err
	}
	if k = KindNamed(name); k == 0 {
		return 0, nil, fmt.Errorf("%w: kind %.64q is not known", ErrMalformed, name)
	}
	body = o.body(k)
	switch {
	case o.err != nil:
		return 0, nil, fmt.Errorf("%s: %w", k, o.err)
	case len(body) > MaxReliableBody:
		return 0, nil, fmt.Errorf("%w: %s of %d bytes, limit %d", ErrTooBig, k, len(body), MaxReliableBody)
	}
	return k, body, nil
}

// object is a JSON object whose members are read by name. The first fault stays
// in err; what is read after it is meaningless.
type object struct {
	members map[string]json.RawMessage
	err     error
}

func parseObject(text []byte) (o object, err error) {
	switch {
	case len(text) > MaxJSONText:
		return o, fmt.Errorf("%w: text of %d bytes, limit %d", ErrTooBig, len(text), MaxJSONText)
	case !utf8.Valid(text):
		return o, fmt.Errorf("%w: text is not valid UTF-8", ErrMalformed)
	}
	err = json.Unmarshal(text, &o.members)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return o, fmt.Errorf("%w: a message is one JSON object: %v", ErrMalformed, syntax)
	case err != nil || o.members == nil: // JSON, but an array, a string, null
		return o, fmt.Errorf("%w: a message is one JSON object", ErrMalformed)
	}
	return o, nil
}

func (o *object) body(k Kind) []byte {
	switch k {
	case KindHello, KindWelcome, KindClose, KindPeer, KindDraining, KindSnapshot:
		return o.without(k)
	case KindAck:
		return AppendAck(nil, o.uint("received", 1<<64-1))
	case KindPing, KindPong:
		b := o.base64()
		if len(b) > MaxPingBytes {
			o.fail("b64: at most %d bytes", MaxPingBytes)
		}
		return b
	case KindRequest:
		return AppendRequest(nil, Request{o.uint32("id"), o.name(), o.payload(MaxReliablePayload)})
	case KindResponse:
		return AppendResponse(nil, Response{o.uint32("id"), Code(o.uint("code", 1<<16-1)), o.payload(MaxReliablePayload)})
	case KindEvent:
		return AppendEvent(nil, Event{o.uint32("tick"), o.name(), o.payload(MaxReliablePayload)})
	case KindRelay, KindRelayFast:
		return AppendRelay(nil, o.targets(), o.payload(payloadLimit(k)))
	case KindRelayed, KindRelayedFast:
		var stamp uint16
		sender := o.uint32("from")
		if k == KindRelayedFast {
			stamp = uint16(o.uint("stamp", 1<<16-1))
		}
		return append(AppendRelayedPrefix(nil, k.Lane(), sender, stamp), o.payload(payloadLimit(k))...)
	case KindInput:
		return o.input()
	case KindResync, KindLeave:
		return nil
	}
	o.fail("it has no form in the JSON dialect")
	return nil
}

func payloadLimit(k Kind) int {
	if k.Lane() == Unreliable {
		return MaxUnreliablePayload
	}
	return MaxReliablePayload
}

func (o *object) fail(format string, args ...any) {
	o.failWith(ErrMalformed, format, args...)
}

func (o *object) failWith(err error, format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%w: "+format, append([]any{err}, args...)...)
	}
}

// uint reads a number, written without sign, fraction or exponent.
func (o *object) uint(name string, most uint64) uint64 {
	v, err := strconv.ParseUint(string(o.members[name]), 10, 64)
	if err != nil || v > most {
		o.fail("%s: want a whole number from 0 to %d", name, most)
	}
	return v
}

func (o *object) uint32(name string) uint32 { return uint32(o.uint(name, 1<<32-1)) }

func (o *object) text(name string) string {
	raw := o.members[name]
	var v string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &v) != nil {
		o.fail("%s: want a string", name)
	}
	return v
}

func (o *object) name() string {
	v := o.text("name")
	if len(v) == 0 || len(v) > MaxNameBytes {
		o.fail("name: want 1 to %d bytes", MaxNameBytes)
	}
	return v
}

// payload reads data or b64; absent means empty.
func (o *object) payload(limit int) []byte {
	p := o.base64()
	if data, ok := o.members["data"]; ok {
		if p != nil {
			o.fail("data and b64 exclude each other")
		}
		p = data
	}
	if len(p) > limit {
		o.failWith(ErrTooBig, "payload of %d bytes, limit %d", len(p), limit)
	}
	return p
}

// base64 returns nil only if there is no b64.
func (o *object) base64() []byte {
	if _, ok := o.members["b64"]; !ok {
		return nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(o.text("b64"))
	if err != nil {
		o.fail("b64: want standard base64")
	}
	if b == nil {
		b = []byte{}
	}
	return b
}

func (o *object) array(name string, most int) []json.RawMessage {
	var elements []json.RawMessage
	if json.Unmarshal(o.members[name], &elements) != nil || elements == nil || len(elements) > most {
		o.fail("%s: want an array of at most %d", name, most)
		return nil
	}
	return elements
}

func (o *object) targets() []uint32 {
	if _, ok := o.members["to"]; !ok {
		return nil
	}
	elements := o.array("to", MaxRelayTargets)
	// In the binary encoding no addressee means everybody: not what a list
	// that happens to be empty asks for.
	if len(elements) == 0 {
		o.fail("to: want 1 to %d peer ids, or no such field for all others", MaxRelayTargets)
	}
	to := make([]uint32, len(elements))
	for i, raw := range elements {
		id, err := strconv.ParseUint(string(raw), 10, 32)
		if err != nil {
			o.fail("to[%d]: want a peer id", i)
		}
		to[i] = uint32(id)
	}
	return to
}

func (o *object) input() []byte {
	in := Input{Seq: uint16(o.uint("seq", 1<<16-1))}
	if _, given := o.members["tick"]; given { // a person does not know the tick
		in.ClientTick = o.uint32("tick")
	}
	if _, several := o.members["inputs"]; several {
		if o.members["data"] != nil || o.members["b64"] != nil {
			o.fail("inputs excludes data and b64")
		}
		for i, raw := range o.array("inputs", MaxInputs) {
			one, err := parseObject(raw)
			in.Inputs = append(in.Inputs, one.payload(MaxInputBytes))
			if err != nil || one.err != nil {
				o.fail("inputs[%d]: want an object with data or b64 of at most %d bytes", i, MaxInputBytes)
			}
		}
	} else {
		in.Inputs = [][]byte{o.payload(MaxInputBytes)}
	}
	if o.err != nil {
		return nil // AppendInput is for what fits
	}
	return AppendInput(nil, in)
}

// without returns the object as the JSON body of a kind: without "kind", and for
// a hello with the dialect's own default.
func (o *object) without(k Kind) []byte {
	delete(o.members, "kind")
	if _, ok := o.members["acks"]; !ok && k == KindHello {
		o.members["acks"] = json.RawMessage("false")
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(o.members); err != nil {
		o.fail("%v", err)
	}
	return bytes.TrimSuffix(body.Bytes(), []byte("\n"))
}

package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// MaxJSONText bounds a text message of the JSON dialect from a client: a largest
// payload in base64 with its fields.
const MaxJSONText = 96 << 10

// AppendJSONText appends a frame as an object of the JSON dialect
// (docs/protocol.md §7). Kinds without a form there, full snapshots among them,
// and bodies that do not parse are errors; dst is then returned as it was.
func AppendJSONText(dst []byte, k Kind, body []byte) ([]byte, error) {
	o := objectWriter{buf: append(dst, '{')}
	o.text("kind", k.String())
	if err := o.fields(k, body); err != nil {
		return dst, fmt.Errorf("%s as JSON: %w", k, err)
	}
	return append(o.buf, '}'), nil
}

func (o *objectWriter) fields(k Kind, body []byte) error {
	switch k {
	case KindHello, KindWelcome, KindClose, KindPeer, KindDraining, KindSnapshot:
		return o.members(body)
	case KindAck:
		received, err := ParseAck(body)
		o.uint("received", received)
		return err
	case KindPing, KindPong:
		if len(body) > 0 {
			o.base64(body)
		}
		return nil
	case KindRequest:
		r, err := ParseRequest(body)
		o.uint("id", uint64(r.ID))
		o.text("name", r.Name)
		o.payload(r.Payload)
		return err
	case KindResponse:
		r, err := ParseResponse(body)
		o.uint("id", uint64(r.ID))
		o.uint("code", uint64(r.Code))
		o.payload(r.Payload)
		return err
	case KindEvent:
		e, err := ParseEvent(body)
		o.uint("tick", uint64(e.Tick))
		o.text("name", e.Name)
		o.payload(e.Payload)
		return err
	case KindRelay, KindRelayFast:
		r, err := ParseRelay(k.Lane(), body)
		o.targets(r)
		o.payload(r.Payload)
		return err
	case KindRelayed, KindRelayedFast:
		r, err := ParseRelayed(k.Lane(), body)
		o.uint("from", uint64(r.Sender))
		if k == KindRelayedFast {
			o.uint("stamp", uint64(r.Stamp))
		}
		o.payload(r.Payload)
		return err
	case KindInput:
		return o.input(body)
	case KindResync, KindLeave:
		return nil
	}
	return fmt.Errorf("%w: it has no form in the JSON dialect", ErrMalformed)
}

// objectWriter writes the members of a JSON object. The caller checks errors
// after the fact and discards the buffer.
type objectWriter struct{ buf []byte }

func (o *objectWriter) key(name string) {
	if o.buf[len(o.buf)-1] != '{' {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(append(append(o.buf, '"'), name...), `":`...)
}

func (o *objectWriter) uint(name string, v uint64) {
	o.key(name)
	o.buf = strconv.AppendUint(o.buf, v, 10)
}

func (o *objectWriter) text(name, v string) {
	o.key(name)
	quoted, _ := json.Marshal(v) // a string always encodes
	o.buf = append(o.buf, quoted...)
}

func (o *objectWriter) base64(b []byte) {
	o.key("b64")
	o.buf = append(o.buf, '"')
	o.buf = base64.StdEncoding.AppendEncode(o.buf, b)
	o.buf = append(o.buf, '"')
}

// payload writes data or b64, or nothing if p is empty. The text must stay
// valid UTF-8, which json.Valid does not look at.
func (o *objectWriter) payload(p []byte) {
	switch {
	case len(p) == 0:
	case utf8.Valid(p) && json.Valid(p):
		o.key("data")
		o.buf = append(o.buf, p...)
	default:
		o.base64(p)
	}
}

func (o *objectWriter) targets(r Relay) {
	if r.All() {
		return
	}
	o.key("to")
	o.buf = append(o.buf, '[')
	r.Each(func(peer uint32) {
		o.buf = append(strconv.AppendUint(o.buf, uint64(peer), 10), ',')
	})
	o.buf[len(o.buf)-1] = ']'
}

func (o *objectWriter) input(body []byte) error {
	var in Input
	if err := ParseInput(body, &in); err != nil {
		return err
	}
	o.uint("seq", uint64(in.Seq))
	o.uint("tick", uint64(in.ClientTick))
	o.key("inputs")
	o.buf = append(o.buf, '[')
	for i, p := range in.Inputs {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = append(o.buf, '{')
		o.payload(p)
		o.buf = append(o.buf, '}')
	}
	o.buf = append(o.buf, ']')
	return nil
}

// members writes those of a whole JSON object.
func (o *objectWriter) members(object []byte) error {
	object = bytes.TrimSpace(object)
	if len(object) < 2 || object[0] != '{' || !utf8.Valid(object) || !json.Valid(object) {
		return fmt.Errorf("%w: not a JSON object", ErrMalformed)
	}
	inner := bytes.TrimSpace(object[1 : len(object)-1])
	if len(inner) > 0 {
		o.buf = append(append(o.buf, ','), inner...)
	}
	return nil
}

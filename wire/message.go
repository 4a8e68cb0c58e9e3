package wire

import (
	"encoding/binary"
	"fmt"
)

// Bodies of the binary kinds. Each has an Append and a Parse; a parsed body
// holds views into the bytes it was parsed from.

// MaxNameBytes bounds the name of a request or event.
const MaxNameBytes = 64

// Request is a call to the room's game. A client numbers its requests from 1
// upward for the life of its session; a repeated id repeats its response, never
// its effect.
type Request struct {
	ID      uint32
	Name    string
	Payload []byte
}

// AppendRequest appends uvarint id, name, payload.
func AppendRequest(dst []byte, r Request) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.ID))
	return append(appendName(dst, r.Name), r.Payload...)
}

// ParseRequest parses the body of a request.
func ParseRequest(b []byte) (r Request, err error) {
	var ok bool
	if r.ID, b, ok = uvarint(b); !ok {
		return r, fmt.Errorf("%w: request id", ErrMalformed)
	}
	if r.Name, r.Payload, err = parseName(b); err != nil {
		return r, fmt.Errorf("request: %w", err)
	}
	return r, checkPayload(r.Payload)
}

// Response answers the request with the same id.
type Response struct {
	ID      uint32
	Code    Code // CodeNone: success
	Payload []byte
}

// AppendResponse appends uvarint id, uvarint code, payload.
func AppendResponse(dst []byte, r Response) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.ID))
	dst = binary.AppendUvarint(dst, uint64(r.Code))
	return append(dst, r.Payload...)
}

// ParseResponse parses the body of a response.
func ParseResponse(b []byte) (r Response, err error) {
	id, b, ok := uvarint(b)
	code, b, ok2 := uvarint(b)
	if !ok || !ok2 || code > 0xffff {
		return r, fmt.Errorf("%w: response", ErrMalformed)
	}
	return Response{ID: id, Code: Code(code), Payload: b}, nil
}

// Event is something that happened in the room at a tick. A receiver holds it
// until it has applied a snapshot of that tick or a later one, at most 250 ms.
type Event struct {
	Tick    uint32
	Name    string
	Payload []byte
}

// AppendEvent appends uvarint tick, name, payload.
func AppendEvent(dst []byte, e Event) []byte {
	dst = binary.AppendUvarint(dst, uint64(e.Tick))
	return append(appendName(dst, e.Name), e.Payload...)
}

// ParseEvent parses the body of an event.
func ParseEvent(b []byte) (e Event, err error) {
	var ok bool
	if e.Tick, b, ok = uvarint(b); !ok {
		return e, fmt.Errorf("%w: event tick", ErrMalformed)
	}
	if e.Name, e.Payload, err = parseName(b); err != nil {
		return e, fmt.Errorf("event: %w", err)
	}
	return e, nil
}

// MaxRelayTargets bounds the addressees of one relayed message.
const MaxRelayTargets = 64

// Relay asks the room to forward a payload: to the listed peers ([Relay.Each]),
// or to all others if there are none listed.
type Relay struct {
	targets []byte // undecoded, but checked
	count   int
	Payload []byte
}

// AppendRelay appends uvarint count, that many uvarint peer ids, payload.
func AppendRelay(dst []byte, to []uint32, payload []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(to)))
	for _, id := range to {
		dst = binary.AppendUvarint(dst, uint64(id))
	}
	return append(dst, payload...)
}

// ParseRelay parses and checks the body of a relay of the given lane.
func ParseRelay(lane Lane, b []byte) (r Relay, err error) {
	n, b, ok := uvarint(b)
	if !ok || n > MaxRelayTargets {
		return r, fmt.Errorf("%w: relay: at most %d addressees", ErrMalformed, MaxRelayTargets)
	}
	rest := b
	for range n {
		if _, rest, ok = uvarint(rest); !ok {
			return r, fmt.Errorf("%w: relay addressee", ErrMalformed)
		}
	}
	r = Relay{targets: b[:len(b)-len(rest)], count: int(n), Payload: rest}
	limit := MaxReliablePayload
	if lane == Unreliable {
		limit = MaxUnreliablePayload
	}
	if len(rest) > limit {
		return r, fmt.Errorf("%w: %d bytes on the %s lane, limit %d", ErrTooBig, len(rest), lane, limit)
	}
	return r, nil
}

// All reports whether the message goes to all other members.
func (r Relay) All() bool { return r.count == 0 }

// Each calls fn with every addressee.
func (r Relay) Each(fn func(peer uint32)) {
	b := r.targets
	for range r.count {
		id, rest, _ := uvarint(b) // checked by ParseRelay
		fn(id)
		b = rest
	}
}

// Relayed is a message of another member.
type Relayed struct {
	Sender uint32
	// Stamp counts the sender's messages on the unreliable lane, modulo 65,536;
	// 0 on the reliable lane. See [Newer16].
	Stamp   uint16
	Payload []byte
}

// AppendRelayedPrefix appends what stands before the payload: uvarint sender
// and, on the unreliable lane, the stamp as uint16 little-endian.
func AppendRelayedPrefix(dst []byte, lane Lane, sender uint32, stamp uint16) []byte {
	dst = binary.AppendUvarint(dst, uint64(sender))
	if lane == Unreliable {
		dst = binary.LittleEndian.AppendUint16(dst, stamp)
	}
	return dst
}

// ParseRelayed parses the body of a relayed message.
func ParseRelayed(lane Lane, b []byte) (r Relayed, err error) {
	sender, b, ok := uvarint(b)
	if !ok {
		return r, fmt.Errorf("%w: relayed sender", ErrMalformed)
	}
	r.Sender = sender
	if lane == Unreliable {
		if len(b) < 2 {
			return r, fmt.Errorf("%w: relayed stamp", ErrMalformed)
		}
		r.Stamp, b = binary.LittleEndian.Uint16(b), b[2:]
	}
	r.Payload = b
	return r, nil
}

// Newer16 reports whether a comes after b on the ring of 16-bit numbers. A
// number half a ring away or more is older, never newer (RFC 1982).
func Newer16(a, b uint16) bool { return a != b && a-b < 1<<15 }

// AppendAck appends the body of an ack.
func AppendAck(dst []byte, received uint64) []byte { return binary.AppendUvarint(dst, received) }

// ParseAck parses the body of an ack.
func ParseAck(b []byte) (received uint64, err error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n != len(b) {
		return 0, fmt.Errorf("%w: ack", ErrMalformed)
	}
	return v, nil
}

func appendName(dst []byte, name string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

func parseName(b []byte) (name string, rest []byte, err error) {
	n, b, ok := uvarint(b)
	if !ok || int(n) > len(b) || n == 0 || n > MaxNameBytes {
		return "", nil, fmt.Errorf("%w: name: 1 to %d bytes", ErrMalformed, MaxNameBytes)
	}
	return string(b[:n]), b[n:], nil
}

func checkPayload(p []byte) error {
	if len(p) > MaxReliablePayload {
		return fmt.Errorf("%w: payload of %d bytes, limit %d", ErrTooBig, len(p), MaxReliablePayload)
	}
	return nil
}

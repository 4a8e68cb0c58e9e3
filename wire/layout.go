package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes in bytes. They are one set of numbers for every transport, and a
// welcome announces those that a client must keep to.
const (
	// MaxReliablePayload is the largest opaque payload of a request, response,
	// event or relayed message on the reliable lane.
	MaxReliablePayload = 60 << 10
	// MaxReliableBody is the largest frame body: a largest payload with its
	// addressing.
	MaxReliableBody = MaxReliablePayload + 1<<10
	// MaxMessage is the largest link message on the reliable lane.
	MaxMessage = 65_535
	// MaxDatagram is the largest link message on the unreliable lane: more
	// would be fragmented by SCTP.
	MaxDatagram = 1150
	// MaxUnreliablePayload is the largest opaque payload on the unreliable
	// lane. A datagram has room for it as a relayed message of any sender, and
	// as one to at least five peers; a longer list leaves less.
	MaxUnreliablePayload = 1120
	// MaxPingBytes bounds the body of a ping.
	MaxPingBytes = 8
	// MaxHeader is the longest frame header.
	MaxHeader = 4

	lengthEscape = 2047
)

// Errors of the layout. A decoder of outside bytes returns these (wrapped) and
// never panics.
var (
	ErrTruncated = errors.New("frame is truncated")
	ErrTooBig    = errors.New("message is too big")
	ErrBadKind   = errors.New("frame kind 0 is not valid")
	ErrMalformed = errors.New("body is malformed")
)

// HeaderSize returns the header length of a body of n bytes.
func HeaderSize(n int) int {
	if n >= lengthEscape {
		return 4
	}
	return 2
}

// AppendHeader appends the header of a frame with a body of n bytes.
// n must be at most 65,535.
func AppendHeader(dst []byte, k Kind, n int) []byte {
	if n < lengthEscape {
		return binary.LittleEndian.AppendUint16(dst, uint16(k)|uint16(n)<<5)
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(k)|lengthEscape<<5)
	return binary.LittleEndian.AppendUint16(dst, uint16(n))
}

// AppendFrame appends a whole frame.
func AppendFrame(dst []byte, k Kind, body []byte) []byte {
	return append(AppendHeader(dst, k, len(body)), body...)
}

// NextFrame splits the first frame off a link message. The body is a view into
// msg. A message is done when rest is empty; an empty message holds no frame.
//
// Frames of the unreliable lane are not held to a datagram here: a link bounds
// its messages, and where both lanes share a stream a JSON snapshot may be long.
func NextFrame(msg []byte) (k Kind, body, rest []byte, err error) {
	if len(msg) < 2 {
		return 0, nil, nil, ErrTruncated
	}
	h := binary.LittleEndian.Uint16(msg)
	k, msg = Kind(h&31), msg[2:]
	n := int(h >> 5)
	if n == lengthEscape {
		if len(msg) < 2 {
			return 0, nil, nil, ErrTruncated
		}
		n, msg = int(binary.LittleEndian.Uint16(msg)), msg[2:]
	}
	switch {
	case k == 0:
		return 0, nil, nil, ErrBadKind
	case n > len(msg):
		return 0, nil, nil, fmt.Errorf("%w: %s of %d bytes, %d left", ErrTruncated, k, n, len(msg))
	case n > MaxReliableBody:
		return 0, nil, nil, fmt.Errorf("%w: %s of %d bytes, limit %d", ErrTooBig, k, n, MaxReliableBody)
	}
	return k, msg[:n:n], msg[n:], nil
}

// uvarint reads a uvarint of at most 32 bits in at most 5 bytes.
func uvarint(b []byte) (v uint32, rest []byte, ok bool) {
	x, n := binary.Uvarint(b)
	if n <= 0 || n > 5 || x > 1<<32-1 {
		return 0, nil, false
	}
	return uint32(x), b[n:], true
}

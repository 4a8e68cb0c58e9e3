package wire

import (
	"encoding/binary"
	"fmt"
)

// Bounds of an input frame.
const (
	// MaxInputs is how many inputs one frame may carry.
	MaxInputs = 32
	// MaxInputBytes bounds one input's payload.
	MaxInputBytes = 255
)

// Input is a batch of a client's inputs, and its acknowledgement of snapshots.
// A frame with no inputs is an acknowledgement only.
type Input struct {
	// Seq numbers the newest input of the batch; those before it count down.
	// 16 bits that wrap, one per client tick.
	Seq uint16
	// ClientTick is the tick that the client believed to be the server's when
	// it made the newest input.
	ClientTick uint32
	// Acked is the newest snapshot tick that the client has applied, 0 for none.
	Acked uint32
	// Mask tells of the 64 ticks before Acked: bit i is set if the snapshot of
	// tick Acked-1-i was applied.
	Mask uint64
	// Inputs are oldest first; the last has number Seq. Payloads are opaque.
	Inputs [][]byte
}

// AppendInput appends uint16 seq, uint32 client tick, uint32 acked (all
// little-endian), uvarint of the inverted mask (what was missed, so that a
// clean line costs a byte), uint8 count, and for each input uint8 length and
// payload. It panics if there are more than [MaxInputs] or one is longer than
// [MaxInputBytes].
func AppendInput(dst []byte, in Input) []byte {
	if len(in.Inputs) > MaxInputs {
		panic("wire: too many inputs in a frame")
	}
	dst = binary.LittleEndian.AppendUint16(dst, in.Seq)
	dst = binary.LittleEndian.AppendUint32(dst, in.ClientTick)
	dst = binary.LittleEndian.AppendUint32(dst, in.Acked)
	dst = binary.AppendUvarint(dst, ^in.Mask)
	dst = append(dst, byte(len(in.Inputs)))
	for _, p := range in.Inputs {
		if len(p) > MaxInputBytes {
			panic("wire: input is too long")
		}
		dst = append(append(dst, byte(len(p))), p...)
	}
	return dst
}

// ParseInput parses the body of an input frame. It appends to in.Inputs[:0], so
// that a caller who keeps in around does not allocate.
func ParseInput(b []byte, in *Input) error {
	in.Inputs = in.Inputs[:0]
	if len(b) < 12 {
		return fmt.Errorf("%w: input of %d bytes", ErrMalformed, len(b))
	}
	in.Seq = binary.LittleEndian.Uint16(b)
	in.ClientTick = binary.LittleEndian.Uint32(b[2:])
	in.Acked = binary.LittleEndian.Uint32(b[6:])
	missed, n := binary.Uvarint(b[10:])
	if n <= 0 {
		return fmt.Errorf("%w: input mask", ErrMalformed)
	}
	in.Mask = ^missed
	if b = b[10+n:]; len(b) == 0 || b[0] > MaxInputs {
		return fmt.Errorf("%w: input count: at most %d", ErrMalformed, MaxInputs)
	}
	count, b := int(b[0]), b[1:]
	for range count {
		if len(b) == 0 || int(b[0]) > len(b)-1 {
			return fmt.Errorf("%w: input payload", ErrMalformed)
		}
		end := 1 + int(b[0])
		in.Inputs = append(in.Inputs, b[1:end:end])
		b = b[end:]
	}
	if len(b) != 0 {
		return fmt.Errorf("%w: %d bytes after the inputs", ErrMalformed, len(b))
	}
	return nil
}

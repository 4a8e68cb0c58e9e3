package arena

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
)

// Input of one member for one tick.
type Input struct {
	movement.Input
	Aim    uint8 // 1/256 turn
	Attack bool  // held
}

// inputBytes is the length of a binary input.
const inputBytes = 4

// Bits of an input's first byte. The JSON form starts with '{', which has other
// bits set.
const (
	buttonAttack = 1 << iota
	buttonDash
)

// maxJSONBytes bounds the JSON of an input or request: no honest one is longer.
const maxJSONBytes = 255

var errInput = errors.New("arena: invalid input")

// AppendInput appends the binary form. Moves beyond [movement.MaxMove] are
// clamped.
func AppendInput(dst []byte, in Input) []byte {
	var buttons byte
	if in.Attack {
		buttons |= buttonAttack
	}
	if in.Dash {
		buttons |= buttonDash
	}
	x, y := clamp(in.MoveX, movement.MaxMove), clamp(in.MoveY, movement.MaxMove)
	return append(dst, buttons, byte(int8(x)), byte(int8(y)), in.Aim)
}

// ParseInput reads either form of an input. It does not keep b; the binary form
// allocates nothing.
func ParseInput(b []byte) (Input, error) {
	if len(b) > 0 && b[0] == '{' {
		return parseJSONInput(b)
	}
	if len(b) != inputBytes {
		return Input{}, fmt.Errorf("%w: %d bytes, want %d", errInput, len(b), inputBytes)
	}
	if b[0]&^(buttonAttack|buttonDash) != 0 {
		return Input{}, fmt.Errorf("%w: buttons %#x", errInput, b[0])
	}
	return Input{
		Input: movement.Input{
			MoveX: int32(int8(b[1])), MoveY: int32(int8(b[2])), Dash: b[0]&buttonDash != 0,
		},
		Aim:    b[3],
		Attack: b[0]&buttonAttack != 0,
	}, nil
}

func parseJSONInput(b []byte) (Input, error) {
	var j struct {
		Move   [2]json.Number `json:"move"`
		Aim    json.Number    `json:"aim"`
		Attack bool           `json:"attack"`
		Dash   bool           `json:"dash"`
	}
	if len(b) > maxJSONBytes {
		return Input{}, fmt.Errorf("%w: %d bytes of JSON, limit %d", errInput, len(b), maxJSONBytes)
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return Input{}, fmt.Errorf("%w: %w", errInput, err)
	}
	x, okX := millionths(j.Move[0])
	y, okY := millionths(j.Move[1])
	aim, okAim := degrees(j.Aim)
	if !okX || !okY || !okAim {
		return Input{}, fmt.Errorf("%w: a number is out of range", errInput)
	}
	in := Input{Aim: aim, Attack: j.Attack}
	in.MoveX, in.MoveY, in.Dash = fullSpeed(x), fullSpeed(y), j.Dash
	return in, nil
}

// fullSpeed turns a component of a move, 1 being 1,000,000, into one of an input.
func fullSpeed(m int64) int32 {
	return clamp(int32(m*movement.MaxMove/1_000_000), movement.MaxMove)
}

// degrees reads an angle in degrees and returns it in 1/256 turn, rounded.
func degrees(n json.Number) (aim uint8, ok bool) {
	m, ok := millionths(n)
	const half = 360_000_000 / 2
	m = (m*256 + half) % (360_000_000 * 256)
	if m < 0 {
		m += 360_000_000 * 256
	}
	return uint8(m / 360_000_000), ok
}

// millionths reads a JSON number as a whole number of 1/1,000,000, cut toward
// zero, without floating point: a world may depend on it. Beyond 1,000,000 it is
// not accepted. An absent number is 0.
func millionths(n json.Number) (v int64, ok bool) {
	const limit = 1_000_000 * 1_000_000
	s, negative, exponent := string(n), false, 6
	if s != "" && s[0] == '-' {
		s, negative = s[1:], true
	}
	point := false
	for s != "" && (s[0] == '.' || s[0] >= '0' && s[0] <= '9') {
		switch {
		case s[0] == '.':
			point = true
		case v > limit: // enough digits: the rest only counts
			if !point {
				exponent++
			}
		default:
			v = v*10 + int64(s[0]-'0')
			if point {
				exponent--
			}
		}
		s = s[1:]
	}
	power, ok := powerOfTen(s)
	if !ok {
		return 0, false
	}
	for exponent += power; exponent < 0 && v != 0; exponent++ {
		v /= 10
	}
	for ; exponent > 0 && v != 0 && v <= limit; exponent-- {
		v *= 10
	}
	if v > limit {
		return 0, false
	}
	if negative {
		v = -v
	}
	return v, true
}

// powerOfTen reads the exponent of a JSON number, which may be absent.
func powerOfTen(s string) (power int, ok bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	negative := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative, s = s[0] == '-', s[1:]
	}
	for ; s != ""; s = s[1:] {
		if s[0] < '0' || s[0] > '9' {
			return 0, false
		}
		power = min(power*10+int(s[0]-'0'), 1000)
	}
	if negative {
		power = -power
	}
	return power, true
}

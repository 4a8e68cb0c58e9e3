package arena

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
)

func TestBothFormsOfAnInput(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Input{
		"\x00\x00\x00\x00":        {},
		"\x03\x7f\x81\x40":        {Input: movement.Input{MoveX: 127, MoveY: -127, Dash: true}, Aim: 64, Attack: true},
		"\x01\x80\x01\xff":        {Input: movement.Input{MoveX: -128, MoveY: 1}, Aim: 255, Attack: true},
		`{}`:                      {},
		`{"move":[1,0],"aim":90}`: {Input: movement.Input{MoveX: 127}, Aim: 64},
		`{"move":[-1],"aim":-90}`: {Input: movement.Input{MoveX: -127}, Aim: 192},
		`{"move":[0.5,-0.25],"aim":359.9,"attack":true,"dash":true}`: {
			Input: movement.Input{MoveX: 63, MoveY: -31, Dash: true}, Aim: 0, Attack: true,
		},
		`{"move":[6.123233995736766e-17,1],"aim":1.40625,"other":[1]}`: {Input: movement.Input{MoveY: 127}, Aim: 1},
		`{"move":[1000,-1000]}`: {Input: movement.Input{MoveX: 127, MoveY: -127}},
	} {
		got, err := ParseInput([]byte(text))
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestDegreesAreRoundedToTheNearestAngle(t *testing.T) {
	t.Parallel()
	for n, want := range map[json.Number]uint8{
		"": 0, "0": 0, "-0": 0, "90": 64, "180": 128, "270": 192, "-90": 192, "360": 0, "720.0": 0, "359.2": 255,
		"359.4": 0, "0.7": 0, "0.71": 1, "-0.7": 0, "-0.71": 255, "9e1": 64, "900e-1": 64, "0.0009E+5": 64, "1e-300": 0,
		"90.00000000000000000000000001": 64,
	} {
		if got, ok := degrees(n); !ok || got != want {
			t.Errorf("%q: got %d, %v; want %d", n, got, ok, want)
		}
	}
	for _, n := range []json.Number{"1e7", "1000001", "-1e300", "1e99999999999", "12345678901234567890", "NaN", "1x"} {
		if got, ok := degrees(n); ok {
			t.Errorf("%q: got %d, want it refused", n, got)
		}
	}
}

func TestAngleIsTheInverseOfAlong(t *testing.T) {
	t.Parallel()
	for a := range 256 {
		for _, length := range []int32{100, 5000, MapWidth * Tile} {
			x, y := along(uint8(a), length)
			off := int8(angle(x, y) - uint8(a))
			if off < -1 || off > 1 {
				t.Errorf("angle %d, length %d: (%d, %d) comes back %d off", a, length, x, y, off)
			}
			if d := x*x + y*y - length*length; abs(d) > 4*length {
				t.Errorf("angle %d, length %d: (%d, %d) is %d too long, squared", a, length, x, y, d)
			}
		}
	}
	if angle(0, 0) != 0 {
		t.Error("no vector, no angle")
	}
}

func TestTurnTakesTheShortWay(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]uint8{{10, 20, 14}, {20, 10, 16}, {250, 10, 254}, {10, 250, 6}, {10, 12, 12}} {
		if got := turn(c[0], c[1], 4); got != c[2] {
			t.Errorf("from %d to %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

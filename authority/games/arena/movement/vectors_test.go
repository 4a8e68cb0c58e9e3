package movement_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

const vectorsFile = "testdata/vectors.json"

// vectors hold this rule and its TypeScript twin to the same numbers. Lists of
// numbers keep the file small; the types below say what stands where.
type vectors struct {
	Cases []vectorCase `json:"cases"`
}

type vectorCase struct {
	Name  string         `json:"name"`
	Map   []string       `json:"map"`
	Rules movement.Rules `json:"rules"`
	Start [7]int32       `json:"start"` // x, y, vx, vy, dash, power, flags
	// Doors: step before which the door is set, tile x, tile y, 1 for open.
	Doors [][4]int32 `json:"doors,omitempty"`
	// Steps: move x, move y, 1 for dash; then x, y, vx, vy, dash as they come out.
	Steps [][8]int32 `json:"steps"`
}

func (c *vectorCase) start() movement.State {
	s := c.Start
	return movement.State{X: s[0], Y: s[1], VX: s[2], VY: s[3], Dash: s[4], Power: s[5], Flags: s[6]}
}

// run replays a case and hands each step's outcome to see.
func (c *vectorCase) run(t *testing.T, see func(step int, s movement.State)) {
	t.Helper()
	g, err := movement.ParseMap(c.Map)
	if err != nil {
		t.Fatal(err)
	}
	s := c.start()
	for i, step := range c.Steps {
		for _, d := range c.Doors {
			if d[0] == int32(i) {
				g.SetDoor(d[1], d[2], d[3] == 1)
			}
		}
		s = movement.Step(g, c.Rules, s, movement.Input{MoveX: step[0], MoveY: step[1], Dash: step[2] == 1})
		see(i, s)
	}
}

func TestStepMatchesTheSharedVectors(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	b, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, c := range v.Cases {
		c.run(t, func(i int, s movement.State) {
			steps++
			want := c.Steps[i]
			got := [8]int32{want[0], want[1], want[2], s.X, s.Y, s.VX, s.VY, s.Dash}
			if got != want {
				t.Fatalf("%s, step %d: got %v, want %v", c.Name, i, got, want)
			}
		})
	}
	if steps < 4000 {
		t.Fatalf("only %d steps", steps)
	}
}

// pen has corridors, corners, single pillars, doors, and floor at the border.
func pen() []string {
	return []string{
		"..############",
		".....#....+..#",
		"#.#..#.##.#..#",
		"#....+.#..#..#",
		"#.##.#.#.###.#",
		"#....#...+...#",
		"####+####.##.#",
		"#..........#..",
		"#.#.#.#.#....#",
		"#############.",
	}
}

func writeVectors(t *testing.T) {
	t.Helper()
	var v vectors
	for seed, hz := range []int{30, 30, 30, 30, 60, 20, 120, 1, 30, 30} {
		v.Cases = append(v.Cases, randomCase(uint64(seed), hz))
	}
	v.Cases = append(v.Cases, extremeCase(), deadCase())
	var out bytes.Buffer
	out.WriteString("{\"cases\":[\n")
	for i := range v.Cases {
		c := &v.Cases[i]
		c.run(t, func(j int, s movement.State) {
			copy(c.Steps[j][3:], []int32{s.X, s.Y, s.VX, s.VY, s.Dash})
		})
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			out.WriteString(",\n")
		}
		out.Write(line)
	}
	out.WriteString("\n]}\n")
	if err := os.WriteFile(vectorsFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// randomCase walks about the pen as a restless player does, while doors move.
func randomCase(seed uint64, hz int) vectorCase {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := vectorCase{Name: "walk", Map: pen(), Rules: movement.RulesAt(hz)}
	c.Start = [7]int32{4*256 + 128, 3*256 + 128, 0, 0, 0, int32(seed % 3), movement.Alive | 8}
	dir, held := [2]int32{}, 0
	for i := range 450 {
		if held--; held <= 0 {
			held = 1 + rng.IntN(25)
			switch rng.IntN(4) {
			case 0: // a stick, anywhere in its square
				dir = [2]int32{rng.Int32N(255) - 127, rng.Int32N(255) - 127}
			case 1: // a slight lean
				dir = [2]int32{rng.Int32N(9) - 4, rng.Int32N(9) - 4}
			default: // eight directions of a keyboard
				dir = [2]int32{(rng.Int32N(3) - 1) * 127, (rng.Int32N(3) - 1) * 127}
			}
		}
		c.Steps = append(c.Steps, [8]int32{dir[0], dir[1], one(rng.IntN(20) == 0)})
		if rng.IntN(30) == 0 {
			door := [][2]int32{{10, 1}, {5, 3}, {9, 5}, {4, 6}, {1, 1}}[rng.IntN(5)]
			c.Doors = append(c.Doors, [4]int32{int32(i), door[0], door[1], rng.Int32N(2)})
		}
	}
	return c
}

// extremeCase holds inputs beyond their range, the fastest velocities, and a
// start inside a wall.
func extremeCase() vectorCase {
	c := vectorCase{Name: "extremes", Map: pen(), Rules: movement.RulesAt(30)}
	c.Start = [7]int32{5*256 + 10, 256 + 250, 255, -255, 255, 1, movement.Alive}
	for _, m := range [][2]int32{
		{-128, -128}, {127, 127}, {1 << 30, -1 << 30}, {-1 << 31, 1<<31 - 1}, {0, 0}, {1, 0}, {0, -1}, {-127, 90},
	} {
		for i := range 30 {
			c.Steps = append(c.Steps, [8]int32{m[0], m[1], one(i%2 == 0)})
		}
	}
	return c
}

func deadCase() vectorCase {
	c := vectorCase{Name: "dead", Map: pen(), Rules: movement.RulesAt(30)}
	c.Start = [7]int32{1000, 1000, 40, -40, 7, 0, 8}
	c.Steps = [][8]int32{{127, 0, 1}, {0, 127, 0}}
	return c
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

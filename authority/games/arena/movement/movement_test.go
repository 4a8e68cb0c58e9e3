package movement_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
)

const centre = movement.Tile / 2

func grid(t *testing.T, rows ...string) *movement.Grid {
	t.Helper()
	g, err := movement.ParseMap(rows)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func standing(tx, ty int32) movement.State {
	return movement.State{X: tx*movement.Tile + centre, Y: ty*movement.Tile + centre, Flags: movement.Alive}
}

// steps runs n ticks of the same input at 30 Hz.
func steps(g *movement.Grid, s movement.State, in movement.Input, n int) movement.State {
	for range n {
		s = movement.Step(g, movement.RulesAt(30), s, in)
	}
	return s
}

func TestBodyReachesFullSpeedAndStops(t *testing.T) {
	t.Parallel()
	g, r := grid(t, strings.Repeat(".", 40)), movement.RulesAt(30)
	s := movement.Step(g, r, standing(1, 0), movement.Input{MoveX: 127})
	if s.VX <= 0 || s.VX >= r.Speed {
		t.Errorf("after one tick its speed is %d, want some, below %d", s.VX, r.Speed)
	}
	s = steps(g, s, movement.Input{MoveX: 127}, 6)
	if s.VX != r.Speed {
		t.Errorf("its speed is %d, want %d", s.VX, r.Speed)
	}
	if s = steps(g, s, movement.Input{}, 6); s.VX != 0 {
		t.Errorf("without a move its speed is %d, want 0", s.VX)
	}
}

func TestSpeedIsClampedWhateverTheInput(t *testing.T) {
	t.Parallel()
	row := strings.Repeat(".", 60)
	g := grid(t, slices.Repeat([]string{row}, 60)...)
	for _, hz := range []int{1, 10, 30, 60, 120} {
		r := movement.RulesAt(hz)
		for _, m := range [][2]int32{{127, 127}, {1 << 31 >> 1, 1<<31 - 1}, {-1 << 31, -1 << 31}, {1 << 20, 0}} {
			s := standing(30, 30)
			for range 20 {
				s = movement.Step(g, r, s, movement.Input{MoveX: m[0], MoveY: m[1]})
				limit := r.Speed + r.Speed/32 + 1 // rounding of the diagonal
				if s.VX*s.VX+s.VY*s.VY > limit*limit {
					t.Errorf("at %d Hz, move %v: velocity (%d, %d), limit %d", hz, m, s.VX, s.VY, r.Speed)
				}
			}
		}
	}
}

func TestWallStopsOneAxisAndSlidesTheOther(t *testing.T) {
	t.Parallel()
	g := grid(t,
		"....#",
		"....#",
		"....#",
		"....#")
	s := steps(g, standing(2, 0), movement.Input{MoveX: 127, MoveY: 127}, 12)
	if want := int32(4*movement.Tile - movement.Radius - 1); s.X != want || s.VX != 0 {
		t.Errorf("x is %d at speed %d, want %d at 0", s.X, s.VX, want)
	}
	if s.VY <= 0 || s.Y <= movement.Tile {
		t.Errorf("y is %d at speed %d, want it to slide on", s.Y, s.VY)
	}
}

func TestBodyIsGuidedRoundACornerIntoADoorway(t *testing.T) {
	t.Parallel()
	g := grid(t,
		"..#..",
		".....",
		"..#..")
	s := standing(0, 1)
	s.Y += 70 // its lower part would hit the wall below the doorway
	s = steps(g, s, movement.Input{MoveX: 127}, 30)
	if s.X < 3*movement.Tile {
		t.Errorf("x is %d, want it past the doorway", s.X)
	}
}

func TestClosedDoorBlocksAndOpenDoorDoesNot(t *testing.T) {
	t.Parallel()
	g := grid(t, "..+..")
	if s := steps(g, standing(0, 0), movement.Input{MoveX: 127}, 30); s.X >= 2*movement.Tile {
		t.Errorf("x is %d: went through a closed door", s.X)
	}
	g.SetDoor(2, 0, true)
	if s := steps(g, standing(0, 0), movement.Input{MoveX: 127}, 30); s.X <= 3*movement.Tile {
		t.Errorf("x is %d: stopped at an open door", s.X)
	}
}

func TestDashIsFastOnceAndThenWaits(t *testing.T) {
	t.Parallel()
	g, r := grid(t, strings.Repeat(".", 60)), movement.RulesAt(30)
	s := movement.Step(g, r, standing(1, 0), movement.Input{MoveX: 127, Dash: true})
	if s.VX != r.DashSpeed || s.Dash != r.DashEvery {
		t.Fatalf("speed %d, dash %d; want %d, %d", s.VX, s.Dash, r.DashSpeed, r.DashEvery)
	}
	fast := 1
	for range r.DashEvery - 1 {
		s = movement.Step(g, r, s, movement.Input{MoveX: 127, Dash: true})
		if s.VX == r.DashSpeed {
			fast++
		}
	}
	if fast != int(r.DashTicks) {
		t.Errorf("dashed for %d ticks, want %d", fast, r.DashTicks)
	}
	if s = movement.Step(g, r, s, movement.Input{MoveX: 127, Dash: true}); s.VX != r.DashSpeed {
		t.Errorf("after the wait its speed is %d, want another dash", s.VX)
	}
}

func TestHasteRunsFaster(t *testing.T) {
	t.Parallel()
	g, r := grid(t, strings.Repeat(".", 60)), movement.RulesAt(30)
	s := standing(1, 0)
	s.Power = movement.Haste
	if s = steps(g, s, movement.Input{MoveX: 127}, 10); s.VX != r.Haste {
		t.Errorf("speed %d, want %d", s.VX, r.Haste)
	}
}

func TestBodyNeverEntersASolidTile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		g := grid(t, pen()...)
		s := standing(4, 3)
		r := movement.RulesAt([]int{1, 5, 30, 120}[seed%4])
		for i := range 2000 {
			s = movement.Step(g, r, s, movement.Input{
				MoveX: rng.Int32N(400) - 200, MoveY: rng.Int32N(400) - 200, Dash: rng.IntN(4) == 0,
			})
			for _, corner := range [][2]int32{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}} {
				x, y := s.X+corner[0]*movement.Radius, s.Y+corner[1]*movement.Radius
				if g.Solid(x>>8, y>>8) {
					t.Fatalf("seed %d, step %d: %+v overlaps a solid tile", seed, i, s)
				}
			}
			if max(s.VX, -s.VX, s.VY, -s.VY) > movement.MaxSpeed || s.Dash < 0 || s.Dash > movement.MaxDash {
				t.Fatalf("seed %d, step %d: %+v is out of range", seed, i, s)
			}
		}
	}
}

func TestBodyInsideASolidTileCanLeave(t *testing.T) {
	t.Parallel()
	g := grid(t, "..#..")
	if s := steps(g, standing(2, 0), movement.Input{MoveX: 127}, 30); s.X <= 3*movement.Tile {
		t.Errorf("x is %d, want it out of the wall", s.X)
	}
}

func TestParseMap(t *testing.T) {
	t.Parallel()
	if got := movement.EncodeMap(grid(t, pen()...)); !slices.Equal(got, pen()) {
		t.Errorf("encoded as %q", got)
	}
	for name, rows := range map[string][]string{
		"none":     nil,
		"empty":    {""},
		"uneven":   {"...", ".."},
		"unknown":  {".x."},
		"too wide": {strings.Repeat(".", movement.MaxMapSide+1)},
		"too high": slices.Repeat([]string{"."}, movement.MaxMapSide+1),
	} {
		if _, err := movement.ParseMap(rows); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParseMap(f *testing.F) {
	f.Add("..#\n+.#")
	f.Fuzz(func(t *testing.T, s string) {
		rows := strings.Split(s, "\n")
		g, err := movement.ParseMap(rows)
		if err != nil {
			return
		}
		if !slices.Equal(movement.EncodeMap(g), rows) {
			t.Fatalf("%q does not come back", rows)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	g, err := movement.ParseMap(pen())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	s, r, i := standing(4, 3), movement.RulesAt(30), int32(0)
	for b.Loop() {
		i++
		s = movement.Step(g, r, s, movement.Input{MoveX: i%255 - 127, MoveY: i/7%255 - 127, Dash: i%50 == 0})
	}
}

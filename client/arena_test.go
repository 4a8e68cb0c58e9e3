package client_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/session"
)

// runner runs about in the arena and predicts where it is. All of it is used by
// the client's goroutine only.
type runner struct {
	you       uint32
	rules     movement.Rules
	grid      *movement.Grid
	predictor *client.Predictor[movement.State, movement.Input]
	rnd       *rand.Rand
	move      movement.Input
	wrong     int // snapshots that corrected
	snapshots int
	resets    int // deaths and returns
	travelled map[[2]int32]bool
}

func (r *runner) begin(t *testing.T, c *client.Client) {
	var config arena.Config
	err := json.Unmarshal(c.Welcome().Room.Config, &config)
	if err == nil {
		r.grid, err = movement.ParseMap(config.Map)
	}
	if err != nil {
		t.Errorf("the room's config: %v", err)
	}
	r.you, r.rules = c.You(), config.Movement
}

func (r *runner) input(seq uint16, _ uint32) []byte {
	if r.predictor == nil {
		return nil
	}
	if seq%12 == 0 {
		r.move = movement.Input{MoveX: int32(r.rnd.IntN(255) - 127), MoveY: int32(r.rnd.IntN(255) - 127), Dash: r.rnd.IntN(4) == 0}
	}
	in := r.move
	in.Dash = in.Dash && seq%12 == 0
	s := r.predictor.Predict(seq, in)
	r.travelled[[2]int32{s.X / movement.Tile, s.Y / movement.Tile}] = true
	buttons := byte(0)
	if in.Dash {
		buttons = 2
	}
	return []byte{buttons, byte(int8(in.MoveX)), byte(int8(in.MoveY)), 0}
}

func (r *runner) snapshot(v *replica.View, applied uint16, any bool) {
	r.snapshots++
	for id := range v.All() {
		if v.Type(id) != arena.TypePlayer || uint32(v.Get(id, arena.PlayerOwner)) != r.you {
			continue
		}
		get := func(f int) int32 { return v.Get(id, f) }
		s := movement.State{
			X: get(arena.PlayerX), Y: get(arena.PlayerY), VX: get(arena.PlayerVX), VY: get(arena.PlayerVY),
			Dash: get(arena.PlayerDash), Power: get(arena.PlayerPower), Flags: get(arena.PlayerFlags),
		}
		switch {
		case r.predictor == nil:
			r.predictor = client.NewPredictor(client.Prediction[movement.State, movement.Input]{
				Step:     func(s movement.State, in movement.Input) movement.State { return movement.Step(r.grid, r.rules, s, in) },
				Position: func(s movement.State) (x, y float64) { return float64(s.X), float64(s.Y) },
				Snap:     2 * movement.Tile,
			}, s)
		case s.Flags&arena.FlagAlive == 0 || r.predictor.State().Flags&arena.FlagAlive == 0:
			r.predictor.Reset(s)
			r.resets++
		case any && r.predictor.Reconcile(applied, s, time.Now()):
			r.wrong++
		}
	}
}

// The client's prediction of its own player is what the server makes of its
// inputs, exactly, although those come late and some not at all.
func TestPredictionIsWhatTheServerMakesOfTheInputs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := openHouse(t, session.Options{})
		defer h.close()
		bad := &link.Netsim{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05, Seed: 11}
		r := &runner{rnd: rand.New(rand.NewPCG(3, 4)), travelled: map[[2]int32]bool{}}
		ready := make(chan *client.Client, 1)
		var c *client.Client
		joined, err := client.Join(t.Context(), client.Options{
			Dialers: []client.Dialer{client.Memory(h.sessions, link.Options{Netsim: bad}, link.Options{})},
			Room:    "arena", Identity: "ann", TickInputs: true,
			Handler: client.Handler{
				Input: r.input,
				Snapshot: func(v *replica.View, _ replica.Applied) {
					if c == nil {
						c = <-ready
						r.begin(t, c)
					}
					seq, any := c.AppliedInput()
					r.snapshot(v, seq, any)
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ready <- joined
		time.Sleep(30 * time.Second)
		joined.Close()
		if r.snapshots < 700 || len(r.travelled) < 20 {
			t.Errorf("%d snapshots, %d tiles crossed", r.snapshots, len(r.travelled))
		}
		if r.wrong > r.snapshots/100 {
			t.Errorf("%d of %d snapshots corrected the prediction (%d deaths)", r.wrong, r.snapshots, r.resets)
		}
		t.Logf("%d snapshots, %d corrections, %d resets, %d tiles", r.snapshots, r.wrong, r.resets, len(r.travelled))
	})
}

package arena

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/authority"
)

// recording is what a room hands to a world, tick by tick.
type recording [][]authority.Command

// record makes up ticks of commands: members that come, go, and are away, with
// inputs and requests of which many are nonsense.
func record(seed uint64, ticks int) recording {
	rng := rand.New(rand.NewPCG(seed, 3))
	var members []uint32
	next, request := uint32(1), uint32(0)
	rec := make(recording, ticks)
	for i := range rec {
		var now []authority.Command
		if len(members) < 2 || len(members) < 9 && rng.IntN(200) == 0 {
			members = append(members, next)
			now = append(now, authority.Command{Kind: authority.CommandJoin, Member: next, Name: "bot", Payload: hostile(rng)})
			next++
		}
		for _, m := range members {
			for range rng.IntN(3) {
				now = append(now, authority.Command{
					Kind: authority.CommandInput, Member: m, Payload: randomInput(rng),
					Seq: uint16(i), ClientTick: rng.Uint32(),
				})
			}
			if rng.IntN(20) == 0 {
				request++
				now = append(now, randomRequest(rng, m, request))
			}
			switch rng.IntN(400) {
			case 0:
				now = append(now, authority.Command{Kind: authority.CommandAway, Member: m})
			case 1, 2:
				now = append(now, authority.Command{Kind: authority.CommandBack, Member: m})
			}
		}
		if rng.IntN(300) == 0 {
			gone := rng.IntN(len(members))
			now = append(now, authority.Command{Kind: authority.CommandLeave, Member: members[gone]})
			members = slices.Delete(members, gone, gone+1)
		}
		rec[i] = now
	}
	return rec
}

func randomInput(rng *rand.Rand) []byte {
	switch rng.IntN(20) {
	case 0:
		return hostile(rng)
	case 1:
		return []byte(`{"move":[0.7071,-7.071e-1],"aim":-45.5,"attack":true}`)
	}
	return []byte{byte(rng.IntN(4)), byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256))}
}

func hostile(rng *rand.Rand) []byte {
	b := make([]byte, rng.IntN(8))
	for i := range b {
		b[i] = byte(rng.IntN(256))
	}
	return b
}

func randomRequest(rng *rand.Rand, member, id uint32) authority.Command {
	c := authority.Command{Kind: authority.CommandRequest, Member: member, Request: id}
	switch rng.IntN(8) {
	case 0:
		c.Name, c.Payload = "nonsense", hostile(rng)
	case 1:
		c.Name, c.Payload = RequestAttack, hostile(rng)
	case 2, 3:
		c.Name, c.Payload = RequestRespawn, nil
	case 4, 5:
		c.Name, c.Payload = RequestInteract, encode(map[string]int{"target": rng.IntN(30)})
	default:
		c.Name, c.Payload = RequestAttack, encode(map[string]int{"target": rng.IntN(100), "aim": rng.IntN(720) - 360})
	}
	return c
}

// play returns the world's hash after every tick, and what it told in all.
func (r recording) play(t *testing.T, seed uint64) (hashes []uint64, told uint64) {
	t.Helper()
	w := New().NewWorld(authority.Setup{Seed: seed, TickRate: 30})
	var out authority.Effects
	for i, commands := range r {
		out.Reset()
		w.Step(uint32(i+1), commands, &out)
		w.Entities().Commit(uint32(i + 1))
		hashes = append(hashes, w.Hash())
		for _, e := range out.Events {
			told = mix(told*31 + uint64(e.To) + uint64(len(e.Payload)))
			for _, b := range e.Payload {
				told = told*0x100000001b3 ^ uint64(b)
			}
		}
		for _, answer := range out.Responses {
			told = mix(told*31 + uint64(answer.Request)<<16 + uint64(answer.Code))
		}
	}
	return hashes, told
}

// It changes GOMAXPROCS, so it is not parallel.
func TestRecordedCommandsReplayToTheSameHashes(t *testing.T) {
	const ticks = 10_000
	rec := record(1, ticks)
	want, wantTold := rec.play(t, 11)
	for _, processors := range []int{1, 2} {
		before := runtime.GOMAXPROCS(processors)
		got, told := rec.play(t, 11)
		runtime.GOMAXPROCS(before)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("with %d processors: tick %d has hash %x, had %x", processors, i+1, got[i], want[i])
			}
		}
		if told != wantTold {
			t.Errorf("with %d processors: other events or responses", processors)
		}
	}
	slices.Sort(want)
	if distinct := len(slices.Compact(want)); distinct != ticks {
		t.Errorf("%d distinct hashes in %d ticks: the hash does not cover time", distinct, ticks)
	}
}

func TestHashDependsOnTheSeedAndEveryCommand(t *testing.T) {
	t.Parallel()
	rec := record(2, 300)
	base, _ := rec.play(t, 1)
	if other, _ := rec.play(t, 2); other[0] == base[0] {
		t.Error("another seed gives the same hash")
	}
	rec[150] = append(slices.Clone(rec[150]), authority.Command{Kind: authority.CommandJoin, Member: 1000, Name: "late"})
	changed, _ := rec.play(t, 1)
	if !slices.Equal(changed[:150], base[:150]) || changed[150] == base[150] || changed[299] == base[299] {
		t.Error("one more command does not change the hashes from its tick on")
	}
}

// TestHashCoversEveryField changes each part of the state by hand.
func TestHashCoversEveryField(t *testing.T) {
	t.Parallel()
	changes := map[string]func(w *world){
		"rng":          func(w *world) { w.rng.state++ },
		"tick":         func(w *world) { w.tick++ },
		"next item":    func(w *world) { w.itemAt++ },
		"phase":        func(w *world) { w.match.phase ^= 1 },
		"round":        func(w *world) { w.match.round++ },
		"wave":         func(w *world) { w.match.wave++ },
		"wave at":      func(w *world) { w.match.waveAt++ },
		"winner":       func(w *world) { w.match.winner++ },
		"ends at":      func(w *world) { w.match.endsAt++ },
		"name":         func(w *world) { w.players[0].name = "Bea" },
		"color":        func(w *world) { w.players[0].color ^= 1 },
		"skin":         func(w *world) { w.players[0].skin ^= 1 },
		"body x":       func(w *world) { w.players[0].body.X++ },
		"body y":       func(w *world) { w.players[0].body.Y++ },
		"body vx":      func(w *world) { w.players[0].body.VX++ },
		"body vy":      func(w *world) { w.players[0].body.VY++ },
		"dash":         func(w *world) { w.players[0].body.Dash++ },
		"power":        func(w *world) { w.players[0].body.Power++ },
		"flags":        func(w *world) { w.players[0].body.Flags ^= FlagAlive },
		"aim":          func(w *world) { w.players[0].aim++ },
		"health":       func(w *world) { w.players[0].health++ },
		"away":         func(w *world) { w.players[0].away = true },
		"away until":   func(w *world) { w.players[0].awayUntil++ },
		"credit":       func(w *world) { w.players[0].credit++ },
		"fed at":       func(w *world) { w.players[0].fedAt++ },
		"ready at":     func(w *world) { w.players[0].readyAt++ },
		"flash":        func(w *world) { w.players[0].flashEnd++ },
		"shield":       func(w *world) { w.players[0].shieldEnd++ },
		"power end":    func(w *world) { w.players[0].powerEnd++ },
		"respawn at":   func(w *world) { w.players[0].respawnAt++ },
		"score":        func(w *world) { w.players[0].score++ },
		"kills":        func(w *world) { w.players[0].kills++ },
		"deaths":       func(w *world) { w.players[0].deaths++ },
		"enemy kind":   func(w *world) { w.enemies[3].kind++ },
		"enemy x":      func(w *world) { w.enemies[3].x++ },
		"enemy y":      func(w *world) { w.enemies[3].y++ },
		"enemy aim":    func(w *world) { w.enemies[3].aim++ },
		"enemy health": func(w *world) { w.enemies[3].health++ },
		"enemy state":  func(w *world) { w.enemies[3].state++ },
		"enemy until":  func(w *world) { w.enemies[3].until++ },
		"enemy ready":  func(w *world) { w.enemies[3].readyAt++ },
		"enemy rush":   func(w *world) { w.enemies[3].rushEnd++ },
		"enemy goes":   func(w *world) { w.enemies[3].goesAt++ },
		"enemy sight":  func(w *world) { w.enemies[3].sighted = !w.enemies[3].sighted },
		"enemy free":   func(w *world) { w.enemies[3].free = !w.enemies[3].free },
		"enemy order":  func(w *world) { w.enemies[0], w.enemies[1] = w.enemies[1], w.enemies[0] },
		"bolt x":       func(w *world) { w.bolts[0].x++ },
		"bolt y":       func(w *world) { w.bolts[0].y++ },
		"bolt vx":      func(w *world) { w.bolts[0].vx++ },
		"bolt vy":      func(w *world) { w.bolts[0].vy++ },
		"bolt kind":    func(w *world) { w.bolts[0].kind ^= 1 },
		"bolt aim":     func(w *world) { w.bolts[0].aim++ },
		"bolt from":    func(w *world) { w.bolts[0].from.member++ },
		"bolt source":  func(w *world) { w.bolts[0].from.id++ },
		"bolt goes":    func(w *world) { w.bolts[0].goesAt++ },
		"item kind":    func(w *world) { w.items[0].kind ^= 1 },
		"item x":       func(w *world) { w.items[0].x++ },
		"item y":       func(w *world) { w.items[0].y++ },
		"item goes":    func(w *world) { w.items[0].goesAt++ },
		"door":         func(w *world) { w.gates[0].open = true },
		"door closes":  func(w *world) { w.gates[0].closesAt++ },
		"ways":         func(w *world) { w.ways.far[100]++ },
	}
	for name, change := range changes {
		s := newStage(t, 1)
		s.fireBolt(s.join(1), 0)
		before := s.Hash()
		if change(s.world); s.Hash() == before {
			t.Errorf("%s is not covered", name)
		}
	}
}

// TestTheFieldIsNeverStill counts what moves, and how much comes and goes.
func TestTheFieldIsNeverStill(t *testing.T) {
	t.Parallel()
	s := newStage(t, 3)
	s.step(authority.Command{Kind: authority.CommandJoin, Member: 1})
	type place struct{ x, y int32 }
	last := make(map[uint32]place)
	spawned, moved := 0, 0
	for tick := range 2000 {
		s.step(press(1, Input{Input: run(int32(tick%255)-127, 90).Input, Attack: true, Aim: uint8(tick)}))
		if !s.seats[1].alive() {
			s.ask(1, RequestRespawn, "")
		}
		mobile := 0
		now := make(map[uint32]place)
		for id := range s.entities.All() {
			x := map[int]int{TypePlayer: PlayerX, TypeEnemy: EnemyX, TypeProjectile: ProjectileX}[s.entities.Type(id)]
			if x == 0 {
				continue
			}
			mobile++
			at := place{s.entities.Get(id, x), s.entities.Get(id, x+1)}
			key := uint32(id)<<8 | uint32(s.entities.Generation(id))
			if before, known := last[key]; !known {
				spawned++
			} else if before != at {
				moved++
			}
			now[key] = at
		}
		if mobile < 50 {
			t.Fatalf("tick %d: %d moving entities", tick, mobile)
		}
		last = now
	}
	if spawned < 300 || moved/2000 < 40 {
		t.Errorf("%d spawns in 2000 ticks, %d moves a tick", spawned, moved/2000)
	}
	t.Logf("%d spawns in 2000 ticks, %d moves a tick", spawned, moved/2000)
}

func FuzzParseInput(f *testing.F) {
	f.Add([]byte{3, 127, 129, 64})
	f.Add([]byte(`{"move":[1,-0.5],"aim":90.25,"attack":true,"dash":false}`))
	f.Add([]byte(`{"move":[1e-17,1e300],"aim":-1E+3}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := ParseInput(b)
		if err != nil {
			return
		}
		if max(abs(in.MoveX), abs(in.MoveY)) > 128 {
			t.Fatalf("%q: move (%d, %d)", b, in.MoveX, in.MoveY)
		}
		again, err := ParseInput(AppendInput(nil, in))
		in.MoveX, in.MoveY = clamp(in.MoveX, 127), clamp(in.MoveY, 127)
		if err != nil || again != in {
			t.Fatalf("%q: %+v became %+v, %v", b, in, again, err)
		}
	})
}

func FuzzRequest(f *testing.F) {
	f.Add(RequestInteract, []byte(`{"target":3}`))
	f.Add(RequestAttack, []byte(`{"target":0,"aim":12.5}`))
	f.Add(RequestRespawn, []byte(`{}`))
	f.Add("nonsense", []byte(nil))
	s := newStage(f, 1)
	s.join(1)
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		s.step(authority.Command{Kind: authority.CommandRequest, Member: 1, Request: 9, Name: name, Payload: payload})
		if len(s.out.Responses) != 1 {
			t.Fatalf("%d responses", len(s.out.Responses))
		}
		if r := s.out.Responses[0]; r.Payload != nil && !json.Valid(r.Payload) {
			t.Fatalf("response %q", r.Payload)
		}
	})
}

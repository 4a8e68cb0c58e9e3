package arena

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
	"github.com/gatehouse/gatehouse/wire"
)

// stage is a world under test, stepped and committed as a room does.
type stage struct {
	*world
	t   testing.TB
	out authority.Effects
	req uint32
}

func newStage(t testing.TB, seed uint64) *stage {
	return &stage{world: newWorld(Schema(), authority.Setup{Seed: seed, TickRate: 30}), t: t}
}

// step runs one tick with the commands.
func (s *stage) step(commands ...authority.Command) {
	s.out.Reset()
	s.Step(s.tick+1, commands, &s.out)
	s.entities.Commit(s.tick)
	s.world.out = &s.out // for what a test does between steps
}

// idle runs n ticks without commands.
func (s *stage) idle(n uint32) {
	for range n {
		s.step()
	}
}

// join seats a member and puts its body, unshielded, in the middle of the hall.
func (s *stage) join(member uint32) *player {
	s.t.Helper()
	s.step(authority.Command{Kind: authority.CommandJoin, Member: member, Name: "Ann"})
	p := s.seats[member]
	if p == nil {
		s.t.Fatal("no player after a join")
	}
	p.shieldEnd = 0
	p.body.X, p.body.Y = MapWidth*Tile/2, MapHeight*Tile/2
	return p
}

// banish sends all enemies to the far corners of their vaults: they harm nobody.
// Those that appear later still may.
func (s *stage) banish() {
	for i := range s.enemies {
		e := &s.enemies[i]
		e.health, e.state, e.until, e.goesAt = 1, EnemyStun, 1<<31, 1<<31
		e.x, e.y = Tile+Tile/2, Tile+Tile/2
	}
	clear(s.ways.far)
}

// enemyAt moves an enemy of a kind to a place and returns it; all others are banished.
func (s *stage) enemyAt(kind, x, y int32) *enemy {
	s.banish()
	e := &s.enemies[0]
	*e = enemy{id: e.id, kind: kind, x: x, y: y, health: EnemyHealthOf(kind), goesAt: 1 << 31}
	return e
}

// ask sends a request and returns its result.
func (s *stage) ask(member uint32, name, payload string) (wire.Code, Result) {
	s.t.Helper()
	s.req++
	s.step(authority.Command{
		Kind: authority.CommandRequest, Member: member, Request: s.req, Name: name, Payload: []byte(payload),
	})
	if len(s.out.Responses) != 1 {
		s.t.Fatalf("%d responses to one request", len(s.out.Responses))
	}
	r := s.out.Responses[0]
	var result Result
	if r.Code != wire.CodeUnknownRequest {
		if err := json.Unmarshal(r.Payload, &result); err != nil {
			s.t.Fatal(err)
		}
		if result.Request != s.req || r.Request != s.req || r.To != member {
			s.t.Fatalf("response %+v, result %+v to request %d of %d", r, result, s.req, member)
		}
	}
	return r.Code, result
}

// wantResult asks and compares.
func (s *stage) wantResult(member uint32, name, payload, want string, success bool) {
	s.t.Helper()
	code, got := s.ask(member, name, payload)
	if got.Result != want || got.Success != success || (code == wire.CodeNone) != success {
		s.t.Errorf("%s %s: got %+v with code %v, want %q, success %v", name, payload, got, code, want, success)
	}
}

// told returns the payloads of this tick's game events of a type.
func (s *stage) told(kind string) []json.RawMessage {
	s.t.Helper()
	var found []json.RawMessage
	for _, e := range s.out.Events {
		var g struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
		}
		if e.Name != EventGame {
			continue
		}
		if err := json.Unmarshal(e.Payload, &g); err != nil {
			s.t.Fatal(err)
		}
		if g.Type == kind {
			found = append(found, g.Payload)
		}
	}
	return found
}

func press(member uint32, in Input) authority.Command {
	return authority.Command{Kind: authority.CommandInput, Member: member, Payload: AppendInput(nil, in)}
}

func run(x, y int32) Input { return Input{Input: movement.Input{MoveX: x, MoveY: y}} }

func TestJoinPutsAShieldedPlayerOnTheField(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.step(authority.Command{Kind: authority.CommandJoin, Member: 7, Name: "Ann", Payload: []byte(`{"color":9,"skin":2}`)})
	id := s.seats[7].id
	want := map[int]int32{
		PlayerOwner: 7, PlayerColor: 9, PlayerSkin: 2, PlayerHealth: MaxPlayerHealth,
		PlayerFlags: FlagAlive | FlagShielded,
	}
	for field, v := range want {
		if got := s.entities.Get(id, field); got != v {
			t.Errorf("field %d is %d, want %d", field, got, v)
		}
	}
	x, y := s.entities.Get(id, PlayerX), s.entities.Get(id, PlayerY)
	if s.grid.Solid(x>>8, y>>8) {
		t.Errorf("stands in a wall, at (%d, %d)", x, y)
	}
}

func TestProfileOfAnyShapeIsTaken(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{
		"", "null", "[]", `"red"`, `{"color":"red"}`, `{"color":99,"skin":-1}`, `{"skin":1e99}`, "{", `{"clan":{"tag":"X"}}`,
	} {
		s := newStage(t, 1)
		s.step(authority.Command{Kind: authority.CommandJoin, Member: 3, Payload: []byte(profile)})
		p := s.seats[3]
		if p.color != 3 || p.skin != 0 {
			t.Errorf("%s: color %d, skin %d", profile, p.color, p.skin)
		}
	}
}

func TestLeaveTakesThePlayerAway(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	id := s.join(1).id
	s.step(authority.Command{Kind: authority.CommandLeave, Member: 1})
	if s.entities.Alive(id) || len(s.players) != 0 || len(s.seats) != 0 {
		t.Error("the player is still there")
	}
	s.step(press(1, run(127, 0)), authority.Command{Kind: authority.CommandLeave, Member: 1})
	if s.out.Refused != 2 {
		t.Errorf("refused %d commands of a member that left, want 2", s.out.Refused)
	}
}

func TestInputsOfOneTickAreBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	s.idle(60) // saves up all it may
	s.banish()
	for _, payload := range []string{"\x00\x7f\x00\x00", "\x00\x80\x80\x00", `{"move":[1000,1000]}`} {
		x, y := p.body.X, p.body.Y
		var flood []authority.Command
		for range 200 {
			flood = append(flood, authority.Command{Kind: authority.CommandInput, Member: 1, Payload: []byte(payload)})
		}
		s.step(flood...)
		if s.out.Refused != 200-inputsPerTick {
			t.Errorf("%q: refused %d of 200", payload, s.out.Refused)
		}
		limit := inputsPerTick * (s.pace.rules.Speed + 2)
		if !within(p.body.X-x, p.body.Y-y, limit) {
			t.Errorf("%q: moved (%d, %d) in one tick, limit %d", payload, p.body.X-x, p.body.Y-y, limit)
		}
	}
}

func TestInputsOverTimeAreNoMoreThanTicks(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.join(1)
	s.idle(100)
	applied, ticks := 0, 300
	for range ticks {
		s.step(press(1, run(127, 0)), press(1, run(-127, 0)), press(1, run(127, 0)))
		applied += 3 - s.out.Refused
	}
	if want := ticks + savedInputs; applied != want && applied != want-1 {
		t.Errorf("applied %d inputs in %d ticks, want %d", applied, ticks, want)
	}
}

func TestMalformedInputIsRefusedAndCounted(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	s.banish()
	x, y := p.body.X, p.body.Y
	bad := [][]byte{nil, {}, {1}, {0, 127, 0}, {0, 127, 0, 0, 0}, {0x80, 127, 0, 0}, []byte("{"), []byte(`{"move":"left"}`)}
	for _, payload := range bad {
		s.step(authority.Command{Kind: authority.CommandInput, Member: 1, Payload: payload})
		if s.out.Refused != 1 {
			t.Errorf("%q was not refused", payload)
		}
	}
	if p.body.X != x || p.body.Y != y {
		t.Error("it moved the body")
	}
}

func TestBodyStopsWhenItsInputsStop(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	for range 10 {
		s.step(press(1, run(0, 127)))
	}
	if p.body.VY == 0 {
		t.Fatal("it does not move")
	}
	s.idle(s.pace.starved + 1)
	if p.body.VY != 0 || s.entities.Get(p.id, PlayerFlags)&FlagMoving != 0 {
		t.Error("it still counts as moving")
	}
}

func TestAbsentMemberIsShieldedThenTakenOffTheField(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	s.step(authority.Command{Kind: authority.CommandAway, Member: 1})
	want := int32(FlagAlive | FlagShielded | FlagAway)
	if got := s.entities.Get(p.id, PlayerFlags); got != want {
		t.Errorf("flags %b, want %b", got, want)
	}
	s.hurtPlayer(p, 50, attacker{})
	s.step(press(1, run(127, 0)))
	if p.health != MaxPlayerHealth || s.out.Refused != 1 || p.body.VX != 0 {
		t.Error("an absent body was hurt or moved")
	}
	s.idle(s.pace.awayLimit)
	if p.alive() || p.deaths != 0 || s.entities.Get(p.id, PlayerFlags) != FlagAway {
		t.Error("it was not taken off the field, or that counted as a death")
	}
	s.step(authority.Command{Kind: authority.CommandBack, Member: 1})
	s.wantResult(1, RequestRespawn, "{}", ResultRespawned, true)
}

func TestMemberThatComesBackInTimeGoesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	s.step(authority.Command{Kind: authority.CommandAway, Member: 1})
	s.idle(s.pace.awayLimit / 2)
	x := p.body.X
	s.step(authority.Command{Kind: authority.CommandBack, Member: 1}, press(1, run(127, 0)))
	if !p.alive() || p.body.X <= x || s.entities.Get(p.id, PlayerFlags)&FlagAway != 0 {
		t.Error("it does not move")
	}
}

func TestUnknownRequestAndRequestOfAStrangerAreRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.join(1)
	if code, _ := s.ask(1, "fly", "{}"); code != wire.CodeUnknownRequest {
		t.Errorf("code %v", code)
	}
	for _, name := range []string{RequestInteract, RequestAttack, RequestRespawn} {
		s.wantResult(99, name, "{}", ResultDead, false)
		s.wantResult(1, name, "[", ResultMalformed, false)
		s.wantResult(1, name, `{"target":-1,"aim":"x"}`, map[string]string{
			RequestInteract: ResultMalformed, RequestAttack: ResultMalformed, RequestRespawn: ResultAlive,
		}[name], false)
	}
}

func TestClientConfigHoldsTheMapAndRules(t *testing.T) {
	t.Parallel()
	w := New().NewWorld(authority.Setup{Seed: 5, TickRate: 30})
	var c Config
	if err := json.Unmarshal(w.ClientConfig(), &c); err != nil {
		t.Fatal(err)
	}
	g, err := movement.ParseMap(c.Map)
	if err != nil {
		t.Fatal(err)
	}
	if width, height := g.Size(); width != MapWidth || height != MapHeight {
		t.Errorf("map of %d by %d", width, height)
	}
	if c.Movement != movement.RulesAt(30) || c.RespawnTicks != 90 || c.RoundTicks != 3600 {
		t.Errorf("config %+v", c)
	}
	doors := 0
	for id := range w.Entities().All() {
		if w.Entities().Type(id) == TypeDoor {
			doors++
			if x, y := w.Entities().Get(id, DoorX), w.Entities().Get(id, DoorY); !g.Door(x, y) {
				t.Errorf("door entity at (%d, %d), where the map has none", x, y)
			}
		}
	}
	if doors == 0 {
		t.Error("no doors")
	}
}

func TestSameSeedSameMapAndSoundForAnySeed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		a, b := source{state: seed}, source{state: seed}
		m, n := generateMap(&a), generateMap(&b)
		if !m.sound() {
			t.Errorf("seed %d: the map is not sound", seed)
		}
		for y := range m.rows {
			if m.rows[y] != n.rows[y] {
				t.Fatalf("seed %d: row %d differs", seed, y)
			}
		}
	}
}

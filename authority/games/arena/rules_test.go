package arena

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena/movement"
)

// beside puts a player right (or left) of a door and returns the door.
func (s *stage) beside(p *player, distance int32) *gate {
	s.t.Helper()
	for i := range s.gates {
		g := &s.gates[i]
		if s.grid.Solid(g.x-1, g.y) || s.grid.Solid(g.x+1, g.y) {
			continue
		}
		x, y := g.centre()
		p.body.X, p.body.Y = x-distance, y
		return g
	}
	s.t.Fatal("no door that leads right")
	return nil
}

// doorSeed is a seed whose map has a door between left and right.
const doorSeed = 7

func TestDoorBlocksUntilItIsOpened(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p := s.join(1)
	g := s.beside(p, 280)
	through := func() bool {
		for range 20 {
			s.banish()
			s.step(press(1, run(127, 0)))
		}
		return p.body.X > g.x*Tile+Tile
	}
	if through() {
		t.Fatal("went through a closed door")
	}
	target := fmt.Sprintf(`{"target":%d}`, g.id)
	s.wantResult(1, RequestInteract, target, ResultOpened, true)
	if s.entities.Get(g.id, DoorOpen) != 1 || len(s.told(GameDoor)) != 1 {
		t.Error("clients are not told that it is open")
	}
	if !through() {
		t.Error("stopped by an open door")
	}
}

func TestInteractResultComesAsAnEventToo(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p := s.join(1)
	g := s.beside(p, 300)
	s.ask(1, RequestInteract, fmt.Sprintf(`{"target":%d}`, g.id))
	for _, e := range s.out.Events {
		if e.Name == EventInteractResult && e.To == 1 && string(e.Payload) == string(s.out.Responses[0].Payload) {
			return
		}
	}
	t.Error("no such event")
}

func TestClosedDoorBlocksShots(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p := s.join(1)
	g := s.beside(p, 300)
	x, y := g.centre()
	for _, open := range []bool{false, true} {
		g.open, g.closesAt = open, 1<<31
		s.setGate(g)
		e := s.enemyAt(EnemyBrute, x+300, y)
		e.state, e.until = EnemyStun, 1<<31
		p.readyAt = 0
		s.step(press(1, Input{Attack: true}))
		s.idle(15)
		if hit := e.health < EnemyHealthOf(EnemyBrute); hit != open {
			t.Errorf("door open: %v, enemy behind it hit: %v", open, hit)
		}
	}
}

func TestInteractIsCheckedForReachAndTarget(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p := s.join(1)
	g := s.beside(p, interactReach+1)
	s.wantResult(1, RequestInteract, fmt.Sprintf(`{"target":%d}`, g.id), ResultOutOfReach, false)
	s.wantResult(1, RequestInteract, fmt.Sprintf(`{"target":%d}`, p.id), ResultNoTarget, false)
	s.wantResult(1, RequestInteract, `{"target":4000000000}`, ResultNoTarget, false)
	s.wantResult(1, RequestInteract, ``, ResultNoTarget, false)
}

func TestDoorDoesNotCloseOnABodyAndClosesByItself(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p := s.join(1)
	g := s.beside(p, 0)
	g.open, g.closesAt = true, s.tick+5
	s.setGate(g)
	s.wantResult(1, RequestInteract, fmt.Sprintf(`{"target":%d}`, g.id), ResultBlocked, false)
	s.banish()
	s.idle(10)
	if !g.open {
		t.Fatal("it closed on a body")
	}
	p.body.X -= 2 * Tile
	s.step()
	if told := s.told(GameDoor); g.open || len(told) != 1 {
		t.Errorf("open: %v, told %s", g.open, told)
	}
}

func TestStrikeIsCheckedForReachSightAndTarget(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p := s.join(1)
	g := s.beside(p, 200)
	e := s.enemyAt(EnemyBrute, p.body.X+strikeReach-10, p.body.Y)
	e.state, e.until = EnemyStun, 1<<31
	target := fmt.Sprintf(`{"target":%d,"aim":0}`, e.id)

	s.wantResult(1, RequestAttack, target, ResultNoSight, false)
	e.x = p.body.X - strikeReach - 1
	s.wantResult(1, RequestAttack, target, ResultOutOfReach, false)
	e.x = p.body.X - strikeReach
	s.wantResult(1, RequestAttack, target, ResultHit, true)
	if want := EnemyHealthOf(EnemyBrute) - strikeDamage; e.health != want {
		t.Errorf("health %d, want %d", e.health, want)
	}
	s.wantResult(1, RequestAttack, target, ResultCooldown, false)
	s.idle(s.pace.strike)
	for _, id := range []uint32{uint32(p.id), uint32(g.id), 60000} {
		s.wantResult(1, RequestAttack, fmt.Sprintf(`{"target":%d}`, id), ResultNoTarget, false)
	}
	s.wantResult(1, RequestAttack, target, ResultHit, true)
}

func TestAttackRequestWithoutATargetShootsAlongItsAim(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	s.banish()
	s.wantResult(1, RequestAttack, `{"target":0,"aim":90}`, ResultShot, true)
	if len(s.bolts) != 1 || s.bolts[0].aim != 64 || p.aim != 64 {
		t.Fatalf("bolts %+v", s.bolts)
	}
	s.wantResult(1, RequestAttack, `{"aim":90}`, ResultCooldown, false)
}

func TestShotsWaitForTheirCooldownHoweverManyInputs(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.join(1)
	fired := 0
	for range 60 {
		s.banish()
		before := len(s.bolts)
		s.step(press(1, Input{Attack: true}), press(1, Input{Attack: true}), press(1, Input{Attack: true}))
		fired += max(len(s.bolts)-before, 0)
		s.bolts = s.bolts[:0]
	}
	if want := (59 + int(s.pace.shot)) / int(s.pace.shot); fired != want {
		t.Errorf("fired %d bolts in 60 ticks, want %d", fired, want)
	}
}

func TestSpreadShootsThree(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	p.body.Power, p.powerEnd = PowerSpread, 1<<31
	s.banish()
	s.step(press(1, Input{Attack: true, Aim: 2}))
	if len(s.bolts) != 3 || s.bolts[1].aim != 250 || s.bolts[2].aim != 10 {
		t.Errorf("bolts %+v", s.bolts)
	}
}

func TestKillScoresAndTells(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	e := s.enemyAt(EnemyGrub, p.body.X+300, p.body.Y)
	e.state, e.until, e.health = EnemyStun, 1<<31, boltDamage
	id := e.id
	s.step(press(1, Input{Attack: true}))
	var kills []json.RawMessage
	damaged := false
	for range 10 {
		for _, ev := range s.out.Events {
			damaged = damaged || ev.Name == EventDamage && ev.To == 1 &&
				string(ev.Payload) == fmt.Sprintf(`{"target":%d,"amount":%d,"source":%d}`, id, boltDamage, p.id)
		}
		if kills = s.told(GameKill); kills != nil {
			break
		}
		s.step()
	}
	if len(kills) != 1 || !damaged {
		t.Fatalf("kills %s, damage told: %v", kills, damaged)
	}
	var k Kill
	if err := json.Unmarshal(kills[0], &k); err != nil {
		t.Fatal(err)
	}
	if k.Victim != id || k.Kind != EnemyGrub || k.KillerPeer != 1 || k.Killer != p.id {
		t.Errorf("%+v", k)
	}
	if p.score != breeds[EnemyGrub].score || p.kills != 1 || s.entities.Get(p.id, PlayerScore) != p.score {
		t.Errorf("score %d, kills %d", p.score, p.kills)
	}
	if s.entities.Alive(id) {
		t.Error("the enemy is still there")
	}
}

func TestDeathWaitsAndRespawnsOnRequest(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p, killer := s.join(1), s.join(2)
	killer.body.X, killer.body.Y = s.floor[0].centre()
	s.hurtPlayer(p, 1000, attacker{killer.id, killer.member})
	died := s.tick
	s.banish()
	s.step(press(1, run(127, 0)))
	if p.alive() || p.deaths != 1 || killer.kills != 1 || killer.score != playerKill {
		t.Fatalf("alive %v, deaths %d; killer: kills %d, score %d", p.alive(), p.deaths, killer.kills, killer.score)
	}
	if s.entities.Get(p.id, PlayerWait) != 3 || s.entities.Get(p.id, PlayerFlags) != 0 {
		t.Error("clients are not told of the wait")
	}
	for s.tick+1 < died+s.pace.respawn {
		s.wantResult(1, RequestRespawn, "{}", ResultCooldown, false)
	}
	s.wantResult(1, RequestRespawn, "{}", ResultRespawned, true)
	if !p.alive() || p.health != MaxPlayerHealth || !s.shielded(p) || len(s.told(GameRespawn)) != 1 {
		t.Error("not back, whole, shielded and told")
	}
	s.wantResult(1, RequestRespawn, "{}", ResultAlive, false)
}

func TestTheDeadMayNotActNorBeHurt(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p := s.join(1)
	g := s.beside(p, 300)
	s.takeOff(p)
	x := p.body.X
	s.step(press(1, Input{Input: movement.Input{MoveX: -127}, Attack: true}))
	s.hurtPlayer(p, 10, attacker{})
	if p.body.X != x || len(s.bolts) != 0 || p.deaths != 0 {
		t.Error("the dead move, shoot or die")
	}
	s.wantResult(1, RequestInteract, fmt.Sprintf(`{"target":%d}`, g.id), ResultDead, false)
	s.wantResult(1, RequestAttack, `{"target":0,"aim":1}`, ResultDead, false)
}

func TestAttackingEndsTheShieldOfASpawn(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	s.banish()
	s.place(p)
	s.hurtPlayer(p, 10, attacker{})
	if p.health != MaxPlayerHealth {
		t.Error("hurt through the shield")
	}
	s.step(press(1, Input{Attack: true}))
	s.hurtPlayer(p, 10, attacker{})
	if p.health != MaxPlayerHealth-10 {
		t.Error("the shield outlived an attack")
	}
}

func TestShotOutlivesItsShooter(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	e := s.enemyAt(EnemySpitter, p.body.X+3*Tile, p.body.Y)
	e.aim = 128
	s.fireSpit(e)
	e.x, e.y, e.state, e.until = Tile+Tile/2, Tile+Tile/2, EnemyStun, 1<<31
	s.hurtEnemy(e, 1000, p)
	id := e.id
	for range 30 {
		if s.step(); p.health < MaxPlayerHealth {
			break
		}
	}
	if want := MaxPlayerHealth - breeds[EnemySpitter].damage; p.health != want || s.entities.Alive(id) {
		t.Fatalf("health %d, want %d", p.health, want)
	}
	want := fmt.Sprintf(`{"target":%d,"amount":%d,"source":0}`, p.id, breeds[EnemySpitter].damage)
	if e := s.out.Events[0]; e.Name != EventDamage || e.To != 1 || string(e.Payload) != want {
		t.Errorf("told %+v %s, want %s", e, e.Payload, want)
	}
}

func TestItemsAreTakenByTouch(t *testing.T) {
	t.Parallel()
	for kind, check := range map[int32]func(p *player) bool{
		ItemHealth: func(p *player) bool { return p.health == 50+healing },
		ItemGem:    func(p *player) bool { return p.score == gemScore },
		ItemHaste:  func(p *player) bool { return p.body.Power == PowerHaste },
		ItemSpread: func(p *player) bool { return p.body.Power == PowerSpread },
		ItemShield: func(p *player) bool { return p.body.Power == PowerShield },
	} {
		s := newStage(t, 1)
		p := s.join(1)
		p.health = 50
		s.items = s.items[:0]
		s.dropItem(kind, p.body.X+pickupReach, p.body.Y)
		id := s.items[0].id
		s.banish()
		s.step()
		if !check(p) || s.entities.Alive(id) || len(s.told(GamePickup)) != 1 {
			t.Errorf("item %d: player %+v", kind, p)
		}
		s.idle(s.pace.power)
		if p.body.Power != PowerNone {
			t.Errorf("item %d: its power does not end", kind)
		}
	}
}

func TestHealthStaysForWhoNeedsItAndItemsExpire(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	s.items = s.items[:0]
	s.dropItem(ItemHealth, p.body.X, p.body.Y)
	id := s.items[0].id
	for range s.pace.itemLife - 1 {
		s.banish()
		s.step()
	}
	if !s.entities.Alive(id) {
		t.Fatal("a player in full health took it")
	}
	s.step()
	if s.entities.Alive(id) {
		t.Error("it does not expire")
	}
}

func TestEachKindOfEnemyHurtsAPlayerThatStandsStill(t *testing.T) {
	t.Parallel()
	for kind := range int32(enemyKinds) {
		s := newStage(t, 1)
		p := s.join(1)
		e := s.enemyAt(kind, p.body.X+2*Tile, p.body.Y+Tile/2)
		warned := false
		for range 200 {
			if p.health < MaxPlayerHealth {
				break
			}
			s.step()
			warned = warned || e.state == EnemyWindup
		}
		if want := MaxPlayerHealth - breeds[kind].damage; p.health != want || !warned {
			t.Errorf("kind %d: health %d, want %d; warned: %v", kind, p.health, want, warned)
		}
	}
}

func TestEnemyFindsItsWayRoundAWall(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	// The player stays behind a corner, out of sight.
	for _, at := range s.floor {
		x, y := at.centre()
		p.shieldEnd = 1 << 31
		p.body.X, p.body.Y = x, y
		s.findWays()
		for _, from := range s.floor {
			fx, fy := from.centre()
			if d := s.ways.distance(from); d < 6 || d > 8 || sees(s.grid, fx, fy, x, y) {
				continue
			}
			e := s.enemyAt(EnemyGrub, fx, fy)
			s.findWays()
			for range 250 {
				s.step()
				if within(e.x-x, e.y-y, Tile) {
					return
				}
			}
			t.Fatalf("from %v to %v: got to (%d, %d)", from, at, e.x>>8, e.y>>8)
		}
	}
	t.Fatal("no corner on the map")
}

func TestRoundEndsWithScoresAndStartsAfresh(t *testing.T) {
	t.Parallel()
	s := newStage(t, doorSeed)
	p, q := s.join(1), s.join(2)
	absent := s.join(3)
	s.step(authority.Command{Kind: authority.CommandAway, Member: 3})
	p.score, q.score = 20, 90
	g := s.beside(p, 300)
	s.ask(1, RequestInteract, fmt.Sprintf(`{"target":%d}`, g.id))
	p.shieldEnd, q.shieldEnd = 1<<31, 1<<31
	p.health = 10
	for s.match.phase == PhasePlay {
		p.score, q.score = 20, 90 // whatever they pick up
		s.step()
	}
	if s.tick != s.pace.round {
		t.Errorf("the round took %d ticks, want %d", s.tick, s.pace.round)
	}
	ends := s.told(GameRoundEnd)
	var end RoundEnded
	if len(ends) != 1 || json.Unmarshal(ends[0], &end) != nil {
		t.Fatalf("told %s", ends)
	}
	if end.Winner != 2 || len(end.Scores) != 3 || end.Scores[0].Peer != 2 || end.Scores[1].Score != 20 {
		t.Errorf("%+v", end)
	}
	s.wantResult(1, RequestAttack, `{}`, ResultPaused, false)
	p.shieldEnd = 0
	s.hurtPlayer(p, 5, attacker{})
	if p.health != 10 {
		t.Error("hurt between rounds")
	}
	for s.match.phase == PhaseIntermission {
		s.step()
	}
	if s.tick != s.pace.round+s.pace.pause || len(s.told(GameRoundStart)) != 1 || s.match.round != 2 {
		t.Errorf("tick %d, round %d", s.tick, s.match.round)
	}
	if p.score != 0 || q.score != 0 || p.health != MaxPlayerHealth || !p.alive() || g.open || absent.alive() {
		t.Error("the field is not as new")
	}
	if s.entities.Get(s.match.id, MatchWinner) != 2 {
		t.Error("the winner is not shown")
	}
}

func TestWavesBringMore(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	before := len(s.enemies)
	for s.tick < s.pace.wave {
		s.step()
	}
	if len(s.told(GameWave)) != 1 || len(s.enemies) <= before || s.entities.Get(s.match.id, MatchWave) != 2 {
		t.Errorf("%d enemies, %d before", len(s.enemies), before)
	}
}

func TestProjectilesAreBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	p := s.join(1)
	for range 2 * maxProjectiles {
		s.fireBolt(p, 0)
	}
	if len(s.bolts) != maxProjectiles {
		t.Errorf("%d projectiles, limit %d", len(s.bolts), maxProjectiles)
	}
}

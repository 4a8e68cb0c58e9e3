package arena

import (
	"cmp"
	"slices"

	"github.com/gatehouse/gatehouse/authority/replica"
)

// match is the state of the round.
type match struct {
	id     replica.ID
	phase  int32
	round  int32
	wave   int32
	winner uint32
	endsAt uint32 // of the phase
	waveAt uint32 // the next wave
}

// stepMatch goes on to the next phase or wave when it is time.
func (w *world) stepMatch() {
	m := &w.match
	switch {
	case m.endsAt <= w.tick && m.phase == PhasePlay:
		w.endRound()
	case m.endsAt <= w.tick:
		w.beginRound()
		w.tell(GameRoundStart, RoundStarted{Round: m.round, Ticks: int32(w.pace.round)})
	case m.phase == PhasePlay && m.waveAt <= w.tick:
		m.wave++
		m.waveAt += w.pace.wave
		w.tell(GameWave, WaveStarted{Wave: m.wave})
	}
}

// beginRound starts the field afresh. Absent members stay without a body.
func (w *world) beginRound() {
	m := &w.match
	m.phase, m.wave, m.round = PhasePlay, 1, m.round+1
	m.endsAt, m.waveAt = w.tick+w.pace.round, w.tick+w.pace.wave
	w.clearField()
	for _, p := range w.players {
		p.score, p.kills, p.deaths, p.readyAt = 0, 0, 0, 0
		w.takeOff(p)
		if !p.away {
			w.place(p)
		}
	}
	w.populate()
	for len(w.items) < baseItems {
		w.strewItem()
	}
}

// clearField removes what a round has left behind.
func (w *world) clearField() {
	for i := range w.enemies {
		w.entities.Despawn(w.enemies[i].id, GoneReset)
	}
	for i := range w.bolts {
		w.entities.Despawn(w.bolts[i].id, GoneReset)
	}
	for i := range w.items {
		w.entities.Despawn(w.items[i].id, GoneReset)
	}
	w.enemies, w.bolts, w.items = w.enemies[:0], w.bolts[:0], w.items[:0]
	for i := range w.gates {
		w.gates[i].open = false
		w.setGate(&w.gates[i])
	}
}

// endRound names the winner; until the next round nobody can be hurt.
func (w *world) endRound() {
	m := &w.match
	m.phase, m.endsAt, m.winner = PhaseIntermission, w.tick+w.pace.pause, 0
	scores := make([]Score, 0, len(w.players))
	for _, p := range w.players {
		scores = append(scores, Score{Peer: p.member, Name: p.name, Score: p.score, Kills: p.kills, Deaths: p.deaths})
	}
	slices.SortFunc(scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Deaths, b.Deaths), cmp.Compare(a.Peer, b.Peer))
	})
	if len(scores) > 0 && scores[0].Score > 0 {
		m.winner = scores[0].Peer
	}
	scores = scores[:min(len(scores), maxScores)]
	w.tell(GameRoundEnd, RoundEnded{Round: m.round, Winner: m.winner, Scores: scores})
}

func (w *world) publishMatch() {
	m := &w.match
	w.entities.Set(m.id, MatchPhase, m.phase)
	w.entities.Set(m.id, MatchRound, m.round)
	w.entities.Set(m.id, MatchSeconds, w.secondsUntil(m.endsAt))
	w.entities.Set(m.id, MatchWinner, int32(m.winner))
	w.entities.Set(m.id, MatchWave, m.wave)
}

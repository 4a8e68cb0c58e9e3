package client

import (
	"math"
	"time"
)

// Prediction says how a game moves its own player and what the eye may see of a
// correction.
type Prediction[S, I any] struct {
	// Step is the movement rule: the server's own, so that a prediction only
	// fails when something else has moved the player.
	Step func(S, I) S
	// Position is what is shown of a state, in any unit.
	Position func(S) (x, y float64)
	// Snap is the error from which on the player jumps to its place; below it
	// the error is smoothed away. In units of Position.
	Snap float64
	// Ignore is the error below which nothing was wrong (rounding).
	Ignore float64
	// Smooth is the time in which a smoothed error shrinks to a third.
	// Default 100 ms.
	Smooth time.Duration
}

// maxPending bounds the inputs that wait for the server: two seconds at 60 Hz.
const maxPending = 128

// Predictor runs ahead of the server with the player's own inputs and puts
// itself right when a snapshot says what became of them. It is not safe for
// concurrent use.
type Predictor[S, I any] struct {
	rule        Prediction[S, I]
	state       S
	pending     []sentInput[I]
	offX, offY  float64 // what is still to be smoothed away
	at          time.Time
	corrections int
}

type sentInput[I any] struct {
	seq   uint16
	input I
}

// NewPredictor returns a predictor that begins in the given state.
func NewPredictor[S, I any](rule Prediction[S, I], start S) *Predictor[S, I] {
	if rule.Smooth <= 0 {
		rule.Smooth = 100 * time.Millisecond
	}
	return &Predictor[S, I]{rule: rule, state: start}
}

// Predict applies an input at once. seq is the number that it was sent with.
func (p *Predictor[S, I]) Predict(seq uint16, input I) S {
	if len(p.pending) == maxPending {
		p.pending = p.pending[:copy(p.pending, p.pending[1:])]
	}
	p.pending = append(p.pending, sentInput[I]{seq, input})
	p.state = p.rule.Step(p.state, input)
	return p.state
}

// Reconcile takes the server's state after the input of number applied (the
// view's), and steps it on with the inputs after that. It reports whether the
// prediction was wrong.
func (p *Predictor[S, I]) Reconcile(applied uint16, state S, now time.Time) (corrected bool) {
	done := 0
	for done < len(p.pending) && int16(p.pending[done].seq-applied) <= 0 {
		done++
	}
	p.pending = p.pending[:copy(p.pending, p.pending[done:])]
	for _, s := range p.pending {
		state = p.rule.Step(state, s.input)
	}
	wasX, wasY := p.rule.Position(p.state)
	isX, isY := p.rule.Position(state)
	p.state = state
	dx, dy := wasX-isX, wasY-isY
	off := math.Hypot(dx, dy)
	if off <= p.rule.Ignore {
		return false
	}
	p.corrections++
	if off >= p.rule.Snap {
		p.offX, p.offY = 0, 0
		return true
	}
	p.decay(now)
	p.offX, p.offY = p.offX+dx, p.offY+dy
	return true
}

// Reset forgets everything and goes on from a state: after a respawn, say.
func (p *Predictor[S, I]) Reset(state S) {
	p.state, p.pending = state, p.pending[:0]
	p.offX, p.offY = 0, 0
}

// State returns the predicted state.
func (p *Predictor[S, I]) State() S { return p.state }

// Shown returns where to show the player: the predicted position and what is
// left of the errors being smoothed.
func (p *Predictor[S, I]) Shown(now time.Time) (x, y float64) {
	p.decay(now)
	x, y = p.rule.Position(p.state)
	return x + p.offX, y + p.offY
}

// Corrections counts the predictions that were wrong.
func (p *Predictor[S, I]) Corrections() int { return p.corrections }

// Pending counts the inputs whose outcome is not known.
func (p *Predictor[S, I]) Pending() int { return len(p.pending) }

func (p *Predictor[S, I]) decay(now time.Time) {
	if gone := now.Sub(p.at); gone > 0 {
		keep := math.Exp(-float64(gone) / float64(p.rule.Smooth))
		p.offX, p.offY = p.offX*keep, p.offY*keep
	}
	p.at = now
}

package client

import "github.com/gatehouse/gatehouse/authority/replica"

// trackLen is how many samples of an entity are kept: at 30 Hz a quarter of a
// second, of which two ticks are needed and the rest bridges losses.
const trackLen = 8

// Interpolator shows entities between the snapshots that are held: smoothly,
// and late by what [Client.RenderTick] is late. It is not safe for concurrent use.
type Interpolator[T any] struct {
	lerp   func(a, b T, f float64) T
	tracks map[replica.ID]*track[T]
	tick   uint32
}

// track is the recent past of one entity, oldest first.
type track[T any] struct {
	generation uint8
	count      int
	ticks      [trackLen]uint32
	values     [trackLen]T
}

// NewInterpolator returns an interpolator; lerp returns what is the fraction f of
// the way from a to b.
func NewInterpolator[T any](lerp func(a, b T, f float64) T) *Interpolator[T] {
	return &Interpolator[T]{lerp: lerp, tracks: make(map[replica.ID]*track[T])}
}

// Begin starts the samples of a snapshot's tick. A tick that is not newer than
// the last starts afresh: the room has.
func (in *Interpolator[T]) Begin(tick uint32) {
	if tick <= in.tick {
		clear(in.tracks)
	}
	in.tick = tick
}

// Add gives the value of an entity at the tick begun. Every visible entity is to
// be added at every snapshot, whether it has changed or not. An id with another
// generation is another entity.
func (in *Interpolator[T]) Add(id replica.ID, generation uint8, value T) {
	t := in.tracks[id]
	switch {
	case t == nil:
		t = &track[T]{generation: generation}
		in.tracks[id] = t
	case t.generation != generation:
		*t = track[T]{generation: generation}
	case t.count == trackLen:
		copy(t.ticks[:], t.ticks[1:])
		copy(t.values[:], t.values[1:])
		t.count--
	}
	t.ticks[t.count], t.values[t.count] = in.tick, value
	t.count++
}

// End forgets the entities that were not added since Begin.
func (in *Interpolator[T]) End() {
	for id, t := range in.tracks {
		if t.ticks[t.count-1] != in.tick {
			delete(in.tracks, id)
		}
	}
}

// At returns an entity's value at a tick, with its fraction. Before the first
// sample it is the first, after the last the last: nothing is made up. ok is
// false for an entity that is not known.
func (in *Interpolator[T]) At(id replica.ID, tick float64) (value T, ok bool) {
	t := in.tracks[id]
	if t == nil {
		return value, false
	}
	for i := t.count - 1; i >= 0; i-- {
		from := float64(t.ticks[i])
		if tick < from {
			continue
		}
		if i == t.count-1 {
			return t.values[i], true
		}
		f := (tick - from) / float64(t.ticks[i+1]-t.ticks[i])
		return in.lerp(t.values[i], t.values[i+1], f), true
	}
	return t.values[0], true
}

package client_test

import (
	"math"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
)

// walker moves along x by its inputs.
type walker struct{ x int }

func walk() client.Prediction[walker, int] {
	return client.Prediction[walker, int]{
		Step:     func(w walker, dx int) walker { return walker{w.x + dx} },
		Position: func(w walker) (x, y float64) { return float64(w.x), 0 },
		Snap:     100, Ignore: 0.5, Smooth: 100 * time.Millisecond,
	}
}

func TestPredictionIsKeptWhereTheServerAgrees(t *testing.T) {
	t.Parallel()
	p := client.NewPredictor(walk(), walker{})
	now := time.Unix(0, 0)
	for seq := uint16(65530); seq != 10; seq++ { // across the wrap
		p.Predict(seq, 1)
	}
	if p.Reconcile(65535, walker{6}, now) {
		t.Error("corrected, although the server agrees")
	}
	if p.State().x != 16 || p.Pending() != 10 || p.Corrections() != 0 {
		t.Errorf("x is %d with %d inputs pending", p.State().x, p.Pending())
	}
}

func TestSmallErrorsAreSmoothedLargeOnesSnapped(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	for name, tc := range map[string]struct {
		server int
		shown  float64 // at once
		later  float64 // 100 ms later
	}{
		"small": {server: 0, shown: 10, later: 1 + 9/math.E},
		"large": {server: -500, shown: -499, later: -499},
	} {
		p := client.NewPredictor(walk(), walker{})
		for seq := uint16(1); seq <= 10; seq++ {
			p.Predict(seq, 1)
		}
		p.Shown(now)
		if !p.Reconcile(9, walker{tc.server}, now) || p.Corrections() != 1 {
			t.Errorf("%s: not corrected", name)
		}
		if p.State().x != tc.server+1 {
			t.Errorf("%s: x is %d, want the server's and the pending input's", name, p.State().x)
		}
		if x, _ := p.Shown(now); math.Abs(x-tc.shown) > 1e-9 {
			t.Errorf("%s: shown at %v, want %v", name, x, tc.shown)
		}
		if x, _ := p.Shown(now.Add(100 * time.Millisecond)); math.Abs(x-tc.later) > 1e-9 {
			t.Errorf("%s: later shown at %v, want %v", name, x, tc.later)
		}
	}
}

func TestPredictorIsBoundedWithoutAServer(t *testing.T) {
	t.Parallel()
	p := client.NewPredictor(walk(), walker{})
	for seq := range uint16(1000) {
		p.Predict(seq, 1)
	}
	if p.Pending() > 128 || p.State().x != 1000 {
		t.Errorf("%d pending, x is %d", p.Pending(), p.State().x)
	}
	if p.Reset(walker{5}); p.Pending() != 0 || p.State().x != 5 {
		t.Errorf("after a reset: %d pending, x is %d", p.Pending(), p.State().x)
	}
}

func lerp(a, b, f float64) float64 { return a + (b-a)*f }

func TestInterpolation(t *testing.T) {
	t.Parallel()
	in := client.NewInterpolator(lerp)
	for _, s := range []struct {
		tick  uint32
		value float64
	}{{10, 0}, {11, 100}, {13, 300}} { // 12 was lost
		in.Begin(s.tick)
		in.Add(7, 1, s.value)
		in.End()
	}
	for _, tc := range []struct{ tick, want float64 }{
		{5, 0}, {10, 0}, {10.5, 50}, {11, 100}, {12, 200}, {12.5, 250}, {13, 300}, {20, 300},
	} {
		if got, ok := in.At(7, tc.tick); !ok || got != tc.want {
			t.Errorf("at %v: %v, want %v", tc.tick, got, tc.want)
		}
	}
	in.Begin(14)
	in.Add(7, 2, 999) // another entity with the id
	in.End()
	if got, _ := in.At(7, 13.5); got != 999 {
		t.Errorf("a new generation is drawn towards the old one: %v", got)
	}
	in.Begin(15)
	in.End()
	if _, ok := in.At(7, 15); ok {
		t.Error("an entity that has gone is still known")
	}
}

func TestInterpolationOutlivesManySnapshots(t *testing.T) {
	t.Parallel()
	in := client.NewInterpolator(lerp)
	for tick := uint32(1); tick <= 100; tick++ {
		in.Begin(tick)
		in.Add(1, 0, float64(tick))
		in.End()
	}
	if got, ok := in.At(1, 97.5); !ok || got != 97.5 {
		t.Errorf("at 97.5: %v, %v", got, ok)
	}
	in.Begin(3) // the room began anew
	in.Add(1, 0, 3)
	in.End()
	if got, _ := in.At(1, 97.5); got != 3 {
		t.Errorf("after a restart at 97.5: %v", got)
	}
}

package link

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Netsim describes a bad network, for tests and for playing against one. It
// applies to each direction of a link by itself.
type Netsim struct {
	// Latency of one way, 0 to 10 s.
	Latency time.Duration
	// Jitter is the most that a message's delay differs from Latency, either
	// way, 0 to 10 s; a delay is never negative.
	Jitter time.Duration
	// Loss is the probability, 0 to 1, that a message is lost. On a reliable
	// lane it is then sent again a round trip later, and what follows it waits.
	Loss float64
	// Duplicate is the probability, 0 to 1, that a message on an unreliable
	// lane arrives twice.
	Duplicate float64
	// Reorder is the probability, 0 to 1, that a message on an unreliable lane
	// is held back so long that later ones overtake it.
	Reorder float64
	// Seed of the random choices; equal seeds choose alike.
	Seed uint64
}

const maxNetsimDelay = 10 * time.Second

// ParseNetsim parses a list such as
// "latency=80ms,jitter=20ms,loss=3%,dup=1%,reorder=2%,seed=7". Every field may be
// left out, none may be given twice, and there must be at least one.
func ParseNetsim(text string) (Netsim, error) {
	var n Netsim
	given := make(map[string]bool)
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		if given[name] {
			return Netsim{}, fmt.Errorf("netsim: %s is given twice", name)
		}
		given[name] = true
		if err := n.set(name, value); err != nil {
			return Netsim{}, fmt.Errorf("netsim: %w", err)
		}
	}
	return n, nil
}

func (n *Netsim) set(name, value string) (err error) {
	switch name {
	case "latency":
		n.Latency, err = parseDelay(name, value)
	case "jitter":
		n.Jitter, err = parseDelay(name, value)
	case "loss":
		n.Loss, err = parseProbability(name, value)
	case "dup":
		n.Duplicate, err = parseProbability(name, value)
	case "reorder":
		n.Reorder, err = parseProbability(name, value)
	case "seed":
		if n.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			err = fmt.Errorf("seed %q: want a whole number from 0 to 18446744073709551615", value)
		}
	default:
		err = fmt.Errorf("%q is not a field: want latency, jitter, loss, dup, reorder or seed, each as name=value", name)
	}
	return err
}

func parseDelay(name, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > maxNetsimDelay {
		return 0, fmt.Errorf("%s %q: want a duration from 0s to %s, such as 80ms", name, value, maxNetsimDelay)
	}
	return d, nil
}

func parseProbability(name, value string) (float64, error) {
	number, percent := strings.CutSuffix(value, "%")
	p, err := strconv.ParseFloat(number, 64)
	// The negated comparison refuses NaN too.
	if !percent || err != nil || !(p >= 0 && p <= 100) {
		return 0, fmt.Errorf("%s %q: want a percentage from 0%% to 100%%, such as 3%%", name, value)
	}
	return p / 100, nil
}

// String returns the form that [ParseNetsim] takes, with all fields.
func (n Netsim) String() string {
	percent := func(p float64) string { return strconv.FormatFloat(p*100, 'f', -1, 64) + "%" }
	return fmt.Sprintf("latency=%s,jitter=%s,loss=%s,dup=%s,reorder=%s,seed=%d",
		n.Latency, n.Jitter, percent(n.Loss), percent(n.Duplicate), percent(n.Reorder), n.Seed)
}

// NetsimStats says what a conditioner did to the messages of a link.
type NetsimStats struct {
	In, Out NetsimCounts
}

// NetsimCounts are of one direction, in link messages.
type NetsimCounts struct {
	// Messages that came to the conditioner.
	Messages uint64
	// Lost for good: unreliable lanes only.
	Lost uint64
	// Resent: delayed by at least one retransmission, reliable lanes only.
	Resent     uint64
	Duplicated uint64
	// Reordered: held back so that later ones may overtake.
	Reordered uint64
	// Overflowed: lost because too much was in flight, unreliable lanes only.
	Overflowed uint64
}

// NetsimStats returns what the conditioner did so far; zeros without one.
func (l *Link) NetsimStats() NetsimStats {
	if l.sim == nil {
		return NetsimStats{}
	}
	return l.sim.stats()
}

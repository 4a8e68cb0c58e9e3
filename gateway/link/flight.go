package link

import (
	"math/rand/v2"
	"time"
)

// flightBytes bounds what one direction holds of each lane.
const flightBytes = 512 << 10

// messageOverhead is what a message in flight costs beyond its bytes.
const messageOverhead = 64

// maxResends bounds the retransmissions of one message, however lossy the line.
const maxResends = 10

// flight is what is under way in one direction on one lane, by time of arrival.
// Guarded by the conditioner's mutex.
type flight struct {
	sim     Netsim
	ordered bool // never lost, never reordered
	rng     *rand.Rand
	queue   []message // by due, then by seq
	seq     uint64
	bytes   int
	counts  NetsimCounts
}

type message struct {
	due  time.Time
	seq  uint64
	body []byte
}

func (m message) before(o message) bool {
	return m.due.Before(o.due) || m.due.Equal(o.due) && m.seq < o.seq
}

// newFlight has random numbers of its own, so that what one direction or lane
// does never changes what happens to another.
func newFlight(n Netsim, ordered bool, stream uint64) flight {
	return flight{sim: n, ordered: ordered, rng: rand.New(rand.NewPCG(n.Seed, stream))}
}

func (f *flight) full() bool { return f.bytes >= flightBytes }

// launch takes over body.
func (f *flight) launch(now time.Time, body []byte) {
	f.counts.Messages++
	if f.ordered {
		f.add(f.arrival(now), body)
		return
	}
	if f.full() {
		f.counts.Overflowed++
		return
	}
	// Always the same number of choices, so that one setting does not shift
	// the luck of another.
	lost, again, late := f.chance(f.sim.Loss), f.chance(f.sim.Duplicate), f.chance(f.sim.Reorder)
	due, due2 := now.Add(f.delay()), now.Add(f.delay())
	if lost {
		f.counts.Lost++
		return
	}
	if late {
		f.counts.Reordered++
		due = due.Add(max(minHoldBack, f.sim.Latency/2+f.sim.Jitter))
	}
	f.add(due, body)
	if again {
		f.counts.Duplicated++
		f.add(due2, append([]byte(nil), body...))
	}
}

// minHoldBack lets a later message overtake in a stream of 30 Hz.
const minHoldBack = 40 * time.Millisecond

// arrival is when a message of an ordered lane comes out: after its
// retransmissions, a round trip each, and after all before it.
func (f *flight) arrival(now time.Time) time.Time {
	due := now.Add(f.delay())
	resends := 0
	for resends < maxResends && f.chance(f.sim.Loss) {
		resends++
	}
	if resends > 0 {
		f.counts.Resent++
		due = due.Add(time.Duration(resends) * 2 * f.sim.Latency)
	}
	if n := len(f.queue); n > 0 && due.Before(f.queue[n-1].due) {
		due = f.queue[n-1].due
	}
	return due
}

func (f *flight) chance(p float64) bool { return f.rng.Float64() < p }

func (f *flight) delay() time.Duration {
	return max(0, f.sim.Latency+time.Duration((2*f.rng.Float64()-1)*float64(f.sim.Jitter)))
}

// add inserts from the end, where a message nearly always belongs.
func (f *flight) add(due time.Time, body []byte) {
	f.seq++
	m := message{due, f.seq, body}
	f.queue = append(f.queue, m)
	i := len(f.queue) - 1
	for ; i > 0 && m.before(f.queue[i-1]); i-- {
		f.queue[i] = f.queue[i-1]
	}
	f.queue[i] = m
	f.bytes += len(body) + messageOverhead
}

// due reports whether the first message may land; at once says that any may.
func (f *flight) due(now time.Time, atOnce bool) bool {
	return len(f.queue) > 0 && (atOnce || !f.queue[0].due.After(now))
}

// land takes the first message out; there must be one.
func (f *flight) land() []byte {
	m := f.queue[0]
	copy(f.queue, f.queue[1:])
	f.queue[len(f.queue)-1] = message{}
	f.queue = f.queue[:len(f.queue)-1]
	f.bytes -= len(m.body) + messageOverhead
	return m.body
}

func (c *NetsimCounts) add(o NetsimCounts) {
	c.Messages += o.Messages
	c.Lost += o.Lost
	c.Resent += o.Resent
	c.Duplicated += o.Duplicated
	c.Reordered += o.Reordered
	c.Overflowed += o.Overflowed
}

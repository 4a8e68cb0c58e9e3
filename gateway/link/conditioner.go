package link

import (
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

// conditioner stands between a link and its transport and makes the network
// worse, each way: what the transport received is handed to the handler later,
// and what the link has to send is given to the writer later.
//
// It has no goroutine of its own but those of two timers. The one of received
// messages stands in for the reader: it alone calls the handler.
type conditioner struct {
	link *Link

	mu         sync.Mutex
	landed     sync.Cond // broadcast when messages were handed over
	in, out    [2]flight // by lane
	delivering bool      // a goroutine is in deliver and calls the handler
	stopped    bool
	inTimer    *time.Timer
	outTimer   *time.Timer
}

func newConditioner(l *Link, n Netsim) *conditioner {
	c := &conditioner{link: l}
	c.landed.L = &c.mu
	for lane := range c.in {
		ordered := wire.Lane(lane) == wire.Reliable || l.info.OneStream
		c.in[lane] = newFlight(n, ordered, uint64(lane))
		c.out[lane] = newFlight(n, ordered, uint64(lane)+2)
	}
	c.inTimer = time.AfterFunc(time.Hour, c.deliver)
	c.outTimer = time.AfterFunc(time.Hour, l.conn.Wake)
	c.inTimer.Stop()
	c.outTimer.Stop()
	return c
}

// receive takes a message from the transport's reader. An ordered lane that is
// full makes it wait, as a full receive window would, but only for the handler:
// too much in flight lands early.
func (c *conditioner) receive(lane wire.Lane, msg []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &c.in[lane]
	f.launch(time.Now(), append([]byte(nil), msg...))
	c.arm(c.inTimer, &c.in)
	for f.ordered && f.full() && !c.stopped {
		c.landed.Wait()
	}
	return !c.stopped && !c.link.closing.Load()
}

// deliver hands over what has arrived. Only one goroutine at a time is in it,
// since the timer is not armed while it runs.
func (c *conditioner) deliver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.delivering {
		return
	}
	c.delivering = true
	for !c.stopped {
		lane, ok := earliest(&c.in, time.Now())
		if !ok {
			break
		}
		c.hand(lane)
	}
	c.delivering = false
	c.landed.Broadcast()
	c.arm(c.inTimer, &c.in)
}

// hand calls the handler with the first message of a lane, without the lock.
func (c *conditioner) hand(lane wire.Lane) {
	msg := c.in[lane].land()
	c.landed.Broadcast()
	c.mu.Unlock()
	c.link.handle(lane, msg)
	c.mu.Lock()
}

// earliest returns the lane whose first message lands next and has arrived.
func earliest(lanes *[2]flight, now time.Time) (wire.Lane, bool) {
	best, found := wire.Reliable, false
	for lane := range lanes {
		f := &lanes[lane]
		if f.due(now, f.ordered && f.full()) && (!found || f.queue[0].due.Before(lanes[best].queue[0].due)) {
			best, found = wire.Lane(lane), true
		}
	}
	return best, found
}

// arm sets a timer to the next arrival.
func (c *conditioner) arm(t *time.Timer, lanes *[2]flight) {
	if c.stopped || lanes == &c.in && c.delivering {
		return
	}
	next, found := time.Duration(0), false
	for lane := range lanes {
		f := &lanes[lane]
		if len(f.queue) == 0 {
			continue
		}
		wait := max(0, time.Until(f.queue[0].due))
		if lanes == &c.in && f.ordered && f.full() {
			wait = 0
		}
		if !found || wait < next {
			next, found = wait, true
		}
	}
	if found {
		t.Reset(next)
	}
}

// pack gives the writer what has crossed the network, having sent off what the
// link has queued, as far as the network takes it. Once the link is closing its
// reliable lane lands at once, so that the goodbye is said within the grace.
func (c *conditioner) pack(lane wire.Lane, dst []byte) []byte {
	closing := c.link.closing.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return dst
	}
	now := time.Now()
	f := &c.out[lane]
	for !f.full() {
		msg, _ := c.link.pack(lane, nil)
		if len(msg) == 0 {
			break
		}
		f.launch(now, msg)
	}
	if f.due(now, closing && f.ordered) {
		dst = append(dst, f.land()...)
	}
	c.arm(c.outTimer, &c.out)
	return dst
}

// stop ends the conditioner. What had been received on the reliable lane is
// handed over at once: the peer did send it before the end. When it returns no
// call of the handler is under way and none follows.
func (c *conditioner) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.delivering {
		c.landed.Wait()
	}
	c.delivering = true // keeps a late timer out
	for f := &c.in[wire.Reliable]; len(f.queue) > 0; {
		c.hand(wire.Reliable)
	}
	c.stopped = true
	c.inTimer.Stop()
	c.outTimer.Stop()
	c.landed.Broadcast()
	for lane := range c.in {
		c.in[lane].queue, c.out[lane].queue = nil, nil
	}
}

func (c *conditioner) stats() (s NetsimStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for lane := range c.in {
		s.In.add(c.in[lane].counts)
		s.Out.add(c.out[lane].counts)
	}
	return s
}

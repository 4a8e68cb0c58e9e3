package client

import (
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	// ackEvery is how many snapshots may go by without an input frame, which
	// acknowledges them.
	ackEvery = 4
	// snapshotDelay bounds how long one stays unacknowledged: where a thin line
	// lets few through, four would take too long.
	snapshotDelay = 100 * time.Millisecond
	// repeatDelay is when an acknowledgement is repeated that brought no further
	// snapshot: it may have been lost, and the server waits for it after a full one.
	repeatDelay = 250 * time.Millisecond
	// lateTicks is how many missed input ticks are made up for.
	lateTicks = 4
)

// inputs are those the server has not named as applied yet, the newest
// [wire.MaxInputs]. Guarded by the client's mutex.
type inputs struct {
	seq    uint16 // of the newest
	count  int
	kept   [wire.MaxInputs][]byte // by seq modulo; the arrays are reused
	frame  wire.Input             // scratch
	steady []byte                 // SetInput's
	set    bool

	done uint16 // the last that the server has applied
	any  bool   // there was one

	unacked int       // snapshots applied since the last frame
	sent    time.Time // when that was
}

// add numbers an input and keeps a copy.
func (in *inputs) add(payload []byte) uint16 {
	in.seq++
	slot := &in.kept[in.seq%wire.MaxInputs]
	*slot = append((*slot)[:0], payload...)
	in.count = min(in.count+1, wire.MaxInputs)
	return in.seq
}

// applied forgets every input up to seq.
func (in *inputs) applied(seq uint16) {
	in.done, in.any = seq, true
	if left := in.seq - seq; int(left) < in.count {
		in.count = int(left)
	}
}

// encode returns an input frame with as many of the newest inputs as fit.
func (in *inputs) encode(clientTick, acked uint32, mask uint64) *wire.Frame {
	const head = 2 + 4 + 4 + 10 + 1
	size, n := head, 0
	for n < in.count {
		next := 1 + len(in.kept[(in.seq-uint16(n))%wire.MaxInputs])
		if size+next > wire.MaxDatagram-wire.MaxHeader {
			break
		}
		size += next
		n++
	}
	in.frame.Seq, in.frame.ClientTick = in.seq, clientTick
	in.frame.Acked, in.frame.Mask = acked, mask
	in.frame.Inputs = in.frame.Inputs[:0]
	for i := n - 1; i >= 0; i-- {
		in.frame.Inputs = append(in.frame.Inputs, in.kept[(in.seq-uint16(i))%wire.MaxInputs])
	}
	f := wire.NewFrame(wire.KindInput, size)
	f.Append(func(dst []byte) []byte { return wire.AppendInput(dst, in.frame) })
	return f
}

// SetInput sets the input that is sent at every tick from now on, nil for none.
// It is copied. Only with Options.TickInputs, and without Handler.Input.
func (c *Client) SetInput(payload []byte) error {
	if err := fitsInput(payload); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs.steady = append(c.inputs.steady[:0], payload...)
	c.inputs.set = payload != nil
	return nil
}

// SendInput sends an input now and returns its number. It is repeated with later
// inputs until the server has applied it. While the client is away it is only
// kept.
func (c *Client) SendInput(payload []byte) (seq uint16, err error) {
	if err := fitsInput(payload); err != nil {
		return 0, err
	}
	now := time.Now()
	c.mu.Lock()
	seq = c.inputs.add(payload)
	f := c.inputFrameLocked(now)
	c.mu.Unlock()
	c.send(f)
	return seq, nil
}

// AppliedInput returns the number of the last input that the newest snapshot
// knows as applied; ok is false as long as there was none.
func (c *Client) AppliedInput() (seq uint16, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inputs.done, c.inputs.any
}

func fitsInput(payload []byte) error {
	if len(payload) > wire.MaxInputBytes {
		return wire.Errorf(wire.CodeTooBig, "input of %d bytes, limit %d", len(payload), wire.MaxInputBytes)
	}
	return nil
}

func (c *Client) inputFrameLocked(now time.Time) *wire.Frame {
	var acked uint32
	var mask uint64
	if c.view != nil {
		acked, mask = c.view.Ack()
	}
	c.inputs.unacked, c.inputs.sent = 0, now
	return c.inputs.encode(uint32(c.timing.serverTick(now)), acked, mask)
}

// owe notes that a snapshot was applied and acknowledges if it is time.
func (c *Client) owe(now time.Time, atOnce bool) {
	c.mu.Lock()
	c.inputs.unacked++
	atOnce = atOnce || c.inputs.unacked >= ackEvery
	c.mu.Unlock()
	if atOnce {
		c.acknowledge(now)
		return
	}
	if at := now.Add(snapshotDelay); c.clocks.snapshot.IsZero() || at.Before(c.clocks.snapshot) {
		c.clocks.snapshot = at
	}
}

// acknowledgeLate acknowledges unless an input has done so meanwhile.
func (c *Client) acknowledgeLate(now time.Time) {
	c.mu.Lock()
	owing, repeat := c.inputs.unacked > 0, c.inputs.sent.Add(repeatDelay)
	c.mu.Unlock()
	if owing || !now.Before(repeat) {
		c.acknowledge(now)
		return
	}
	c.clocks.snapshot = repeat
}

// acknowledge sends the unacknowledged inputs and what was applied.
func (c *Client) acknowledge(now time.Time) {
	c.clocks.snapshot = now.Add(repeatDelay)
	c.mu.Lock()
	f := c.inputFrameLocked(now)
	c.mu.Unlock()
	c.send(f)
}

// startInputs begins the input ticks of a link.
func (c *Client) startInputs(now time.Time) {
	if c.opts.TickInputs && c.welcome.TickRate > 0 {
		c.clocks.input = now
	}
}

// tickInput sends the input of one client tick.
func (c *Client) tickInput(now time.Time) {
	period := time.Second / time.Duration(c.welcome.TickRate)
	c.clocks.input = c.clocks.input.Add(period)
	if now.Sub(c.clocks.input) > lateTicks*period {
		c.clocks.input = now.Add(period) // we slept: the past is not caught up with
	}
	if c.opts.Handler.Input != nil {
		c.mu.Lock()
		seq, tick := c.inputs.seq+1, uint32(c.timing.serverTick(now))
		c.mu.Unlock()
		if p := c.opts.Handler.Input(seq, tick); p != nil && fitsInput(p) == nil {
			c.sendTick(p, now)
		}
		return
	}
	c.mu.Lock()
	if !c.inputs.set {
		c.mu.Unlock()
		return
	}
	c.inputs.add(c.inputs.steady)
	f := c.inputFrameLocked(now)
	c.mu.Unlock()
	c.send(f)
}

func (c *Client) sendTick(payload []byte, now time.Time) {
	c.mu.Lock()
	c.inputs.add(payload)
	f := c.inputFrameLocked(now)
	c.mu.Unlock()
	c.send(f)
}

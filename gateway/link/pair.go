package link

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

// ErrCut is what both ends of a pair are told after [Cut].
var ErrCut = errors.New("link: the connection was cut")

// pipeBytes bounds what is under way from one end of a pair to the other, as the
// socket buffers of a real connection do.
const pipeBytes = 64 << 10

// Pair returns two links that are joined in memory, with two lanes. A writer
// whose peer does not read blocks on the reliable lane, and loses what it writes
// on the unreliable one, as over a real connection.
//
// Each end owns a reader and a writer. They end after either link was closed or
// the pair was cut, at most [CloseGrace] later; Ended is their last call.
func Pair(a, b Handler, oa, ob Options) (*Link, *Link) {
	return join(a, b, oa, ob, Info{Transport: "memory"})
}

// PairOneStream is [Pair] with one stream for both lanes.
func PairOneStream(a, b Handler, oa, ob Options) (*Link, *Link) {
	return join(a, b, oa, ob, Info{Transport: "memory", OneStream: true})
}

func join(a, b Handler, oa, ob Options, info Info) (*Link, *Link) {
	ab, ba := newPipe(), newPipe()
	ends := [2]*memoryConn{newMemoryConn(info, ba, ab), newMemoryConn(info, ab, ba)}
	ends[0].link, ends[1].link = New(ends[0], a, oa), New(ends[1], b, ob)
	for _, c := range ends {
		go c.write()
		go c.read()
	}
	return ends[0].link, ends[1].link
}

// Stall makes the end of a pair stop reading until resume is called or the link
// ends. It panics if l is not of a pair.
func Stall(l *Link) (resume func()) {
	in := l.conn.(*memoryConn).in
	in.stall(true)
	return func() { in.stall(false) }
}

// Cut breaks a pair as a dead network does that both ends notice at once: what
// is under way is lost, and both are told ErrCut. It panics if l is not of a pair.
func Cut(l *Link) {
	c := l.conn.(*memoryConn)
	c.in.shut(ErrCut, false)
	c.out.shut(ErrCut, false)
}

// memoryConn is one end of a pair.
type memoryConn struct {
	// immutable
	info    Info
	link    *Link
	in, out *pipe
	wake    chan struct{} // one token
	quit    chan struct{} // closed once to make the writer flush and return
	written chan struct{} // closed when the writer has returned

	stopOnce sync.Once
	grace    *time.Timer // set by stop
	mu       sync.Mutex  // guards closed
	closed   error       // set by Close
}

var _ Conn = (*memoryConn)(nil)

func newMemoryConn(info Info, in, out *pipe) *memoryConn {
	return &memoryConn{
		info: info, in: in, out: out,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), written: make(chan struct{}),
	}
}

func (c *memoryConn) Info() Info { return c.info }

func (c *memoryConn) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *memoryConn) Close(code wire.Code, reason string) {
	c.mu.Lock()
	c.closed = wire.Errorf(code, "%s", reason)
	c.mu.Unlock()
	c.stop()
}

// stop makes the writer flush and return, within the grace even if the peer does
// not read.
func (c *memoryConn) stop() {
	c.stopOnce.Do(func() {
		close(c.quit)
		c.grace = time.AfterFunc(CloseGrace, func() { c.out.shut(ErrCut, false) })
	})
}

func (c *memoryConn) write() {
	defer close(c.written)
	// An error means that the pipe was shut, which the reader learns by itself.
	_ = c.link.WriteLoop(c.wake, c.quit, func(lane wire.Lane, msg []byte) error {
		sent, err := c.out.send(lane, msg, lane == wire.Reliable)
		if err == nil && !sent {
			c.link.Drop(DropTransport)
		}
		return err
	})
	// All that was said has been written: the peer reads it, then the end.
	c.out.shut(c.reason(io.EOF), true)
	c.in.shut(c.reason(ErrCut), false)
}

// reason is why this end closed, or other if it did not.
func (c *memoryConn) reason(other error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return c.closed
	}
	return other
}

func (c *memoryConn) read() {
	err := c.in.receive(c.link.Receive)
	c.stop()
	<-c.written
	c.grace.Stop()
	c.link.Ended(c.reason(err))
}

// pipe carries messages one way. One goroutine sends, one receives.
type pipe struct {
	mu      sync.Mutex
	changed sync.Cond // broadcast on every change below
	batch   batch     // what was sent and not taken
	stalled bool
	end     error // set when shut
}

// batch is a run of messages in one buffer.
type batch struct {
	bytes []byte
	heads []head
}

type head struct {
	lane wire.Lane
	end  int // in bytes
}

func newPipe() *pipe {
	p := &pipe{}
	p.changed.L = &p.mu
	return p
}

// send copies a message into the pipe, or reports false if it is full and the
// caller does not want to wait. The error is the one it was shut with.
func (p *pipe) send(lane wire.Lane, msg []byte, wait bool) (sent bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.end == nil && len(p.batch.bytes) > 0 && len(p.batch.bytes)+len(msg) > pipeBytes {
		if !wait {
			return false, nil
		}
		p.changed.Wait()
	}
	if p.end != nil {
		return false, p.end
	}
	p.batch.bytes = append(p.batch.bytes, msg...)
	p.batch.heads = append(p.batch.heads, head{lane, len(p.batch.bytes)})
	p.changed.Broadcast()
	return true, nil
}

// receive calls fn with every message, in order, until fn reports false or the
// pipe is shut and empty; it returns what it was shut with, or io.EOF.
func (p *pipe) receive(fn func(wire.Lane, []byte) bool) error {
	var taken batch
	for {
		if err := p.take(&taken); err != nil {
			return err
		}
		start := 0
		for _, h := range taken.heads {
			if !fn(h.lane, taken.bytes[start:h.end:h.end]) {
				return io.EOF
			}
			start = h.end
		}
	}
}

// take waits for a batch and swaps it for the one that was spent.
func (p *pipe) take(spent *batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.end == nil && (p.stalled || len(p.batch.heads) == 0) {
		p.changed.Wait()
	}
	if len(p.batch.heads) == 0 {
		return p.end
	}
	*spent, p.batch = p.batch, batch{spent.bytes[:0], spent.heads[:0]}
	p.changed.Broadcast()
	return nil
}

func (p *pipe) stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = on
	p.changed.Broadcast()
}

// shut ends the pipe for good; the first call counts. With drain the receiver
// still gets what was sent.
func (p *pipe) shut(err error, drain bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !drain {
		p.batch = batch{}
	}
	if p.end == nil {
		p.end = err
	}
	p.changed.Broadcast()
}

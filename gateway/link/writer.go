package link

import (
	"math"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	defaultFlushWindow = 8 * time.Millisecond
	maxFlushWindow     = 10 * time.Millisecond
)

// buffers lends a message buffer to a writer for one flush, so that idle links
// hold none.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// WriteLoop is the body of the writer goroutine of a transport that has one per
// link. Told by wake, it packs messages and hands each to write, which may block
// and must not keep msg. It returns the first error of write, or nil after quit
// was closed and what was still queued, a close frame included, was handed over.
//
// A write that may block for ever is the transport's to end.
//
// On a link with little to send a frame leaves at once. On a busy one frames are
// held back for at most [Options].FlushWindow, so that more of them leave
// together; link control is never held back.
func (l *Link) WriteLoop(wake, quit <-chan struct{}, write func(lane wire.Lane, msg []byte) error) error {
	p := newPacer(l.opts.FlushWindow, time.Now())
	window := time.NewTimer(time.Hour)
	window.Stop()
	defer window.Stop()
	for {
		select {
		case <-wake:
		case <-quit:
			return l.writeAll(write)
		}
		if hold := p.hold(time.Now(), l.sends.Load()); hold > 0 {
			window.Reset(hold)
			select {
			case <-window.C:
			case <-l.urgent:
				window.Stop()
			case <-quit:
				return l.writeAll(write)
			}
			select {
			case <-wake: // what came in the window leaves now
			default:
			}
		}
		if err := l.writeAll(write); err != nil {
			return err
		}
	}
}

// writeAll writes what waits. It takes the lanes in turns, so that bulk on one
// does not starve the other, and leaves what comes meanwhile to the next flush,
// for which there is a token in wake.
func (l *Link) writeAll(write func(wire.Lane, []byte) error) error {
	select {
	case <-l.urgent: // served by this very flush
	default:
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	more := [...]bool{wire.Reliable: true, wire.Unreliable: !l.info.OneStream}
	for more[wire.Reliable] || more[wire.Unreliable] {
		for lane := range more {
			if !more[lane] {
				continue
			}
			*buf, more[lane] = l.next(wire.Lane(lane), *buf)
			if len(*buf) == 0 {
				continue
			}
			if err := write(wire.Lane(lane), *buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// pacer decides how long frames may wait for others. It estimates the rate of
// sends with an exponentially decaying count: below calmRate a link never waits,
// from busyRate on it waits for the whole window, in between for a part of it.
type pacer struct {
	window time.Duration
	count  float64 // sends of about the last pacerMemory
	sends  uint32
	at     time.Time
}

const (
	pacerMemory = 250 * time.Millisecond
	// 30 snapshots a second and a dozen events at the same moment stay below.
	calmRate = 80.0 // per second
	busyRate = 120.0
)

func newPacer(window time.Duration, now time.Time) pacer {
	switch {
	case window == 0:
		window = defaultFlushWindow
	case window > maxFlushWindow:
		window = maxFlushWindow
	}
	return pacer{window: window, at: now}
}

// hold is told how often was sent in all (wrapping), and returns how long to wait
// now; not positive: not at all.
func (p *pacer) hold(now time.Time, sends uint32) time.Duration {
	if p.window < 0 {
		return 0
	}
	elapsed := now.Sub(p.at)
	p.count = p.count*math.Exp(-elapsed.Seconds()/pacerMemory.Seconds()) + float64(sends-p.sends)
	p.at, p.sends = now, sends
	rate := p.count / pacerMemory.Seconds()
	return time.Duration(float64(p.window) * min(1, (rate-calmRate)/(busyRate-calmRate)))
}

package link

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/wire"
	"github.com/gatehouse/gatehouse/wire/stream"
)

// Conn is the transport's half of a link. None of its methods may block.
type Conn interface {
	// Info describes the connection; constant.
	Info() Info
	// Wake says that Pack has something to give. It may be called often, from
	// any goroutine, also after Close.
	Wake()
	// Close begins to end the connection: the writer flushes what Pack still
	// gives, tells the peer the code in the transport's own way, and ends the
	// connection within [CloseGrace] however the peer behaves. Called once.
	Close(code wire.Code, reason string)
}

// CloseGrace bounds how long a closing connection may take to say goodbye.
const CloseGrace = time.Second

// Info describes a connection.
type Info struct {
	// Transport is "ws", "rtc", "enet" or "memory".
	Transport string
	// Remote is the client's address; zero for memory.
	Remote netip.AddrPort
	// OneStream: both lanes share one ordered stream, so nothing that was
	// written is ever lost, and Pack mixes the lanes in a message.
	OneStream bool
	// JSON: the peer speaks the JSON dialect.
	JSON bool
}

// Handler is the session's half of a link. Its methods are called by the reader,
// must not block, and get the link they were called for.
type Handler interface {
	// Opened is called exactly once, by New, before anything else.
	Opened(l *Link)
	// Receive takes one link message; msg is only valid during the call. A
	// returned error closes the link with its code.
	Receive(l *Link, lane wire.Lane, msg []byte) *wire.Error
	// Ended is called exactly once, when no Receive will follow. err says why.
	Ended(l *Link, err error)
}

// Options of a link. The zero value has usable defaults.
type Options struct {
	// ReliableBytes bounds the link's own ring, until Attach. Default 256 KiB.
	ReliableBytes int
	// UnreliableFrames bounds the queue of the unreliable lane. Default 256.
	UnreliableFrames int
	// FlushWindow is the longest that WriteLoop holds frames back on a busy link
	// so that they leave together. Default 8 ms, at most 10 ms; negative: never.
	FlushWindow time.Duration
	// Netsim conditions both directions; nil for none.
	Netsim *Netsim
	// Observer counts; nil for none.
	Observer Observer
}

// Observer is told what happens on links, for metrics. Safe for concurrent use.
type Observer interface {
	// Messages counts link messages and their bytes; in is from the peer.
	Message(transport string, in bool, lane wire.Lane, bytes int)
	// Dropped counts frames that were not sent.
	Dropped(transport string, reason DropReason)
}

// DropReason says why a frame was not sent; its name is the metric label.
type DropReason string

// Reasons.
const (
	// DropSuperseded: a newer snapshot replaced it.
	DropSuperseded DropReason = "superseded"
	// DropSenderOldest: the queue was full and this was its sender's oldest.
	DropSenderOldest DropReason = "sender_oldest"
	// DropOldest: the queue was full of other senders' frames.
	DropOldest DropReason = "oldest"
	// DropClosed: the link was closed before it left.
	DropClosed DropReason = "closed"
	// DropTransport: the transport's own buffer was full.
	DropTransport DropReason = "transport_full"
	// DropOversize: larger than a datagram.
	DropOversize DropReason = "oversize"
)

// Link is one live connection.
type Link struct {
	// Owner belongs to the handler, which sets it in Opened or on the reader.
	Owner any

	// immutable
	conn    Conn
	info    Info
	handler Handler
	obs     Observer
	opts    Options
	born    time.Time

	lastHeard atomic.Int64  // ns since born: monotonic, whatever the wall clock does
	sends     atomic.Uint32 // what Send, SendAll and Flush were called, wrapping
	ended     atomic.Bool
	closing   atomic.Bool
	closed    atomic.Pointer[wire.Error] // what Close was told
	// urgent has a token when a control frame waits, which no window delays.
	urgent chan struct{}

	mu    sync.Mutex // guards the rest; never held over I/O or a callback
	queue queue

	sim *conditioner // nil without netsim

	pace pacer // owned by a writer that calls Hold
}

// New returns a link over conn. The transport calls it when a connection is
// open, before it reads.
func New(conn Conn, h Handler, o Options) *Link {
	if o.ReliableBytes == 0 {
		o.ReliableBytes = 256 << 10
	}
	if o.UnreliableFrames == 0 {
		o.UnreliableFrames = 256
	}
	if o.Observer == nil {
		o.Observer = nopObserver{}
	}
	l := &Link{conn: conn, info: conn.Info(), handler: h, obs: o.Observer, opts: o, born: time.Now()}
	l.urgent = make(chan struct{}, 1)
	l.queue = newQueue(o, l.info)
	if o.Netsim != nil {
		l.sim = newConditioner(l, *o.Netsim)
	}
	h.Opened(l)
	return l
}

// Info describes the connection.
func (l *Link) Info() Info { return l.info }

// Born returns when the link was made.
func (l *Link) Born() time.Time { return l.born }

// LastHeard returns when something was last received.
func (l *Link) LastHeard() time.Time { return l.born.Add(time.Duration(l.lastHeard.Load())) }

// Send queues a frame on the lane of its kind and takes over one reference. It
// reports false if the reliable lane is full: the owner then closes the link
// with CodeSlowConsumer. A frame for the unreliable lane may displace another.
func (l *Link) Send(f *wire.Frame) bool {
	ok := l.push(f)
	l.wake()
	return ok
}

// SendAll is Send for frames that belong together (a tick's); they are flushed
// together. The slice stays the caller's.
func (l *Link) SendAll(frames []*wire.Frame) bool {
	ok := true
	for _, f := range frames {
		ok = l.push(f) && ok
	}
	l.wake()
	return ok
}

// Enqueue is Send without waking the writer: [Link.Flush] follows.
func (l *Link) Enqueue(f *wire.Frame) bool { return l.push(f) }

func (l *Link) wake() {
	l.sends.Add(1)
	l.conn.Wake()
}

func (l *Link) push(f *wire.Frame) bool {
	control := f.Kind.Control() // f may be gone once it is queued
	l.mu.Lock()
	dropped, reason, ok := l.queue.push(f)
	l.mu.Unlock()
	if control {
		l.hurry()
	}
	if dropped != nil {
		l.obs.Dropped(l.info.Transport, reason)
		dropped.Release()
	}
	return ok
}

func (l *Link) hurry() {
	select {
	case l.urgent <- struct{}{}:
	default:
	}
}

// Attach makes the link send the reliable lane from a session's ring, from
// number cursor on, in place of its own, whose frames are discarded. Pushing to
// the ring is then the session's business, followed by [Link.Flush]. It does
// nothing on a link that was closed or has ended.
func (l *Link) Attach(ring *stream.Ring, cursor uint64) {
	l.mu.Lock()
	dropped := l.queue.attach(ring, cursor)
	l.mu.Unlock()
	l.dropClosed(dropped)
	l.conn.Wake()
}

// Flush tells the writer that an attached ring has more.
func (l *Link) Flush() { l.wake() }

// Close ends the link with a code: a close frame goes out if it still can, queued
// reliable frames before it too, and the handler's Ended follows. A link that was
// too slow, or whose session went on elsewhere, gets the close frame alone: the
// rest is kept by its session. It never waits; later calls do nothing.
func (l *Link) Close(e *wire.Error) {
	if !l.closing.CompareAndSwap(false, true) {
		return
	}
	l.closed.Store(e)
	alone := e.Code == wire.CodeSlowConsumer || e.Code == wire.CodeReplaced
	l.mu.Lock()
	dropped := l.queue.seal(wire.JSONFrame(wire.KindClose, wire.CloseOf(e)), alone)
	l.mu.Unlock()
	l.dropClosed(dropped)
	l.hurry()
	l.conn.Close(e.Code, e.Reason)
}

// Closed returns what this end closed the link with, nil if it has not.
func (l *Link) Closed() *wire.Error { return l.closed.Load() }

// Closing reports whether Close was called.
func (l *Link) Closing() bool { return l.closing.Load() }

// Receive is called by the transport's reader with each message. A false
// answer means that the link is done and the reader should stop.
func (l *Link) Receive(lane wire.Lane, msg []byte) bool {
	l.obs.Message(l.info.Transport, true, lane, len(msg))
	if l.sim != nil {
		return l.sim.receive(lane, msg)
	}
	return l.handle(lane, msg)
}

func (l *Link) handle(lane wire.Lane, msg []byte) bool {
	if l.closing.Load() {
		return false
	}
	l.lastHeard.Store(int64(time.Since(l.born)))
	limit := wire.MaxMessage
	if lane == wire.Unreliable {
		limit = wire.MaxDatagram
	}
	if len(msg) > limit {
		l.Close(wire.Errorf(wire.CodeTooBig, "%d bytes on the %s lane, limit %d", len(msg), lane, limit))
		return false
	}
	if e := l.handler.Receive(l, lane, msg); e != nil {
		l.Close(e)
		return false
	}
	return true
}

// Ended is called by the transport exactly once, after its last Receive.
func (l *Link) Ended(err error) {
	if !l.ended.CompareAndSwap(false, true) {
		return
	}
	if l.sim != nil {
		l.sim.stop() // before closing is set: it hands over what came before the end
	}
	l.closing.Store(true)
	l.mu.Lock()
	dropped := l.queue.clear()
	l.mu.Unlock()
	l.dropClosed(dropped)
	l.handler.Ended(l, err)
}

func (l *Link) dropClosed(frames int) {
	for range frames {
		l.obs.Dropped(l.info.Transport, DropClosed)
	}
}

// Pack appends the next message of a lane to dst[:0] and returns it, empty if
// there is nothing to send. Only the writer calls it. A link with one stream
// gives everything on Reliable. The order is link control, reliable,
// unreliable.
func (l *Link) Pack(lane wire.Lane, dst []byte) []byte {
	dst, _ = l.next(lane, dst)
	return dst
}

// next is Pack, and says whether more waited on that lane than the message holds.
func (l *Link) next(lane wire.Lane, dst []byte) (msg []byte, more bool) {
	if l.sim != nil {
		dst = l.sim.pack(lane, dst[:0])
		more = len(dst) > 0 // perhaps
	} else {
		dst, more = l.pack(lane, dst[:0])
	}
	if len(dst) > 0 {
		l.obs.Message(l.info.Transport, false, lane, len(dst))
	}
	return dst, more
}

func (l *Link) pack(lane wire.Lane, dst []byte) (msg []byte, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lane == wire.Unreliable {
		if l.info.OneStream {
			return dst, false
		}
		dst = l.queue.packUnreliable(dst, wire.MaxDatagram)
		return dst, len(l.queue.unreliable) > 0
	}
	dst, more = l.queue.packReliable(dst, packBytes)
	if l.info.OneStream {
		dst = l.queue.packUnreliable(dst, min(len(dst)+packBytes, wire.MaxMessage))
		more = more || len(l.queue.unreliable) > 0
	}
	return dst, more
}

// packBytes bounds what a message coalesces of each lane; a single larger frame
// goes alone. It also bounds what a snapshot waits for behind bulk.
const packBytes = 16 << 10

// Drop lets a transport count what it had to discard itself.
func (l *Link) Drop(reason DropReason) { l.obs.Dropped(l.info.Transport, reason) }

// Queued returns what waits to be sent.
func (l *Link) Queued() (reliableFrames, reliableBytes, unreliableFrames int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, b := l.queue.ring.Behind(l.queue.cursor)
	return n + len(l.queue.control), b, len(l.queue.unreliable)
}

type nopObserver struct{}

func (nopObserver) Message(string, bool, wire.Lane, int) {}
func (nopObserver) Dropped(string, DropReason)           {}

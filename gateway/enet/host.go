//go:build !noenet

package enet

// #cgo pkg-config: libenet
// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra
// #include <stdlib.h>
// #include "carrier.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	goenet "github.com/codecat/go-enet"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

const (
	channels = 2
	// mtu leaves room for the largest datagram of the unreliable lane with ENet's
	// headers (12 bytes), and as a UDP datagram fits IPv6's least MTU, so tunnels.
	mtu = 1200
	// maxPacket is more than the largest message, so that one that is a little
	// too big is refused by the link like everywhere; from here on it is refused
	// before it is received.
	maxPacket  = 128 << 10
	maxWaiting = 2 * maxPacket
	// maxUnacked is ENet's own window: more would wait unsent.
	maxUnacked = 64 << 10
	// maxBuffer holds a turn's messages; a host of few slots has less.
	maxBuffer = 512 << 10
	// busyWait is how long a host that has just sent waits before it looks for what
	// ENet's timers want.
	busyWait = 10 * time.Millisecond
	// holdGrid is what the times are rounded to until which links are held.
	holdGrid = 2 * time.Millisecond
)

// host is an ENet host with its links. See the package comment for who owns it.
type host struct {
	// immutable
	inner   goenet.Host
	chost   *C.ENetHost
	carrier *C.gh_carrier
	slots   []C.gh_slot // the carrier's; valid until shut
	poll    *os.File    // what the owner waits for
	polled  syscall.RawConn
	isReady func(uintptr) bool
	handler link.Handler
	opts    link.Options
	born    time.Time
	dialed  chan answer // of a dialing host, else nil
	done    chan struct{}

	asleep atomic.Bool // the owner waits, or is about to

	// guarded by mu
	mu       sync.Mutex
	marked   []*conn
	stopping bool
	gone     bool // the carrier

	// owned by the owner
	conns    []*conn // by slot
	open     int
	held     []*conn // back, for more to come
	ready    []*conn // with something to pack
	blocked  []*conn // that ENet has no room for
	closing  []*conn
	spare    []*conn // the other half of marked's double buffer
	ops      []C.gh_op
	buffer   []byte
	events   []C.gh_event // C memory: cgo need not look through it for Go pointers
	dueAt    time.Time    // of the first one held, zero for none
	turnedAt time.Time
	turnDue  bool      // for what came, or for a timer
	stopAt   time.Time // by when all have gone, once stopping
	answered bool      // dialed was

	counts [3]atomic.Uint64
}

type answer struct {
	link *link.Link
	err  error
}

func newHost(inner goenet.Host, o Options, handler link.Handler) (*host, error) {
	chost, err := hostPointer(inner)
	if err != nil {
		return nil, err
	}
	limits := C.gh_limits{
		connect_per_second: C.uint32_t(o.ConnectRate),
		connect_burst:      C.uint32_t(o.ConnectBurst),
		max_pending:        C.uint32_t(max(1, o.Slots/4)),
		handshake_ms:       milliseconds(o.HandshakeTimeout),
		ping_ms:            milliseconds(o.PingInterval),
		timeout_ms:         milliseconds(o.Timeout),
		max_packet:         maxPacket,
		max_waiting:        maxWaiting,
		mtu:                mtu,
		refusal:            C.uint32_t(wire.CodeProtocol),
		seed:               C.uint32_t(rand.Uint32()),
	}
	carrier := C.gh_open(chost, &limits)
	events := C.calloc(C.GH_EVENTS, C.sizeof_gh_event)
	if carrier == nil || events == nil {
		if carrier != nil {
			syscall.Close(int(C.gh_poll_fd(carrier)))
			C.gh_close(carrier)
		}
		C.free(events)
		return nil, errors.New("enet: no memory or no descriptors left")
	}
	h := &host{
		inner:   inner,
		chost:   chost,
		carrier: carrier,
		slots:   unsafe.Slice(C.gh_slots(carrier), o.Slots),
		handler: handler,
		opts:    o.Link,
		born:    time.Now(),
		done:    make(chan struct{}),
		conns:   make([]*conn, o.Slots),
		ops:     make([]C.gh_op, 0, C.GH_OPS),
		buffer:  make([]byte, 0, min(maxBuffer, (1+o.Slots)<<16)),
		events:  unsafe.Slice((*C.gh_event)(events), C.GH_EVENTS),
	}
	h.isReady = func(uintptr) bool {
		came := C.gh_ready(carrier)
		h.turnDue = h.turnDue || came&C.GH_AT_SOCKET != 0
		return came != 0
	}
	if err := h.watch(int(C.gh_poll_fd(carrier))); err != nil {
		C.gh_close(carrier)
		C.free(events)
		return nil, err
	}
	return h, nil
}

// watch lets Go's own poller wait for the carrier's descriptor, which it takes over.
// A wait in C would keep a processor of the scheduler, and its monitor busy until it
// takes that away: some 200 µs of work for each wait.
func (h *host) watch(fd int) (err error) {
	if err = syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return fmt.Errorf("enet: %w", err)
	}
	h.poll = os.NewFile(uintptr(fd), "enet")
	if err = h.poll.SetReadDeadline(time.Time{}); err == nil {
		h.polled, err = h.poll.SyscallConn()
	}
	if err != nil {
		h.poll.Close()
		return fmt.Errorf("enet: %w", err)
	}
	return nil
}

func milliseconds(d time.Duration) C.uint32_t { return C.uint32_t(d.Milliseconds()) }

// dial begins to connect; run goes on with it.
func (h *host) dial(to goenet.Address) error {
	peer, err := h.inner.Connect(to, channels, 0)
	if err != nil {
		return err
	}
	p, err := peerPointer(peer)
	if err != nil {
		return err
	}
	h.dialed = make(chan answer, 1)
	C.gh_adopt(h.carrier, p)
	return nil
}

func (h *host) bound() netip.AddrPort {
	return addrPort(h.chost.address.host, h.chost.address.port)
}

func addrPort(ip C.enet_uint32, port C.enet_uint16) netip.AddrPort {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], uint32(ip)) // ENet keeps it in network order
	return netip.AddrPortFrom(netip.AddrFrom4(b), uint16(port))
}

// mark tells the owner that c has something for it. Any goroutine, any time.
func (h *host) mark(c *conn) {
	h.mu.Lock()
	h.marked = append(h.marked, c)
	h.mu.Unlock()
	h.wake()
}

// wake ends the owner's wait. The owner declares itself asleep before it looks at
// marked for the last time, so that one of the two sees the other.
func (h *host) wake() {
	if !h.asleep.CompareAndSwap(true, false) {
		return
	}
	h.mu.Lock()
	if !h.gone {
		C.gh_wake(h.carrier)
	}
	h.mu.Unlock()
}

// stop begins the end of the host. Any goroutine, any time.
func (h *host) stop() {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	h.wake()
}

func (h *host) counted() Counts {
	return Counts{
		ConnectsShed:     h.counts[0].Load(),
		DatagramsRefused: h.counts[1].Load(),
		SendsFailed:      h.counts[2].Load(),
	}
}

// shut frees everything of C's. It is the owner's last act.
func (h *host) shut() {
	h.mu.Lock()
	h.gone = true
	h.mu.Unlock()
	h.poll.Close()
	C.gh_close(h.carrier)
	C.free(unsafe.Pointer(&h.events[0]))
	h.inner.Destroy()
}

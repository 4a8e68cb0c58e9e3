package admit

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// maxAddresses bounds the addresses that a Rate remembers: about 10 MiB. Beyond
// it the one not seen for longest is forgotten, which can only be to its favour.
const maxAddresses = 1 << 16

// Rate is a token bucket per address. An IPv6 address counts as its /64: that is
// what one subscriber has, and rotating inside it would otherwise cost nothing.
type Rate struct {
	// immutable
	every time.Duration // between two at the sustained rate
	depth time.Duration // how far ahead of it a burst may run
	most  int

	mu     sync.Mutex // guards the rest
	byAddr map[netip.Addr]*list.Element
	recent list.List // of *bucket, the latest first
}

// bucket is a token bucket told by one instant: when it will be full again. It
// is empty when that lies depth ahead.
type bucket struct {
	addr netip.Addr
	full time.Time
}

// NewRate returns buckets that refill at perSecond (more than 0) and hold burst
// (at least 1).
func NewRate(perSecond float64, burst int) *Rate {
	every := time.Duration(float64(time.Second) / perSecond)
	return &Rate{
		every:  every,
		depth:  every * time.Duration(max(burst, 1)),
		most:   maxAddresses,
		byAddr: make(map[netip.Addr]*list.Element),
	}
}

// Allow takes one token of the address and reports whether there was one.
func (r *Rate) Allow(a netip.Addr) bool {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.bucket(subscriber(a))
	start := b.full
	if start.Before(now) {
		start = now
	}
	next := start.Add(r.every)
	if next.Sub(now) > r.depth {
		return false
	}
	b.full = next
	return true
}

// bucket returns the address's bucket and makes it the latest.
func (r *Rate) bucket(a netip.Addr) *bucket {
	if e, ok := r.byAddr[a]; ok {
		r.recent.MoveToFront(e)
		return e.Value.(*bucket)
	}
	if r.recent.Len() >= r.most {
		oldest := r.recent.Back()
		delete(r.byAddr, r.recent.Remove(oldest).(*bucket).addr)
	}
	b := &bucket{addr: a}
	r.byAddr[a] = r.recent.PushFront(b)
	return b
}

func subscriber(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	p, _ := a.Prefix(64) // 64 is in range
	return p.Addr()
}

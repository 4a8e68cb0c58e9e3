//go:build !noenet

package enet

// #include "carrier.h"
import "C"

import (
	"slices"
	"time"
	"unsafe"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// run is the owner: turn after turn until the host has ended.
func (h *host) run() {
	defer close(h.done)
	defer h.shut()
	for {
		now := time.Now()
		h.collect(now)
		h.packReady(now)
		h.expire(now)
		if h.over(now) {
			return
		}
		busy, n := len(h.ops) > 0, 0
		if busy || h.turnDue || now.Sub(h.turnedAt) >= busyWait {
			n = h.turn(now)
		}
		for i := range h.events[:max(n, 0)] {
			h.handle(&h.events[i])
		}
		if n <= 0 && len(h.ready) == 0 {
			h.sleep(busy)
		}
	}
}

// collect moves to ready the links that were marked, those that were held long
// enough, and those that ENet has room for again.
func (h *host) collect(now time.Time) {
	h.mu.Lock()
	h.marked, h.spare = h.spare[:0], h.marked
	stopping := h.stopping
	h.mu.Unlock()
	for _, c := range h.spare {
		h.serve(c)
	}
	clear(h.spare)
	h.release(now)
	h.blocked = slices.DeleteFunc(h.blocked, func(c *conn) bool {
		s := &h.slots[c.slot]
		c.blocked = !c.ended && (s.unacked >= maxUnacked || s.unsent > 0)
		if !c.blocked {
			h.makeReady(c)
		}
		return !c.blocked
	})
	if stopping && h.stopAt.IsZero() {
		h.stopAt = now.Add(link.CloseGrace + link.CloseGrace/4)
		for _, c := range h.conns {
			if c != nil {
				c.link.Close(goingAway())
			}
		}
	}
}

func (h *host) serve(c *conn) {
	c.held = false
	c.hurried.Store(false)
	c.marked.Store(false)
	h.makeReady(c)
}

// release serves the held links that are due.
func (h *host) release(now time.Time) {
	h.dueAt = time.Time{}
	h.held = slices.DeleteFunc(h.held, func(c *conn) bool {
		if c.held && (c.ended || !now.Before(c.due)) {
			h.serve(c)
		}
		if c.held && (h.dueAt.IsZero() || c.due.Before(h.dueAt)) {
			h.dueAt = c.due
		}
		return !c.held
	})
}

func (h *host) makeReady(c *conn) {
	if !c.ready {
		c.ready = true
		h.ready = append(h.ready, c)
	}
}

// packReady packs links until the turn is full; the others are first in the next.
func (h *host) packReady(now time.Time) {
	done := 0
	for _, c := range h.ready {
		before := len(h.ops)
		if !h.pack(c, now) {
			break
		}
		c.ready = false
		done++
		if len(h.ops) > before {
			h.hold(c, now)
		}
	}
	h.ready = slices.Delete(h.ready, 0, done)
}

// hold keeps a busy link that has just sent back for a while, so that what follows
// leaves together, and in one turn with that of others. It stays marked, so that
// nobody wakes the owner for it but with what can not wait.
func (h *host) hold(c *conn, now time.Time) {
	hold := c.link.Hold(now)
	if hold <= 0 || c.finished || !c.marked.CompareAndSwap(false, true) {
		return
	}
	due := now.Add(hold).Sub(h.born)
	c.held, c.due = true, h.born.Add(due-due%holdGrid)
	h.held = append(h.held, c)
	if h.dueAt.IsZero() || c.due.Before(h.dueAt) {
		h.dueAt = c.due
	}
}

// pack adds what a link has to send to the turn. It reports false if the turn is
// full before that is all.
func (h *host) pack(c *conn, now time.Time) bool {
	if c.ended || c.finished {
		return true
	}
	closed := c.closed.Load() // before Pack: the close frame was queued before it
	if closed != nil && c.deadline.IsZero() {
		c.deadline = now.Add(link.CloseGrace)
		h.closing = append(h.closing, c)
	}
	unacked := int(h.slots[c.slot].unacked)
	sent := h.slots[c.slot].unsent == 0
	for more := true; more; {
		more = false
		for lane := wire.Reliable; lane <= wire.Unreliable; lane++ {
			switch {
			case lane == wire.Reliable && unacked >= maxUnacked, lane == wire.Unreliable && !sent:
				h.block(c)
				continue
			case !h.hasRoom():
				return false
			}
			n := h.add(c, lane)
			more = more || n > 0
			if lane == wire.Reliable {
				unacked += n
			}
		}
	}
	if closed != nil && !c.blocked {
		if !h.hasRoom() {
			return false
		}
		h.order(c, C.GH_FINISH, closed.Code)
		c.finished = true
	}
	return true
}

func (h *host) block(c *conn) {
	if !c.blocked {
		c.blocked = true
		h.blocked = append(h.blocked, c)
	}
}

// hasRoom reports whether any message fits the turn.
func (h *host) hasRoom() bool {
	return len(h.ops) < C.GH_OPS && cap(h.buffer)-len(h.buffer) >= wire.MaxMessage
}

// add packs one message and returns its size, 0 for none.
func (h *host) add(c *conn, lane wire.Lane) int {
	at := len(h.buffer)
	msg := c.link.Pack(lane, h.buffer[at:at:cap(h.buffer)])
	switch {
	case len(msg) == 0:
		return 0
	case len(msg) > wire.MaxMessage: // it has moved out of the buffer
		c.link.Close(wire.Errorf(wire.CodeInternal, "a message of %d bytes", len(msg)))
		return 0
	}
	kind := C.uint32_t(C.GH_SEND_RELIABLE)
	if lane == wire.Unreliable {
		kind = C.GH_SEND_UNRELIABLE
	}
	h.buffer = h.buffer[:at+len(msg)]
	h.ops = append(h.ops, C.gh_op{
		slot: C.uint32_t(c.slot), generation: C.uint32_t(c.generation), kind: kind,
		offset: C.uint32_t(at), bytes: C.uint32_t(len(msg)),
	})
	return len(msg)
}

func (h *host) order(c *conn, kind C.uint32_t, code wire.Code) {
	h.ops = append(h.ops, C.gh_op{
		slot: C.uint32_t(c.slot), generation: C.uint32_t(c.generation), kind: kind,
		code: C.uint32_t(code),
	})
}

// expire drops the links that have had their time to say goodbye.
func (h *host) expire(now time.Time) {
	h.closing = slices.DeleteFunc(h.closing, func(c *conn) bool {
		if c.ended {
			return true
		}
		if now.Before(c.deadline) || len(h.ops) == C.GH_OPS {
			return false
		}
		h.order(c, C.GH_DROP, c.closed.Load().Code)
		h.end(c, nil)
		return true
	})
}

// over reports whether the host has nothing left to live for.
func (h *host) over(now time.Time) bool {
	switch {
	case !h.stopAt.IsZero() && now.After(h.stopAt):
		h.abandon(goingAway())
		return true
	case h.open > 0 || len(h.ops) > 0:
		return false
	}
	return !h.stopAt.IsZero() || h.dialed != nil && h.answered
}

// sleep waits until there is something to do, a held link is due, or ENet's timers
// want to be served.
func (h *host) sleep(busy bool) {
	h.asleep.Store(true)
	h.mu.Lock()
	news := len(h.marked) > 0 || h.stopping && h.stopAt.IsZero()
	h.mu.Unlock()
	if !news {
		wait := busyWait
		if !busy && len(h.closing)+len(h.held) == 0 { // or else it is not worth looking at every slot
			wait = time.Duration(C.gh_rest_ms(h.carrier)) * time.Millisecond
		}
		deadline := time.Now().Add(wait)
		holding := !h.dueAt.IsZero() && h.dueAt.Before(deadline)
		if holding {
			deadline = h.dueAt
		}
		h.poll.SetReadDeadline(deadline)
		timeout := h.polled.Read(h.isReady) != nil
		h.turnDue = h.turnDue || timeout && !holding
	}
	h.asleep.Store(false)
}

// turn is one call into C. It returns the number of events, or -1.
func (h *host) turn(now time.Time) int {
	h.turnedAt = now
	n := C.gh_turn(h.carrier, unsafe.SliceData(h.ops), C.int(len(h.ops)),
		(*C.uint8_t)(unsafe.SliceData(h.buffer)), &h.events[0])
	h.ops, h.buffer = h.ops[:0], h.buffer[:0]
	h.turnDue = n != 0 // there may be more, and there is something to acknowledge
	counts := C.gh_counted(h.carrier)
	h.counts[0].Store(uint64(counts.connects_shed))
	h.counts[1].Store(uint64(counts.datagrams_refused))
	h.counts[2].Store(uint64(counts.sends_failed))
	return int(n)
}

func (h *host) handle(e *C.gh_event) {
	if e.kind == C.GH_CONNECTED {
		h.connected(e)
		return
	}
	c := h.conns[e.slot]
	if c == nil || c.generation != uint32(e.generation) {
		if e.kind == C.GH_ENDED {
			h.answer(nil, endedBy(uint32(e.data))) // a dial that came to nothing
		}
		return
	}
	switch e.kind {
	case C.GH_RECEIVED:
		c.receive(e)
	case C.GH_TOO_BIG:
		c.link.Close(wire.Errorf(wire.CodeTooBig, "%d bytes in a message, limit %d", uint32(e.data), wire.MaxMessage))
	case C.GH_ENDED:
		h.end(c, endedBy(uint32(e.data)))
	}
}

func (h *host) connected(e *C.gh_event) {
	c := &conn{
		host:       h,
		slot:       uint32(e.slot),
		generation: uint32(e.generation),
		info:       link.Info{Transport: "enet", Remote: addrPort(e.address, e.port)},
	}
	h.conns[c.slot] = c
	h.open++
	c.link = link.New(c, h.handler, h.opts)
	c.shared.Store(c.link)
	h.answer(c.link, nil)
	if !h.stopAt.IsZero() {
		c.link.Close(goingAway())
	}
}

func (c *conn) receive(e *C.gh_event) {
	if c.deaf {
		return
	}
	lane := wire.Reliable
	if e.channel != 0 {
		lane = wire.Unreliable
	}
	if lane == wire.Reliable && !bool(e.reliable) {
		c.link.Close(wire.Errorf(wire.CodeProtocol, "channel 0 is for reliable packets"))
		c.deaf = true
		return
	}
	c.deaf = !c.link.Receive(lane, unsafe.Slice((*byte)(e.message), int(e.bytes)))
}

// answer tells Dial how it went, the first time.
func (h *host) answer(l *link.Link, err error) {
	if h.dialed != nil && !h.answered {
		h.answered = true
		h.dialed <- answer{l, err}
	}
}

// end ends a link of ours. The code that this side closed with goes before err.
func (h *host) end(c *conn, err error) {
	if closed := c.closed.Load(); closed != nil {
		err = closed
	}
	c.ended = true
	h.conns[c.slot] = nil
	h.open--
	c.link.Ended(err)
}

// abandon ends all links without a word to their peers.
func (h *host) abandon(err error) {
	for _, c := range h.conns {
		if c != nil {
			h.end(c, err)
		}
	}
	h.answer(nil, err)
}

package main

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	roomSize     = 8
	payloadBytes = 64
	rate         = 20 // messages per second of each player
	// cycle is how the players' sending moments are spread: one slot each ms.
	cycle = time.Second / rate
	slot  = time.Millisecond
	// ackEvery sends makes 250 ms, the protocol's longest wait for an ack.
	ackEvery = rate / 4
)

// carrier is the load client of one transport. One goroutine calls it.
type carrier interface {
	// Join connects the next players, in order, one per room name.
	Join(rooms []string) error
	// Send sends one link message of a player on a lane.
	Send(player int, lane wire.Lane, msg []byte) error
	// Poll hands over what has come, and waits for it at most that long.
	Poll(wait time.Duration) error
	Close()
}

// receive is what a carrier calls with every link message of a player that
// follows its welcome.
type receive func(player int, lane wire.Lane, msg []byte) error

// load is the players of one server and what came of their messages.
type load struct {
	carrier carrier
	lane    wire.Lane
	name    string // of the rooms
	players []player
	sends   int // slots sent, for the schedule
	msg     []byte

	mu    sync.Mutex // guards the rest: some carriers receive on goroutines of their own
	from  int64      // of the window measured, ns
	until int64
	tally tally
}

// player is one member of a room; its room mates are those with the same
// number divided by the size of a room.
type player struct {
	sent     uint32
	received uint64           // numbered frames
	heard    [roomSize]uint32 // the last message of each room mate
	since    int              // sends since the last ack
}

// tally is what was measured in a window.
type tally struct {
	sent, delivered, bytes uint64
	broken                 uint64 // not what was sent, or out of order
	latency                histogram
}

// newLoad returns a load without players.
func newLoad(name string, lane wire.Lane, open func(receive) carrier) *load {
	l := &load{name: name, lane: lane}
	l.carrier = open(l.receive)
	return l
}

// grow joins players until there are that many rooms.
func (l *load) grow(rooms int) error {
	var names []string
	for n := len(l.players); n < rooms*roomSize; n++ {
		names = append(names, fmt.Sprintf("%s-%d", l.name, n/roomSize))
	}
	l.mu.Lock()
	l.players = append(l.players, make([]player, len(names))...)
	l.mu.Unlock()
	return l.carrier.Join(names)
}

// measure lets the players of so many rooms talk: first for the warm-up, then
// for the window that counts, then until what is under way has come, at most as
// long as tail. edge is called at the window's beginning and at its end.
func (l *load) measure(rooms int, warm, window, tail time.Duration, edge func()) (tally, error) {
	start := now()
	l.mu.Lock()
	l.tally = tally{}
	l.from, l.until = start+int64(warm), start+int64(warm+window)
	l.mu.Unlock()
	n := rooms * roomSize
	slots := int(cycle / slot)
	for i := 0; ; i++ {
		at := start + int64(i)*int64(slot)
		if at >= l.until {
			break
		}
		if i == int(warm/slot) {
			edge()
		}
		for {
			wait := time.Duration(at - now())
			if wait <= 0 {
				break
			}
			if err := l.carrier.Poll(wait); err != nil {
				return tally{}, err
			}
		}
		for p := i % slots; p < n; p += slots {
			if err := l.send(p); err != nil {
				return tally{}, err
			}
		}
		if err := l.carrier.Poll(0); err != nil {
			return tally{}, err
		}
	}
	edge()
	for end := now() + int64(tail); now() < end; {
		l.mu.Lock()
		done := l.tally.delivered >= l.tally.sent*(roomSize-1)
		l.mu.Unlock()
		if done {
			break
		}
		if err := l.carrier.Poll(slot); err != nil {
			return tally{}, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tally, nil
}

// ping makes every player heard, so that the server does not give up on those
// that had nothing to say.
func (l *load) ping() error {
	msg := wire.AppendFrame(nil, wire.KindPing, nil)
	for p := range l.players {
		if err := l.carrier.Send(p, wire.Reliable, msg); err != nil {
			return err
		}
	}
	return l.carrier.Poll(0)
}

// send sends a player's next message, with an acknowledgement if one is due.
func (l *load) send(p int) error {
	l.mu.Lock()
	s := &l.players[p]
	s.sent++
	at := now()
	if at >= l.from && at < l.until {
		l.tally.sent++
	}
	seq, received := s.sent, s.received
	l.mu.Unlock()
	msg := l.msg[:0]
	s.since++
	if s.since >= ackEvery && received > 0 {
		s.since = 0
		var ack [binary.MaxVarintLen64]byte
		msg = wire.AppendFrame(msg, wire.KindAck, wire.AppendAck(ack[:0], received))
		if l.lane == wire.Unreliable {
			if err := l.carrier.Send(p, wire.Reliable, msg); err != nil {
				return err
			}
			msg = msg[:0]
		}
	}
	kind := wire.KindRelay
	if l.lane == wire.Unreliable {
		kind = wire.KindRelayFast
	}
	msg = wire.AppendHeader(msg, kind, 1+payloadBytes)
	msg = append(msg, 0) // to all others
	msg = appendPayload(msg, at, uint32(p), seq)
	l.msg = msg
	return l.carrier.Send(p, l.lane, msg)
}

// appendPayload appends the 64 bytes of a message: when it was sent, by whom,
// its number, and a filling that depends on both.
func appendPayload(dst []byte, at int64, from, seq uint32) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
	dst = binary.LittleEndian.AppendUint32(dst, from)
	dst = binary.LittleEndian.AppendUint32(dst, seq)
	fill := uint64(from)<<32 | uint64(seq)
	for range (payloadBytes - 16) / 8 {
		fill = fill*6364136223846793005 + 1442695040888963407
		dst = binary.LittleEndian.AppendUint64(dst, fill)
	}
	return dst
}

// receive implements receive: it takes a link message apart and checks every
// byte of what players said.
func (l *load) receive(p int, _ wire.Lane, msg []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(msg) > 0 {
		k, body, rest, err := wire.NextFrame(msg)
		if err != nil {
			return fmt.Errorf("player %d: %w", p, err)
		}
		msg = rest
		if k.Numbered() {
			l.players[p].received++
		}
		switch k {
		case wire.KindRelay, wire.KindRelayed, wire.KindRelayFast, wire.KindRelayedFast:
			l.heard(p, body)
		case wire.KindClose:
			return fmt.Errorf("player %d was closed: %s", p, body)
		}
	}
	return nil
}

// heard counts one message. A floor passes on what was sent, Gatehouse names
// the sender; the payload is what comes last in both.
func (l *load) heard(p int, body []byte) {
	if len(body) < payloadBytes {
		l.tally.broken++
		return
	}
	payload := body[len(body)-payloadBytes:]
	at := int64(binary.LittleEndian.Uint64(payload))
	from := binary.LittleEndian.Uint32(payload[8:])
	seq := binary.LittleEndian.Uint32(payload[12:])
	mate := &l.players[p].heard[from%roomSize]
	inOrder := seq == *mate+1 || l.lane == wire.Unreliable && seq > *mate
	var want [payloadBytes]byte
	if int(from)/roomSize != p/roomSize || int(from) == p || !inOrder ||
		string(appendPayload(want[:0], at, from, seq)) != string(payload) {
		l.tally.broken++
	}
	*mate = seq
	if at >= l.from && at < l.until {
		l.tally.delivered++
		l.tally.bytes += payloadBytes
		l.tally.latency.add(time.Duration(now() - at))
	}
}

package room

import (
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

// Observer is told what happens in rooms, for metrics. It is called from every
// room's goroutine and must not block.
type Observer interface {
	TickObserver
	SeatObserver
}

// TickObserver is told of the tick loop.
type TickObserver interface {
	// Tick: a tick took d, snapshots and flush included.
	Tick(d time.Duration)
	// Lag: a tick started this much after its time.
	Lag(d time.Duration)
	// Skipped: so many ticks were given up after a pause.
	Skipped(ticks int)
	// Resync: a full snapshot is sent because its client asked for one.
	Resync()
}

// SeatObserver is told of rooms and members.
type SeatObserver interface {
	// Rooms and Members: the number of a kind has changed.
	Rooms(kind string, delta int)
	Members(kind string, delta int)
	// Snapshot of so many bytes was encoded; full or delta.
	Snapshot(full bool, bytes int)
	// Input was dropped for a reason.
	Input(reason string)
	// Ignored: a frame of a kind that means nothing in this room.
	Ignored(k wire.Kind)
}

// Reasons for dropped inputs that the room itself finds; others come from
// package input and from acknowledgements.
const (
	inputMalformed = "malformed"
	inputRefused   = "refused_by_game"
)

type nopObserver struct{}

func (nopObserver) Tick(time.Duration)  {}
func (nopObserver) Lag(time.Duration)   {}
func (nopObserver) Skipped(int)         {}
func (nopObserver) Resync()             {}
func (nopObserver) Rooms(string, int)   {}
func (nopObserver) Members(string, int) {}
func (nopObserver) Snapshot(bool, int)  {}
func (nopObserver) Input(string)        {}
func (nopObserver) Ignored(wire.Kind)   {}

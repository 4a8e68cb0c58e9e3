package authority

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

// Rooms is where a gateway brings sessions. Safe for concurrent use.
type Rooms interface {
	// Join seats a session in the room of that name, which is made if the
	// worker's rules allow it. It waits for the room until ctx ends. The error
	// is a *wire.Error: room_full, no_room, bad_name, room_closed, overloaded.
	//
	// From the moment it is seated the room may call j.Outbox, also before Join
	// has returned.
	Join(ctx context.Context, j Join) (Seat, Admission, error)
}

// Join asks for a seat.
type Join struct {
	Room string
	// Identity is verified by the gateway; unique in a room.
	Identity string
	// Name is shown to other members.
	Name string
	// Profile is handed to the game and to other members; JSON or empty.
	Profile json.RawMessage
	// Session is the session's public id, for operators.
	Session string
	// JSON asks for snapshots as JSON objects, at 5 Hz or less.
	JSON bool
	// Outbox takes what the room sends to this seat.
	Outbox Outbox
}

// Seat is a session's place in a room, as the gateway holds it. Its methods
// never block, may be called from any goroutine, and do nothing after Leave or
// once the room has gone.
type Seat interface {
	// Deliver hands over frames in the order they were received, and one
	// reference of each. It reports false if the seat already has too much
	// waiting in the room: the frames were refused and released, and the session
	// is to be ended.
	Deliver(frames ...*wire.Frame) bool
	// Presence tells the room whether the session has a link.
	Presence(p Presence)
	// Leave gives the seat up. The reason is told to other members.
	Leave(reason wire.Code)
}

// Presence of a session.
type Presence uint8

const (
	// Away: the last link has gone; nothing but the reliable lane is kept.
	Away Presence = iota
	// Back: the session resumed and lost nothing.
	Back
	// BackWithGap: the session resumed, but reliable messages were lost in both
	// directions: the seat needs a full resync.
	BackWithGap
)

// Admission is what a welcome tells of the room.
type Admission struct {
	Room     wire.RoomInfo
	You      uint32
	Peers    []wire.Peer
	Tick     uint32
	TickRate int
	Schema   json.RawMessage
}

// Outbox is a seat's way back to its session. Rooms call it from their own
// goroutine; it must not block, and must not call back into the room.
type Outbox interface {
	// Send takes all of a seat's frames of one turn (a tick, a batch of relayed
	// messages) in one call, and one reference of each. The slice stays the
	// room's.
	Send(frames []*wire.Frame)
	// Close ends the session: the seat is already gone.
	Close(e *wire.Error)
}

// Control is what operators may do with rooms. Safe for concurrent use.
type Control interface {
	// Create makes a room before anyone joins. A name that is taken is an
	// ErrExists.
	Create(ctx context.Context, s RoomSpec) (RoomState, error)
	// List returns all rooms, by name, without their rosters.
	List(ctx context.Context) ([]RoomState, error)
	// Inspect returns one room with its roster.
	Inspect(ctx context.Context, name string) (RoomState, error)
	// Update changes what may be changed of a running room.
	Update(ctx context.Context, name string, u RoomUpdate) (RoomState, error)
	// Close ends a room: its members are closed with the code room_closed.
	Close(ctx context.Context, name, reason string) error
}

// ErrExists is the error of a room whose name is taken.
var ErrExists = errors.New("the room exists already")

// Kinds of rooms.
const (
	KindRelay     = "relay"
	KindAuthority = "authority"
)

// RoomSpec describes a room to be made. Zero fields take the worker's defaults.
type RoomSpec struct {
	Name string `json:"name"`
	// Kind is "relay" or "authority".
	Kind string `json:"kind,omitempty"`
	// Game by its registered name; for kind authority only.
	Game string `json:"game,omitempty"`
	// TickRate in Hz, 1 to 120.
	TickRate int `json:"tick_rate,omitempty"`
	// Cap is the most members, 1 to 10,000.
	Cap int `json:"cap,omitempty"`
	// Seed of the game's random numbers; 0 takes one of the worker's choice.
	Seed uint64 `json:"seed,omitempty"`
	// EmptyTimeout closes a room that has had no member for this long.
	// Negative: never.
	EmptyTimeout time.Duration `json:"-"`
}

// RoomUpdate holds the changes to a running room; nil fields stay.
type RoomUpdate struct {
	Cap *int `json:"cap,omitempty"`
}

// RoomState is what operators see of a room.
type RoomState struct {
	Name     string    `json:"name"`
	Instance string    `json:"instance"`
	Kind     string    `json:"kind"`
	Game     string    `json:"game,omitempty"`
	TickRate int       `json:"tick_rate,omitempty"`
	Tick     uint32    `json:"tick,omitempty"`
	Cap      int       `json:"cap"`
	Members  int       `json:"members"`
	Entities int       `json:"entities,omitempty"`
	Created  time.Time `json:"created"`
	// Roster is only set by Inspect.
	Roster []Member `json:"roster,omitempty"`
}

// Member is one seat as operators see it.
type Member struct {
	ID       uint32 `json:"id"`
	Identity string `json:"identity"`
	Name     string `json:"name"`
	Session  string `json:"session"`
	Away     bool   `json:"away,omitempty"`
}

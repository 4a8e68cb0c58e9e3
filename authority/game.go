package authority

import (
	"encoding/json"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// Game makes the worlds of rooms of kind authority. A Game is shared by rooms
// and must not change after it was registered.
type Game interface {
	// Name under which configuration and operators refer to it.
	Name() string
	// Schema of its entities; the same for all its worlds.
	Schema() *replica.Schema
	// NewWorld makes a world. The same setup makes the same world.
	NewWorld(s Setup) World
}

// Setup is everything a world may depend on besides its commands.
type Setup struct {
	Seed     uint64
	TickRate int // Hz
}

// World is a game's state in one room. Only the room's goroutine calls it.
//
// Step must depend on nothing but the world's own state and its arguments: no
// wall clock, no map order, no global random numbers, no floating point whose
// result differs between processors. Then the same commands give the same
// hashes, on every machine: that is what recordings and tests check.
type World interface {
	// Step advances the world to the given tick (one after the last). Commands
	// are in the order in which they take effect. What it tells clients besides
	// its entities goes to out. It must not keep commands or their payloads.
	Step(tick uint32, commands []Command, out *Effects)
	// Entities is the replicated part of the world. Step changes it; the room
	// commits it after each Step and encodes snapshots from it.
	Entities() *replica.Store
	// Hash covers the whole state, replicated or not.
	Hash() uint64
	// ClientConfig is handed to clients in their welcome: constant for the life
	// of the world. JSON, or nil.
	ClientConfig() json.RawMessage
}

// CommandKind says what a command is.
type CommandKind uint8

const (
	// CommandJoin: a member took a seat. Name and Profile are set.
	CommandJoin CommandKind = iota + 1
	// CommandLeave: a member has left for good.
	CommandLeave
	// CommandAway: a member's link has gone; it may come back.
	CommandAway
	// CommandBack: it came back.
	CommandBack
	// CommandInput: one input of a member. Seq, ClientTick, Payload are set.
	CommandInput
	// CommandRequest: a request that wants a response through [Effects.Respond].
	// Request, Name and Payload are set.
	CommandRequest
)

// Command is one thing that happens to a world. Payloads are outside bytes: a
// game validates them.
type Command struct {
	Kind CommandKind
	// Member is the peer id of who it is about, at least 1. Ids are not reused
	// within a room.
	Member uint32
	// Name of the member (join) or of the request.
	Name string
	// Payload: the profile (join), the input, or the request's.
	Payload []byte
	// Request id.
	Request uint32
	// Seq of an input, as its sender numbered it.
	Seq uint16
	// ClientTick of an input: the server tick its sender believed in.
	ClientTick uint32
}

// Everyone is the addressee of an event that all members get.
const Everyone uint32 = 0

// Effects collects what a Step tells clients. Only Step may use it.
type Effects struct {
	Events    []Event
	Responses []Response
	// Refused counts inputs that the game found invalid.
	Refused int
}

// Event is a message to one member or to everyone, on the reliable lane, under
// the tick of the Step that made it.
type Event struct {
	To      uint32 // peer id or Everyone
	Name    string // 1 to wire.MaxNameBytes
	Payload []byte // at most wire.MaxReliablePayload
}

// Response answers a request.
type Response struct {
	To      uint32
	Request uint32
	Code    wire.Code // wire.CodeNone: success
	Payload []byte
}

// Emit adds an event. The payload must not be changed afterwards.
func (e *Effects) Emit(to uint32, name string, payload []byte) {
	e.Events = append(e.Events, Event{To: to, Name: name, Payload: payload})
}

// Respond answers the request of a command.
func (e *Effects) Respond(c Command, code wire.Code, payload []byte) {
	e.Responses = append(e.Responses, Response{To: c.Member, Request: c.Request, Code: code, Payload: payload})
}

// Reset empties the effects and keeps their memory.
func (e *Effects) Reset() {
	clear(e.Events)
	clear(e.Responses)
	e.Events, e.Responses, e.Refused = e.Events[:0], e.Responses[:0], 0
}

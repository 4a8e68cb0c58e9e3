package wire

import (
	"encoding/json"
	"fmt"
)

// Version is the protocol version that this package speaks.
const Version = 1

// Versions lists every version that a server of this package accepts.
func Versions() []int { return []int{Version} }

// Hello is a client's first frame on a link: a join, or the resume of a session.
type Hello struct {
	// Versions that the client speaks, best first. Required.
	Versions []int `json:"versions"`
	// Room to join. Ignored when resuming.
	Room string `json:"room,omitempty"`
	// Token admits to the room (docs/operating.md, Tokens). May be absent on a
	// server in dev mode only.
	Token string `json:"token,omitempty"`
	// Identity is who the client says it is; believed only where no token is
	// asked for.
	Identity string `json:"identity,omitempty"`
	// Name shown to other members. Empty: the token's, else the identity.
	Name string `json:"name,omitempty"`
	// Profile is handed to the game as it is; at most 4 KiB.
	Profile json.RawMessage `json:"profile,omitempty"`
	// Acks says that the client acknowledges the reliable lane and can resume.
	// Absent means true in the binary encoding, false in the JSON dialect.
	Acks *bool `json:"acks,omitempty"`
	// Resume asks to go on with a session instead of joining.
	Resume *ResumeRequest `json:"resume,omitempty"`
}

// ResumeRequest proves ownership of a session and says where to go on.
type ResumeRequest struct {
	Secret string `json:"secret"`
	// Received counts the numbered frames that the client has had in all.
	Received uint64 `json:"received"`
}

// Welcome is the server's first frame on a link whose hello was accepted.
type Welcome struct {
	Version int `json:"version"`
	// Session is the public id of the session. It grants nothing.
	Session string `json:"session"`
	// Resume is absent for a session that can not be resumed.
	Resume *ResumeGrant `json:"resume,omitempty"`
	// Resumed says that the session goes on. With Gap, its kept messages were
	// lost: both numberings restart at zero, open requests fail and a full
	// snapshot follows.
	Resumed bool `json:"resumed,omitempty"`
	Gap     bool `json:"gap,omitempty"`
	// Received counts the numbered frames that the server has had in all: a
	// resuming client sends again what comes after.
	Received uint64 `json:"received"`

	Room RoomInfo `json:"room"`
	// You is the receiver's own peer id in the room.
	You uint32 `json:"you"`
	// Peers are all members, the receiver included; absent when resuming (after
	// a gap a roster follows).
	Peers []Peer `json:"peers,omitempty"`
	// Tick is the room's tick at the join; TickRate in Hz, 0 if it has none.
	Tick     uint32 `json:"tick"`
	TickRate int    `json:"tick_rate"`
	// Schema of the room's entities (package authority/replica); absent for a
	// room without simulation.
	Schema json.RawMessage `json:"schema,omitempty"`
	Limits Limits          `json:"limits"`
}

// ResumeGrant lets the holder resume the session.
type ResumeGrant struct {
	// Secret replaces the one before at the first frame that follows the hello.
	Secret string `json:"secret"`
	// GraceMS is how long the session outlives its last link, in ms.
	GraceMS int `json:"grace_ms"`
}

// RoomInfo names the room that was joined.
type RoomInfo struct {
	Name string `json:"name"`
	// Instance differs for every room that ever had this name.
	Instance string `json:"instance"`
	// Kind is "relay" or "authority".
	Kind string `json:"kind"`
	// Game that simulates the room, if any.
	Game string `json:"game,omitempty"`
	// Config of the game for its clients (a map's seed, say), as it gives it.
	Config json.RawMessage `json:"config,omitempty"`
}

// Peer is one member as others see it.
type Peer struct {
	ID   uint32 `json:"id"`
	Name string `json:"name"`
	// Away: its link is gone and its grace runs.
	Away bool `json:"away,omitempty"`
	// Profile as the member gave it at its join.
	Profile json.RawMessage `json:"profile,omitempty"`
}

// Limits that a client must keep to. Bytes are of opaque payloads.
type Limits struct {
	ReliableBytes   int `json:"reliable_bytes"`
	UnreliableBytes int `json:"unreliable_bytes"`
	// Sends a ping when nothing else was sent for PingMS; an end that hears
	// nothing for TimeoutMS gives the link up.
	PingMS    int `json:"ping_ms"`
	TimeoutMS int `json:"timeout_ms"`
	// MessagesPerSecond is the sustained rate of frames of any kind.
	MessagesPerSecond int `json:"messages_per_second"`
}

// What happened to a member, for [PeerNotice].
const (
	PeerJoined = "joined"
	PeerAway   = "away"
	PeerBack   = "back"
	PeerLeft   = "left"
	// PeerRoster replaces the whole roster, after a gap.
	PeerRoster = "roster"
)

// PeerNotice tells of one member.
type PeerNotice struct {
	// Event is one of the Peer constants.
	Event string `json:"event"`
	ID    uint32 `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	// Profile comes with joined, Reason (a code's name) with left.
	Profile json.RawMessage `json:"profile,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	// Peers comes with roster: all members, the receiver included.
	Peers []Peer `json:"peers,omitempty"`
}

// Draining says that the server will close its links.
type Draining struct {
	// DeadlineMS is the time left, in ms.
	DeadlineMS int `json:"deadline_ms"`
}

// Close is the last frame of a link.
type Close struct {
	Code   Code   `json:"code"`
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	// Retry mirrors [Code.Retry] for clients without the table.
	Retry bool `json:"retry,omitempty"`
	// Versions that the server speaks, with [CodeVersion] only.
	Versions []int `json:"versions,omitempty"`
}

// CloseOf returns the close body of an error.
func CloseOf(e *Error) Close {
	c := Close{Code: e.Code, Name: e.Code.Name(), Reason: e.Reason, Retry: e.Code.Retry()}
	if c.Reason == "" {
		c.Reason = e.Code.Text()
	}
	if e.Code == CodeVersion {
		c.Versions = Versions()
	}
	return c
}

// JSONFrame returns a frame of one of the kinds with a JSON body. The caller
// sees to it that it fits [MaxReliableBody].
func JSONFrame(k Kind, v any) *Frame {
	f := NewFrame(k, 512)
	// Without the escapes for HTML, which would make what others gave us, and
	// what was measured when it came, up to six times as long.
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("wire: %s does not encode: %v", k, err)) // our own structs only
	}
	f.buf = f.buf[:len(f.buf)-1] // the encoder's newline
	return f
}

// DecodeJSON decodes the JSON body of a frame into v. Unknown fields are
// skipped, so that later versions may add some.
func DecodeJSON(k Kind, body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrMalformed, k, err)
	}
	return nil
}

// Negotiate returns the best version in common, or a CodeVersion error.
func Negotiate(client []int) (int, error) {
	for _, v := range client {
		if v == Version {
			return v, nil
		}
	}
	return 0, Errorf(CodeVersion, "versions %v are not spoken here, only %v", client, Versions())
}

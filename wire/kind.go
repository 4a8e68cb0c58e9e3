package wire

// Kind says what a frame is. Its range says how the frame travels; see the
// package comment.
type Kind uint8

// Link control: not numbered, jumps the queue, dies with its link.
const (
	// KindHello is a client's first frame on every link. JSON, [Hello].
	KindHello Kind = 1
	// KindWelcome answers a hello that was accepted. JSON, [Welcome].
	KindWelcome Kind = 2
	// KindAck acknowledges the reliable lane, both ways.
	// Body: uvarint, how many numbered frames were received in all.
	KindAck Kind = 3
	// KindPing asks for a pong, both ways. Body: 0 to 8 opaque bytes.
	KindPing Kind = 4
	// KindPong answers a ping. Body: the ping's own.
	KindPong Kind = 5
	// KindClose is the last frame of a link, both ways. JSON, [Close].
	KindClose Kind = 6
)

// Reliable and numbered.
const (
	// KindRequest: client to room. See [Request].
	KindRequest Kind = 8
	// KindResponse: room to client. See [Response].
	KindResponse Kind = 9
	// KindEvent: room to client. See [Event].
	KindEvent Kind = 10
	// KindRelay: client to other members. See [Relay].
	KindRelay Kind = 11
	// KindRelayed: room to client. See [Relayed].
	KindRelayed Kind = 12
	// KindFull is one chunk of a full snapshot: room to client. Its body is
	// the business of authority/replica (docs/protocol.md, Snapshots).
	KindFull Kind = 13
	// KindResync asks the room for a full snapshot. Empty body.
	KindResync Kind = 14
	// KindPeer tells of another member. JSON, [PeerNotice].
	KindPeer Kind = 15
	// KindLeave ends the session for good. Empty body.
	KindLeave Kind = 16
	// KindDraining says that the server is going away. JSON, [Draining].
	KindDraining Kind = 17
	// KindSignal carries SDP and candidates inside a session (reserved).
	KindSignal Kind = 18
	// KindSwitch is the last frame before the lanes move to another link
	// (reserved for the transport upgrade).
	KindSwitch Kind = 19
)

// Unreliable.
const (
	// KindInput: client to room. See package authority/input.
	KindInput Kind = 20
	// KindSnapshot is a delta snapshot: room to client, one datagram. In the
	// JSON dialect it holds the whole visible state.
	KindSnapshot Kind = 21
	// KindRelayFast is KindRelay on the unreliable lane.
	KindRelayFast Kind = 22
	// KindRelayedFast is KindRelayed on the unreliable lane; it carries the
	// room's 16-bit number per sender, so that a receiver drops stale ones.
	KindRelayedFast Kind = 23
)

const (
	firstNumbered   Kind = 8
	firstUnreliable Kind = 20
	maxKind         Kind = 31
)

// Lane is one of the two ways through a link.
type Lane uint8

const (
	// Reliable is ordered and exactly once within a session.
	Reliable Lane = iota
	// Unreliable may be lost, doubled or reordered below; receivers drop what
	// is older than what they have of the same key.
	Unreliable
)

func (l Lane) String() string {
	if l == Unreliable {
		return "unreliable"
	}
	return "reliable"
}

// Lane returns the lane that frames of this kind travel on.
func (k Kind) Lane() Lane {
	if k >= firstUnreliable {
		return Unreliable
	}
	return Reliable
}

// Numbered reports whether frames of this kind count in the reliable stream.
func (k Kind) Numbered() bool { return k >= firstNumbered && k < firstUnreliable }

// Control reports whether the kind belongs to the link rather than the session.
func (k Kind) Control() bool { return k >= KindHello && k < firstNumbered }

var kindNames = [maxKind + 1]string{
	KindHello: "hello", KindWelcome: "welcome", KindAck: "ack", KindPing: "ping",
	KindPong: "pong", KindClose: "close", KindRequest: "request",
	KindResponse: "response", KindEvent: "event", KindRelay: "relay",
	KindRelayed: "relayed", KindFull: "full", KindResync: "resync",
	KindPeer: "peer", KindLeave: "leave", KindDraining: "draining",
	KindSignal: "signal", KindSwitch: "switch", KindInput: "input",
	KindSnapshot: "snapshot", KindRelayFast: "relay_fast", KindRelayedFast: "relayed_fast",
}

// String returns the kind's name in metrics, logs and the JSON dialect, or
// "unknown".
func (k Kind) String() string {
	if k <= maxKind && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// KindNamed returns the kind with that name, or 0.
func KindNamed(name string) Kind {
	for k, n := range kindNames {
		if n == name && n != "" {
			return Kind(k)
		}
	}
	return 0
}

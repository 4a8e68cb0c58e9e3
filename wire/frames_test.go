package wire_test

import (
	"bytes"
	"encoding/json"

	"github.com/gatehouse/gatehouse/wire"
)

// specimen is one frame of the golden vectors, and a seed of the fuzz tests.
type specimen struct {
	name string
	kind wire.Kind
	body []byte
}

// frames has one specimen of each kind at least, and every edge of the layout.
func frames() []specimen {
	acks := false
	all := []specimen{
		jsonBody("hello of a join", wire.KindHello, wire.Hello{
			Versions: []int{1}, Room: "arena", Token: "t.o.k", Identity: "ann", Name: "Ann Ω", Profile: json.RawMessage(`{"hat":3}`),
		}),
		jsonBody("hello of a resume", wire.KindHello, wire.Hello{
			Versions: []int{2, 1}, Resume: &wire.ResumeRequest{Secret: "s3cret", Received: 12},
		}),
		jsonBody("hello without acks", wire.KindHello, wire.Hello{Versions: []int{1}, Room: "relay", Acks: &acks}),
		jsonBody("welcome", wire.KindWelcome, wire.Welcome{
			Version: 1, Session: "s-1", Resume: &wire.ResumeGrant{Secret: "next", GraceMS: 30_000},
			Room: wire.RoomInfo{Name: "arena", Instance: "i-1", Kind: "authority", Game: "arena", Config: json.RawMessage(`{"map":7}`)},
			You:  3, Peers: []wire.Peer{{ID: 1, Name: "Bob", Away: true}, {ID: 3, Name: "Ann", Profile: json.RawMessage(`{"hat":3}`)}},
			Tick: 1234, TickRate: 30, Schema: json.RawMessage(`{"types":[]}`),
			Limits: wire.Limits{ReliableBytes: wire.MaxReliablePayload, UnreliableBytes: wire.MaxUnreliablePayload,
				PingMS: 5000, TimeoutMS: 15_000, MessagesPerSecond: 120},
		}),
		jsonBody("welcome of a resume with a gap", wire.KindWelcome, wire.Welcome{
			Version: 1, Session: "s-1", Resumed: true, Gap: true, Received: 1<<53 - 1,
			Room: wire.RoomInfo{Name: "r", Instance: "i-2", Kind: "relay"}, You: 1, Peers: []wire.Peer{{ID: 1, Name: "Ann"}},
		}),
		ack("ack of nothing", 0), ack("ack, one byte", 127), ack("ack, two bytes", 128), ack("ack, largest", 1<<64-1),
		raw("ping, empty", wire.KindPing, nil),
		raw("ping, eight bytes", wire.KindPing, []byte{0, 1, 2, 3, 4, 5, 6, 255}),
		raw("pong", wire.KindPong, []byte{9}),
		jsonBody("close, retry", wire.KindClose, wire.CloseOf(wire.Errorf(wire.CodeGoingAway, "bye"))),
		jsonBody("close, version", wire.KindClose, wire.CloseOf(wire.Errorf(wire.CodeVersion, ""))),
		raw("request", wire.KindRequest, wire.AppendRequest(nil, wire.Request{ID: 1, Name: "interact", Payload: []byte(`{"target":7}`)})),
		raw("request, largest id and name", wire.KindRequest, wire.AppendRequest(nil, wire.Request{
			ID: 1<<32 - 1, Name: string(bytes.Repeat([]byte("n"), wire.MaxNameBytes))})),
		raw("response, success", wire.KindResponse, wire.AppendResponse(nil, wire.Response{ID: 1, Payload: []byte("true")})),
		raw("response, refused", wire.KindResponse, wire.AppendResponse(nil, wire.Response{ID: 300, Code: wire.CodeRequestRefused})),
		raw("event", wire.KindEvent, wire.AppendEvent(nil, wire.Event{Tick: 1 << 20, Name: "door", Payload: []byte{0xff, 0}})),
		relay("relay to all", wire.KindRelay, nil, []byte("hi")),
		relay("relay to two", wire.KindRelay, []uint32{2, 1<<32 - 1}, []byte{0}),
		relay("relay to 64", wire.KindRelay, many(wire.MaxRelayTargets), nil),
		relayed("relayed", wire.KindRelayed, 7, 0, []byte("hi")),
		raw("full, opaque", wire.KindFull, []byte{0, 1, 0, 1}),
		raw("resync", wire.KindResync, nil),
		jsonBody("peer joined", wire.KindPeer, wire.PeerNotice{Event: wire.PeerJoined, ID: 4, Name: "Eve", Profile: json.RawMessage(`[]`)}),
		jsonBody("peer left", wire.KindPeer, wire.PeerNotice{Event: wire.PeerLeft, ID: 4, Reason: "kicked"}),
		raw("leave", wire.KindLeave, nil),
		jsonBody("draining", wire.KindDraining, wire.Draining{DeadlineMS: 20_000}),
		input("input", wire.Input{Seq: 65_535, ClientTick: 1000, Acked: 997, Mask: 1<<64 - 1, Inputs: [][]byte{{1, 2}, {}, {3}}}),
		input("input, an acknowledgement with losses", wire.Input{ClientTick: 1, Acked: 900, Mask: 1<<64 - 8}),
		input("input, nothing acknowledged", wire.Input{Seq: 1, ClientTick: 1<<32 - 1, Inputs: [][]byte{bytes.Repeat([]byte{5}, wire.MaxInputBytes)}}),
		raw("snapshot, opaque", wire.KindSnapshot, []byte{1, 2, 1, 9, 0, 0, 0}),
		relay("relay_fast to all", wire.KindRelayFast, nil, []byte{1}),
		relay("relay_fast, largest to five", wire.KindRelayFast, many(5), make([]byte, wire.MaxUnreliablePayload)),
		relayed("relayed_fast, stamp wraps", wire.KindRelayedFast, 1<<32-1, 65_535, []byte("pos")),
		relayed("relayed_fast, largest", wire.KindRelayedFast, 1<<32-1, 1, make([]byte, wire.MaxUnreliablePayload)),
		raw("longest body with a short header", wire.KindFull, make([]byte, 2046)),
		raw("shortest body with a long header", wire.KindFull, make([]byte, 2047)),
	}
	return all
}

func many(n int) []uint32 {
	to := make([]uint32, n)
	for i := range to {
		to[i] = 1<<32 - 1 - uint32(i)
	}
	return to
}

func raw(name string, k wire.Kind, body []byte) specimen {
	return specimen{name, k, body}
}

func jsonBody(name string, k wire.Kind, v any) specimen {
	f := wire.JSONFrame(k, v)
	defer f.Release()
	return raw(name, k, bytes.Clone(f.Body()))
}

func ack(name string, received uint64) specimen {
	return raw(name, wire.KindAck, wire.AppendAck(nil, received))
}

func relay(name string, k wire.Kind, to []uint32, payload []byte) specimen {
	return raw(name, k, wire.AppendRelay(nil, to, payload))
}

func relayed(name string, k wire.Kind, sender uint32, stamp uint16, payload []byte) specimen {
	return raw(name, k, append(wire.AppendRelayedPrefix(nil, k.Lane(), sender, stamp), payload...))
}

func input(name string, in wire.Input) specimen {
	return raw(name, wire.KindInput, wire.AppendInput(nil, in))
}

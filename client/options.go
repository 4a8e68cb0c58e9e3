package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// Options of a client. Dialers and Room are required.
type Options struct {
	// Dialers are the ways to the server, in order of preference. A join or a
	// resume tries them in turn, beginning with the one that worked last.
	Dialers []Dialer

	// Room, Token, Identity, Name and Profile go into the hello (see [wire.Hello]).
	Room     string
	Token    string
	Identity string
	Name     string
	Profile  json.RawMessage

	// Handler is told what happens.
	Handler Handler

	// AttemptTimeout bounds one attempt to join or resume, from the dial to the
	// welcome. Default 5 s.
	AttemptTimeout time.Duration
	// RetryMin and RetryMax bound the pause between attempts to resume, which
	// doubles and is jittered. Defaults 100 ms and 5 s. The first attempt comes
	// at once, unless the server said that it is going away or overloaded.
	RetryMin time.Duration
	RetryMax time.Duration
	// PingEvery is the pause between pings, which also measure the round trip.
	// It never exceeds what the server asks for. Default 1 s.
	PingEvery time.Duration
	// RingBytes bounds what was sent on the reliable lane and not acknowledged,
	// at least 128 KiB. Default 256 KiB.
	RingBytes int
	// TickInputs sends an input at the room's tick rate: Handler.Input's, or the
	// one of [Client.SetInput].
	TickInputs bool
}

// Handler is told what happens to a client. All fields may be nil. The functions
// are called one at a time by the client's own goroutine: they must not block,
// and must not call Request, Switch, Ready, Leave or Close (which wait for that
// goroutine). Byte slices are valid during the call only.
type Handler struct {
	// State is called at every change. err says why it became Away or Closed.
	State func(s State, err error)
	// Snapshot is called when a snapshot was applied, with what it has changed.
	// The view may be read during the call without a lock; neither may be kept.
	Snapshot func(v *replica.View, a replica.Applied)
	// Event is called once the world has reached the event's tick, or 250 ms
	// after the event came.
	Event func(e wire.Event)
	// Relayed is called with a message of another member.
	Relayed func(lane wire.Lane, m wire.Relayed)
	// Peer is called when a member joins, leaves, is away or back.
	Peer func(n wire.PeerNotice)
	// Input returns the input of a client tick, nil for none; it is copied. seq
	// is the number it will get, tick the server's as the client believes.
	// Only with Options.TickInputs.
	Input func(seq uint16, tick uint32) []byte
	// Gap is called when a resume could not save everything: messages were lost
	// in both directions and open requests have failed.
	Gap func()
	// Draining is called when the server announces that it is going away.
	Draining func(in time.Duration)
}

const minRingBytes = 128 << 10

// withDefaults returns o with its zero fields filled. The error joins all faults.
func (o Options) withDefaults() (Options, error) {
	o.AttemptTimeout = orDefault(o.AttemptTimeout, 5*time.Second)
	o.RetryMin = orDefault(o.RetryMin, 100*time.Millisecond)
	o.RetryMax = max(o.RetryMin, orDefault(o.RetryMax, 5*time.Second))
	o.PingEvery = orDefault(o.PingEvery, time.Second)
	o.RingBytes = orDefault(o.RingBytes, 256<<10)

	var faults []error
	if len(o.Dialers) == 0 {
		faults = append(faults, errors.New("client: Dialers is empty: name at least one way to the server"))
	}
	if o.Room == "" {
		faults = append(faults, errors.New("client: Room is empty"))
	}
	if o.RingBytes < minRingBytes {
		faults = append(faults, fmt.Errorf("client: RingBytes is %d, at least %d are needed for two largest messages", o.RingBytes, minRingBytes))
	}
	if len(o.Profile) > 0 && !json.Valid(o.Profile) {
		faults = append(faults, errors.New("client: Profile is not JSON"))
	}
	return o, errors.Join(faults...)
}

func orDefault[T int | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

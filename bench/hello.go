package main

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/gatehouse/gatehouse/wire"
)

var identities atomic.Int64

// helloMessage is a player's first message.
func helloMessage(room string) []byte {
	body, err := json.Marshal(wire.Hello{
		Versions: wire.Versions(), Room: room, Identity: fmt.Sprintf("player-%d", identities.Add(1)),
	})
	if err != nil {
		panic(err) // our own struct
	}
	return wire.AppendFrame(nil, wire.KindHello, body)
}

// afterWelcome checks that a message begins with a welcome and returns what
// follows it.
func afterWelcome(msg []byte) (rest []byte, err error) {
	k, body, rest, err := wire.NextFrame(msg)
	if err == nil && k != wire.KindWelcome {
		err = fmt.Errorf("%s in place of a welcome: %s", k, body)
	}
	return rest, err
}

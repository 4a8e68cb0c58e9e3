package enet

import "errors"

// Counts of what was refused before it reached a link.
type Counts struct {
	// ConnectsShed: connection attempts over the rate of their address, or given
	// up under a flood.
	ConnectsShed uint64
	// DatagramsRefused: datagrams that make no sense or ask for too much.
	DatagramsRefused uint64
	// SendsFailed: messages that ENet did not take.
	SendsFailed uint64
}

// errLost ends a link whose peer went without a code. ENet does not tell a peer
// that is lost from one that gave none.
var errLost = errors.New("enet: the peer was lost, or closed without a code")

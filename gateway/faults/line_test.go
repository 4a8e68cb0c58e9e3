package faults_test

import (
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// transport is one connection as a client has it. Safe for concurrent use.
type transport interface {
	// send hands over one link message. It does not wait for the server.
	send(lane wire.Lane, msg []byte) error
	// state makes the connection worse, or good again.
	state(s state)
	// cut ends it as a killed process does: a TCP reset, a UDP socket that is gone.
	cut()
	// close ends it as the transport does in order, without a word of the protocol.
	close()
}

// state of a connection.
type state struct {
	// stalled: the application reads nothing; what the transport's own library
	// does by itself goes on.
	stalled bool
	// silent: nothing arrives in either direction.
	silent bool
	// rate of what comes from the server, in bytes per second; 0: any.
	rate int
}

// dialing says how to connect.
type dialing struct {
	// tight: the receive buffers are as small as they can be.
	tight bool
}

// dialers of every transport there is.
func dialers() map[string]func(h *house, d dialing, in *inbox) (transport, error) {
	all := map[string]func(*house, dialing, *inbox) (transport, error){"ws": dialWS, "rtc": dialRTC}
	addENet(all)
	return all
}

// transports are the names of them all.
func transports() []string {
	if _, ok := dialers()["enet"]; ok {
		return []string{"ws", "rtc", "enet"}
	}
	return []string{"ws", "rtc"}
}

// overEach runs a test for each transport, in parallel.
func overEach(t *testing.T, test func(t *testing.T, transport string)) {
	for _, name := range transports() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

// message is what arrived.
type message struct {
	lane wire.Lane
	body []byte
}

// inbox is what a connection has received, until it is taken.
type inbox struct {
	wake chan struct{} // a token when there is something new

	mu       sync.Mutex
	messages []message
	ended    bool
	code     uint32 // the transport's own close code, 0 for none
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

func (in *inbox) put(lane wire.Lane, body []byte) {
	in.mu.Lock()
	in.messages = append(in.messages, message{lane, body})
	in.mu.Unlock()
	in.signal()
}

// end notes that nothing will follow. The first call counts.
func (in *inbox) end(code uint32) {
	in.mu.Lock()
	if !in.ended {
		in.ended, in.code = true, code
	}
	in.mu.Unlock()
	in.signal()
}

func (in *inbox) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

func (in *inbox) take() (messages []message, ended bool, code uint32) {
	in.mu.Lock()
	defer in.mu.Unlock()
	messages, in.messages = in.messages, nil
	return messages, in.ended, in.code
}

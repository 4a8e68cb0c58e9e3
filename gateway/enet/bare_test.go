//go:build !noenet

package enet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"
)

// bare speaks ENet by hand over a UDP socket: what a stock client never sends, and
// with a connect id of the test's choice.
type bare struct {
	t         *testing.T
	sock      *net.UDPConn
	connectID uint32
	done      chan struct{}

	mu       sync.Mutex
	changed  chan struct{}
	mute     bool // acknowledges nothing any more
	slot     uint16
	session  uint16
	linked   bool
	ended    bool
	data     uint32   // of the DISCONNECT
	payloads [][]byte // of reliable packets after VERIFY_CONNECT
}

// ENet's commands, as far as they are used here.
const (
	cmdAck         = 1
	cmdConnect     = 2
	cmdVerify      = 3
	cmdDisconnect  = 4
	cmdPing        = 5
	cmdReliable    = 6
	cmdUnreliable  = 7
	cmdFragment    = 8
	cmdUnsequenced = 9
	cmdBandwidth   = 10
	cmdThrottle    = 11
	cmdLooseFrag   = 12

	flagAck         = 0x80
	flagUnsequenced = 0x40
	noPeer          = 0x0fff
	withTime        = 0x8000
)

var commandSizes = [13]int{0, 8, 48, 44, 8, 4, 6, 8, 24, 8, 12, 16, 24}

var be = binary.BigEndian

// newBare opens a socket; from may be a port that a killed one has left.
func newBare(t *testing.T, from string, connectID uint32) *bare {
	t.Helper()
	return &bare{
		t: t, sock: openUDP(t, from), connectID: connectID,
		done: make(chan struct{}), changed: make(chan struct{}),
	}
}

// dialBare connects from a free port.
func dialBare(t *testing.T, to netip.AddrPort, connectID uint32) *bare {
	t.Helper()
	b := newBare(t, "127.0.0.1:0", connectID)
	b.connect(to)
	return b
}

// connect asks until it is answered, then listens until close.
func (b *bare) connect(to netip.AddrPort) {
	b.t.Helper()
	buf := make([]byte, 4096)
	for deadline := time.Now().Add(patience); ; {
		if time.Now().After(deadline) {
			b.t.Fatalf("no VERIFY_CONNECT within %s", patience)
		}
		b.to(to, connectDatagram(0, b.connectID, 2, 0))
		b.sock.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		if n, err := b.sock.Read(buf); err == nil && b.verify(to, buf[:n]) {
			break
		}
	}
	b.sock.SetReadDeadline(time.Time{})
	b.t.Cleanup(b.close)
	go b.listen(to)
}

func connectDatagram(peer uint16, connectID uint32, channels uint32, data uint32) []byte {
	d := be.AppendUint16(nil, noPeer|withTime)
	d = append(be.AppendUint16(d, 0), cmdConnect|flagAck, 0xff, 0, 1)
	d = append(be.AppendUint16(d, peer), 0xff, 0xff)
	for _, v := range []uint32{1400, 65536, channels, 0, 0, 5000, 2, 2} {
		d = be.AppendUint32(d, v)
	}
	d = binary.NativeEndian.AppendUint32(d, connectID) // ENet never swaps it
	return be.AppendUint32(d, data)
}

// verify looks for the answer to our CONNECT, as a stock client does.
func (b *bare) verify(to netip.AddrPort, d []byte) bool {
	ok := false
	each(d, func(head []byte, cmd, _ []byte) {
		if cmd[0]&15 != cmdVerify || binary.NativeEndian.Uint32(cmd[40:]) != b.connectID {
			return
		}
		ok = true
		b.slot, b.session = be.Uint16(cmd[4:]), uint16(cmd[7])
		b.ack(to, head, cmd)
	})
	b.linked = ok
	return ok
}

// each calls fn with every command of a datagram and its payload.
func each(d []byte, fn func(head, cmd, payload []byte)) {
	head := 2
	if be.Uint16(d)&withTime != 0 {
		head = 4
	}
	for rest := d[head:]; len(rest) >= 4; {
		number := rest[0] & 15
		size := commandSizes[number]
		if size == 0 || len(rest) < size {
			return
		}
		cmd, tail, n := rest[:size], rest[size:], 0
		switch number {
		case cmdReliable:
			n = int(be.Uint16(cmd[4:]))
		case cmdUnreliable, cmdUnsequenced, cmdFragment, cmdLooseFrag:
			n = int(be.Uint16(cmd[6:]))
		}
		fn(d[:head], cmd, tail[:n])
		rest = tail[n:]
	}
}

func (b *bare) listen(to netip.AddrPort) {
	defer close(b.done)
	buf := make([]byte, 4096)
	for {
		n, err := b.sock.Read(buf)
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			continue // ECONNREFUSED, of a server that has gone
		}
		b.mu.Lock()
		if peer := be.Uint16(buf); peer&noPeer == 0 {
			each(buf[:n], func(head, cmd, payload []byte) { b.take(to, head, cmd, payload) })
		}
		close(b.changed)
		b.changed = make(chan struct{})
		b.mu.Unlock()
	}
}

func (b *bare) take(to netip.AddrPort, head, cmd, payload []byte) {
	switch cmd[0] & 15 {
	case cmdReliable:
		b.payloads = append(b.payloads, bytes.Clone(payload))
	case cmdDisconnect:
		b.ended, b.data = true, be.Uint32(cmd[4:])
	}
	if cmd[0]&flagAck != 0 && !b.mute {
		b.ack(to, head, cmd)
	}
}

func (b *bare) ack(to netip.AddrPort, head, cmd []byte) {
	d := be.AppendUint16(nil, b.slot|b.session<<12|withTime)
	d = append(be.AppendUint16(d, 0), cmdAck, cmd[1])
	d = append(append(d, cmd[2:4]...), cmd[2:4]...)
	b.to(to, append(d, head[2:4]...))
}

func (b *bare) to(to netip.AddrPort, d []byte) {
	if _, err := b.sock.WriteToUDPAddrPort(d, to); err != nil && !errors.Is(err, net.ErrClosed) {
		b.t.Logf("send: %v", err)
	}
}

// say sends one command in a datagram of its own.
func (b *bare) say(to netip.AddrPort, cmd []byte) {
	d := be.AppendUint16(nil, b.slot|b.session<<12|withTime)
	b.to(to, append(be.AppendUint16(d, 0), cmd...))
}

func command(number, channel byte, seq uint16, fields ...any) []byte {
	d := be.AppendUint16([]byte{number, channel}, seq)
	for _, f := range fields {
		switch v := f.(type) {
		case uint16:
			d = be.AppendUint16(d, v)
		case uint32:
			d = be.AppendUint32(d, v)
		case []byte:
			d = append(d, v...)
		default:
			panic("neither a number nor bytes")
		}
	}
	return d
}

func reliablePacket(channel byte, seq uint16, payload []byte) []byte {
	return command(cmdReliable|flagAck, channel, seq, uint16(len(payload)), payload)
}

func fragment(number, channel byte, seq, start uint16, count, index, total, offset uint32, payload []byte) []byte {
	return command(number, channel, seq, start, uint16(len(payload)), count, index, total, offset, payload)
}

// silence ends the acknowledgements; the socket stays open.
func (b *bare) silence() {
	b.mu.Lock()
	b.mute = true
	b.mu.Unlock()
}

// close closes the socket without a word.
func (b *bare) close() {
	b.sock.Close()
	<-b.done
}

func (b *bare) await(what string, ok func() bool) {
	b.t.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		changed, good := b.changed, ok()
		b.mu.Unlock()
		if good {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			b.t.Fatalf("no %s within %s", what, patience)
		}
	}
}

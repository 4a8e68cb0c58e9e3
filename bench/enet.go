package main

// #cgo pkg-config: libenet
// #include "enet_load.h"
import "C"

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
	"unsafe"

	"github.com/gatehouse/gatehouse/wire"
)

// enetSlots is what a host of libenet can hold.
const enetSlots = 4095

// enetLoad speaks through libenet: all players are peers of one host.
type enetLoad struct {
	host      *C.ENetHost
	port      int
	got       receive
	packets   []C.struct_load_packet
	buf       []byte
	connected int
	welcomed  []bool
	waiting   int
}

func newENetLoad(addr string) func(receive) carrier {
	return func(got receive) carrier {
		_, p, _ := net.SplitHostPort(addr)
		port, _ := strconv.Atoi(p)
		return &enetLoad{
			host: C.load_open(enetSlots), port: port, got: got,
			packets: make([]C.struct_load_packet, 4096), buf: make([]byte, 4<<20),
		}
	}
}

func (e *enetLoad) Join(rooms []string) error {
	first := len(e.welcomed)
	if first+len(rooms) > enetSlots {
		return fmt.Errorf("enet: %d players, a host holds %d", first+len(rooms), enetSlots)
	}
	e.welcomed = append(e.welcomed, make([]bool, len(rooms))...)
	const step = 64 // at a time, so that nobody's handshake is lost in a flood
	for done := 0; done < len(rooms); done += step {
		some := rooms[done:min(done+step, len(rooms))]
		e.connected, e.waiting = 0, len(some)
		for i := range some {
			if C.load_connect(e.host, C.int(e.port), C.int(first+done+i)) != 0 {
				return errors.New("enet: no free peer")
			}
		}
		if err := e.pollUntil(func() bool { return e.connected == len(some) }); err != nil {
			return fmt.Errorf("enet: %d of %d connected: %w", e.connected, len(some), err)
		}
		for i, room := range some {
			if err := e.Send(first+done+i, wire.Reliable, helloMessage(room)); err != nil {
				return err
			}
		}
		if err := e.pollUntil(func() bool { return e.waiting == 0 }); err != nil {
			return fmt.Errorf("enet: %d of %d without a welcome: %w", e.waiting, len(some), err)
		}
	}
	return nil
}

func (e *enetLoad) pollUntil(done func() bool) error {
	for deadline := time.Now().Add(10 * time.Second); !done(); {
		if time.Now().After(deadline) {
			return errors.New("nothing more came for 10 s")
		}
		if err := e.Poll(10 * time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (e *enetLoad) Send(player int, lane wire.Lane, msg []byte) error {
	if C.load_send(e.host, C.int(player), C.int(lane), unsafe.Pointer(&msg[0]), C.int(len(msg))) != 0 {
		return fmt.Errorf("player %d: enet refused a packet", player)
	}
	return nil
}

func (e *enetLoad) Poll(wait time.Duration) error {
	b := C.load_poll(e.host, C.int(milliseconds(wait)),
		&e.packets[0], C.int(len(e.packets)), unsafe.Pointer(&e.buf[0]), C.int(len(e.buf)))
	e.connected += int(b.connected)
	if b.disconnected > 0 {
		return fmt.Errorf("player %d: the server ended the connection", b.disconnected-1)
	}
	for _, p := range e.packets[:b.count] {
		msg := e.buf[p.offset : p.offset+p.length]
		player := int(p.player)
		if !e.welcomed[player] && p.channel == 0 {
			rest, err := afterWelcome(msg)
			if err != nil {
				return fmt.Errorf("player %d: %w", player, err)
			}
			e.welcomed[player] = true
			e.waiting--
			msg = rest
		}
		if err := e.got(player, wire.Lane(p.channel), msg); err != nil {
			return err
		}
	}
	return nil
}

func (e *enetLoad) Close() { C.enet_host_destroy(e.host) }

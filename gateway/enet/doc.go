// Package enet carries links over ENet 1.3, both ends: [Listen] accepts them,
// [Dial] opens one. It alone knows go-enet and libenet, and nothing of sessions.
//
// The reliable lane is channel 0, reliable packets; the unreliable lane is
// channel 1, unsequenced packets. A link's close code is ENet's disconnect data.
// ENet speaks IPv4 only.
//
// # Who owns what
//
// One goroutine, the owner, has the ENet host and makes every cgo call that
// touches it; it is reader and writer of all the host's links. Its loop is a
// series of turns: pack what links have to send, then one call into C (carrier.c)
// that sends it, reads the socket and reports what happened. With nothing to do it
// waits for the socket and for an eventfd, which [link.Conn.Wake] writes only when
// the owner may be asleep. A Listener and every dialed link have an owner each;
// [Listener.Close] waits for its own, a dialed link's ends with the link.
//
// go-enet makes and destroys hosts and connects. It has no call for the rest:
// its Service blocks in C where no send can reach it, costs a call for each event,
// and it drops the results of sends. carrier.c does that, with the C pointer that
// go-enet keeps to itself (pointer.go).
//
// # A peer is a slot and a generation
//
// ENet reuses a peer's slot at once, and its connect id is the client's choice. So
// the carrier counts generations: every event and every order names slot and
// generation, and an order for an earlier one does nothing.
//
// # What strangers may do
//
// ENet has no cookie: a forged CONNECT takes a slot until its handshake times out.
// guard.c looks at each datagram before ENet does. It sheds CONNECTs by source
// address, bounds open handshakes and lets the oldest go first, and refuses the
// fragments that make ENet set memory aside for what never comes. A CONNECT from
// the very socket of a linked peer makes that peer prove that it lives, because
// the two would be sent each other's packets.
//
// # Bounds
//
// ENet queues without limit. The owner packs reliable messages for a peer only
// while less than [maxUnacked] of it waits for acknowledgement, and unreliable ones
// only when the last have left: so the link's queues are the bound, and a client
// that does not read becomes a slow consumer there. A busy link is held back for
// its window after each flush (hold), so that its frames leave in fewer datagrams.
package enet

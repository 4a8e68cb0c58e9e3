//go:build !noenet

// The C half of the ENet transport: a host, its slots, and what go-enet has no
// call for. Every function but gh_wake belongs to the goroutine that owns the
// host. carrier.c moves messages; guard.c looks at datagrams before ENet does.

#ifndef GATEHOUSE_CARRIER_H
#define GATEHOUSE_CARRIER_H

#include <enet/enet.h>
#include <stdbool.h>
#include <stdint.h>

// What happened, oldest first.
enum {
	GH_CONNECTED = 1,
	GH_RECEIVED = 2,
	GH_ENDED = 3,   // data: the code that the peer gave, 0 for none
	GH_TOO_BIG = 4, // data: the size of a packet that is refused unread
};

// gh_event is one of those. Its message belongs to the carrier and is good until
// the next gh_turn.
typedef struct {
	uint32_t slot, generation;
	uint32_t data;
	uint32_t address; // IPv4 in network byte order; of GH_CONNECTED
	uint16_t port;
	uint8_t kind, channel;
	bool reliable;
	const uint8_t *message;
	size_t bytes;
} gh_event;

// What the owner asks for.
enum {
	GH_SEND_RELIABLE = 1,   // on channel 0
	GH_SEND_UNRELIABLE = 2, // on channel 1
	GH_FINISH = 3,          // disconnect once everything queued has arrived
	GH_DROP = 4,            // one last datagram, and the slot is free; no GH_ENDED
};

// gh_op is one of those. It does nothing if the slot has another generation by
// now: the peer that it was meant for has gone.
typedef struct {
	uint32_t slot, generation;
	uint32_t kind;
	uint32_t code;          // of GH_FINISH and GH_DROP
	uint32_t offset, bytes; // of the message, in the buffer that comes along
} gh_op;

// gh_slot is what is known of a slot beside ENet's peer. The owner may read it
// between turns.
typedef struct {
	uint32_t generation; // of the peer that holds the slot or held it last
	uint32_t unacked;    // bytes of reliable packets that ENet still keeps
	uint32_t unsent;     // bytes of unreliable packets that ENet still keeps
	uint32_t since;      // ms: when its handshake, probe or refusal began
	uint8_t phase;       // the carrier's
	bool told;           // GH_TOO_BIG was
} gh_slot;

// gh_limits hold as long as the carrier.
typedef struct {
	uint32_t connect_per_second, connect_burst; // CONNECTs from one address
	uint32_t max_pending;                       // handshakes open at once
	uint32_t handshake_ms;                      // after which one is forgotten
	uint32_t ping_ms, timeout_ms;               // silence before a ping, and the end
	uint32_t max_packet, max_waiting;           // bytes: one, and a peer's undelivered
	uint32_t mtu;                               // bytes of payload of a datagram
	uint32_t refusal;                           // code for a CONNECT that asks for what we are not
	uint32_t seed;                              // of the hash over addresses
} gh_limits;

// gh_counts only grow.
typedef struct {
	uint64_t connects_shed, datagrams_refused, sends_failed;
} gh_counts;

enum {
	GH_OPS = 256,     // at most, in one turn
	GH_EVENTS = 1280, // at most, from one turn
};

typedef struct gh_carrier gh_carrier;

// gh_open prepares host; NULL if memory or descriptors have run out.
gh_carrier *gh_open(ENetHost *host, const gh_limits *limits);

// gh_close frees everything but the host, which is destroyed after it.
void gh_close(gh_carrier *c);

// gh_poll_fd is readable when the socket is, or after gh_wake. Its caller closes it.
int gh_poll_fd(const gh_carrier *c);

// gh_ready says why it is, 0 if it is not, and forgets gh_wake.
enum { GH_AT_SOCKET = 1, GH_WOKEN = 2 };
int gh_ready(gh_carrier *c);

// gh_wake makes it so. From any thread.
void gh_wake(gh_carrier *c);

// gh_turn does the ops, sends, receives and fills events (room for GH_EVENTS). It
// never waits. It returns the number of events, or -1 if the socket failed
// again and again.
int gh_turn(gh_carrier *c, const gh_op *ops, int count, const uint8_t *buffer, gh_event *events);

// gh_rest_ms returns how long the host may go without a turn if nothing comes.
uint32_t gh_rest_ms(const gh_carrier *c);

// gh_adopt tells of a peer that this end connects.
void gh_adopt(gh_carrier *c, ENetPeer *peer);

gh_slot *gh_slots(gh_carrier *c);
const gh_counts *gh_counted(const gh_carrier *c);

#endif

//go:build !noenet

// What carrier.c and guard.c share.

#ifndef GATEHOUSE_CARRIER_PRIVATE_H
#define GATEHOUSE_CARRIER_PRIVATE_H

#include "carrier.h"

// Phases of a slot. The owner knows those from GH_LINKED on.
enum {
	GH_FREE = 0,
	GH_PENDING,  // a CONNECT came; nothing proves yet that its address is real
	GH_REFUSED,  // connected, and being disconnected again
	GH_DIALING,  // this end connects
	GH_LINKED,
	GH_PROBED,   // linked, and asked whether it lives
};

typedef struct {
	uint32_t address; // 0: free
	uint32_t tokens;  // thousandths of a CONNECT
	uint32_t at;      // ms of the last refill
} gh_bucket;

enum {
	GH_BUCKET_SETS = 1024, // a power of two
	GH_BUCKET_WAYS = 4,
};

// What one turn may lead to; together no more than GH_EVENTS.
enum {
	GH_BATCH = 256,      // events of ENet's
	GH_SWEEP_ENDS = 256, // slots ended by a sweep
	GH_NOTICES = 512,    // of the guard, which refuses datagrams when there are so many
};
_Static_assert(GH_OPS + GH_SWEEP_ENDS + GH_NOTICES + GH_BATCH <= GH_EVENTS, "a turn's events fit");

struct gh_carrier {
	ENetHost *host;
	gh_limits limits;
	gh_counts counts;
	gh_slot *slots;     // one for each of host->peers
	size_t slot_count;  // of those; host->peerCount is only as many as are used
	gh_bucket *buckets; // GH_BUCKET_SETS × GH_BUCKET_WAYS
	int wake_fd, poll_fd; // an eventfd; an epoll over the socket and that
	uint32_t swept;     // ms
	uint32_t lenient;   // ms: until then silence is blamed on us

	gh_event *events; // of this turn
	int event_count;
	gh_event notices[GH_NOTICES]; // events of our own making
	int notice_count;
	ENetPacket *held[GH_BATCH]; // whose messages the owner may still read
	int held_count;
};

// gh_end frees a slot at once. If the owner knows it, GH_ENDED will tell.
void gh_end(gh_carrier *c, uint32_t slot, uint32_t code);

// gh_notice queues an event that precedes whatever ENet reports later.
void gh_notice(gh_carrier *c, uint32_t slot, uint8_t kind, uint32_t data);

// gh_guard is the ENetInterceptCallback: 1 keeps a datagram from ENet.
int gh_guard(ENetHost *host, ENetEvent *event);

static inline bool gh_linked(const gh_slot *s) { return s->phase >= GH_LINKED; }

#endif

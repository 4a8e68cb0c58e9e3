// A member of a room: what it says, and what it does with what it is told. It
// knows no socket; main.c moves its messages.

#ifndef CLIENT_H
#define CLIENT_H

#include "wire.h"
#include "world.h"

enum { MAX_EVENTS = 64, MAX_EVENT_BYTES = 2048 };

struct event {
	uint32_t tick;
	uint64_t came; // ms
	size_t bytes;
	uint8_t body[MAX_EVENT_BYTES]; // what follows the tick
};

struct client {
	// what to ask for
	const char *room, *name, *identity, *token;
	const uint8_t *input; // payload of each tick's input; NULL for none
	uint8_t input_bytes;

	struct world world;
	bool welcome, synchronized, waiting_for_full;
	bool closed; // a close frame came
	int code;    // its code
	uint32_t you, tick_rate, ping_ms, timeout_ms;

	uint64_t received;   // numbered frames, in all
	uint64_t acked;      // of those, told to the server
	uint64_t unacked_at; // ms: when the first one came that was not told
	size_t unacked_bytes;

	uint16_t seq;        // of the newest input
	int unapplied;       // inputs that no snapshot has named yet
	uint64_t input_at, resync_at, heard_at, sent_at; // ms

	struct event events[MAX_EVENTS]; // that wait for their tick, oldest first
	int event_count;

	// to be sent: main.c empties them
	struct buffer reliable, unreliable;
};

void client_hello(struct client *c, uint64_t now);

// client_message handles a link message; false if the server broke the protocol.
bool client_message(struct client *c, bool unreliable, struct span message, uint64_t now);

// client_time does what is due: inputs, acknowledgements, pings, events.
void client_time(struct client *c, uint64_t now);

void client_request(struct client *c, uint32_t id, const char *name, const char *payload);
void client_relay(struct client *c, const char *payload);
void client_leave(struct client *c);

#endif

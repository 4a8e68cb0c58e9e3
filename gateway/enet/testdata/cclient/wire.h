// Bits, varints and frames, as docs/protocol.md describes them in sections 2 to 6.
// Nothing here is shared with the server: this client is a witness of the page.

#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
	KIND_HELLO = 1,
	KIND_WELCOME = 2,
	KIND_ACK = 3,
	KIND_PING = 4,
	KIND_PONG = 5,
	KIND_CLOSE = 6,
	KIND_REQUEST = 8,
	KIND_RESPONSE = 9,
	KIND_EVENT = 10,
	KIND_RELAY = 11,
	KIND_RELAYED = 12,
	KIND_FULL = 13,
	KIND_RESYNC = 14,
	KIND_PEER = 15,
	KIND_LEAVE = 16,
	KIND_DRAINING = 17,
	KIND_INPUT = 20,
	KIND_SNAPSHOT = 21,
	KIND_RELAY_FAST = 22,
	KIND_RELAYED_FAST = 23,
};

static inline bool kind_numbered(int kind) { return kind >= 8 && kind <= 19; }
static inline bool kind_unreliable(int kind) { return kind >= 20; }

enum { MAX_DATAGRAM = 1150, MAX_MESSAGE = 65535, MAX_INPUTS = 32 };

// span is a piece of somebody else's bytes that is read from its front. A read
// past the end sets failed and gives 0, so that only the end need be checked.
struct span {
	const uint8_t *at, *end;
	bool failed;
};

struct span span_of(const void *bytes, size_t count);
size_t span_left(const struct span *s);
uint8_t span_u8(struct span *s);
uint16_t span_u16(struct span *s);
uint64_t span_uvarint(struct span *s, int max_bits);
struct span span_take(struct span *s, size_t count);

// next_frame splits a frame off a link message; kind 0 if it is malformed.
int next_frame(struct span *message, struct span *body);

// bits are read least significant first.
struct bits {
	const uint8_t *at, *end;
	uint32_t used; // bits of *at
	bool failed;
};

struct bits bits_of(struct span s);
uint32_t bits_read(struct bits *b, int count); // 0 to 32
uint32_t bits_var(struct bits *b);
int bit_length(uint32_t v);

// buffer collects what is to be sent; what does not fit sets failed.
struct buffer {
	uint8_t bytes[MAX_MESSAGE];
	size_t count;
	bool failed;
};

void put_bytes(struct buffer *b, const void *bytes, size_t count);
void put_u8(struct buffer *b, uint8_t v);
void put_u16(struct buffer *b, uint16_t v);
void put_u32(struct buffer *b, uint32_t v);
void put_uvarint(struct buffer *b, uint64_t v);
void put_frame(struct buffer *b, int kind, const void *body, size_t count);

// input_body is the body of an input frame: count inputs of the same payload, of
// which the last has number seq. missed is as on the wire.
void put_input_body(struct buffer *b, uint16_t seq, uint32_t client_tick, uint32_t acked,
                    uint64_t missed, int count, const uint8_t *payload, uint8_t payload_bytes);

#endif

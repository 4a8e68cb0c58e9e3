// The replicated world, as section 6 of docs/protocol.md describes it.

#ifndef WORLD_H
#define WORLD_H

#include "wire.h"

enum { MAX_TYPES = 256, MAX_FIELDS = 64, MAX_ENTITIES = 1 << 20 };

struct field {
	int64_t min, step;
	uint32_t top; // its largest number on the wire
	int bits;
};

struct type {
	char name[64];
	struct field fields[MAX_FIELDS];
	int field_count;
};

struct entity {
	bool alive;
	uint8_t generation, type;
	uint32_t fields[MAX_FIELDS];
};

// entities are held by id.
struct entities {
	struct entity *at;
	uint32_t capacity, count;
};

struct world {
	struct type types[MAX_TYPES];
	int type_count, type_bits;

	struct entities held;
	uint32_t tick;   // of the newest snapshot applied, 0 for none
	uint32_t origin; // of the last full snapshot
	uint64_t missed; // bit i: the snapshot of tick-1-i was not applied
	uint16_t input;  // the last that the server has applied
	bool has_input;

	struct entities next;     // held, with a delta on top
	struct entities arriving; // of a full snapshot
	uint32_t arriving_tick, arriving_chunks, arriving_next;
};

enum outcome {
	APPLIED,
	WAITING,   // for more chunks
	STALE,     // older than what is held; dropped
	RESYNC,    // a full snapshot must be asked for
	MALFORMED, // the server broke the protocol
};

// world_schema reads the schema of a welcome; false if it makes no sense.
bool world_schema(struct world *w, struct span schema);

enum outcome world_delta(struct world *w, struct span body);
enum outcome world_full(struct world *w, struct span body);

uint32_t world_hash(const struct world *w);
int64_t world_value(const struct world *w, const struct entity *e, int field);
void world_free(struct world *w);

#endif

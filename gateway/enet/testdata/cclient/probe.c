// Lets a test look at the client's codecs: reads a command a line, answers with a
// line. Bytes are hex, "-" for none.
//
//	bits HEX OP...        OP is the width of a field, or "v" for a bitvar
//	frames HEX            -> KIND:HEX for each
//	frame KIND HEX        -> HEX
//	input SEQ TICK ACKED MISSED COUNT HEX -> HEX of the body
//	schema JSON
//	full HEX, delta HEX   -> OUTCOME TICK MISSED COUNT HASH
//	entity ID             -> GENERATION TYPE VALUE...

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"
#include "world.h"

static uint8_t bytes[MAX_MESSAGE];
static struct world world;

static const char *word(void) {
	const char *w = strtok(NULL, " \n");
	return w != NULL ? w : "";
}

static uint64_t number(void) { return strtoull(word(), NULL, 0); }

static struct span hex(void) {
	const char *text = word();
	size_t count = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;
	for (size_t i = 0; i < count; i++) {
		unsigned byte = 0;
		sscanf(text + 2 * i, "%2x", &byte);
		bytes[i] = (uint8_t)byte;
	}
	return span_of(bytes, count);
}

static void print_span(struct span s) {
	if (s.at == s.end)
		printf("-");
	for (; s.at < s.end; s.at++)
		printf("%02x", *s.at);
}

static void print_buffer(const struct buffer *b) { print_span(span_of(b->bytes, b->count)); }

static void probe_bits(void) {
	struct bits b = bits_of(hex());
	for (const char *op = word(); *op != 0; op = word())
		printf("%" PRIu32 " ", *op == 'v' ? bits_var(&b) : bits_read(&b, atoi(op)));
	printf(b.failed ? "failed" : "good");
}

static void probe_frames(void) {
	struct span message = hex(), body;
	while (span_left(&message) > 0) {
		int kind = next_frame(&message, &body);
		if (kind == 0) {
			printf("failed");
			return;
		}
		printf("%d:", kind);
		print_span(body);
		printf(" ");
	}
	printf("good");
}

static void probe_world(enum outcome (*apply)(struct world *, struct span)) {
	static const char *const names[] = {"applied", "waiting", "stale", "resync", "malformed"};
	enum outcome o = apply(&world, hex());
	printf("%s %" PRIu32 " %016" PRIx64 " %" PRIu32 " %08" PRIx32, names[o], world.tick, world.missed,
	       world.held.count, world_hash(&world));
}

static void probe_entity(void) {
	uint32_t id = (uint32_t)number();
	if (id >= world.held.capacity || !world.held.at[id].alive) {
		printf("none");
		return;
	}
	const struct entity *e = &world.held.at[id];
	printf("%d %s", e->generation, world.types[e->type].name);
	for (int i = 0; i < world.types[e->type].field_count; i++)
		printf(" %" PRId64, world_value(&world, e, i));
}

static void answer(char *line) {
	const char *command = strtok(line, " \n");
	static struct buffer out;
	out.count = 0;
	if (command == NULL)
		return;
	if (strcmp(command, "bits") == 0)
		probe_bits();
	else if (strcmp(command, "frames") == 0)
		probe_frames();
	else if (strcmp(command, "frame") == 0) {
		int kind = (int)number();
		struct span body = hex();
		put_frame(&out, kind, body.at, span_left(&body));
		print_buffer(&out);
	} else if (strcmp(command, "input") == 0) {
		uint16_t seq = (uint16_t)number();
		uint32_t tick = (uint32_t)number(), acked = (uint32_t)number();
		uint64_t missed = number();
		int count = (int)number();
		struct span payload = hex();
		put_input_body(&out, seq, tick, acked, missed, count, payload.at, (uint8_t)span_left(&payload));
		print_buffer(&out);
	} else if (strcmp(command, "schema") == 0) {
		const char *json = strtok(NULL, "\n");
		world_free(&world);
		memset(&world, 0, sizeof world);
		printf(json != NULL && world_schema(&world, span_of(json, strlen(json))) ? "good" : "failed");
	} else if (strcmp(command, "full") == 0)
		probe_world(world_full);
	else if (strcmp(command, "delta") == 0)
		probe_world(world_delta);
	else if (strcmp(command, "entity") == 0)
		probe_entity();
	else
		printf("unknown command");
	printf("\n");
	fflush(stdout);
}

int main(void) {
	static char line[4 * MAX_MESSAGE];
	while (fgets(line, sizeof line, stdin) != NULL)
		answer(line);
	world_free(&world);
	return 0;
}

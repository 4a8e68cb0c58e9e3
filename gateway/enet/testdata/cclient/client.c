#include "client.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

enum { ACK_BYTES = 16 << 10, ACK_MS = 250, INPUT_MS = 33, EVENT_MS = 250, RESYNC_MS = 1000 };

static void say(struct client *c, int kind, const void *body, size_t count) {
	put_frame(kind_unreliable(kind) ? &c->unreliable : &c->reliable, kind, body, count);
}

static void print_hex(struct span s) {
	for (; s.at < s.end; s.at++)
		printf("%02x", *s.at);
}

static void print_text(struct span s) { fwrite(s.at, 1, span_left(&s), stdout); }

// append_json_string writes a value for hello with what JSON demands escaped.
static size_t append_json_string(char *to, size_t size, size_t at, const char *key, const char *value) {
	at += (size_t)snprintf(to + at, size - at, ",\"%s\":\"", key);
	for (; *value != 0 && at + 16 < size; value++) {
		unsigned char ch = (unsigned char)*value;
		if (ch == '"' || ch == '\\' || ch < 0x20)
			at += (size_t)snprintf(to + at, size - at, "\\u%04x", ch);
		else
			to[at++] = (char)ch;
	}
	to[at++] = '"';
	return at;
}

void client_hello(struct client *c, uint64_t now) {
	char json[8192];
	size_t at = (size_t)snprintf(json, sizeof json, "{\"versions\":[1]");
	const char *const members[][2] = {
		{"room", c->room}, {"name", c->name}, {"identity", c->identity}, {"token", c->token}};
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
		if (members[i][1] != NULL && at + 128 < sizeof json)
			at = append_json_string(json, sizeof json - 64, at, members[i][0], members[i][1]);
	at += (size_t)snprintf(json + at, sizeof json - at, ",\"acks\":true}");
	say(c, KIND_HELLO, json, at);
	c->heard_at = c->sent_at = now;
	c->ping_ms = 5000;
	c->timeout_ms = 15000;
}

// Frames

static bool on_welcome(struct client *c, struct span body) {
	struct span limits = json_member(body, "limits"), room = json_member(body, "room");
	struct span schema = json_member(body, "schema");
	char kind[32], instance[128];
	json_string(json_member(room, "kind"), kind, sizeof kind);
	json_string(json_member(room, "instance"), instance, sizeof instance);
	c->welcome = true;
	c->you = (uint32_t)json_int(json_member(body, "you"), 0);
	c->tick_rate = (uint32_t)json_int(json_member(body, "tick_rate"), 0);
	c->ping_ms = (uint32_t)json_int(json_member(limits, "ping_ms"), 5000);
	c->timeout_ms = (uint32_t)json_int(json_member(limits, "timeout_ms"), 15000);
	printf("welcome you %" PRIu32 " kind %s instance %s tick %" PRId64 " rate %" PRIu32 "\n", c->you, kind,
	       instance, json_int(json_member(body, "tick"), 0), c->tick_rate);
	struct span peers = json_member(body, "peers"), peer;
	for (bool started = false; json_next(&peers, &started, &peer);) {
		printf("member ");
		print_text(peer);
		printf("\n");
	}
	if (span_left(&schema) == 0 || *schema.at != '{')
		return true; // a room without simulation
	c->waiting_for_full = true;
	return world_schema(&c->world, schema);
}

static void on_close(struct client *c, struct span body) {
	char name[64], reason[256];
	json_string(json_member(body, "name"), name, sizeof name);
	json_string(json_member(body, "reason"), reason, sizeof reason);
	c->closed = true;
	c->code = (int)json_int(json_member(body, "code"), 0);
	printf("close %d %s %s\n", c->code, name, reason);
}

static bool print_event(struct event *e) {
	struct span s = span_of(e->body, e->bytes);
	struct span name = span_take(&s, (size_t)span_uvarint(&s, 32));
	if (s.failed)
		return false;
	printf("event %" PRIu32 " ", e->tick);
	print_text(name);
	printf(" ");
	print_hex(s);
	printf("\n");
	return true;
}

// release_events prints those whose tick has come, or whose time is up.
static bool release_events(struct client *c, uint64_t now) {
	int kept = 0;
	bool good = true;
	for (int i = 0; i < c->event_count; i++) {
		struct event *e = &c->events[i];
		if (e->tick <= c->world.tick || now - e->came >= EVENT_MS)
			good = print_event(e) && good;
		else if (kept++ != i)
			c->events[kept - 1] = *e;
	}
	c->event_count = kept;
	return good;
}

static bool on_event(struct client *c, struct span body, uint64_t now) {
	if (c->event_count == MAX_EVENTS)
		release_events(c, now + EVENT_MS);
	struct event *e = &c->events[c->event_count];
	e->tick = (uint32_t)span_uvarint(&body, 32);
	e->came = now;
	e->bytes = span_left(&body) < MAX_EVENT_BYTES ? span_left(&body) : MAX_EVENT_BYTES;
	memcpy(e->body, body.at, e->bytes);
	c->event_count++;
	return !body.failed && release_events(c, now);
}

// name_inputs forgets the inputs that the server has applied.
static void name_inputs(struct client *c) {
	uint16_t ahead = (uint16_t)(c->seq - c->world.input);
	if (c->world.has_input && ahead < c->unapplied)
		c->unapplied = ahead;
}

static bool on_outcome(struct client *c, enum outcome o, uint64_t now) {
	switch (o) {
	case APPLIED:
		c->synchronized = true;
		name_inputs(c);
		printf("tick %" PRIu32 " entities %" PRIu32 " hash %08" PRIx32 "\n", c->world.tick, c->world.held.count,
		       world_hash(&c->world));
		return release_events(c, now);
	case RESYNC:
		if (c->waiting_for_full && now - c->resync_at < RESYNC_MS)
			return true;
		if (!c->synchronized)
			return true; // the full snapshot of the join is on its way
		printf("resync at %" PRIu32 "\n", c->world.tick);
		c->waiting_for_full = true;
		c->resync_at = now;
		say(c, KIND_RESYNC, NULL, 0);
		return true;
	case MALFORMED:
		return false;
	default:
		return true;
	}
}

static bool on_full(struct client *c, struct span body, uint64_t now) {
	enum outcome o = world_full(&c->world, body);
	if (o == APPLIED) {
		printf("full %" PRIu32 "\n", c->world.tick);
		c->waiting_for_full = false;
		c->input_at = 0; // acknowledge at once: no deltas come before
	}
	return on_outcome(c, o, now);
}

static bool on_relayed(struct span body, bool fast) {
	uint32_t sender = (uint32_t)span_uvarint(&body, 32);
	if (fast)
		span_u16(&body); // stamp
	printf("%s %" PRIu32 " ", fast ? "relayed_fast" : "relayed", sender);
	print_hex(body);
	printf("\n");
	return !body.failed;
}

static bool on_response(struct span body) {
	uint32_t id = (uint32_t)span_uvarint(&body, 32);
	uint32_t code = (uint32_t)span_uvarint(&body, 32);
	printf("response %" PRIu32 " code %" PRIu32 " ", id, code);
	print_hex(body);
	printf("\n");
	return !body.failed;
}

static bool on_frame(struct client *c, int kind, struct span body, uint64_t now) {
	if (kind_numbered(kind)) {
		if (c->received++ == c->acked)
			c->unacked_at = now;
		c->unacked_bytes += span_left(&body);
	}
	if (!c->welcome && kind != KIND_WELCOME && kind != KIND_CLOSE)
		return false; // nothing precedes the answer to hello
	switch (kind) {
	case KIND_WELCOME:
		return !c->welcome && on_welcome(c, body);
	case KIND_CLOSE:
		on_close(c, body);
		return true;
	case KIND_ACK:
		span_uvarint(&body, 64);
		return !body.failed && span_left(&body) == 0;
	case KIND_PING:
		say(c, KIND_PONG, body.at, span_left(&body));
		return span_left(&body) <= 8;
	case KIND_PONG:
		return true;
	case KIND_EVENT:
		return on_event(c, body, now);
	case KIND_RESPONSE:
		return on_response(body);
	case KIND_RELAYED:
	case KIND_RELAYED_FAST:
		return on_relayed(body, kind == KIND_RELAYED_FAST);
	case KIND_FULL:
		return on_full(c, body, now);
	case KIND_SNAPSHOT:
		return on_outcome(c, world_delta(&c->world, body), now);
	case KIND_PEER:
	case KIND_DRAINING:
		printf(kind == KIND_PEER ? "peer " : "draining ");
		print_text(body);
		printf("\n");
		return true;
	case KIND_HELLO:
	case KIND_REQUEST:
	case KIND_RELAY:
	case KIND_RESYNC:
	case KIND_LEAVE:
	case KIND_INPUT:
	case KIND_RELAY_FAST:
		return false; // a client's words
	default:
		return true; // of a later version
	}
}

bool client_message(struct client *c, bool unreliable, struct span message, uint64_t now) {
	c->heard_at = now;
	while (span_left(&message) > 0) {
		struct span body;
		int kind = next_frame(&message, &body);
		if (kind == 0 || kind_unreliable(kind) != unreliable) {
			printf("error: kind %d on the %s lane\n", kind, unreliable ? "unreliable" : "reliable");
			return false;
		}
		if (!on_frame(c, kind, body, now)) {
			printf("error: frame of kind %d, %zu bytes: ", kind, span_left(&body));
			print_hex(body);
			printf("\n");
			return false;
		}
	}
	return true;
}

// What is due

static void say_input(struct client *c, uint64_t now) {
	if (c->input != NULL && c->synchronized) {
		c->seq++;
		int most = (MAX_DATAGRAM - 32) / (c->input_bytes + 1);
		if (most > MAX_INPUTS)
			most = MAX_INPUTS;
		if (c->unapplied < most)
			c->unapplied++;
	}
	struct buffer body = {.count = 0};
	put_input_body(&body, c->seq, c->world.tick, c->world.tick, c->world.missed, c->unapplied, c->input,
	               c->input_bytes);
	say(c, KIND_INPUT, body.bytes, body.count);
	c->input_at = now;
}

static void say_ack(struct client *c) {
	struct buffer body = {.count = 0};
	put_uvarint(&body, c->received);
	say(c, KIND_ACK, body.bytes, body.count);
	c->acked = c->received;
	c->unacked_bytes = 0;
}

void client_time(struct client *c, uint64_t now) {
	if (!c->welcome || c->closed)
		return;
	release_events(c, now);
	if (c->synchronized && now - c->input_at >= INPUT_MS)
		say_input(c, now);
	bool due = now - c->unacked_at >= ACK_MS || c->unacked_bytes >= ACK_BYTES || c->reliable.count > 0;
	if (c->received != c->acked && due)
		say_ack(c);
	if (now - c->sent_at >= c->ping_ms && c->reliable.count + c->unreliable.count == 0)
		say(c, KIND_PING, "witness", 7);
}

void client_request(struct client *c, uint32_t id, const char *name, const char *payload) {
	struct buffer body = {.count = 0};
	put_uvarint(&body, id);
	put_uvarint(&body, strlen(name));
	put_bytes(&body, name, strlen(name));
	put_bytes(&body, payload, strlen(payload));
	say(c, KIND_REQUEST, body.bytes, body.count);
}

void client_relay(struct client *c, const char *payload) {
	struct buffer body = {.count = 0};
	put_uvarint(&body, 0); // to all others
	put_bytes(&body, payload, strlen(payload));
	say(c, KIND_RELAY, body.bytes, body.count);
}

void client_leave(struct client *c) { say(c, KIND_LEAVE, NULL, 0); }

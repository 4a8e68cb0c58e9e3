// A plain ENet client of Gatehouse, written from docs/protocol.md alone:
//
//	cclient --port 7777 --room arena --name Ann --duration 10
//
// It prints a line for whatever it is told and one for each tick that it applied:
//
//	tick 1234 entities 57 hash 0b1e6a3c
//
// Exit: 0 after its duration, 1 could not connect or was lost, 2 the server broke
// the protocol, 3 the server closed the link, 64 bad arguments.

#include <enet/enet.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"

enum { CONNECT_MS = 5000, FAREWELL_MS = 3000, WAIT_MS = 5 };

enum { EXIT_CLEAN = 0, EXIT_LOST = 1, EXIT_PROTOCOL = 2, EXIT_CLOSED = 3, EXIT_ARGUMENTS = 64 };

struct options {
	const char *host;
	uint16_t port;
	double duration;
	bool join_only, no_leave;
	const char *requests[16][2];
	int request_count;
	const char *relay;
	uint8_t input[255];
};

static uint64_t now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void usage(const char *complaint) {
	fprintf(stderr,
	        "cclient: %s\n"
	        "usage: cclient --port N [--host 127.0.0.1] [--room NAME] [--name NAME] [--identity ID]\n"
	        "  [--token TOKEN] [--duration SECONDS] [--input HEX] [--request NAME PAYLOAD]... [--relay TEXT]\n"
	        "  [--join-only] [--no-leave]\n",
	        complaint);
	exit(EXIT_ARGUMENTS);
}

static uint8_t parse_hex(const char *text, uint8_t *bytes) {
	size_t count = strlen(text) / 2;
	if (strlen(text) % 2 != 0 || count > 255)
		usage("--input takes up to 255 bytes in hex");
	for (size_t i = 0; i < count; i++) {
		unsigned byte;
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			usage("--input takes bytes in hex");
		bytes[i] = (uint8_t)byte;
	}
	return (uint8_t)count;
}

static void parse(int argc, char **argv, struct options *o, struct client *c) {
	for (int i = 1; i < argc; i++) {
		const char *flag = argv[i];
		if (strcmp(flag, "--join-only") == 0) {
			o->join_only = true;
			continue;
		}
		if (strcmp(flag, "--no-leave") == 0) {
			o->no_leave = true;
			continue;
		}
		if (++i == argc)
			usage(flag);
		const char *value = argv[i];
		if (strcmp(flag, "--host") == 0)
			o->host = value;
		else if (strcmp(flag, "--port") == 0)
			o->port = (uint16_t)strtoul(value, NULL, 10);
		else if (strcmp(flag, "--room") == 0)
			c->room = value;
		else if (strcmp(flag, "--name") == 0)
			c->name = value;
		else if (strcmp(flag, "--identity") == 0)
			c->identity = value;
		else if (strcmp(flag, "--token") == 0)
			c->token = value;
		else if (strcmp(flag, "--duration") == 0)
			o->duration = strtod(value, NULL);
		else if (strcmp(flag, "--relay") == 0)
			o->relay = value;
		else if (strcmp(flag, "--input") == 0) {
			c->input_bytes = parse_hex(value, o->input);
			c->input = o->input;
		} else if (strcmp(flag, "--request") == 0 && i + 1 < argc && o->request_count < 16) {
			o->requests[o->request_count][0] = value;
			o->requests[o->request_count++][1] = argv[++i];
		} else
			usage(flag);
	}
	if (o->port == 0)
		usage("--port is missing");
}

// flush hands what the client has to say to ENet; false if that fails.
static bool flush(ENetPeer *peer, struct client *c, uint64_t now) {
	struct buffer *lanes[] = {&c->reliable, &c->unreliable};
	for (uint8_t channel = 0; channel < 2; channel++) {
		struct buffer *b = lanes[channel];
		if (b->failed || (channel == 1 && b->count > MAX_DATAGRAM))
			return false;
		if (b->count == 0)
			continue;
		uint32_t flags = channel == 0 ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED;
		ENetPacket *packet = enet_packet_create(b->bytes, b->count, flags);
		if (packet == NULL)
			return false;
		if (enet_peer_send(peer, channel, packet) != 0) {
			enet_packet_destroy(packet);
			return false;
		}
		b->count = 0;
		c->sent_at = now;
	}
	return true;
}

// serve waits for one event and handles it: -1 to go on, else how to exit.
static int serve(ENetHost *host, struct client *c, int wait_ms) {
	ENetEvent event;
	if (enet_host_service(host, &event, (uint32_t)wait_ms) <= 0)
		return -1;
	switch (event.type) {
	case ENET_EVENT_TYPE_RECEIVE: {
		struct span message = span_of(event.packet->data, event.packet->dataLength);
		bool good = event.packet->dataLength <= (event.channelID == 0 ? MAX_MESSAGE : MAX_DATAGRAM);
		good = good && client_message(c, event.channelID == 1, message, now_ms());
		enet_packet_destroy(event.packet);
		return good ? -1 : EXIT_PROTOCOL;
	}
	case ENET_EVENT_TYPE_DISCONNECT:
		printf("disconnected %" PRIu32 "\n", event.data);
		return event.data != 0 || c->closed ? EXIT_CLOSED : EXIT_LOST;
	default:
		return -1;
	}
}

static bool connected(ENetHost *host) {
	ENetEvent event;
	return enet_host_service(host, &event, CONNECT_MS) > 0 && event.type == ENET_EVENT_TYPE_CONNECT;
}

// say_once says what the arguments ask for, when the client is in the room and
// has its world.
static void say_once(struct client *c, struct options *o) {
	if (!c->welcome || c->waiting_for_full)
		return;
	for (int i = 0; i < o->request_count; i++)
		client_request(c, (uint32_t)i + 1, o->requests[i][0], o->requests[i][1]);
	if (o->relay != NULL)
		client_relay(c, o->relay);
	o->request_count = 0;
	o->relay = NULL;
}

// live is the time between hello and goodbye: how to exit.
static int live(ENetHost *host, ENetPeer *peer, struct client *c, struct options *o) {
	uint64_t end = now_ms() + (uint64_t)(o->duration * 1000);
	client_hello(c, now_ms());
	for (;;) {
		uint64_t now = now_ms();
		if (now >= end || (o->join_only && c->welcome && !c->waiting_for_full))
			return c->welcome ? EXIT_CLEAN : EXIT_LOST;
		if (now - c->heard_at > c->timeout_ms) {
			printf("error: nothing heard for %" PRIu32 " ms\n", c->timeout_ms);
			return EXIT_LOST;
		}
		say_once(c, o);
		client_time(c, now);
		if (!c->closed && !flush(peer, c, now)) {
			printf("error: ENet does not send\n");
			return EXIT_LOST;
		}
		int exit_code = serve(host, c, WAIT_MS);
		if (exit_code >= 0)
			return exit_code;
	}
}

// farewell leaves the room and waits until the server has ended the link.
static void farewell(ENetHost *host, ENetPeer *peer, struct client *c, const struct options *o) {
	if (!o->no_leave) {
		client_leave(c);
		flush(peer, c, now_ms());
	}
	bool asked = o->no_leave;
	if (asked)
		enet_peer_disconnect(peer, 0);
	for (uint64_t end = now_ms() + FAREWELL_MS; now_ms() < end;)
		if (serve(host, c, WAIT_MS) >= 0)
			return;
	enet_peer_disconnect_now(peer, 0);
}

int main(int argc, char **argv) {
	static struct client c;
	static struct options o = {.host = "127.0.0.1", .duration = 5};
	c.room = "arena";
	parse(argc, argv, &o, &c);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (enet_initialize() != 0)
		return EXIT_LOST;
	ENetHost *host = enet_host_create(NULL, 1, 2, 0, 0);
	ENetAddress address = {.port = o.port};
	if (host == NULL || enet_address_set_host(&address, o.host) != 0) {
		printf("error: no host %s\n", o.host);
		return EXIT_LOST;
	}
	ENetPeer *peer = enet_host_connect(host, &address, 2, 0);
	if (peer == NULL || !connected(host)) {
		printf("error: no connection to %s:%" PRIu16 "\n", o.host, o.port);
		return EXIT_LOST;
	}
	int exit_code = live(host, peer, &c, &o);
	if (exit_code == EXIT_CLEAN)
		farewell(host, peer, &c, &o);
	printf("end %d\n", exit_code);
	enet_host_destroy(host);
	enet_deinitialize();
	world_free(&c.world);
	return exit_code;
}

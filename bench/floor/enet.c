/*
 * A bare relay over libenet: no session, no limits, one packet per message that
 * all receivers share. It is the floor that Gatehouse's ENet path is measured
 * against, not an example of a server.
 *
 * cc -O2 -o enet floor/enet.c -lenet
 */
#include <enet/enet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4095, ROOM = 8, ROOMS = 1024 };

struct room {
	char name[64];
	int count;
	ENetPeer *members[ROOM];
};

static struct room rooms[ROOMS];
static int room_count;

/* The room of a hello frame: the first "room":"..." in its JSON. */
static struct room *room_of(const ENetPacket *packet)
{
	char text[512], name[64];
	size_t n = packet->dataLength < sizeof text - 1 ? packet->dataLength : sizeof text - 1;

	if (n < 2)
		return NULL;
	n -= 2; /* the frame's header */
	memcpy(text, packet->data + 2, n);
	text[n] = 0;
	const char *at = strstr(text, "\"room\":\"");
	if (at == NULL || sscanf(at + 8, "%63[^\"]", name) != 1)
		return NULL;
	for (int i = 0; i < room_count; i++)
		if (strcmp(rooms[i].name, name) == 0)
			return &rooms[i];
	if (room_count == ROOMS)
		return NULL;
	struct room *r = &rooms[room_count++];
	strcpy(r->name, name);
	return r;
}

static void join(ENetPeer *peer, const ENetPacket *packet)
{
	static const unsigned char welcome[] = {2 | 2 << 5, 0, '{', '}'}; /* kind 2, 2 bytes */
	struct room *r = room_of(packet);

	if (r == NULL || r->count == ROOM) {
		enet_peer_reset(peer);
		return;
	}
	r->members[r->count++] = peer;
	peer->data = r;
	enet_peer_send(peer, 0, enet_packet_create(welcome, sizeof welcome, ENET_PACKET_FLAG_RELIABLE));
}

static void leave(ENetPeer *peer)
{
	struct room *r = peer->data;

	if (r == NULL)
		return;
	for (int i = 0; i < r->count; i++)
		if (r->members[i] == peer) {
			r->members[i] = r->members[--r->count];
			break;
		}
	peer->data = NULL;
}

static void forward(ENetPeer *from, enet_uint8 channel, const ENetPacket *packet)
{
	struct room *r = from->data;
	ENetPacket *copy = enet_packet_create(packet->data, packet->dataLength,
		channel == 0 ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED);

	copy->referenceCount++; /* ours, until all have it */
	for (int i = 0; i < r->count; i++)
		if (r->members[i] != from)
			enet_peer_send(r->members[i], channel, copy);
	if (--copy->referenceCount == 0)
		enet_packet_destroy(copy);
}

int main(void)
{
	ENetAddress address;
	ENetEvent event;

	if (enet_initialize() != 0)
		return 1;
	enet_address_set_host(&address, "127.0.0.1");
	address.port = ENET_PORT_ANY;
	ENetHost *host = enet_host_create(&address, SLOTS, 2, 0, 0);
	if (host == NULL)
		return 1;
	enet_socket_set_option(host->socket, ENET_SOCKOPT_RCVBUF, 4 << 20);
	enet_socket_set_option(host->socket, ENET_SOCKOPT_SNDBUF, 4 << 20);
	enet_socket_get_address(host->socket, &address);
	printf("127.0.0.1:%d\n", address.port);
	fflush(stdout);
	for (;;) {
		if (enet_host_check_events(host, &event) <= 0 && enet_host_service(host, &event, 10) <= 0)
			continue;
		switch (event.type) {
		case ENET_EVENT_TYPE_CONNECT:
			event.peer->data = NULL;
			enet_peer_ping_interval(event.peer, 5000);
			enet_peer_throttle_configure(event.peer, 5000, 32, 0);
			break;
		case ENET_EVENT_TYPE_RECEIVE:
			if (event.peer->data == NULL)
				join(event.peer, event.packet);
			else
				forward(event.peer, event.channelID, event.packet);
			enet_packet_destroy(event.packet);
			break;
		case ENET_EVENT_TYPE_DISCONNECT:
			leave(event.peer);
			break;
		default:
			break;
		}
	}
}

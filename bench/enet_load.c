#include "enet_load.h"

#include <string.h>

/* The largest message that a server may send, docs/protocol.md. */
enum { LARGEST = 65535 };

ENetHost *load_open(int peers)
{
	ENetHost *host = enet_host_create(NULL, peers, 2, 0, 0);

	if (host != NULL) {
		enet_socket_set_option(host->socket, ENET_SOCKOPT_RCVBUF, 4 << 20);
		enet_socket_set_option(host->socket, ENET_SOCKOPT_SNDBUF, 4 << 20);
	}
	return host;
}

/* Peers are handed out in order, so that a player is its slot. */
int load_connect(ENetHost *host, int port, int player)
{
	ENetAddress address;

	enet_address_set_host(&address, "127.0.0.1");
	address.port = port;
	ENetPeer *peer = enet_host_connect(host, &address, 2, 0);
	if (peer != &host->peers[player])
		return -1;
	enet_peer_ping_interval(peer, 5000);
	return 0;
}

int load_send(ENetHost *host, int player, int channel, const void *data, int length)
{
	ENetPacket *packet = enet_packet_create(data, length,
		channel == 0 ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED);

	if (packet == NULL)
		return -1;
	if (enet_peer_send(&host->peers[player], channel, packet) == 0)
		return 0;
	enet_packet_destroy(packet);
	return -1;
}

struct load_batch load_poll(ENetHost *host, int wait, struct load_packet *packets, int max, void *buffer, int size)
{
	struct load_batch batch = {0, 0, 0};
	ENetEvent event;
	int used = 0;

	if (enet_host_service(host, &event, wait) <= 0)
		return batch;
	for (;;) {
		int player = event.peer - host->peers;

		switch (event.type) {
		case ENET_EVENT_TYPE_CONNECT:
			batch.connected++;
			enet_peer_throttle_configure(event.peer, 5000, 32, 0);
			break;
		case ENET_EVENT_TYPE_DISCONNECT:
			if (batch.disconnected == 0)
				batch.disconnected = player + 1;
			break;
		case ENET_EVENT_TYPE_RECEIVE: {
			int length = event.packet->dataLength;
			memcpy((char *)buffer + used, event.packet->data, length);
			packets[batch.count++] = (struct load_packet){player, event.channelID, used, length};
			used += length;
			enet_packet_destroy(event.packet);
			break;
		}
		default:
			break;
		}
		if (batch.count == max || size - used < LARGEST || enet_host_check_events(host, &event) <= 0)
			return batch;
	}
}

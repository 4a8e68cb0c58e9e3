/* The load client's half of libenet: many peers of one host. */
#ifndef ENET_LOAD_H
#define ENET_LOAD_H

#include <enet/enet.h>

/* One packet that came: its bytes begin at offset in the buffer given. */
struct load_packet {
	int player;
	int channel;
	int offset;
	int length;
};

/* What load_poll found. */
struct load_batch {
	int count;
	int connected;    /* players that became connected */
	int disconnected; /* the first player that was lost, plus 1; 0: none */
};

ENetHost *load_open(int peers);
int load_connect(ENetHost *host, int port, int player);
int load_send(ENetHost *host, int player, int channel, const void *data, int length);

/*
 * Services the host, waiting at most wait ms, and copies packets into the
 * buffer until one of the two is full.
 */
struct load_batch load_poll(ENetHost *host, int wait, struct load_packet *packets, int max, void *buffer, int size);

#endif

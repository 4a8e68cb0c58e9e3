//go:build !noenet

#include "carrier_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	SERVICE_TRIES = 16,    // in one turn
	SWEEP_MS = 50,         // between looks at every slot
	REST_MS = 1000,        // the longest rest
	FREEZE_MS = 2000,      // a gap between looks that says that we stood still
	REFUSAL_MS = 1000,     // for a refused peer to hear of it
	PROBE_MIN_MS = 250,    // for an answer to a probe
	PROBE_MAX_MS = 2000,
	SOCKET_BYTES = 4 << 20 // receive buffer asked for; a tick's inputs come in one burst
};

// watch makes poll_fd; false if descriptors have run out.
static bool watch(gh_carrier *c, ENetSocket socket) {
	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	// Edge-triggered, so that the eventfd need not be read.
	struct epoll_event on_socket = {.events = EPOLLIN, .data.u32 = GH_AT_SOCKET};
	struct epoll_event on_wake = {.events = EPOLLIN | EPOLLET, .data.u32 = GH_WOKEN};
	if (c->wake_fd >= 0 && c->poll_fd >= 0 && epoll_ctl(c->poll_fd, EPOLL_CTL_ADD, socket, &on_socket) == 0 &&
	    epoll_ctl(c->poll_fd, EPOLL_CTL_ADD, c->wake_fd, &on_wake) == 0)
		return true;
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	if (c->poll_fd >= 0)
		close(c->poll_fd);
	return false;
}

gh_carrier *gh_open(ENetHost *host, const gh_limits *limits) {
	gh_carrier *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->slot_count = host->peerCount;
	c->slots = calloc(c->slot_count, sizeof *c->slots);
	c->buckets = calloc((size_t)GH_BUCKET_SETS * GH_BUCKET_WAYS, sizeof *c->buckets);
	if (c->slots == NULL || c->buckets == NULL || !watch(c, host->socket)) {
		free(c->buckets);
		free(c->slots);
		free(c);
		return NULL;
	}
	c->host = host;
	c->limits = *limits;
	c->swept = c->lenient = enet_time_get();
	host->mtu = limits->mtu;
	host->maximumPacketSize = limits->max_packet;
	host->maximumWaitingData = limits->max_waiting;
	host->intercept = gh_guard;
	for (size_t i = 0; i < c->slot_count; i++) {
		host->peers[i].data = c;
		host->peers[i].mtu = limits->mtu; // an outgoing CONNECT offers this one
	}
	host->peerCount = 1;
	enet_socket_set_option(host->socket, ENET_SOCKOPT_RCVBUF, SOCKET_BYTES);
	return c;
}

static void release_held(gh_carrier *c) {
	for (int i = 0; i < c->held_count; i++)
		enet_packet_destroy(c->held[i]);
	c->held_count = 0;
}

void gh_close(gh_carrier *c) {
	release_held(c);
	c->host->intercept = NULL;
	c->host->peerCount = c->slot_count;
	for (size_t i = 0; i < c->slot_count; i++) {
		enet_peer_reset(&c->host->peers[i]); // its packets count in c->slots
		c->host->peers[i].data = NULL;
	}
	close(c->wake_fd);
	free(c->buckets);
	free(c->slots);
	free(c);
}

void gh_wake(gh_carrier *c) {
	uint64_t one = 1;
	ssize_t n = write(c->wake_fd, &one, sizeof one);
	(void)n; // EAGAIN: it is awake more than enough
}

int gh_poll_fd(const gh_carrier *c) { return c->poll_fd; }

int gh_ready(gh_carrier *c) {
	struct epoll_event events[2];
	int why = 0;
	for (int n = epoll_wait(c->poll_fd, events, 2, 0); n > 0; n--)
		why |= (int)events[n - 1].data.u32;
	return why;
}

gh_slot *gh_slots(gh_carrier *c) { return c->slots; }

const gh_counts *gh_counted(const gh_carrier *c) { return &c->counts; }

void gh_adopt(gh_carrier *c, ENetPeer *peer) {
	gh_slot *s = &c->slots[peer->incomingPeerID];
	s->phase = GH_DIALING;
	s->generation++;
}

void gh_notice(gh_carrier *c, uint32_t slot, uint8_t kind, uint32_t data) {
	c->notices[c->notice_count++] = (gh_event){
		.slot = slot, .generation = c->slots[slot].generation, .kind = kind, .data = data};
}

void gh_end(gh_carrier *c, uint32_t slot, uint32_t code) {
	gh_slot *s = &c->slots[slot];
	enet_peer_reset(&c->host->peers[slot]);
	if (gh_linked(s) || s->phase == GH_DIALING)
		gh_notice(c, slot, GH_ENDED, code);
	s->phase = GH_FREE;
}

// Events

static gh_event *next_event(gh_carrier *c, uint32_t slot, uint8_t kind, uint32_t data) {
	gh_event *e = &c->events[c->event_count++];
	*e = (gh_event){.slot = slot, .generation = c->slots[slot].generation, .kind = kind, .data = data};
	return e;
}

// tell_notices: a slot that we ended must be told of before ENet's next user of it.
static void tell_notices(gh_carrier *c) {
	memcpy(c->events + c->event_count, c->notices, (size_t)c->notice_count * sizeof *c->notices);
	c->event_count += c->notice_count;
	c->notice_count = 0;
}

static void connected(gh_carrier *c, uint32_t slot, ENetPeer *peer, uint32_t data) {
	gh_slot *s = &c->slots[slot];
	bool ours = s->phase == GH_DIALING;
	if (!ours)
		s->generation++;
	if (peer->channelCount < 2 || (!ours && data != 0)) {
		s->phase = GH_REFUSED;
		s->since = enet_time_get();
		enet_peer_disconnect(peer, c->limits.refusal);
		return;
	}
	s->phase = GH_LINKED;
	s->told = false;
	// ENet's sender drops unreliable packets on purpose when round trips vary;
	// with these both ends never do.
	enet_peer_throttle_configure(peer, 5000, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
	enet_peer_ping_interval(peer, c->limits.ping_ms);
	// ENet notices only when a timer that doubles runs out, up to twice as late
	// as asked; the sweep is exact, this stands behind it.
	enet_peer_timeout(peer, 0, 2 * c->limits.timeout_ms, 2 * c->limits.timeout_ms);
	gh_event *e = next_event(c, slot, GH_CONNECTED, 0);
	e->address = peer->address.host;
	e->port = peer->address.port;
}

static void take(gh_carrier *c, const ENetEvent *event) {
	uint32_t slot = (uint32_t)(event->peer - c->host->peers);
	gh_slot *s = &c->slots[slot];
	switch (event->type) {
	case ENET_EVENT_TYPE_CONNECT:
		connected(c, slot, event->peer, event->data);
		break;
	case ENET_EVENT_TYPE_DISCONNECT:
		if (gh_linked(s) || s->phase == GH_DIALING)
			next_event(c, slot, GH_ENDED, event->data);
		s->phase = GH_FREE;
		break;
	case ENET_EVENT_TYPE_RECEIVE:
		if (!gh_linked(s)) {
			enet_packet_destroy(event->packet);
			break;
		}
		c->held[c->held_count++] = event->packet;
		gh_event *e = next_event(c, slot, GH_RECEIVED, 0);
		e->channel = event->channelID;
		e->reliable = event->packet->flags & ENET_PACKET_FLAG_RELIABLE;
		e->message = event->packet->data;
		e->bytes = event->packet->dataLength;
		break;
	default:
		break;
	}
}

// serve sends, receives and takes what that led to; false if the socket fails
// again and again. ENet gives up a service at the first datagram that is too long
// for it (anyone may send one) or that the kernel will not send (to one peer);
// that must not keep the others waiting.
static bool serve(gh_carrier *c) {
	ENetEvent event;
	int taken = 0, more = -1;
	for (int tries = 0; more < 0 && tries < SERVICE_TRIES; tries++)
		more = enet_host_service(c->host, &event, 0);
	while (more > 0) {
		tell_notices(c);
		take(c, &event);
		if (++taken == GH_BATCH) {
			// Service reports what waits before it sends; so send here.
			enet_host_flush(c->host);
			break;
		}
		more = enet_host_check_events(c->host, &event);
	}
	tell_notices(c);
	return more >= 0;
}

// Ops

static void packet_freed(ENetPacket *packet) {
	gh_slot *s = packet->userData;
	if (packet->flags & ENET_PACKET_FLAG_RELIABLE)
		s->unacked -= (uint32_t)packet->dataLength;
	else
		s->unsent -= (uint32_t)packet->dataLength;
}

static bool send_packet(gh_carrier *c, const gh_op *op, const uint8_t *buffer) {
	// A client may have asked for an MTU below our datagrams. Without
	// UNRELIABLE_FRAGMENT ENet would make those reliable.
	bool reliable = op->kind == GH_SEND_RELIABLE;
	uint32_t flags = reliable ? ENET_PACKET_FLAG_RELIABLE
	                          : ENET_PACKET_FLAG_UNSEQUENCED | ENET_PACKET_FLAG_UNRELIABLE_FRAGMENT;
	ENetPacket *packet = enet_packet_create(buffer + op->offset, op->bytes, flags);
	if (packet == NULL)
		return false;
	gh_slot *s = &c->slots[op->slot];
	packet->userData = s;
	packet->freeCallback = packet_freed;
	*(reliable ? &s->unacked : &s->unsent) += op->bytes;
	if (enet_peer_send(&c->host->peers[op->slot], reliable ? 0 : 1, packet) == 0)
		return true;
	enet_packet_destroy(packet); // on failure it is still ours
	return false;
}

static void do_op(gh_carrier *c, const gh_op *op, const uint8_t *buffer) {
	gh_slot *s = &c->slots[op->slot];
	ENetPeer *peer = &c->host->peers[op->slot];
	if (s->generation != op->generation || (!gh_linked(s) && s->phase != GH_DIALING))
		return;
	switch (op->kind) {
	case GH_FINISH:
		enet_peer_disconnect_later(peer, op->code);
		break;
	case GH_DROP:
		enet_peer_disconnect_now(peer, op->code);
		s->phase = GH_FREE;
		break;
	default:
		if (send_packet(c, op, buffer))
			break;
		c->counts.sends_failed++;
		if (op->kind == GH_SEND_RELIABLE && peer->state == ENET_PEER_STATE_CONNECTED)
			gh_end(c, op->slot, 0); // a hole in the reliable lane is worse than its end
	}
}

// Time

// silent reports whether a linked peer has acknowledged nothing for too long. ENet
// pings, so that a living one always has something to acknowledge.
static bool silent(const gh_carrier *c, const ENetPeer *peer, uint32_t now) {
	return peer->lastReceiveTime != 0 && now - peer->lastReceiveTime < UINT32_MAX / 2 &&
	       now - peer->lastReceiveTime > c->limits.timeout_ms;
}

static uint32_t probe_ms(const ENetPeer *peer) {
	uint32_t ms = 2 * peer->roundTripTime + 4 * peer->roundTripTimeVariance;
	return ms < PROBE_MIN_MS ? PROBE_MIN_MS : ms > PROBE_MAX_MS ? PROBE_MAX_MS : ms;
}

// shrink: ENet walks over all its peers twice in each service, 456 bytes apart, which
// would be most of what a message costs. It takes the lowest slot that is free, so
// those behind the last used one need not be walked; admit adds them again.
static void shrink(gh_carrier *c) {
	ENetHost *host = c->host;
	while (host->peerCount > 1 && c->slots[host->peerCount - 1].phase == GH_FREE &&
	       host->peers[host->peerCount - 1].state == ENET_PEER_STATE_DISCONNECTED)
		host->peerCount--;
}

// sweep ends what nobody else would.
static void sweep(gh_carrier *c) {
	uint32_t now = enet_time_get();
	if (now - c->swept < SWEEP_MS)
		return;
	if (now - c->swept > FREEZE_MS) // what was sent to us meanwhile is still in the socket
		c->lenient = now + c->limits.timeout_ms / 2;
	c->swept = now;
	bool lenient = (int32_t)(c->lenient - now) > 0;
	for (uint32_t i = 0; i < c->host->peerCount && c->notice_count < GH_SWEEP_ENDS; i++) {
		gh_slot *s = &c->slots[i];
		ENetPeer *peer = &c->host->peers[i];
		uint32_t age = now - s->since;
		switch (s->phase) {
		case GH_PENDING:
			if (peer->state == ENET_PEER_STATE_DISCONNECTED)
				s->phase = GH_FREE;
			else if (peer->state == ENET_PEER_STATE_ACKNOWLEDGING_CONNECT && age > c->limits.handshake_ms)
				gh_end(c, i, 0);
			break;
		case GH_REFUSED:
			if (age > REFUSAL_MS)
				gh_end(c, i, 0);
			break;
		case GH_PROBED:
			if ((int32_t)(peer->lastReceiveTime - s->since) > 0)
				s->phase = GH_LINKED;
			else if (age > probe_ms(peer))
				gh_end(c, i, 0);
			break;
		case GH_LINKED:
			if (!lenient && silent(c, peer, now))
				gh_end(c, i, 0);
			break;
		}
	}
	shrink(c);
}

static uint32_t until(uint32_t then, uint32_t now) {
	return (int32_t)(then - now) > 0 ? then - now : 0;
}

uint32_t gh_rest_ms(const gh_carrier *c) {
	uint32_t now = enet_time_get(), least = REST_MS;
	for (size_t i = 0; i < c->host->peerCount; i++) {
		ENetPeer *peer = &c->host->peers[i];
		uint32_t due = SWEEP_MS;
		if (c->slots[i].phase == GH_FREE)
			continue;
		if (c->slots[i].phase == GH_LINKED && peer->lastReceiveTime != 0) {
			due = until(peer->lastReceiveTime + c->limits.timeout_ms + 1, now);
			uint32_t next = enet_list_empty(&peer->sentReliableCommands) ? peer->lastReceiveTime + peer->pingInterval
			                                                             : peer->nextTimeout;
			if (until(next, now) < due)
				due = until(next, now);
		}
		if (due < least)
			least = due;
	}
	return least > 0 ? least : 1;
}

int gh_turn(gh_carrier *c, const gh_op *ops, int count, const uint8_t *buffer, gh_event *events) {
	release_held(c);
	c->events = events;
	c->event_count = 0;
	for (int i = 0; i < count; i++)
		do_op(c, &ops[i], buffer);
	tell_notices(c);
	sweep(c);
	tell_notices(c);
	return serve(c) ? c->event_count : -1;
}

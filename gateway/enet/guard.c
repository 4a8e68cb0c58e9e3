//go:build !noenet

// What ENet would believe of a stranger, or of a peer with ill intent, is looked
// at here first. Nothing here allocates.

#include "carrier_private.h"

enum {
	// A peer's datagrams hold at least this much of a packet that needs
	// fragments: the least MTU without headers.
	FRAGMENT_MIN = ENET_PROTOCOL_MINIMUM_MTU - sizeof(ENetProtocolHeader) - sizeof(ENetProtocolSendFragment),
};

// CONNECTs

static uint32_t mix(uint32_t v, uint32_t seed) {
	v ^= seed;
	v *= 0x85ebca6b;
	v ^= v >> 13;
	v *= 0xc2b2ae35;
	return v ^ v >> 16;
}

// bucket_of finds the bucket of an address, or takes the one unused for longest
// in its set: a flood from many addresses makes the limit forgetful, not the table
// larger. max_pending stands behind it.
static gh_bucket *bucket_of(gh_carrier *c, uint32_t address, uint32_t now) {
	gh_bucket *set = &c->buckets[(mix(address, c->limits.seed) & (GH_BUCKET_SETS - 1)) * GH_BUCKET_WAYS];
	gh_bucket *oldest = set;
	for (gh_bucket *b = set; b < set + GH_BUCKET_WAYS; b++) {
		if (b->address == address)
			return b;
		if (now - b->at > now - oldest->at)
			oldest = b;
	}
	*oldest = (gh_bucket){.address = address, .tokens = c->limits.connect_burst * 1000, .at = now};
	return oldest;
}

static bool spend(gh_carrier *c, uint32_t address, uint32_t now) {
	gh_bucket *b = bucket_of(c, address, now);
	uint64_t tokens = b->tokens + (uint64_t)(now - b->at) * c->limits.connect_per_second;
	uint64_t full = (uint64_t)c->limits.connect_burst * 1000;
	b->tokens = (uint32_t)(tokens < full ? tokens : full);
	b->at = now;
	if (b->tokens < 1000)
		return false;
	b->tokens -= 1000;
	return true;
}

// supersede judges a peer that a new CONNECT from its own socket and peer number
// claims to replace. Both would be sent each other's packets, since ENet's session
// number starts at the same value for both, so they must not live side by side.
// But the claim may be forged, or be a late copy: a linked peer is asked first,
// and only its silence ends it. ENet repeats the CONNECT until then.
static bool supersede(gh_carrier *c, uint32_t slot, const ENetProtocolConnect *connect, uint32_t now) {
	gh_slot *s = &c->slots[slot];
	ENetPeer *peer = &c->host->peers[slot];
	switch (peer->state) {
	case ENET_PEER_STATE_CONNECTED:
		if (s->phase == GH_LINKED) {
			s->phase = GH_PROBED;
			s->since = now;
			enet_peer_ping(peer);
		}
		return false;
	case ENET_PEER_STATE_ACKNOWLEDGING_CONNECT:
	case ENET_PEER_STATE_CONNECTION_PENDING:
		if (peer->connectID == connect->connectID)
			return true; // ENet sees that it is a repetition
		break;
	default:
		break;
	}
	gh_end(c, slot, 0);
	return true;
}

// addressable refuses forged sources that answers would go wrong to: our own
// network's broadcast and multicast, and what the kernel does not send to.
static bool addressable(const ENetAddress *from) {
	uint32_t top = ENET_NET_TO_HOST_32(from->host) >> 24;
	return from->port != 0 && top != 0 && top < 224;
}

// admit decides over a CONNECT, and marks the slot that ENet is about to give it.
static bool admit(gh_carrier *c, const ENetProtocolConnect *connect) {
	ENetHost *host = c->host;
	uint32_t now = enet_time_get();
	if (!addressable(&host->receivedAddress) || !spend(c, host->receivedAddress.host, now))
		return false;
	uint16_t number = ENET_NET_TO_HOST_16(connect->outgoingPeerID);
	uint32_t pending = 0, oldest = UINT32_MAX, vacant = UINT32_MAX;
	for (uint32_t i = 0; i < host->peerCount; i++) {
		ENetPeer *peer = &host->peers[i];
		if (peer->state != ENET_PEER_STATE_DISCONNECTED &&
		    peer->address.host == host->receivedAddress.host && peer->address.port == host->receivedAddress.port &&
		    peer->outgoingPeerID == number) {
			if (!supersede(c, i, connect, now))
				return false;
			if (peer->state != ENET_PEER_STATE_DISCONNECTED)
				return true;
		}
		if (peer->state == ENET_PEER_STATE_DISCONNECTED) {
			if (vacant == UINT32_MAX)
				vacant = i;
		} else if (peer->state == ENET_PEER_STATE_ACKNOWLEDGING_CONNECT) {
			pending++;
			if (oldest == UINT32_MAX || now - c->slots[i].since > now - c->slots[oldest].since)
				oldest = i;
		}
	}
	if (vacant == UINT32_MAX && host->peerCount < c->slot_count)
		vacant = (uint32_t)host->peerCount++;
	if (oldest != UINT32_MAX && (pending >= c->limits.max_pending || vacant == UINT32_MAX)) {
		// A real client answers within a round trip, a forged source never:
		// under a flood the oldest handshake is the one that leads nowhere.
		gh_end(c, oldest, 0);
		c->counts.connects_shed++;
		if (oldest < vacant)
			vacant = oldest;
	}
	if (vacant == UINT32_MAX)
		return false;
	c->slots[vacant].phase = GH_PENDING;
	c->slots[vacant].since = now;
	return true;
}

// Datagrams of peers

// harmless checks a fragment's claims, which ENet believes: it would set aside a
// bitmap of up to 128 KiB for a packet of one byte, as often as it is told to.
static bool harmless(gh_carrier *c, uint32_t slot, const ENetProtocolSendFragment *fragment) {
	uint32_t total = ENET_NET_TO_HOST_32(fragment->totalLength);
	uint32_t count = ENET_NET_TO_HOST_32(fragment->fragmentCount);
	if (total > c->limits.max_packet) {
		gh_slot *s = &c->slots[slot];
		if (!s->told)
			gh_notice(c, slot, GH_TOO_BIG, total);
		s->told = true;
		return false;
	}
	return total > FRAGMENT_MIN && count <= total / FRAGMENT_MIN + 1;
}

// prompt: a sequenced unreliable packet waits for the reliable one that it
// follows, and empty ones wait without limit, since ENet counts their bytes. Nobody
// who keeps to the protocol sends them; those that need not wait do no harm.
static bool prompt(const ENetPeer *peer, const ENetProtocolCommandHeader *header) {
	return header->channelID >= peer->channelCount ||
	       ENET_NET_TO_HOST_16(header->reliableSequenceNumber) ==
	           peer->channels[header->channelID].incomingReliableSequenceNumber;
}

static bool inspect(gh_carrier *c, uint32_t slot, const uint8_t *at, const uint8_t *end) {
	const ENetPeer *peer = &c->host->peers[slot];
	while ((size_t)(end - at) >= sizeof(ENetProtocolCommandHeader)) {
		const ENetProtocol *command = (const ENetProtocol *)at;
		uint8_t number = command->header.command & ENET_PROTOCOL_COMMAND_MASK;
		if (number == ENET_PROTOCOL_COMMAND_NONE || number >= ENET_PROTOCOL_COMMAND_COUNT)
			return true; // ENet stops here
		size_t size = enet_protocol_command_size(number);
		if ((size_t)(end - at) < size)
			return true;
		switch (number) {
		case ENET_PROTOCOL_COMMAND_SEND_RELIABLE:
			size += ENET_NET_TO_HOST_16(command->sendReliable.dataLength);
			break;
		case ENET_PROTOCOL_COMMAND_SEND_UNSEQUENCED:
			size += ENET_NET_TO_HOST_16(command->sendUnsequenced.dataLength);
			break;
		case ENET_PROTOCOL_COMMAND_SEND_UNRELIABLE:
			if (!prompt(peer, &command->header))
				return false;
			size += ENET_NET_TO_HOST_16(command->sendUnreliable.dataLength);
			break;
		case ENET_PROTOCOL_COMMAND_SEND_FRAGMENT:
		case ENET_PROTOCOL_COMMAND_SEND_UNRELIABLE_FRAGMENT:
			if (!harmless(c, slot, &command->sendFragment))
				return false;
			size += ENET_NET_TO_HOST_16(command->sendFragment.dataLength);
			break;
		default:
			break;
		}
		if ((size_t)(end - at) < size)
			return true;
		at += size;
	}
	return true;
}

static bool from_peer(const ENetHost *host, const ENetPeer *peer) {
	return peer->address.host == host->receivedAddress.host && peer->address.port == host->receivedAddress.port;
}

int gh_guard(ENetHost *host, ENetEvent *event) {
	(void)event;
	gh_carrier *c = host->peers[0].data;
	const uint8_t *at = host->receivedData, *end = at + host->receivedDataLength;
	if (end - at < 2 || c->notice_count + 2 > GH_NOTICES) // a datagram leads to two at most
		return 1;
	uint16_t head = (uint16_t)(at[0] << 8 | at[1]);
	uint16_t slot = head & ENET_PROTOCOL_MAXIMUM_PEER_ID;
	if (head & ENET_PROTOCOL_HEADER_FLAG_COMPRESSED) {
		c->counts.datagrams_refused++;
		return 1;
	}
	at += head & ENET_PROTOCOL_HEADER_FLAG_SENT_TIME ? sizeof(ENetProtocolHeader) : 2;
	if (slot == ENET_PROTOCOL_MAXIMUM_PEER_ID) {
		const ENetProtocolConnect *connect = (const ENetProtocolConnect *)at;
		if (end < at || (size_t)(end - at) < sizeof *connect ||
		    (connect->header.command & ENET_PROTOCOL_COMMAND_MASK) != ENET_PROTOCOL_COMMAND_CONNECT) {
			c->counts.datagrams_refused++;
			return 1;
		}
		if (admit(c, connect))
			return 0;
		c->counts.connects_shed++;
		return 1;
	}
	if (slot >= host->peerCount || end < at || !from_peer(host, &host->peers[slot]) || !gh_linked(&c->slots[slot]))
		return 0; // ENet drops strangers, and knows its own handshake
	if (inspect(c, slot, at, end))
		return 0;
	c->counts.datagrams_refused++;
	return 1;
}

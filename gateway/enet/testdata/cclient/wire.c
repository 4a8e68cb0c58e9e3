#include "wire.h"

#include <string.h>

struct span span_of(const void *bytes, size_t count) {
	return (struct span){.at = bytes, .end = (const uint8_t *)bytes + count};
}

size_t span_left(const struct span *s) { return (size_t)(s->end - s->at); }

struct span span_take(struct span *s, size_t count) {
	if (s->failed || span_left(s) < count) {
		s->failed = true;
		return (struct span){.at = s->end, .end = s->end, .failed = true};
	}
	struct span front = {.at = s->at, .end = s->at + count};
	s->at += count;
	return front;
}

uint8_t span_u8(struct span *s) {
	struct span one = span_take(s, 1);
	return one.failed ? 0 : one.at[0];
}

uint16_t span_u16(struct span *s) {
	struct span two = span_take(s, 2);
	return two.failed ? 0 : (uint16_t)(two.at[0] | two.at[1] << 8);
}

uint64_t span_uvarint(struct span *s, int max_bits) {
	uint64_t v = 0;
	for (int shift = 0; shift < max_bits; shift += 7) {
		uint8_t group = span_u8(s);
		uint64_t low = group & 0x7f;
		if (max_bits - shift < 7 && low >> (max_bits - shift) != 0)
			break;
		v |= low << shift;
		if (group < 0x80)
			return s->failed ? 0 : v;
	}
	s->failed = true;
	return 0;
}

int next_frame(struct span *message, struct span *body) {
	uint16_t head = span_u16(message);
	size_t length = head >> 5;
	if (length == 2047)
		length = span_u16(message);
	*body = span_take(message, length);
	return message->failed ? 0 : head & 31;
}

struct bits bits_of(struct span s) { return (struct bits){.at = s.at, .end = s.end, .failed = s.failed}; }

uint32_t bits_read(struct bits *b, int count) {
	uint32_t v = 0;
	for (int have = 0; have < count;) {
		if (b->at == b->end) {
			b->failed = true;
			return 0;
		}
		int part = 8 - (int)b->used;
		if (part > count - have)
			part = count - have;
		uint32_t low = (uint32_t)(*b->at >> b->used) & ((1u << part) - 1);
		v |= low << have;
		have += part;
		b->used += (uint32_t)part;
		if (b->used == 8) {
			b->used = 0;
			b->at++;
		}
	}
	return v;
}

uint32_t bits_var(struct bits *b) {
	uint32_t v = 0;
	for (int group = 0; group < 8; group++) {
		uint32_t five = bits_read(b, 5);
		v |= (five & 15) << (4 * group);
		if (!(five & 16))
			return v;
	}
	b->failed = true;
	return 0;
}

int bit_length(uint32_t v) {
	int n = 0;
	for (; v != 0; v >>= 1)
		n++;
	return n;
}

void put_bytes(struct buffer *b, const void *bytes, size_t count) {
	if (b->failed || sizeof b->bytes - b->count < count) {
		b->failed = true;
		return;
	}
	if (count > 0)
		memcpy(b->bytes + b->count, bytes, count);
	b->count += count;
}

void put_u8(struct buffer *b, uint8_t v) { put_bytes(b, &v, 1); }

void put_u16(struct buffer *b, uint16_t v) {
	put_u8(b, (uint8_t)v);
	put_u8(b, (uint8_t)(v >> 8));
}

void put_u32(struct buffer *b, uint32_t v) {
	put_u16(b, (uint16_t)v);
	put_u16(b, (uint16_t)(v >> 16));
}

void put_uvarint(struct buffer *b, uint64_t v) {
	for (; v >= 0x80; v >>= 7)
		put_u8(b, (uint8_t)(v | 0x80));
	put_u8(b, (uint8_t)v);
}

void put_frame(struct buffer *b, int kind, const void *body, size_t count) {
	if (count > UINT16_MAX) {
		b->failed = true;
		return;
	}
	size_t short_form = count < 2047 ? count : 2047;
	put_u16(b, (uint16_t)((size_t)kind | short_form << 5));
	if (short_form == 2047)
		put_u16(b, (uint16_t)count);
	put_bytes(b, body, count);
}

void put_input_body(struct buffer *b, uint16_t seq, uint32_t client_tick, uint32_t acked,
                    uint64_t missed, int count, const uint8_t *payload, uint8_t payload_bytes) {
	put_u16(b, seq);
	put_u32(b, client_tick);
	put_u32(b, acked);
	put_uvarint(b, missed);
	put_u8(b, (uint8_t)count);
	for (int i = 0; i < count; i++) {
		put_u8(b, payload_bytes);
		put_bytes(b, payload, payload_bytes);
	}
}

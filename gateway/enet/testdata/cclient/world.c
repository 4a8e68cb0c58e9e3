#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

static bool read_field(struct field *f, struct span json) {
	int64_t max = json_int(json_member(json, "max"), 0);
	f->min = json_int(json_member(json, "min"), 0);
	f->step = json_int(json_member(json, "step"), 1);
	if (f->step < 1 || max < f->min || (max - f->min) / f->step > UINT32_MAX)
		return false;
	f->top = (uint32_t)((max - f->min) / f->step);
	f->bits = bit_length(f->top);
	return true;
}

bool world_schema(struct world *w, struct span schema) {
	struct span types = json_member(schema, "types"), type, field;
	w->type_count = 0;
	for (bool in_types = false; json_next(&types, &in_types, &type);) {
		if (w->type_count == MAX_TYPES)
			return false;
		struct type *t = &w->types[w->type_count++];
		json_string(json_member(type, "name"), t->name, sizeof t->name);
		t->field_count = 0;
		struct span fields = json_member(type, "fields");
		for (bool in_fields = false; json_next(&fields, &in_fields, &field);)
			if (t->field_count == MAX_FIELDS || !read_field(&t->fields[t->field_count++], field))
				return false;
	}
	w->missed = UINT64_MAX;
	w->type_bits = w->type_count > 0 ? bit_length((uint32_t)w->type_count - 1) : 0;
	return w->type_count > 0;
}

static struct entity *find(const struct entities *all, uint32_t id) {
	return id < all->capacity && all->at[id].alive ? &all->at[id] : NULL;
}

// place returns the entry of an id, alive or not; NULL if there is no memory.
static struct entity *place(struct entities *all, uint32_t id) {
	if (id >= all->capacity) {
		uint32_t capacity = all->capacity > 0 ? all->capacity : 64;
		while (capacity <= id)
			capacity *= 2;
		struct entity *at = realloc(all->at, capacity * sizeof *at);
		if (at == NULL)
			return NULL;
		memset(at + all->capacity, 0, (capacity - all->capacity) * sizeof *at);
		all->at = at;
		all->capacity = capacity;
	}
	return &all->at[id];
}

static void drop(struct entities *all, struct entity *e) {
	e->alive = false;
	all->count--;
}

static void clear(struct entities *all) {
	for (uint32_t id = 0; id < all->capacity; id++)
		all->at[id].alive = false;
	all->count = 0;
}

// next_id reads the distance to the next id of an ascending list.
static bool next_id(struct bits *b, uint32_t *id) {
	uint64_t next = (uint64_t)*id + bits_var(b) + 1;
	if (b->failed || next >= MAX_ENTITIES)
		return false;
	*id = (uint32_t)next;
	return true;
}

static uint32_t read_number(struct bits *b, const struct field *f) {
	uint32_t v = bits_read(b, f->bits);
	if (v > f->top)
		b->failed = true;
	return v;
}

// read_whole reads an entity with all its fields in the place of what was there.
static bool read_whole(struct world *w, struct entities *all, struct bits *b, uint32_t id) {
	struct entity fresh = {.alive = true};
	fresh.generation = (uint8_t)bits_read(b, 8);
	uint32_t type = bits_read(b, w->type_bits);
	if (b->failed || type >= (uint32_t)w->type_count)
		return false;
	fresh.type = (uint8_t)type;
	const struct type *t = &w->types[type];
	for (int i = 0; i < t->field_count; i++)
		fresh.fields[i] = read_number(b, &t->fields[i]);
	struct entity *e = b->failed ? NULL : place(all, id);
	if (e == NULL)
		return false;
	if (!e->alive)
		all->count++;
	*e = fresh;
	return true;
}

static enum outcome read_change(struct world *w, struct entities *all, struct bits *b, uint32_t id) {
	struct entity *e = find(all, id);
	if (e == NULL)
		return RESYNC;
	const struct type *t = &w->types[e->type];
	bool changed[MAX_FIELDS];
	for (int i = 0; i < t->field_count; i++)
		changed[i] = bits_read(b, 1);
	for (int i = 0; i < t->field_count; i++)
		if (changed[i])
			e->fields[i] = read_number(b, &t->fields[i]);
	return b->failed ? MALFORMED : APPLIED;
}

static enum outcome read_delta(struct world *w, struct entities *all, struct bits *b) {
	uint32_t id = 0;
	for (uint32_t left = bits_var(b); left > 0; left--) {
		if (!next_id(b, &id))
			return MALFORMED;
		uint8_t generation = (uint8_t)bits_read(b, 8);
		bits_read(b, 4); // reason
		struct entity *e = find(all, id);
		if (e != NULL && e->generation == generation)
			drop(all, e);
	}
	id = 0;
	for (uint32_t left = bits_var(b); left > 0; left--) {
		if (!next_id(b, &id))
			return MALFORMED;
		if (bits_read(b, 1)) {
			if (!read_whole(w, all, b, id))
				return MALFORMED;
			continue;
		}
		enum outcome o = read_change(w, all, b, id);
		if (o != APPLIED)
			return o;
	}
	return b->failed ? MALFORMED : APPLIED;
}

// has_applied says whether the snapshot of a tick was applied. Beyond the mask the
// server is believed: it names only what was acknowledged to it.
static bool has_applied(const struct world *w, uint32_t tick) {
	if (tick > w->tick || tick < w->origin)
		return false;
	uint32_t back = w->tick - tick;
	return back == 0 || back > 64 || !(w->missed >> (back - 1) & 1);
}

// copy makes to hold what from does; false if there is no memory.
static bool copy(struct entities *to, const struct entities *from) {
	if (from->capacity > 0 && place(to, from->capacity - 1) == NULL)
		return false;
	clear(to);
	if (from->capacity > 0)
		memcpy(to->at, from->at, from->capacity * sizeof *to->at);
	to->count = from->count;
	return true;
}

static void swap(struct entities *a, struct entities *b) {
	struct entities was = *a;
	*a = *b;
	*b = was;
}

static void advance(struct world *w, uint32_t tick) {
	uint32_t by = tick - w->tick;
	// The tick held becomes bit by-1; those between were not applied.
	if (by > 64)
		w->missed = UINT64_MAX;
	else if (by == 64)
		w->missed = UINT64_MAX >> 1;
	else
		w->missed = w->missed << by | (((uint64_t)1 << (by - 1)) - 1);
	w->tick = tick;
}

static void read_meta(struct world *w, uint8_t flags, struct span *body) {
	if (!(flags & 1))
		return;
	w->input = span_u16(body);
	w->has_input = !body->failed;
}

enum outcome world_delta(struct world *w, struct span body) {
	uint8_t flags = span_u8(&body);
	uint32_t tick = (uint32_t)span_uvarint(&body, 32);
	uint32_t back = (uint32_t)span_uvarint(&body, 32);
	if (body.failed || back > tick)
		return MALFORMED;
	if (w->tick == 0)
		return RESYNC;
	if (tick <= w->tick)
		return STALE;
	if (back != 0 && !has_applied(w, tick - back))
		return RESYNC;
	read_meta(w, flags, &body);
	if (body.failed)
		return MALFORMED;
	struct bits b = bits_of(body);
	if (!copy(&w->next, &w->held))
		return MALFORMED;
	enum outcome o = read_delta(w, &w->next, &b);
	if (o != APPLIED)
		return o;
	swap(&w->held, &w->next);
	advance(w, tick);
	return APPLIED;
}

enum outcome world_full(struct world *w, struct span body) {
	uint8_t flags = span_u8(&body);
	uint32_t tick = (uint32_t)span_uvarint(&body, 32);
	uint32_t index = (uint32_t)span_uvarint(&body, 32);
	uint32_t chunks = (uint32_t)span_uvarint(&body, 32);
	read_meta(w, flags, &body);
	if (body.failed || tick == 0 || index >= chunks)
		return MALFORMED;
	if (index == 0) {
		clear(&w->arriving);
		w->arriving_tick = tick;
		w->arriving_chunks = chunks;
		w->arriving_next = 0;
	}
	if (tick != w->arriving_tick || chunks != w->arriving_chunks || index != w->arriving_next)
		return RESYNC; // the reliable lane keeps their order, so some were lost
	struct bits b = bits_of(body);
	uint32_t id = 0;
	for (uint32_t left = bits_var(&b); left > 0; left--)
		if (!next_id(&b, &id) || !read_whole(w, &w->arriving, &b, id))
			return MALFORMED;
	if (b.failed)
		return MALFORMED;
	if (++w->arriving_next < chunks)
		return WAITING;
	swap(&w->held, &w->arriving);
	w->tick = w->origin = tick;
	w->missed = UINT64_MAX;
	return APPLIED;
}

static uint32_t hash_word(uint32_t h, uint32_t word) {
	h = (h ^ word) * 16777619u;
	return h ^ h >> 15;
}

uint32_t world_hash(const struct world *w) {
	uint32_t sum = 0;
	for (uint32_t id = 0; id < w->held.capacity; id++) {
		const struct entity *e = find(&w->held, id);
		if (e == NULL)
			continue;
		uint32_t h = 2166136261u;
		h = hash_word(h, id);
		h = hash_word(h, e->generation);
		h = hash_word(h, e->type);
		for (int i = 0; i < w->types[e->type].field_count; i++)
			h = hash_word(h, e->fields[i]);
		h ^= h >> 16;
		h *= 0x85ebca6bu;
		h ^= h >> 13;
		h *= 0xc2b2ae35u;
		h ^= h >> 16;
		sum += h;
	}
	return sum;
}

int64_t world_value(const struct world *w, const struct entity *e, int field) {
	const struct field *f = &w->types[e->type].fields[field];
	return f->min + (int64_t)e->fields[field] * f->step;
}

void world_free(struct world *w) {
	free(w->held.at);
	free(w->next.at);
	free(w->arriving.at);
}

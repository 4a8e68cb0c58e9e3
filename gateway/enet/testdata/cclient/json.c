#include "json.h"

#include <string.h>

static void skip_space(struct span *s) {
	while (s->at < s->end && strchr(" \t\r\n", *s->at) != NULL && *s->at != 0)
		s->at++;
}

static bool skip_char(struct span *s, char c) {
	skip_space(s);
	if (s->at == s->end || *s->at != (uint8_t)c)
		return false;
	s->at++;
	return true;
}

static void skip_string(struct span *s) {
	for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
		if (*s->at == '\\' && s->at + 1 < s->end)
			s->at++;
	if (s->at < s->end)
		s->at++;
}

// take_value takes one value of any type off the front. Brackets are counted, not
// matched: the server is trusted to write JSON.
static struct span take_value(struct span *s) {
	skip_space(s);
	struct span value = {.at = s->at, .end = s->at};
	int depth = 0;
	while (s->at < s->end) {
		uint8_t c = *s->at;
		if (depth == 0 && (c == ',' || c == ']' || c == '}'))
			break;
		if (c == '"') {
			skip_string(s);
			continue;
		}
		if (c == '[' || c == '{')
			depth++;
		if (c == ']' || c == '}')
			depth--;
		s->at++;
	}
	value.end = s->at;
	return value;
}

struct span json_member(struct span object, const char *key) {
	struct span none = {0}, s = object;
	if (!skip_char(&s, '{'))
		return none;
	size_t length = strlen(key);
	for (;;) {
		skip_space(&s);
		if (s.at == s.end || *s.at != '"')
			return none;
		const uint8_t *name = s.at + 1;
		skip_string(&s);
		bool match = (size_t)(s.at - 1 - name) == length && memcmp(name, key, length) == 0;
		if (!skip_char(&s, ':'))
			return none;
		struct span value = take_value(&s);
		if (match)
			return value;
		if (!skip_char(&s, ','))
			return none;
	}
}

bool json_next(struct span *rest, bool *started, struct span *element) {
	if (!skip_char(rest, *started ? ',' : '['))
		return false;
	*started = true;
	*element = take_value(rest);
	return element->at < element->end;
}

int64_t json_int(struct span value, int64_t fallback) {
	struct span s = value;
	bool negative = skip_char(&s, '-');
	if (s.at == s.end || *s.at < '0' || *s.at > '9')
		return fallback;
	int64_t v = 0;
	for (; s.at < s.end && *s.at >= '0' && *s.at <= '9' && v < INT64_MAX / 16; s.at++)
		v = v * 10 + (*s.at - '0');
	return negative ? -v : v;
}

void json_string(struct span value, char *text, size_t size) {
	size_t count = span_left(&value);
	text[0] = 0;
	if (count < 2 || *value.at != '"')
		return;
	count -= 2;
	if (count > size - 1)
		count = size - 1;
	memcpy(text, value.at + 1, count);
	text[count] = 0;
}

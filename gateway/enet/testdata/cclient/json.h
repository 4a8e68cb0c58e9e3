// As much of JSON as a welcome needs: values are found, not kept. A value is the
// span of its text; the empty span is "not there".

#ifndef JSON_H
#define JSON_H

#include "wire.h"

// json_member returns the value of a key of an object.
struct span json_member(struct span object, const char *key);

// json_next takes the next element off an array: first call with the array's
// value in *rest and *started false. False at the end.
bool json_next(struct span *rest, bool *started, struct span *element);

// json_int returns the integer that a value starts with, or fallback.
int64_t json_int(struct span value, int64_t fallback);

// json_string copies a string's text, escapes as they are, cut to size.
void json_string(struct span value, char *text, size_t size);

#endif

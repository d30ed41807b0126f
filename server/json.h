/* json.h: JSON in and out.
 *
 * In: json_check refuses what is not RFC 8259 (and duplicate keys, which the RFC leaves open), then cJSON reads; cJSON
 * alone is lax. Memory of cJSON comes from the arena of the thread's request, or from malloc where there is none.
 * Out: a writer into the arena for all that may be large; cJSON prints a million integers twenty times slower. */
#ifndef JSON_H
#define JSON_H

#include "la.h"

#include <cjson/cJSON.h>

/* ---- json.c: reading ---------------------------------------------------------------------------------------- */

/* Set cJSON's allocator; once, before there are threads. */
void json_init(void);
/* Where this thread's cJSON objects live from now on; NULL: malloc, to be freed by cJSON_Delete. */
void json_use_arena(struct la_arena *arena);

/* NULL when the text is one JSON value; else what is wrong, and *at is the byte where. */
const char *json_check(const char *text, size_t len, size_t *at);
/* The text of the next member's value, or of the next element, in a text that json_check has passed; *rest is the text
 * of the object or array at first. NULL after the last. */
const char *json_next_member(const char **rest, size_t *len);
const char *json_next_element(const char **rest, size_t *len);
/* The bytes of the UTF-8 character at p, of which `len` may be read; 0 when it is none. */
size_t utf8_size(const unsigned char *p, size_t len);

/* A member that is an integer, exactly: false when it is absent, no number, not whole or beyond 2^53. */
bool json_get_int(const cJSON *object, const char *name, int64_t *out);

/* ---- json_write.c: writing ---------------------------------------------------------------------------------- */

/* Commas are written where they are due: in { } and [ ] just write keys and values one after the other. Without memory
 * the writer leaves by la_fail with `limit`: use it under la_try. */
struct json {
    struct la_ctx *cx;
    char *data; /* not terminated */
    size_t len, capacity;
};

/* An empty text with room for `reserve` bytes; it grows. */
struct json json_new(struct la_ctx *cx, size_t reserve);
void json_open(struct json *j, char bracket);  /* { or [ */
void json_close(struct json *j, char bracket); /* } or ] */
void json_key(struct json *j, const char *name);
/* Bytes that are not UTF-8 become U+FFFD. */
void json_text(struct json *j, const char *text);
void json_int(struct json *j, int64_t value);
void json_bool(struct json *j, bool value);
void json_null(struct json *j);
/* A value that is JSON already. */
void json_raw(struct json *j, const char *text, size_t len);
/* An array of integers, at the speed of memory. */
void json_ints(struct json *j, const int64_t *values, size_t n);

/* The bytes as they are: the same buffer serves SVG and plain text. */
void json_bytes(struct json *j, const char *bytes, size_t len);
/* The digits of a number at `out` (at most 20), returns the end. */
char *json_digits(char *out, int64_t value);

/* ---- json_value.c: values ----------------------------------------------------------------------------------- */

/* "type", "text", "cute" and "value": what every answer says of a value, as members of an open object. */
void json_value(struct json *j, const struct la_value *value);
/* A tuple as nested arrays. */
void json_tuple(struct json *j, const struct la_node *n);
/* rows, cols, offsets row by row, and the shapes of rows and columns. */
void json_table(struct json *j, const struct la_table *table);

#endif

/* json.c: reading JSON strictly.
 *
 * cJSON takes 01, raw control characters, broken UTF-8 and duplicate keys, and ends a string at \u0000. So json_check
 * reads the text first, as RFC 8259 has it, and says what is wrong at which byte:
 *     {"expr":"4:1","expr":"8:1"}   ->  "the key is there twice", at byte 14
 * After it has passed, cJSON cannot fail but for memory. Numbers of cJSON are doubles; json_next_member gives the text of a
 * value for whoever needs all digits.
 *
 * Invariant: no byte of a text is looked at past its length; nesting and keys are limited, so time is linear. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nesting of arrays and objects: deeper than any layout that a person writes, and far from the end of the stack. */
#define JSON_DEPTH_MAX 64
/* Keys of all the objects that are open at once: they are compared pairwise, so their number must be small. */
#define JSON_KEYS_MAX 512

/* ---- memory ------------------------------------------------------------------------------------------------- */

static _Thread_local struct la_arena *json_arena;

/* Says where a block came from, since an object may be freed on a thread that has another arena, or none. */
union block {
    bool from_arena;
    max_align_t align;
};

static void *json_malloc(size_t size)
{
    if (size > SIZE_MAX - sizeof(union block))
        return NULL;
    size += sizeof(union block);
    union block *block = json_arena ? la_arena_alloc(json_arena, size) : malloc(size);
    if (!block)
        return NULL;
    block->from_arena = json_arena != NULL;
    return block + 1;
}

static void json_free(void *memory)
{
    union block *block = memory;
    if (block && !block[-1].from_arena)
        free(block - 1);
}

void json_init(void)
{
    cJSON_Hooks hooks = {json_malloc, json_free};
    cJSON_InitHooks(&hooks);
}

void json_use_arena(struct la_arena *arena)
{
    json_arena = arena;
}

/* ---- the check ---------------------------------------------------------------------------------------------- */

struct key {
    const unsigned char *at; /* after the opening quote */
    uint32_t hash;
};

struct check {
    const unsigned char *start, *at, *end;
    const char *wrong; /* the first thing that is, or NULL */
    unsigned depth;
    unsigned key_count;
    struct key keys[JSON_KEYS_MAX];
};

static bool check_value(struct check *c);

static bool wrong_at(struct check *c, const unsigned char *at, const char *what)
{
    if (!c->wrong) {
        c->wrong = what;
        c->at = at;
    }
    return false;
}

static void skip_space(struct check *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static bool next_is(struct check *c, unsigned char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* The value of four hexadecimal digits at p, or -1. */
static long hex4(const unsigned char *p, const unsigned char *end)
{
    long value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = p[i] ? strchr(digits, p[i] | 0x20) : NULL;
        if (!digit || (p[i] < '0') || (p[i] > '9' && p[i] < 'A'))
            return -1;
        value = value * 16 + (digit - digits);
    }
    return value;
}

/* A character behind a backslash; c->at is behind the backslash. */
static bool read_escape(struct check *c, uint32_t *point)
{
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const unsigned char *begin = c->at - 1;
    if (c->at == c->end)
        return wrong_at(c, begin, "the string is not closed");
    unsigned char name = *c->at++;
    if (name != 'u') {
        const char *found = name ? strchr(names, name) : NULL;
        if (!found)
            return wrong_at(c, begin, "no such escape in JSON");
        *point = (unsigned char)means[found - names];
        return true;
    }
    long unit = hex4(c->at, c->end);
    if (unit < 0)
        return wrong_at(c, begin, "\\u needs four hexadecimal digits");
    c->at += 4;
    if (unit == 0)
        return wrong_at(c, begin, "\\u0000 is not accepted in a string");
    if (unit >= 0xD800 && unit < 0xDC00) { /* the first half of a surrogate pair */
        long low = c->end - c->at >= 6 && c->at[0] == '\\' && c->at[1] == 'u' ? hex4(c->at + 2, c->end) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return wrong_at(c, begin, "half of a surrogate pair");
        c->at += 6;
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    } else if (unit >= 0xDC00 && unit < 0xE000) {
        return wrong_at(c, begin, "half of a surrogate pair");
    }
    *point = (uint32_t)unit;
    return true;
}

/* A character of more than one byte. */
static bool read_utf8(struct check *c, uint32_t *point)
{
    const unsigned char *begin = c->at;
    size_t size = utf8_size(begin, (size_t)(c->end - begin));
    if (!size)
        return wrong_at(c, begin, "the bytes are not UTF-8");
    *point = begin[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++)
        *point = *point << 6 | (begin[i] & 0x3Fu);
    c->at += size;
    return true;
}

/* The next character of a string; *closed when it was the closing quote. */
static bool read_point(struct check *c, uint32_t *point, bool *closed)
{
    if (c->at == c->end)
        return wrong_at(c, c->at, "the string is not closed");
    unsigned char byte = *c->at;
    *closed = byte == '"';
    *point = byte;
    if (byte < 0x20)
        return wrong_at(c, c->at, "a raw control character in a string");
    if (byte >= 0x80)
        return read_utf8(c, point);
    c->at++;
    return byte != '\\' || read_escape(c, point);
}

/* A string; c->at is behind the opening quote. */
static bool check_string(struct check *c, uint32_t *hash)
{
    uint32_t point = 0;
    bool closed = false;
    *hash = 2166136261u; /* FNV-1a over characters */
    while (read_point(c, &point, &closed)) {
        if (closed)
            return true;
        *hash = (*hash ^ point) * 16777619u;
    }
    return false;
}

/* Do two strings that were checked hold the same characters, however they are escaped? */
static bool same_string(const struct check *c, const unsigned char *a, const unsigned char *b)
{
    struct check left = {.at = a, .end = c->end}, right = {.at = b, .end = c->end};
    uint32_t x = 0, y = 0;
    bool x_closed = false, y_closed = false;
    do {
        if (!read_point(&left, &x, &x_closed) || !read_point(&right, &y, &y_closed))
            return false;
        if (x != y || x_closed != y_closed)
            return false;
    } while (!x_closed);
    return true;
}

/* member = string ":" value, whose key is not yet among the keys from `first` on. */
static bool check_member(struct check *c, unsigned first)
{
    if (!next_is(c, '"'))
        return wrong_at(c, c->at, "a key in double quotes is expected");
    struct key key = {.at = c->at};
    if (!check_string(c, &key.hash))
        return false;
    for (unsigned i = first; i < c->key_count; i++)
        if (c->keys[i].hash == key.hash && same_string(c, c->keys[i].at, key.at))
            return wrong_at(c, key.at - 1, "the key is there twice");
    if (c->key_count == JSON_KEYS_MAX)
        return wrong_at(c, key.at - 1, "too many keys");
    c->keys[c->key_count++] = key;
    if (!next_is(c, ':'))
        return wrong_at(c, c->at, "':' is expected after a key");
    return check_value(c);
}

/* The inside of { } or [ ]; c->at is behind the bracket. */
static bool check_members(struct check *c, unsigned char close)
{
    unsigned first = c->key_count;
    if (c->depth++ == JSON_DEPTH_MAX)
        return wrong_at(c, c->at - 1, "nested too deeply");
    if (!next_is(c, close)) {
        do {
            if (!(close == '}' ? check_member(c, first) : check_value(c)))
                return false;
        } while (next_is(c, ','));
        if (!next_is(c, close))
            return wrong_at(c, c->at, close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
    }
    c->key_count = first;
    c->depth--;
    return true;
}

static bool check_digits(struct check *c)
{
    const unsigned char *begin = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return c->at > begin || wrong_at(c, begin, "a digit is expected");
}

/* number = ["-"] ("0" | digit1-9 {digit}) ["." digits] [("e"|"E") ["+"|"-"] digits] */
static bool check_number(struct check *c)
{
    if (*c->at == '-')
        c->at++;
    const unsigned char *begin = c->at;
    if (!check_digits(c))
        return false;
    if (*begin == '0' && c->at - begin > 1)
        return wrong_at(c, begin, "a number does not begin with 0");
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!check_digits(c))
            return false;
    }
    if (c->at < c->end && (*c->at | 0x20) == 'e') {
        c->at++;
        if (c->at < c->end && (*c->at == '+' || *c->at == '-'))
            c->at++;
        return check_digits(c);
    }
    return true;
}

static bool check_value(struct check *c)
{
    skip_space(c);
    if (c->at == c->end)
        return wrong_at(c, c->at, "the text ends where a value is expected");
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(c->end - c->at) >= len && memcmp(c->at, words[i], len) == 0) {
            c->at += len;
            return true;
        }
    }
    uint32_t hash;
    if (next_is(c, '"'))
        return check_string(c, &hash);
    if (next_is(c, '{'))
        return check_members(c, '}');
    if (next_is(c, '['))
        return check_members(c, ']');
    if (*c->at == '-' || (*c->at >= '0' && *c->at <= '9'))
        return check_number(c);
    return wrong_at(c, c->at, "a JSON value is expected");
}

const char *json_check(const char *text, size_t len, size_t *at)
{
    struct check c;
    c.start = c.at = (const unsigned char *)text;
    c.end = c.start + len;
    c.wrong = NULL;
    c.depth = c.key_count = 0;
    if (check_value(&c)) {
        skip_space(&c);
        if (c.at != c.end)
            wrong_at(&c, c.at, "text after the end of the value");
    }
    *at = (size_t)(c.at - c.start);
    return c.wrong;
}

/* ---- values of a checked text ------------------------------------------------------------------------------- */

static const char json_space[] = " \t\r\n";

static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p + 1;
}

/* Past a value to the ',' or bracket that follows it; the text is known to be right. */
static const char *skip_value(const char *p)
{
    int depth = 0;
    while (*p && (depth || (*p != ',' && *p != '}' && *p != ']'))) {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
    }
    return p;
}

/* The value at p: its length, and *rest behind it. */
static const char *take_value(const char *p, const char **rest, size_t *len)
{
    const char *end = skip_value(p);
    *rest = end;
    while (strchr(json_space, end[-1]))
        end--;
    *len = (size_t)(end - p);
    return p;
}

/* Behind the opening bracket or the next comma; NULL at the end. */
static const char *next_place(const char *rest, char bracket)
{
    rest += strspn(rest, json_space);
    if (*rest != bracket && *rest != ',')
        return NULL;
    rest += 1 + strspn(rest + 1, json_space);
    return *rest == '}' || *rest == ']' ? NULL : rest;
}

const char *json_next_member(const char **rest, size_t *len)
{
    const char *p = next_place(*rest, '{');
    if (!p)
        return NULL;
    p = skip_string(p);
    p += strspn(p, json_space) + 1; /* the colon */
    return take_value(p + strspn(p, json_space), rest, len);
}

const char *json_next_element(const char **rest, size_t *len)
{
    const char *p = next_place(*rest, '[');
    return p ? take_value(p, rest, len) : NULL;
}

bool json_get_int(const cJSON *object, const char *name, int64_t *out)
{
    const double exact = 9007199254740992.0; /* 2^53: every integer below has its own double */
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(item) || !(fabs(item->valuedouble) < exact) ||
        trunc(item->valuedouble) != item->valuedouble)
        return false;
    *out = (int64_t)item->valuedouble;
    return true;
}

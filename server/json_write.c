/* json_write.c: the writer.
 *
 * A text grows at the end of one buffer in the arena. Whether a comma is due shows in the last byte: none after an
 * opening bracket, a colon or nothing. So
 *     json_open(j, '{'); json_key(j, "rows"); json_int(j, 4); json_close(j, '}');     ->  {"rows":4}
 * needs no state. Numbers are written two digits at a time, into room that was made once for a whole array. */
#include "json.h"

#include <string.h>

#define DIGITS_MAX 20 /* of -9223372036854775808 */

struct json json_new(struct la_ctx *cx, size_t reserve)
{
    struct json j = {.cx = cx, .capacity = reserve < 256 ? 256 : reserve};
    j.data = la_alloc(cx, j.capacity);
    return j;
}

/* Room for `more` bytes; the arena frees nothing, so growing by doubling wastes at most what is used. */
static char *json_room(struct json *j, size_t more)
{
    if (j->capacity - j->len < more) {
        size_t capacity = j->capacity * 2;
        if (capacity - j->len < more)
            capacity = j->len + more;
        char *data = la_alloc(j->cx, capacity);
        memcpy(data, j->data, j->len);
        j->data = data;
        j->capacity = capacity;
    }
    return j->data + j->len;
}

void json_bytes(struct json *j, const char *bytes, size_t len)
{
    memcpy(json_room(j, len), bytes, len);
    j->len += len;
}

static void json_byte(struct json *j, char byte)
{
    *json_room(j, 1) = byte;
    j->len++;
}

static void json_comma(struct json *j)
{
    if (j->len && !strchr("{[:,", j->data[j->len - 1]))
        json_byte(j, ',');
}

void json_open(struct json *j, char bracket)
{
    json_comma(j);
    json_byte(j, bracket);
}

void json_close(struct json *j, char bracket)
{
    json_byte(j, bracket);
}

void json_raw(struct json *j, const char *text, size_t len)
{
    json_comma(j);
    json_bytes(j, text, len);
}

void json_bool(struct json *j, bool value)
{
    json_raw(j, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *j)
{
    json_raw(j, "null", 4);
}

/* One character of a string; gives the bytes of the text that it took. */
static size_t write_character(struct json *j, const unsigned char *p, size_t len)
{
    static const char names[] = "btn\0fr", hex[] = "0123456789abcdef";
    size_t size = utf8_size(p, len);
    if (!size) {
        json_bytes(j, "\xEF\xBF\xBD", 3);
        return 1;
    }
    if (*p >= 0x20 && *p != '"' && *p != '\\') {
        json_bytes(j, (const char *)p, size);
        return size;
    }
    char escape[6] = {'\\', 'u', '0', '0', hex[*p >> 4], hex[*p & 15]};
    char name = *p >= 0x20 ? (char)*p : *p >= 8 && *p < 14 ? names[*p - 8] : 0;
    if (name)
        escape[1] = name;
    json_bytes(j, escape, name ? 2 : 6);
    return size;
}

static void text_n(struct json *j, const char *text, size_t len)
{
    json_comma(j);
    json_byte(j, '"');
    for (size_t i = 0; i < len;)
        i += write_character(j, (const unsigned char *)text + i, len - i);
    json_byte(j, '"');
}

void json_text(struct json *j, const char *text)
{
    text_n(j, text, strlen(text));
}

void json_key(struct json *j, const char *name)
{
    json_text(j, name);
    json_byte(j, ':');
}

char *json_digits(char *out, int64_t value)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char digits[DIGITS_MAX], *p = digits + sizeof digits;
    if (value < 0)
        *out++ = '-';
    while (rest >= 100) {
        p -= 2;
        memcpy(p, pairs + rest % 100 * 2, 2);
        rest /= 100;
    }
    if (rest >= 10) {
        p -= 2;
        memcpy(p, pairs + rest * 2, 2);
    } else {
        *--p = (char)('0' + rest);
    }
    size_t len = (size_t)(digits + sizeof digits - p);
    memcpy(out, p, len);
    return out + len;
}

void json_int(struct json *j, int64_t value)
{
    json_comma(j);
    j->len = (size_t)(json_digits(json_room(j, DIGITS_MAX), value) - j->data);
}

/* The digits of the longest number, its sign included. */
static size_t widest(const int64_t *values, size_t n)
{
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    char digits[DIGITS_MAX];
    size_t a = (size_t)(json_digits(digits, low) - digits), b = (size_t)(json_digits(digits, high) - digits);
    return a > b ? a : b;
}

void json_ints(struct json *j, const int64_t *values, size_t n)
{
    json_open(j, '[');
    /* json_digits copies what it needs and no more, so the widest number and a comma bound every step. */
    char *p = json_room(j, n * (widest(values, n) + 1) + 1);
    for (size_t i = 0; i < n; i++) {
        if (i)
            *p++ = ',';
        p = json_digits(p, values[i]);
    }
    j->len = (size_t)(p - j->data);
    json_close(j, ']');
}

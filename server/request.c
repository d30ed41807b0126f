/* request.c: what a handler may ask of a request.
 *
 * Path and query are decoded here, not by libmicrohttpd, which ends a text at %00:
 *     /eval?expr=4%3A1&table=1   ->  path "/eval", parameters expr = "4:1", table = "1"
 * Invariant: every text that a handler sees is UTF-8 without NUL, in the request's arena. */
#include "exchange.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the target --------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    char lower = (char)(c >= 'A' && c <= 'F' ? c + 32 : c);
    const char *found = c ? strchr(digits, lower) : NULL;
    return found ? (int)(found - digits) : -1;
}

static bool is_utf8(const char *text, size_t len)
{
    for (size_t i = 0, size; i < len; i += size)
        if (!(size = utf8_size((const unsigned char *)text + i, len - i)))
            return false;
    return true;
}

/* Decode %XX (and + as a space, in a query) in place; NULL or what is wrong. */
static const char *decode(char *text, bool is_query)
{
    char *out = text;
    for (const char *p = text; *p; p++) {
        if (*p == '%') {
            int high = hex_digit(p[1]), low = high < 0 ? -1 : hex_digit(p[2]);
            if (low < 0)
                return "a % in the address is not followed by two hexadecimal digits";
            if (high == 0 && low == 0)
                return "%00 in the address: a text cannot hold NUL";
            *out++ = (char)(high * 16 + low);
            p += 2;
        } else {
            *out++ = is_query && *p == '+' ? ' ' : *p;
        }
    }
    *out = 0;
    return is_utf8(text, (size_t)(out - text)) ? NULL : "the address is not UTF-8";
}

/* query = [name ["=" value] {"&" name ["=" value]}] */
static const char *parse_query(struct exchange *x, char *query)
{
    char *rest = query, *piece;
    while ((piece = strsep(&rest, "&"))) {
        if (!*piece)
            continue;
        char *value = strchr(piece, '=');
        if (value)
            *value++ = 0;
        else
            value = piece + strlen(piece);
        const char *wrong = decode(piece, true);
        if (!wrong)
            wrong = decode(value, true);
        if (wrong)
            return wrong;
        if (x->parameter_count == PARAMETERS_MAX)
            return "too many query parameters";
        x->parameters[x->parameter_count++] = (struct header){piece, value};
    }
    return NULL;
}

const char *request_parse_target(struct exchange *x)
{
    char *path = la_arena_alloc(x->rq.cx.arena, strlen(x->target) + 1);
    if (!path)
        return "the address needs more memory than one request may use";
    strcpy(path, x->target);
    if (strncasecmp(path, "http://", 7) == 0) { /* the absolute form, as sent to proxies */
        path += 7;
        path += strcspn(path, "/?");
    }
    path[strcspn(path, "#")] = 0;
    char *query = strchr(path, '?');
    if (query)
        *query++ = 0;
    x->rq.path = *path ? path : "/";
    const char *wrong = decode(path, false);
    return wrong || !query ? wrong : parse_query(x, query);
}

/* ---- headers and parameters --------------------------------------------------------------------------------- */

unsigned request_header_count(const struct exchange *x, const char *name)
{
    unsigned count = 0;
    for (size_t i = 0; i < x->header_count; i++)
        count += strcasecmp(x->headers[i].name, name) == 0;
    return count;
}

const char *request_header(struct request *rq, const char *name)
{
    const struct exchange *x = exchange_of(rq);
    for (size_t i = 0; i < x->header_count; i++)
        if (strcasecmp(x->headers[i].name, name) == 0)
            return x->headers[i].value;
    return NULL;
}

const char *request_query(struct request *rq, const char *name)
{
    const struct exchange *x = exchange_of(rq);
    for (size_t i = 0; i < x->parameter_count; i++)
        if (strcmp(x->parameters[i].name, name) == 0)
            return x->parameters[i].value;
    return NULL;
}

/* A piece of a header up to `separator`, without the space around it; moves *rest behind it. False at the end. */
static bool next_piece(const char **rest, char separator, const char **piece, size_t *len)
{
    const char *p = *rest + strspn(*rest, " \t");
    if (!*p)
        return false;
    const char *end = strchr(p, separator);
    if (!end)
        end = p + strlen(p);
    *rest = *end ? end + 1 : end;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *piece = p;
    *len = (size_t)(end - p);
    return true;
}

/* "q=0.35" among the parameters, in thousandths; 1000 without. */
static int weight_of(const char *parameters)
{
    const char *piece;
    size_t len;
    while (next_piece(&parameters, ';', &piece, &len))
        if (len > 2 && strncasecmp(piece, "q=", 2) == 0) {
            int weight = (int)(strtod(piece + 2, NULL) * 1000 + 0.5);
            return weight < 0 ? 0 : weight > 1000 ? 1000 : weight;
        }
    return 1000;
}

/* How well a range names the token: 3 by name, 2 as text/... , 1 as anything, 0 not at all. */
static int specificity(const char *range, size_t len, const char *token)
{
    if (len == strlen(token) && strncasecmp(range, token, len) == 0)
        return 3;
    if ((len == 1 && *range == '*') || (len == 3 && strncmp(range, "*/*", 3) == 0))
        return 1;
    return len > 2 && strncmp(range + len - 2, "/*", 2) == 0 && strncasecmp(range, token, len - 1) == 0 ? 2
                                                                                                        : 0;
}

int request_weight(struct request *rq, const char *header, const char *token, int absent)
{
    const char *rest = request_header(rq, header), *item;
    int best = 0, weight = 0;
    size_t len;
    if (!rest)
        return absent;
    while (next_piece(&rest, ',', &item, &len)) {
        char text[128] = "";
        memcpy(text, item, len < sizeof text ? len : sizeof text - 1);
        size_t name_len = strcspn(text, "; \t");
        int fit = specificity(text, name_len, token);
        if (fit > best) {
            best = fit;
            weight = weight_of(text + name_len + strspn(text + name_len, " \t;"));
        }
    }
    return weight;
}

int request_wait_seconds(struct request *rq, int max)
{
    const char *rest = request_header(rq, "Prefer"), *piece;
    size_t len;
    while (rest && next_piece(&rest, ',', &piece, &len))
        if (len > 5 && strncasecmp(piece, "wait=", 5) == 0) {
            long seconds = strtol(piece + 5, NULL, 10);
            return seconds < 0 ? 0 : seconds > max ? max : (int)seconds;
        }
    return 0;
}

/* ---- the body ----------------------------------------------------------------------------------------------- */

/* JSON, or what curl -d and a bare client call it. A browser sends a form with its Origin: that one is refused, since
 * any page of any site may send it without asking. */
static bool is_json_type(struct request *rq)
{
    const char *type = request_header(rq, "Content-Type");
    if (!type)
        return true;
    size_t len = strcspn(type, "; \t");
    if (len == 16 && strncasecmp(type, "application/json", len) == 0)
        return true;
    return len == 33 && strncasecmp(type, "application/x-www-form-urlencoded", len) == 0 &&
           !request_header(rq, "Origin");
}

bool request_read_json(struct exchange *x)
{
    struct request *rq = &x->rq;
    if (!is_json_type(rq)) {
        respond_header(rq, "Accept", "application/json");
        respond_problem(rq, 415, "unsupported_media_type", "the body must be application/json, not %s",
                        request_header(rq, "Content-Type"));
        return false;
    }
    size_t at;
    const char *wrong = json_check(rq->body, rq->body_len, &at);
    if (!wrong)
        rq->json = cJSON_ParseWithLengthOpts(rq->body, rq->body_len, NULL, false);
    if (!wrong && !rq->json) {
        respond_problem(rq, 422, "limit", "the body needs more memory than one request may use");
        return false;
    }
    if (!wrong && !cJSON_IsObject(rq->json)) {
        wrong = "the body must be a JSON object";
        at = 0;
    }
    if (wrong)
        respond_bad_json(rq, wrong, at);
    return !wrong;
}

/* ---- fields ------------------------------------------------------------------------------------------------- */

/* More than there is room for are more than any handler knows: one that is kept is refused. */
static void give(struct exchange *x, const char *name, const char *text, const cJSON *json)
{
    if (x->given_count < PARAMETERS_MAX)
        x->given[x->given_count++] = (struct given){name, text, json};
}

static void give_members(struct exchange *x)
{
    const char *rest = x->rq.body;
    const cJSON *member;
    cJSON_ArrayForEach (member, x->rq.json) {
        size_t len = 0;
        const char *raw = json_next_member(&rest, &len);
        if (cJSON_IsString(member)) {
            give(x, member->string, member->valuestring, member);
        } else if (raw) {
            char *text = la_alloc(&x->rq.cx, len + 1);
            memcpy(text, raw, len);
            text[len] = 0;
            give(x, member->string, text, member);
        }
    }
}

size_t request_given(struct request *rq, const struct given **out)
{
    struct exchange *x = exchange_of(rq);
    if (!x->given_known) {
        x->given_known = true;
        if (rq->json)
            give_members(x);
        else
            for (size_t i = 0; i < x->parameter_count; i++)
                give(x, x->parameters[i].name, x->parameters[i].value, NULL);
    }
    *out = x->given;
    return x->given_count;
}

const char *request_field(struct request *rq, const char *name)
{
    const struct given *given;
    size_t n = request_given(rq, &given);
    for (size_t i = 0; i < n; i++)
        if (strcmp(given[i].name, name) == 0)
            return given[i].text;
    return NULL;
}

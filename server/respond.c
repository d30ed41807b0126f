/* respond.c: what a handler may answer, and what is done to every answer before it leaves.
 *
 * A handler leaves bytes in its arena; response_finish adds the validator of a deterministic answer, turns it into 304
 * when the client has it already, and compresses it when that is asked for and worth it. The validator is a hash of
 * the bytes before compression, with a mark for the compressed form, so that a 304 costs no compression.
 *
 * Not here: errors (problem.c), writing JSON (json_write.c). */
#include "exchange.h"
#include "json.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Below, the head and a packet's room outweigh what compression saves. */
#define COMPRESS_BYTES_MIN 1024
/* Above this, speed counts more than the last tenth of the size. */
#define COMPRESS_BYTES_FAST (256 * 1024)
/* A pure answer changes only with the daemon's version: ask again after five minutes at the latest. */
#define PURE_CACHE "public, max-age=300"
#define PAGE_CACHE "no-cache"

void respond(struct request *rq, int status, const char *type, const void *data, size_t len)
{
    struct response *r = &exchange_of(rq)->response;
    if (r->stream) { /* a refusal in the middle of a stream can only end it */
        r->last = true;
        return;
    }
    r->status = status;
    r->type = type;
    r->data = data;
    r->len = len;
}

void respond_piece(struct request *rq, const char *type, const void *data, size_t len, bool last)
{
    struct response *r = &exchange_of(rq)->response;
    r->stream = true;
    r->status = 200;
    r->type = type;
    r->data = data;
    r->len = len;
    r->last = last;
}

void respond_header(struct request *rq, const char *name, const char *value)
{
    struct response *r = &exchange_of(rq)->response;
    if (r->header_count < ANSWER_HEADERS_MAX)
        r->headers[r->header_count++] = (struct header){name, value};
}

/* ---- validators --------------------------------------------------------------------------------------------- */

/* Eight bytes a step, multiplied and folded: no defence against an enemy, who could only spoil his own cache. */
static uint64_t hash_bytes(const unsigned char *p, size_t len)
{
    const uint64_t prime = 0x9E3779B97F4A7C15u;
    uint64_t hash = len * prime, word;
    for (; len >= sizeof word; p += sizeof word, len -= sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 29;
    }
    for (; len; p++, len--)
        hash = ((hash ^ *p) * prime) ^ (hash >> 31);
    hash = (hash ^ hash >> 32) * prime;
    return hash ^ hash >> 32;
}

/* Is the tag among those of If-None-Match, compared weakly as RFC 9110 has it? */
static bool has_tag(const char *list, const char *tag)
{
    if (!list)
        return false;
    list += strspn(list, " \t");
    return strcmp(list, "*") == 0 || strstr(list, tag) != NULL;
}

/* ---- compression -------------------------------------------------------------------------------------------- */

static void *zlib_alloc(void *arena, unsigned items, unsigned size)
{
    void *memory = la_arena_alloc(arena, (size_t)items * size);
    if (memory) /* zlib 1.2 reads a few bytes before it writes them; they must at least be the same each time */
        memset(memory, 0, (size_t)items * size);
    return memory;
}

static void zlib_free(void *arena, void *memory)
{
    (void)arena, (void)memory;
}

/* The bytes as gzip in the arena, or NULL when there is no memory or no gain: then they are sent as they are. */
static void *compress_bytes(struct la_arena *arena, const void *data, size_t *len)
{
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = arena};
    const int gzip_window = 15 + 16;
    int level = *len > COMPRESS_BYTES_FAST ? 1 : 6;
    if (*len > UINT32_MAX / 2 ||
        deflateInit2(&z, level, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    size_t room = deflateBound(&z, *len);
    void *out = la_arena_alloc(arena, room);
    if (!out)
        return NULL;
    z.next_in = (z_const Bytef *)data;
    z.avail_in = (uInt)*len;
    z.next_out = out;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END || z.total_out >= *len)
        return NULL;
    *len = z.total_out;
    return out;
}

static bool is_compressible(const char *type)
{
    return strncmp(type, "text/", 5) == 0 || strstr(type, "json") || strstr(type, "xml") ||
           strstr(type, "octet-stream") /* tables of offsets, mostly zeros */;
}

/* On one machine copying is faster than any compression: a page there has a million offsets in a third of the time. */
static bool is_local(const struct request *rq)
{
    return rq->client && (strncmp(rq->client, "127.", 4) == 0 || strcmp(rq->client, "::1") == 0);
}

/* Octets are compressed for the network alone; texts always, so that a test here sees what is sent there. */
static bool is_worth_it(const struct request *rq, const struct response *r)
{
    if (!r->type || r->len <= COMPRESS_BYTES_MIN || !is_compressible(r->type))
        return false;
    return !(strstr(r->type, "octet-stream") && is_local(rq));
}

/* ---- the end of an answer ----------------------------------------------------------------------------------- */

static void set_tag(struct exchange *x, uint64_t hash, bool compressed)
{
    snprintf(x->etag, sizeof x->etag, "\"%016llx%s\"", (unsigned long long)hash, compressed ? "-gz" : "");
}

/* A file of the page: what it holds is all that its answer depends on, too. */
static bool is_page(const struct exchange *x)
{
    return !x->route || x->route->handle == handle_page;
}

/* The validator and how long it holds; true when the client has the answer already. */
static bool finish_pure(struct exchange *x, uint64_t hash, bool compressed)
{
    set_tag(x, hash, compressed);
    respond_header(&x->rq, "ETag", x->etag);
    respond_header(&x->rq, "Cache-Control", is_page(x) ? PAGE_CACHE : PURE_CACHE);
    bool is_get = strcmp(x->rq.method, "GET") == 0;
    return is_get && has_tag(request_header(&x->rq, "If-None-Match"), x->etag);
}

void response_finish(struct exchange *x)
{
    struct response *r = &x->response;
    if (r->stream) { /* proxies must pass on each piece as it comes */
        respond_header(&x->rq, "Cache-Control", "no-store");
        respond_header(&x->rq, "X-Accel-Buffering", "no");
        respond_header(&x->rq, "X-Content-Type-Options", "nosniff");
        return;
    }
    bool pure = r->status == 200 && (is_page(x) || x->route->flags & ROUTE_PURE);
    bool compressible = is_worth_it(&x->rq, r);
    bool compressed = compressible && request_weight(&x->rq, "Accept-Encoding", "gzip", 0) > 0;
    uint64_t hash = pure ? hash_bytes(r->data, r->len) : 0;
    respond_header(&x->rq, "X-Content-Type-Options", "nosniff");
    if (pure || compressible)
        respond_header(&x->rq, "Vary", pure ? "Accept, Accept-Encoding" : "Accept-Encoding");
    if (pure && finish_pure(x, hash, compressed)) {
        r->status = 304;
        r->type = NULL;
        r->len = 0;
        return;
    }
    if (!compressed)
        return;
    size_t len = r->len;
    void *data = compress_bytes(x->rq.cx.arena, r->data, &len);
    if (data) {
        r->data = data;
        r->len = len;
        respond_header(&x->rq, "Content-Encoding", "gzip");
    } else {
        set_tag(x, hash, false);
    }
}

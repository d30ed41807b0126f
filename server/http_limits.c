/* http_limits.c: what is refused at the door, before a handler and before the body.
 *
 * libmicrohttpd takes a repeated Content-Length, Content-Length beside Transfer-Encoding, two Hosts, any transfer
 * encoding. Proxies before it may read such a request otherwise than it does, and so let one client speak for another
 * (request smuggling). They are refused and the connection is closed, since where the next request begins is not known. */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A body that is too large is read and dropped up to this many bytes, so that the client gets to read its 413; then the
 * connection is cut. */
#define DROPPED_BYTES_MAX (64u << 20)
/* Requests in flight, parked ones included; beyond, new ones are asked to come back. */
#define BUSY_MAX 2048

static bool refuse_framing(struct exchange *x, const char *what)
{
    x->must_close = true;
    respond_problem(&x->rq, 400, "bad_request", "%s", what);
    return false;
}

static bool is_number(const char *text)
{
    size_t len = strspn(text, "0123456789");
    return len > 0 && len < 20 && !text[len]; /* so that it fits in 64 bits */
}

/* "Content-Length : 5" is another name to libmicrohttpd, and the length of the body to others. */
static bool is_token(const char *name)
{
    static const char token[] =
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strspn(name, token);
    return len > 0 && !name[len];
}

/* Where the body ends must be said once, and in a way that is understood here. */
static bool admit_framing(struct exchange *x)
{
    for (size_t i = 0; i < x->header_count; i++)
        if (!is_token(x->headers[i].name))
            return refuse_framing(x, "the name of a header holds a character that it cannot hold");
    const char *length = request_header(&x->rq, "Content-Length");
    const char *encoding = request_header(&x->rq, "Transfer-Encoding");
    if (request_header_count(x, "Content-Length") > 1)
        return refuse_framing(x, "Content-Length is there more than once");
    if (request_header_count(x, "Transfer-Encoding") > 1)
        return refuse_framing(x, "Transfer-Encoding is there more than once");
    if (length && encoding)
        return refuse_framing(x, "both Content-Length and Transfer-Encoding");
    if (length && !is_number(length))
        return refuse_framing(x, "Content-Length is not a number");
    if (encoding && strcasecmp(encoding, "chunked") != 0) {
        x->must_close = true;
        respond_problem(&x->rq, 501, "not_implemented", "no transfer encoding but chunked is understood");
        return false;
    }
    return true;
}

static bool admit_host(struct exchange *x, const char *version)
{
    unsigned hosts = request_header_count(x, "Host");
    if (hosts > 1)
        return refuse_framing(x, "Host is there more than once");
    if (hosts == 0 && strcmp(version, "HTTP/1.0") != 0)
        return refuse_framing(x, "HTTP/1.1 needs the header Host");
    return true;
}

static bool admit_headers(struct exchange *x)
{
    size_t bytes = 0;
    for (size_t i = 0; i < x->header_count; i++)
        bytes += strlen(x->headers[i].name) + strlen(x->headers[i].value);
    if (bytes > HEADERS_BYTES_MAX || x->header_count == HEADERS_MAX) {
        respond_problem(&x->rq, 431, "headers_too_large", "the headers may hold %d bytes in %d lines",
                        HEADERS_BYTES_MAX, HEADERS_MAX - 1);
        return false;
    }
    const char *expect = request_header(&x->rq, "Expect");
    if (expect && strcasecmp(expect, "100-continue") != 0) {
        respond_problem(&x->rq, 417, "expectation_failed", "nothing but 100-continue is expected here");
        return false;
    }
    const char *coding = request_header(&x->rq, "Content-Encoding");
    if (coding && strcasecmp(coding, "identity") != 0) {
        respond_problem(&x->rq, 415, "unsupported_media_type",
                        "a body is taken as it is, not compressed (%s)", coding);
        return false;
    }
    return true;
}

static bool admit_target(struct exchange *x)
{
    if (!x->target) {
        respond_problem(&x->rq, 414, "uri_too_long", "an address may have %d bytes; POST takes more",
                        TARGET_MAX);
        return false;
    }
    const char *wrong = request_parse_target(x);
    if (wrong)
        respond_problem(&x->rq, 400, "bad_request", "%s", wrong);
    return !wrong;
}

static bool admit_load(struct exchange *x)
{
    pthread_mutex_lock(&x->http->lock);
    bool full = x->http->busy > BUSY_MAX;
    pthread_mutex_unlock(&x->http->lock);
    if (full) {
        respond_header(&x->rq, "Retry-After", "1");
        respond_problem(&x->rq, 503, "unavailable", "more requests are in flight than are answered at once");
    }
    return !full;
}

bool limits_body(struct exchange *x, uint64_t bytes)
{
    if (bytes > x->http->server->options.max_body)
        x->body_refused = true;
    return bytes <= DROPPED_BYTES_MAX;
}

void limits_refuse_body(struct exchange *x)
{
    respond_problem(&x->rq, 413, "too_large", "a body may have %zu bytes", x->http->server->options.max_body);
}

/* A length that was announced: refused at once when it is absurd, or when the client waits for 100 (Continue). */
static bool admit_length(struct exchange *x)
{
    const char *length = request_header(&x->rq, "Content-Length");
    bool readable = limits_body(x, length ? strtoull(length, NULL, 10) : 0);
    if (readable && !(x->body_refused && request_header(&x->rq, "Expect")))
        return true;
    x->must_close = true;
    limits_refuse_body(x);
    return false;
}

bool limits_admit(struct exchange *x, const char *version)
{
    return admit_framing(x) && admit_host(x, version) && admit_length(x) && admit_headers(x) &&
           admit_target(x) && admit_load(x);
}

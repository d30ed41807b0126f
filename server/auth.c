/* auth.c: what a request may do, by the token it shows.
 *
 *     Authorization: Bearer lt_...      -> the token's name is the user, its scopes are held against the route's
 *
 * The file is looked at again when a second has passed since the last look, so a token that was added or revoked
 * counts at once and nothing is restarted. A file that cannot be read lets nobody in: it may have been meant so.
 * Every token is compared with every line in the same time. Without --tokens everybody may do everything. */
#include "auth.h"
#include "exchange.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
    LOOK_MS = 1000,
    MAX_TOKEN = 200 /* bytes of what is hashed: ours are shorter */
};

struct auth {
    const char *path;
    pthread_mutex_t mutex; /* of all that follows */
    struct token *tokens;
    int64_t looked; /* monotonic milliseconds */
    struct stat seen;
};

/* ---- the file ----------------------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Under the mutex. */
static void look_again(struct auth *a)
{
    struct stat now = {0};
    const int64_t ms = clock_ms();
    if (ms - a->looked < LOOK_MS)
        return;
    a->looked = ms;
    stat(a->path, &now); /* one that is gone is all zeros */
    if (same_file(&now, &a->seen))
        return;
    a->seen = now;
    tokens_free(a->tokens);
    a->tokens = NULL;
    if (!tokens_read(a->path, &a->tokens))
        fputs("layoutd: until the file of tokens can be read, nobody is let in\n", stderr);
}

bool auth_open(struct server *server)
{
    if (!server->options.tokens)
        return true;
    struct auth *a = calloc(1, sizeof *a);
    if (!a || sodium_init() < 0) {
        fputs("layoutd: cannot prepare for tokens\n", stderr);
        free(a);
        return false;
    }
    a->path = server->options.tokens;
    pthread_mutex_init(&a->mutex, NULL);
    stat(a->path, &a->seen);
    a->looked = clock_ms();
    server->auth = a;
    return tokens_read(a->path, &a->tokens);
}

void auth_close(struct server *server)
{
    if (!server->auth)
        return;
    tokens_free(server->auth->tokens);
    pthread_mutex_destroy(&server->auth->mutex);
    free(server->auth);
    server->auth = NULL;
}

/* ---- a request ---------------------------------------------------------------------------------------------- */

/* What stands behind "Bearer"; NULL when there is none. */
static const char *bearer(struct request *rq)
{
    const char *given = request_header(rq, "Authorization");
    return given && strncasecmp(given, "Bearer ", 7) == 0 ? given + 7 + strspn(given + 7, " ") : NULL;
}

/* The scopes of a token, 0 when it is none; its name in the request's arena. */
static unsigned find_scopes(struct auth *a, struct request *rq, const char *text)
{
    unsigned char hash[TOKEN_HASH];
    char name[TOKEN_NAME + 1] = "";
    unsigned scopes = 0;
    if (strlen(text) > MAX_TOKEN)
        return 0;
    token_hash(text, hash);
    pthread_mutex_lock(&a->mutex);
    look_again(a);
    for (const struct token *t = a->tokens; t; t = t->next)
        if (sodium_memcmp(t->hash, hash, sizeof hash) == 0) {
            scopes = t->scopes;
            memcpy(name, t->name, sizeof name);
        }
    pthread_mutex_unlock(&a->mutex);
    if (scopes)
        rq->user = la_format(&rq->cx, "%s", name);
    return scopes;
}

bool auth_has(struct request *rq, const char *scope)
{
    struct auth *a = rq->server->auth;
    const char *token = a ? bearer(rq) : NULL;
    return token && find_scopes(a, rq, token) & scope_find(scope);
}

static bool refuse(struct request *rq, const char *scope, bool known)
{
    const char *error = known        ? ", error=\"insufficient_scope\""
                        : bearer(rq) ? ", error=\"invalid_token\""
                                     : "";
    respond_header(rq, "WWW-Authenticate",
                   la_format(&rq->cx, "Bearer realm=\"layoutd\"%s, scope=\"%s\"", error, scope));
    if (known)
        respond_problem(rq, 403, "forbidden", "the token of %s has not the scope '%s'", rq->user, scope);
    else
        respond_problem(rq, 401, "unauthorized",
                        "this takes a token with the scope '%s': Authorization: Bearer lt_...", scope);
    return false;
}

bool auth_admit(struct request *rq, const char *scope)
{
    struct auth *a = rq->server->auth;
    rq->admin = !a;
    if (!a || !scope || strcmp(scope, "worker") == 0)
        return true;
    const char *token = bearer(rq);
    const unsigned scopes = token ? find_scopes(a, rq, token) : 0;
    rq->admin = scopes && (scopes & scope_find("admin")) == scope_find("admin");
    return scopes & scope_find(scope) || refuse(rq, scope, scopes != 0);
}

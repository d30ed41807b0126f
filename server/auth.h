/* auth.h: tokens: who may do what.
 *
 * A token is 256 random bits, shown once when it is made; its file holds a hash. A line of the file:
 *     NAME SCOPES HASH CREATED        alice eval,run 1f0c...64 digits 2026-11-29T23:03:36Z */
#ifndef AUTH_H
#define AUTH_H

#include "http.h"

/* ---- tokens.c: the file, and `layoutd token ...` ---- */

enum { TOKEN_HASH = 32, TOKEN_NAME = 32 };

struct token {
    char name[TOKEN_NAME + 1];
    unsigned scopes; /* a bit each */
    unsigned char hash[TOKEN_HASH];
    char created[24];
    struct token *next;
};

/* The bit of a scope; 0 when nothing is called that. "admin" is every bit. */
unsigned scope_find(const char *name);
void token_hash(const char *text, unsigned char hash[TOKEN_HASH]);
/* The tokens of a file; false with a message on standard error. */
bool tokens_read(const char *path, struct token **out);
void tokens_free(struct token *tokens);
/* layoutd token add|list|revoke ...; the exit status. */
int token_command(int argc, char **argv, const char *usual_file);

/* ---- auth.c: requests ---- */

/* Read the file of options.tokens, when there is one; false with a message. */
bool auth_open(struct server *server);
void auth_close(struct server *server);
/* May the request use what takes this scope (NULL: everybody may)? Fills rq->user and rq->admin. False: refused, and
 * answered. What takes the scope "worker" looks by itself, since a daemon's own workers have a token of another kind. */
bool auth_admit(struct request *rq, const char *scope);
/* Does it show a token of the file that has this scope? */
bool auth_has(struct request *rq, const char *scope);

#endif

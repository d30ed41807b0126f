/* tokens.c: the file of tokens, and the command that changes it.
 *
 *     layoutd token add alice --scope eval,run     prints lt_..., once
 *     layoutd token list
 *     layoutd token revoke alice
 *
 * A token has 256 random bits, so a fast hash is enough to keep it from whoever reads the file: there is nothing to
 * guess. The file is written anew beside the old one and renamed over it, under a lock, so that a daemon never sees
 * half of it and two commands do not lose each other's change. */
#include "auth.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SECRET_BYTES = 32, MAX_LINE = 256, MAX_PATH = 4096, HASH_DIGITS = 2 * TOKEN_HASH };

static const char *const scopes[] = {"eval", "run", "worker", "metrics", "admin"};
enum { SCOPES = sizeof scopes / sizeof *scopes };

unsigned scope_find(const char *name)
{
    if (strcmp(name, "admin") == 0)
        return (1u << SCOPES) - 1;
    for (unsigned i = 0; i < SCOPES; i++)
        if (strcmp(name, scopes[i]) == 0)
            return 1u << i;
    return 0;
}

void token_hash(const char *text, unsigned char hash[TOKEN_HASH])
{
    crypto_generichash(hash, TOKEN_HASH, (const unsigned char *)text, strlen(text), NULL, 0);
}

void tokens_free(struct token *tokens)
{
    while (tokens) {
        struct token *next = tokens->next;
        free(tokens);
        tokens = next;
    }
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

/* "eval,run" as bits; 0 when one of them is no scope. */
static unsigned read_scopes(const char *text)
{
    unsigned all = 0;
    while (*text) {
        char name[16];
        const size_t len = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)len, text);
        const unsigned one = scope_find(name);
        if (!one)
            return 0;
        all |= one;
        text += len + (text[len] == ',');
    }
    return all;
}

static void write_scopes(unsigned bits, char *text, size_t size)
{
    size_t len = 0;
    *text = '\0';
    if (bits == scope_find("admin")) {
        snprintf(text, size, "admin");
        return;
    }
    for (unsigned i = 0; i < SCOPES; i++)
        if (bits & 1u << i)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len ? "," : "", scopes[i]);
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return *text && strlen(text) <= TOKEN_NAME && !text[strspn(text, letters)];
}

/* line = NAME SCOPES HASH CREATED */
static bool read_line(const char *line, struct token *t)
{
    char name[MAX_LINE], list[MAX_LINE], digits[MAX_LINE];
    size_t len = 0;
    if (sscanf(line, "%255s %255s %255s %23s", name, list, digits, t->created) != 4 || !is_name(name))
        return false;
    memcpy(t->name, name, strlen(name) + 1);
    t->scopes = read_scopes(list);
    return t->scopes && strlen(digits) == HASH_DIGITS &&
           sodium_hex2bin(t->hash, sizeof t->hash, digits, HASH_DIGITS, NULL, &len, NULL) == 0 &&
           len == sizeof t->hash;
}

static bool read_lines(FILE *f, const char *path, struct token **out)
{
    char line[MAX_LINE];
    struct token **end = out;
    for (int number = 1; fgets(line, sizeof line, f); number++) {
        if (*line == '#' || *line == '\n')
            continue;
        struct token *t = calloc(1, sizeof *t);
        if (!t || !read_line(line, t)) {
            fprintf(stderr, "layoutd: %s, line %d: not NAME SCOPES HASH CREATED\n", path, number);
            free(t);
            return false;
        }
        *end = t;
        end = &t->next;
    }
    return true;
}

bool tokens_read(const char *path, struct token **out)
{
    FILE *f = fopen(path, "re");
    *out = NULL;
    if (!f) {
        fprintf(stderr,
                "layoutd: cannot read the tokens in %s: %s (layoutd token add NAME --scope eval,run makes "
                "one)\n",
                path, strerror(errno));
        return false;
    }
    const bool ok = read_lines(f, path, out);
    fclose(f);
    if (ok)
        return true;
    tokens_free(*out);
    *out = NULL;
    return false;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static bool write_lines(int fd, const struct token *tokens)
{
    FILE *f = fdopen(fd, "w");
    if (!f) {
        close(fd);
        return false;
    }
    fputs("# tokens of layoutd: NAME SCOPES HASH CREATED; layoutd token add|list|revoke changes it\n", f);
    for (const struct token *t = tokens; t; t = t->next) {
        char list[64], digits[HASH_DIGITS + 1];
        write_scopes(t->scopes, list, sizeof list);
        sodium_bin2hex(digits, sizeof digits, t->hash, sizeof t->hash);
        fprintf(f, "%s %s %s %s\n", t->name, list, digits, t->created);
    }
    const bool ok = fflush(f) == 0 && fsync(fileno(f)) == 0;
    return fclose(f) == 0 && ok;
}

static bool tokens_write(const char *path, const struct token *tokens)
{
    char fresh[MAX_PATH + 16];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0 && write_lines(fd, tokens) && rename(fresh, path) == 0)
        return true;
    fprintf(stderr, "layoutd: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

/* The first token is often there before the daemon's data folder. */
static bool make_place(const char *path)
{
    char folder[MAX_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder)
        return true;
    *slash = '\0';
    return store_folder(folder);
}

/* Held until the process ends. */
static bool lock(const char *path)
{
    char name[MAX_PATH + 16];
    snprintf(name, sizeof name, "%s.lock", path);
    const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return true;
    fprintf(stderr, "layoutd: cannot lock %s: %s\n", name, strerror(errno));
    return false;
}

/* ---- the commands ------------------------------------------------------------------------------------------- */

static struct token *find(struct token *tokens, const char *name)
{
    while (tokens && strcmp(tokens->name, name) != 0)
        tokens = tokens->next;
    return tokens;
}

/* Make a token and print it: nobody can read it again. */
static int add(const char *path, struct token *tokens, const char *name, unsigned bits)
{
    unsigned char secret[SECRET_BYTES];
    char text[8 + sodium_base64_ENCODED_LEN(SECRET_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING)] = "lt_";
    struct token t = {.scopes = bits, .next = tokens};
    const time_t now = time(NULL);
    struct tm utc;
    if (!is_name(name) || find(tokens, name)) {
        fprintf(stderr, "layoutd: a token's name has up to %d letters, digits and ._- and is not there yet\n",
                TOKEN_NAME);
        return 2;
    }
    randombytes_buf(secret, sizeof secret);
    sodium_bin2base64(text + 3, sizeof text - 3, secret, sizeof secret,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    snprintf(t.name, sizeof t.name, "%s", name);
    strftime(t.created, sizeof t.created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    token_hash(text, t.hash);
    if (!tokens_write(path, &t))
        return 1;
    puts(text);
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(text, sizeof text);
    return 0;
}

static int take_away(const char *path, struct token **tokens, const char *name)
{
    struct token **at = tokens;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (!*at) {
        fprintf(stderr, "layoutd: there is no token of %s\n", name);
        return 1;
    }
    struct token *gone = *at;
    *at = gone->next;
    free(gone);
    return tokens_write(path, *tokens) ? 0 : 1;
}

static int show(const struct token *tokens)
{
    for (const struct token *t = tokens; t; t = t->next) {
        char names[64];
        write_scopes(t->scopes, names, sizeof names);
        printf("%-32s %-32s %s\n", t->name, names, t->created);
    }
    return 0;
}

struct command {
    const char *verb, *name, *scope, *path;
};

/* words = VERB [NAME] [--scope LIST] [--tokens FILE] */
static bool read_command(int argc, char **argv, struct command *c)
{
    for (int i = 2; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (strcmp(argv[i], "--scope") == 0 && more)
            c->scope = argv[++i];
        else if (strcmp(argv[i], "--tokens") == 0 && more)
            c->path = argv[++i];
        else if (!c->verb)
            c->verb = argv[i];
        else if (!c->name && *argv[i] != '-')
            c->name = argv[i];
        else
            return false;
    }
    const bool is_list = c->verb && strcmp(c->verb, "list") == 0,
               is_add = c->verb && strcmp(c->verb, "add") == 0;
    const bool is_revoke = c->verb && strcmp(c->verb, "revoke") == 0;
    return (is_list && !c->name) || (is_revoke && c->name) || (is_add && c->name && read_scopes(c->scope));
}

int token_command(int argc, char **argv, const char *usual_file)
{
    struct command c = {.scope = "eval,run", .path = usual_file};
    struct token *tokens = NULL;
    if (!read_command(argc, argv, &c) || strlen(c.path) >= MAX_PATH || sodium_init() < 0) {
        fputs("layoutd: token add NAME [--scope eval,run,worker,metrics,admin] | token list | token revoke "
              "NAME; "
              "each with [--tokens FILE]\n",
              stderr);
        return 2;
    }
    const bool is_add = strcmp(c.verb, "add") == 0;
    if ((is_add && !make_place(c.path)) || (strcmp(c.verb, "list") != 0 && !lock(c.path)) ||
        (!(is_add && access(c.path, F_OK) != 0) && !tokens_read(c.path, &tokens)))
        return 1;
    const int status = is_add                          ? add(c.path, tokens, c.name, read_scopes(c.scope))
                       : strcmp(c.verb, "revoke") == 0 ? take_away(c.path, &tokens, c.name)
                                                       : show(tokens);
    tokens_free(tokens);
    return status;
}

/* http_client.h: a daemon of our own and raw sockets to it, for tests that must be able to say what no client says. */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    START_MS = 20 * 1000,  /* under sanitizers, on a busy machine */
    ANSWER_MS = 30 * 1000, /* a table of a million cells under sanitizers */
    STOP_MS = 30 * 1000
};

/* ---- bytes -------------------------------------------------------------------------------------------------- */

struct bytes {
    char *data; /* always terminated */
    size_t len, capacity;
};

static inline void bytes_add(struct bytes *b, const void *data, size_t len)
{
    if (b->len + len + 1 > b->capacity) {
        b->capacity = 2 * (b->len + len) + 64;
        b->data = realloc(b->data, b->capacity);
        if (!b->data)
            abort();
    }
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = 0;
}

static inline void bytes_text(struct bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

/* ---- the daemon --------------------------------------------------------------------------------------------- */

struct daemon {
    pid_t pid;
    unsigned port;
    int log; /* its standard error */
    char data[64];
};

static inline _Noreturn void daemon_exec(const struct daemon *d, const char *program, char *const *flags,
                                         int log)
{
    char *argv[24] = {(char *)(size_t)program, "--listen", "127.0.0.1:0", "--workers", "none", "--data",
                      (char *)(size_t)d->data};
    int n = 7;
    for (; flags && *flags && n < 23; flags++)
        argv[n++] = *flags;
    dup2(log, STDERR_FILENO);
    execv(program, argv);
    _exit(127);
}

/* Read the log until the URL is told. */
static inline bool daemon_read_port(struct daemon *d)
{
    struct bytes log = {0};
    char piece[512];
    struct pollfd readable = {.fd = d->log, .events = POLLIN};
    while (poll(&readable, 1, START_MS) > 0) {
        ssize_t n = read(d->log, piece, sizeof piece);
        if (n <= 0)
            break;
        bytes_add(&log, piece, (size_t)n);
        const char *line = strstr(log.data, "layoutd: listening on http://127.0.0.1:");
        if (line && strchr(line, '\n')) {
            d->port = (unsigned)strtoul(strrchr(strtok((char *)(size_t)line, "\n"), ':') + 1, NULL, 10);
            free(log.data);
            return true;
        }
    }
    fprintf(stderr, "the daemon did not start: %s\n", log.data ? log.data : "");
    free(log.data);
    return false;
}

/* Start $BUILD/layoutd on a free port with an empty data folder; `flags` end with NULL. */
static inline bool daemon_start(struct daemon *d, char *const *flags)
{
    const char *build = getenv("BUILD");
    char program[512];
    int log[2];
    snprintf(program, sizeof program, "%s/layoutd", build ? build : "build");
    snprintf(d->data, sizeof d->data, "/tmp/layoutd-test-XXXXXX");
    if (!mkdtemp(d->data) || pipe(log) != 0)
        return false;
    d->pid = fork();
    if (d->pid == 0)
        daemon_exec(d, program, flags, log[1]);
    close(log[1]);
    d->log = log[0];
    return d->pid > 0 && daemon_read_port(d);
}

/* What the daemon says at its end, then its exit status; -1 when it did not end by itself. */
static inline int daemon_wait(struct daemon *d, struct bytes *log)
{
    char piece[512];
    struct pollfd readable = {.fd = d->log, .events = POLLIN};
    ssize_t n = 1;
    while (n > 0 && poll(&readable, 1, STOP_MS) > 0)
        if ((n = read(d->log, piece, sizeof piece)) > 0)
            bytes_add(log, piece, (size_t)n);
    if (n > 0)
        kill(d->pid, SIGKILL);
    int status = -1;
    waitpid(d->pid, &status, 0);
    close(d->log);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", d->data);
    if (system(command) != 0)
        fprintf(stderr, "could not remove %s\n", d->data);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- one exchange ------------------------------------------------------------------------------------------- */

struct answer {
    int status; /* 0: none came */
    char *head; /* the lines before the empty one */
    char *body;
    size_t body_len;
    struct bytes all;
};

static inline int client_connect(const struct daemon *d)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)d->port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = {.tv_sec = ANSWER_MS / 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline void client_send(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* the daemon has answered and closed */
        data += n;
        len -= (size_t)n;
    }
}

/* The value of a header, in a buffer that the next call overwrites; NULL when absent. */
static inline const char *answer_header(const struct answer *a, const char *name)
{
    static _Thread_local char value[1024];
    size_t len = strlen(name);
    for (const char *line = a->head; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            const char *text = line + len + 1 + strspn(line + len + 1, " ");
            snprintf(value, sizeof value, "%.*s", (int)strcspn(text, "\r\n"), text);
            return value;
        }
    }
    return NULL;
}

/* Read until the daemon closes, or the body is as long as its length says. */
static inline void client_read(int fd, bool head_only, struct answer *a)
{
    static _Thread_local char piece[65536];
    size_t head = 0, wanted = 0;
    bool known = false;
    for (;;) {
        if (!head && a->all.len) {
            const char *end = strstr(a->all.data, "\r\n\r\n");
            head = end ? (size_t)(end - a->all.data) + 4 : 0;
        }
        if (head && !known) {
            struct answer view = {.head = a->all.data};
            const char *length = answer_header(&view, "Content-Length");
            known = true;
            wanted = head + (length && !head_only ? strtoul(length, NULL, 10) : 0);
            if (!length && !head_only && !strstr(a->all.data, " 204 ") && !strstr(a->all.data, " 304 "))
                wanted = SIZE_MAX;
        }
        if (known && a->all.len >= wanted)
            break;
        ssize_t n = recv(fd, piece, sizeof piece, 0);
        if (n <= 0)
            break;
        bytes_add(&a->all, piece, (size_t)n);
    }
    if (!head)
        return;
    a->head = a->all.data;
    a->head[head - 2] = 0;
    a->body = a->all.data + head;
    a->body_len = a->all.len - head;
    a->status = strncmp(a->head, "HTTP/1.1 ", 9) == 0 ? atoi(a->head + 9) : 0;
}

/* Send bytes on a connection of their own and read the answer; free with answer_free. */
static inline struct answer client_ask(const struct daemon *d, const char *data, size_t len)
{
    struct answer a = {0};
    int fd = client_connect(d);
    if (fd < 0)
        return a;
    client_send(fd, data, len);
    client_read(fd, len > 5 && strncmp(data, "HEAD ", 5) == 0, &a);
    close(fd);
    return a;
}

static inline void answer_free(struct answer *a)
{
    free(a->all.data);
    memset(a, 0, sizeof *a);
}

#endif

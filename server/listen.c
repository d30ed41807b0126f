/* listen.c: the socket that the daemon answers on.
 *
 *     --listen 127.0.0.1:0   ->  http://127.0.0.1:41327       --listen [::1]:8080  ->  http://[::1]:8080
 * Without tokens, whoever reaches the socket may use the daemon: so an address other than loopback takes --tokens, or
 * an explicit --no-auth. */
#include "exchange.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024

/* Split HOST:PORT or [HOST]:PORT. */
static bool split_address(const char *text, char host[256], const char **port)
{
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1] || colon - text >= 256)
        return false;
    size_t len = (size_t)(colon - text);
    if (*text == '[' && colon[-1] == ']') {
        text++;
        len -= 2;
    }
    memcpy(host, text, len);
    host[len] = 0;
    *port = colon + 1;
    return len > 0;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static int open_socket(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol), one = 1;
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static void fill_url(struct server *server, int fd)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    char host[128] = "?", port[16] = "?";
    if (getsockname(fd, (struct sockaddr *)&bound, &len) == 0)
        getnameinfo((struct sockaddr *)&bound, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    bool brackets = bound.ss_family == AF_INET6;
    snprintf(server->url, sizeof server->url, "http://%s%s%s:%s", brackets ? "[" : "", host,
             brackets ? "]" : "", port);
}

int listen_open(struct server *server)
{
    const char *text = server->options.listen, *port = NULL;
    char host[256];
    if (!split_address(text, host, &port)) {
        fprintf(stderr, "layoutd: --listen takes HOST:PORT, not '%s'\n", text);
        return -1;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found = NULL;
    int failed = getaddrinfo(host, port, &hints, &found);
    if (failed) {
        fprintf(stderr, "layoutd: cannot listen at '%s': %s\n", text, gai_strerror(failed));
        return -1;
    }
    int fd = -1;
    if (!is_loopback(found->ai_addr) && !server->options.no_auth && !server->options.tokens)
        fprintf(stderr,
                "layoutd: %s can be reached from other machines: anybody there could run kernels here.\n"
                "layoutd: Listen on 127.0.0.1, or give --tokens FILE (made by layoutd token add), or say "
                "--no-auth.\n",
                text);
    else if ((fd = open_socket(found)) < 0)
        fprintf(stderr, "layoutd: cannot listen at %s: %s\n", text, strerror(errno));
    else
        fill_url(server, fd);
    freeaddrinfo(found);
    return fd;
}

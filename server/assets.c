/* assets.c: the files of the page, from the folder that --web names.
 *
 *     /            ->  index.html          /lib/grid.js  ->  lib/grid.js
 * A path is walked name by name with openat, following no link, and a name is letters, digits, '.', '_' and '-' that
 * does not begin with '.': there is no spelling of a path that leaves the folder. Files are read anew for each request
 * (a developer's edit shows at once) and revalidated by their ETag (respond.c). */
#include "exchange.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Scripts, styles, pictures: more than that is not a file of a page. */
#define FILE_BYTES_MAX (8u << 20)
#define NAME_BYTES_MAX 128

/* No script, style, picture or connection from anywhere else, and in nobody's frame. */
#define PAGE_POLICY \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " \
    "base-uri 'none'; frame-ancestors 'none'"

static const struct {
    const char *suffix, *type;
} media_types[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".webmanifest", "application/manifest+json"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
};

/* The type for a file's name; NULL: such files are not served. */
static const char *media_type(const char *path)
{
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix && i < sizeof media_types / sizeof *media_types; i++)
        if (strcmp(media_types[i].suffix, suffix) == 0)
            return media_types[i].type;
    return NULL;
}

static bool is_name(const char *name, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return len > 0 && len < NAME_BYTES_MAX && *name != '.' && strspn(name, letters) >= len;
}

/* Open folder/path without leaving the folder; -1 when there is no such file. */
static int open_below(const char *folder, const char *path)
{
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0) {
        size_t len = strcspn(path, "/");
        bool last = !path[len];
        char name[NAME_BYTES_MAX] = "";
        int next = -1;
        if (is_name(path, len)) {
            memcpy(name, path, len);
            int flags = O_NOFOLLOW | O_CLOEXEC | (last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY);
            next = openat(fd, name, flags);
        }
        close(fd);
        if (last)
            return next;
        fd = next;
        path += len + 1;
    }
    return -1;
}

/* The bytes of a regular file; NULL when it is none, or too large. */
static char *read_all(struct request *rq, int fd, size_t *len)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)FILE_BYTES_MAX)
        return NULL;
    const size_t size = (size_t)st.st_size;
    char *data = la_arena_alloc(rq->cx.arena, size + 1);
    ssize_t n = 0;
    for (*len = 0; data && *len < size; *len += (size_t)n)
        if ((n = read(fd, data + *len, size - *len)) <= 0)
            break;
    return n < 0 ? NULL : data;
}

void handle_page(struct request *rq)
{
    const char *path = strcmp(rq->path, "/") == 0 ? "/index.html" : rq->path;
    const char *type = *path == '/' ? media_type(path) : NULL;
    int fd = type ? open_below(rq->server->options.web, path + 1) : -1;
    size_t len = 0;
    char *data = NULL;
    if (fd >= 0) {
        data = read_all(rq, fd, &len);
        close(fd);
    }
    if (!data) {
        respond_problem(rq, 404, "not_found", "there is nothing at '%s'; /openapi.json tells what there is",
                        rq->path);
        return;
    }
    respond_header(rq, "Content-Security-Policy", PAGE_POLICY);
    respond_header(rq, "Referrer-Policy", "no-referrer");
    respond(rq, 200, type, data, len);
}

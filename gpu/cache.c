/* cache.c: compiled kernels on disk, in LAYOUTD_CACHE or the user's cache folder.
 *
 * A file is a header, the whole key (everything that the machine code depends on), the compiler's log and the
 * image. Its name is a hash of the key, but a file only counts when its key is equal, so a collision is a
 * miss and never a wrong kernel; a checksum does the same for damage. Files appear by rename, whole or not at
 * all. Any failure is a miss: the cache is never needed. */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES ((int64_t)256 << 20) /* of the whole cache: some 10,000 kernels */
enum {
    MAX_FILES = 4096,         /* keeps the scan before a new file in the milliseconds */
    MAX_FILE_BYTES = 64 << 20 /* a larger file is no kernel */
};
static const char magic[8] = "laycubn1";

struct header {
    char magic[8];
    uint64_t key_len, log_len, image_len;
    uint64_t checksum; /* of all that follows */
};

/* FNV-1a */
static uint64_t hash(const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ byte[i]) * 0x100000001b3u;
    return h;
}

/* Make the folder; false when there is none to be had. */
static bool cache_folder(char *path, size_t size)
{
    const char *own = getenv("LAYOUTD_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && *own)
        snprintf(path, size, "%s", own);
    else if (xdg && *xdg)
        snprintf(path, size, "%s/layoutd", xdg);
    else if (home && *home)
        snprintf(path, size, "%s/.cache/layoutd", home);
    else
        return false;
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool cache_path(char *path, size_t size, const char *key)
{
    if (!cache_folder(path, size))
        return false;
    const size_t len = strlen(path);
    const int n = snprintf(path + len, size - len, "/%016llx.cubin",
                           (unsigned long long)hash(key, strlen(key)));
    return n > 0 && (size_t)n < size - len;
}

/* The whole file in the arena; NULL when there is none. */
static unsigned char *read_file(struct la_ctx *cx, const char *path, size_t *size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    unsigned char *data = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= MAX_FILE_BYTES) {
        *size = (size_t)st.st_size;
        data = la_arena_alloc(cx->arena, *size);
        if (data && read(fd, data, *size) != st.st_size)
            data = NULL;
    }
    if (fd >= 0) {
        if (data)
            futimens(fd, NULL); /* the time of last use, for trimming */
        close(fd);
    }
    return data;
}

bool gpu_cache_read(struct la_ctx *cx, const char *key, struct gpu_cubin *out)
{
    char path[1024];
    size_t size = 0;
    struct header h;
    unsigned char *data = cache_path(path, sizeof path, key) ? read_file(cx, path, &size) : NULL;
    if (!data || size < sizeof h)
        return false;
    memcpy(&h, data, sizeof h);
    const unsigned char *body = data + sizeof h;
    const size_t left = size - sizeof h;
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.key_len > left || h.log_len > left || h.log_len < 1 ||
        h.image_len > left || h.key_len + h.log_len + h.image_len != left || h.checksum != hash(body, left)) {
        unlink(path);
        return false;
    }
    if (h.key_len != strlen(key) || memcmp(body, key, h.key_len) != 0 ||
        body[h.key_len + h.log_len - 1] != '\0')
        return false;
    /* The image starts where the key and the log end; the driver wants it aligned. */
    void *image = la_arena_alloc(cx->arena, h.image_len);
    if (!image)
        return false;
    memcpy(image, body + h.key_len + h.log_len, h.image_len);
    *out = (struct gpu_cubin){image, h.image_len, (const char *)body + h.key_len, true};
    return true;
}

struct entry {
    char name[32];
    int64_t bytes;
    struct timespec used;
};

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* Remove what was not used for longest until a quarter is free, when a limit is reached. */
static void trim(const char *folder)
{
    static struct entry entries[MAX_FILES];
    size_t n = 0;
    int64_t bytes = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *d; n < MAX_FILES && (d = readdir(dir));) {
        struct stat st;
        if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof entries[n].name ||
            fstatat(dirfd(dir), d->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
            continue;
        strcpy(entries[n].name, d->d_name);
        entries[n].bytes = st.st_size;
        entries[n++].used = st.st_mtim;
        bytes += st.st_size;
    }
    if (n == MAX_FILES || bytes > MAX_BYTES) {
        qsort(entries, n, sizeof entries[0], by_use);
        for (size_t i = 0; i < n && (n - i > MAX_FILES * 3 / 4 || bytes > MAX_BYTES / 4 * 3); i++)
            if (unlinkat(dirfd(dir), entries[i].name, 0) == 0)
                bytes -= entries[i].bytes;
    }
    closedir(dir);
}

static bool write_all(int fd, const void *data, size_t size)
{
    for (const char *p = data; size > 0;) {
        const ssize_t n = write(fd, p, size);
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

void gpu_cache_write(struct la_ctx *cx, const char *key, const struct gpu_cubin *cubin)
{
    char path[1024], folder[1024], temporary[1100];
    struct header h = {.key_len = strlen(key), .log_len = strlen(cubin->log) + 1, .image_len = cubin->size};
    const size_t size = h.key_len + h.log_len + h.image_len;
    unsigned char *body = la_arena_alloc(cx->arena, size);
    if (!body || !cache_path(path, sizeof path, key) || !cache_folder(folder, sizeof folder))
        return;
    memcpy(h.magic, magic, sizeof magic);
    memcpy(body, key, h.key_len);
    memcpy(body + h.key_len, cubin->log, h.log_len);
    memcpy(body + h.key_len + h.log_len, cubin->image, h.image_len);
    h.checksum = hash(body, size);
    trim(folder);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    const bool ok = write_all(fd, &h, sizeof h) && write_all(fd, body, size);
    if (close(fd) != 0 || !ok || rename(temporary, path) != 0)
        unlink(temporary);
}

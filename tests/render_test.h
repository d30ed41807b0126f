/* render_test.h: what tests of pictures share: a folder, files in it, programs that may not be installed. */
#ifndef RENDER_TEST_H
#define RENDER_TEST_H

#include "http_client.h"
#include "picture_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char folder[] = "/tmp/layoutd-render-XXXXXX";
static int skipped;

/* Is a reader installed? If not, say so; the test is skipped. */
static inline void need(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    if (system(command) == 0)
        return;
    printf("skipped: %s is not installed\n", program);
    skipped++;
    skip();
}

__attribute__((format(printf, 1, 2))) static inline void run(const char *format, ...)
{
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0)
        fail_msg("this failed: %s", command);
}

static inline const char *path_of(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void save(const char *name, const void *data, size_t len)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    fclose(f);
}

static inline char *load(const char *name)
{
    struct bytes text = {0};
    char piece[4096];
    FILE *f = fopen(path_of(name), "rb");
    assert_non_null(f);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        bytes_add(&text, piece, n);
    fclose(f);
    bytes_add(&text, "", 0);
    return text.data;
}

/* The last line of a suite; the status of its program. */
static inline int report(int tests, int failed)
{
    run("rm -rf %s", folder);
    printf("%d passed, %d failed\n", tests - skipped - failed, failed);
    return failed ? 1 : 0;
}

#endif

/* fake.c: faults that a test cannot make by itself, in a program that it starts with this library preloaded.
 *
 * In the folder $LAYOUTD_FAKE
 *     clock        holds seconds by which the wall clock is wrong
 *     unkillable   while it is there, a worker's signals do not reach its executor, as if the driver held it */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool path_of(const char *name, char path[512])
{
    const char *folder = getenv("LAYOUTD_FAKE");
    return folder && (size_t)snprintf(path, 512, "%s/%s", folder, name) < 512;
}

static long wrong_seconds(void)
{
    char path[512];
    long seconds = 0;
    FILE *f = path_of("clock", path) ? fopen(path, "re") : NULL;
    if (f && fscanf(f, "%ld", &seconds) != 1)
        seconds = 0;
    if (f)
        fclose(f);
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int status = real(clock, out);
    if (status == 0 && clock == CLOCK_REALTIME)
        out->tv_sec += wrong_seconds();
    return status;
}

int kill(pid_t pid, int number)
{
    static int (*real)(pid_t, int);
    char path[512];
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "kill");
    if (strcmp(program_invocation_short_name, "layoutd-worker") == 0 && path_of("unkillable", path) &&
        access(path, F_OK) == 0)
        return 0;
    return real(pid, number);
}

/* fake.c: faults that a test cannot make by itself, in a program that it starts with this library preloaded.
 *
 * In the folder $LAYOUTD_FAKE
 *     clock        holds seconds by which the wall clock is wrong
 *     unkillable   while it is there, a worker's signals do not reach its executor, as if the driver held it
 *     hang         while it is there, a process that compiles does not
 *     arch         holds the architecture of a card that is not there: `layoutd-worker executor gpu:0` is then played
 *                  here. It asks for its kernel if the job's spec has a "seed", and runs until there is the file `go` */
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

static bool is_there(const char *name)
{
    char path[512];
    return path_of(name, path) && access(path, F_OK) == 0;
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
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "kill");
    if (strcmp(program_invocation_short_name, "layoutd-worker") == 0 && is_there("unkillable"))
        return 0;
    return real(pid, number);
}

/* ---- an executor of a card that is not there ---------------------------------------------------------------- */

/* The text of a member that comes first of its name. */
static void text_of(const char *line, const char *name, char *out, size_t size)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *at = strstr(line, key);
    snprintf(out, size, "%.*s", at ? (int)strcspn(at + strlen(key), "\"") : 0, at ? at + strlen(key) : "");
}

#define SOURCE "\"source\":\"extern \\\"C\\\" __global__ void copy() {}\""

/* Whether there is a kernel. */
static bool have_compiled(const char *job)
{
    char line[4096] = "";
    printf("{\"event\":\"compile\",\"job\":\"%s\"," SOURCE "}\n", job);
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) && strstr(line, "\"compiled\""))
        return true;
    printf("{\"event\":\"failed\",\"job\":\"%s\",\"failure\":{\"kind\":\"infra\",\"message\":\"none\"}}\n",
           job);
    fflush(stdout);
    return false;
}

static void play_job(const char *line, const char *arch)
{
    char job[64];
    text_of(line, "job", job, sizeof job);
    printf("{\"event\":\"compiling\",\"job\":\"%s\"}\n", job);
    fflush(stdout);
    if (strstr(line, "\"seed\"") && !have_compiled(job))
        return;
    printf("{\"event\":\"partial\",\"job\":\"%s\",\"partial\":{" SOURCE "}}\n", job);
    printf("{\"event\":\"running\",\"job\":\"%s\"}\n", job);
    fflush(stdout);
    while (!is_there("go"))
        usleep(2000);
    printf("{\"event\":\"result\",\"job\":\"%s\",\"result\":{\"verified\":true,\"process\":%d," SOURCE
           ",\"device\":{\"arch\":\"%s\"}}}\n",
           job, (int)getpid(), arch);
    fflush(stdout);
}

static void play_executor(void)
{
    static char line[1 << 20];
    char path[512], arch[32] = "";
    FILE *f = path_of("arch", path) ? fopen(path, "re") : NULL;
    if (!f || fscanf(f, "%31s", arch) != 1)
        return;
    printf("{\"event\":\"ready\",\"device\":{\"executor\":\"gpu\",\"name\":\"none\",\"arch\":\"%s\"}}\n",
           arch);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        play_job(line, arch);
    _exit(EXIT_SUCCESS);
}

__attribute__((constructor)) static void play(int argc, char **argv)
{
    if (strcmp(program_invocation_short_name, "layoutd-worker") != 0 || argc < 2)
        return;
    while (strcmp(argv[1], "compile") == 0 && is_there("hang"))
        usleep(2000);
    if (strcmp(argv[1], "executor") == 0 && argc == 3 && strncmp(argv[2], "gpu", 3) == 0 && is_there("arch"))
        play_executor();
}

/* daemon.h: a real daemon with real workers, for a test: started on a free port, asked over HTTP, ended or
 * killed.
 *
 * Each test has its own folder and one daemon at most. Everything dies with the test program; the folder
 * of a test that failed stays, with the logs. */
#ifndef TEST_DAEMON_H
#define TEST_DAEMON_H

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu.h"

/* A copy that takes a millisecond on the CPU. */
#define COPY \
    "\"kind\":\"copy\",\"type\":\"half_t\",\"atom\":\"UniversalCopy<uint128_t>\",\"thr\":\"(8,4):(4,1)\"," \
    "\"val\":\"(1,8):(0,1)\",\"src\":\"(16,64):(64,1)\",\"dst\":\"(16,64):(64,1)\""

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED true
#elif defined __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED false
#endif

enum {
    START_MS = 20 * 1000, /* under a sanitizer, on a busy machine */
    END_S = 30            /* for a job to end */
};

/* ---- processes ---------------------------------------------------------------------------------------------- */

static char folder[256];   /* of the test that runs: data, and logs */
static char program[4096]; /* the folder of the programs under test */
static char url[128];
static pid_t daemon_pid, worker_pid;
static void (*in_child)(void);     /* what a process of the test does before it becomes a program */
static const char *more_flags[16]; /* of the daemon, ended by NULL; each test begins with none */

/* The programs of the build that this test belongs to: build/tests/test_jobs -> build */
static inline void find_programs(void)
{
    const ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    for (int i = 0; i < 2; i++)
        *strrchr(program, '/') = '\0';
}

static inline int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* A file of the folder, whole or not at all. */
static inline void put_file(const char *name, const char *text)
{
    char path[512], fresh[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *f = fopen(fresh, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(rename(fresh, path), 0);
}

/* Lines of a file of the folder; 0 when there is none. */
static inline int count_file_lines(const char *name)
{
    char path[512];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    for (int c; f && (c = fgetc(f)) != EOF;)
        count += c == '\n';
    if (f)
        fclose(f);
    return count;
}

static inline void remove_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

/* The sanitizer's library, where this program is linked with one: it must be loaded before any other. */
static inline void find_sanitizer(char path[400])
{
    char line[800];
    FILE *f = fopen("/proc/self/maps", "r");
    *path = '\0';
    while (f && !*path && fgets(line, sizeof line, f)) {
        const char *name = strchr(line, '/');
        if (name && (strstr(name, "/libasan.so") || strstr(name, "/libtsan.so")))
            snprintf(path, 400, "%.*s", (int)strcspn(name, "\n"), name);
    }
    if (f)
        fclose(f);
}

/* As in_child: the process and its children are run with tests/fake.c, whose files are in the folder. */
static inline void use_fakes(void)
{
    char libraries[5000], sanitizer[400];
    find_sanitizer(sanitizer);
    snprintf(libraries, sizeof libraries, "%s%s%s/tests/fake.so", sanitizer, *sanitizer ? ":" : "", program);
    setenv("LD_PRELOAD", libraries, 1);
    setenv("LAYOUTD_FAKE", folder, 1);
}

/* Run a program of the build with its output appended to a file of the folder. SIGXFSZ is ignored, so that
 * a limit on the size of files is seen as a failing write. */
static inline pid_t spawn(const char *name, const char *log, char *const *argv)
{
    char path[4200], output[512];
    snprintf(path, sizeof path, "%s/%s", program, name);
    snprintf(output, sizeof output, "%s/%s", folder, log);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    if (in_child)
        in_child();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGXFSZ, SIG_IGN);
    const int fd = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
        _exit(126);
    execv(path, argv);
    _exit(127);
}

/* The line of the log that says where the daemon answers. */
static inline bool find_url(void)
{
    char path[512], line[512], found[128] = "";
    snprintf(path, sizeof path, "%s/daemon.log", folder);
    FILE *f = fopen(path, "r");
    while (f && !*found && fgets(line, sizeof line, f))
        if (sscanf(line, "layoutd: listening on %127s", found) != 1)
            *found = '\0';
    if (f)
        fclose(f);
    if (*found && strcmp(found, url) != 0) /* other threads read it while a daemon comes back where it was */
        strcpy(url, found);
    return *found;
}

static inline void start_daemon(const char *workers, const char *listen)
{
    char data[512], log[512];
    const char *argv[32] = {"layoutd", "--listen",  listen,  "--data",
                            data,      "--workers", workers, "--allow-planted-faults"};
    int argc = 8;
    for (const char *const *flag = more_flags; *flag; flag++)
        argv[argc++] = *flag;
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(log, sizeof log, "%s/daemon.log", folder);
    unlink(log);
    daemon_pid = spawn("layoutd", "daemon.log", (char *const *)argv);
    const int64_t until = now_ms() + START_MS;
    while (!find_url() && now_ms() < until)
        pause_ms(10);
    assert_true(find_url());
}

/* End a process of this test, and give its status. */
static inline int end(pid_t *pid, int signal_number)
{
    int status = 0;
    kill(*pid, signal_number);
    assert_int_equal(waitpid(*pid, &status, 0), *pid);
    *pid = 0;
    return status;
}

static inline void stop_daemon(void)
{
    const int status = end(&daemon_pid, SIGTERM);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Of the device "cpu", or "gpu:0" of a card that tests/fake.c plays. */
static inline void start_worker(const char *device)
{
    char *argv[] = {"layoutd-worker", "--url", url, "--device", (char *)device, "--name", "remote", NULL};
    worker_pid = spawn("layoutd-worker", "worker.log", argv);
}

/* The child of a process whose command line holds a word; 0 when there is none. */
static inline pid_t child_of(pid_t parent, const char *word)
{
    DIR *proc = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; !found && (entry = readdir(proc));) {
        char path[300], text[512] = "";
        int ppid = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &ppid) != 1)
            ppid = 0;
        if (f)
            fclose(f);
        if (ppid != parent)
            continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        if (!(f = fopen(path, "r")))
            continue;
        const size_t n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
        for (size_t i = 0; i < n; i++)
            text[i] = text[i] ? text[i] : ' ';
        if (strstr(text, word))
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(proc);
    return found;
}

static inline pid_t find_executor(void)
{
    return child_of(child_of(daemon_pid, "--device"), "executor");
}

static inline void kill_worker(void)
{
    const pid_t pid = child_of(daemon_pid, "--device");
    assert_true(pid > 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
}

/* ---- a card that is not there: tests/fake.c ------------------------------------------------------------------ */

static inline void use_card(void)
{
    char cache[300];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("LAYOUTD_CACHE", cache, 1);
    use_fakes();
}

static inline void start_card(void)
{
    in_child = use_card;
    put_file("arch", "sm_90a\n");
    start_daemon("none", "127.0.0.1:0");
    start_worker("gpu:0");
}

#include "daemon_client.h"

/* ---- each test's folder ------------------------------------------------------------------------------------- */

static inline int make_folder(void **state)
{
    (void)state;
    more_flags[0] = NULL;
    in_child = NULL;
    from_address = NULL;
    snprintf(folder, sizeof folder, "/tmp/layoutd-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* After a test that failed its processes may still be there, and its logs stay. */
static inline int end_all(void **state)
{
    char command[300];
    (void)state;
    const bool left = daemon_pid || worker_pid;
    if (daemon_pid)
        end(&daemon_pid, SIGKILL);
    if (worker_pid)
        end(&worker_pid, SIGKILL);
    if (left) {
        printf("logs of the test that failed: %s\n", folder);
        return 0;
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static inline void stop_worker(void)
{
    const int status = end(&worker_pid, SIGTERM);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Whether kernels can be compiled on this machine. */
static inline bool can_compile(void)
{
    const char *version, *why;
    return gpu_compiler(&version, &why);
}

static inline void stop_all(void)
{
    stop_worker();
    stop_daemon();
}

/* ---- all tests of a program --------------------------------------------------------------------------------- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, end_all)

/* Run them, and say how many passed; the program's exit status. */
#define run_suite(tests) run_all(tests, sizeof(tests) / sizeof *(tests))
#define run_all(tests, count) \
    (prepare_tests(), count_failed(_cmocka_run_group_tests(#tests, tests, count, NULL, NULL), count))

static inline void prepare_tests(void)
{
    find_programs();
    setenv("LAYOUTD_WORKER_TOKEN", WORKER_TOKEN, 1);
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static inline int count_failed(int failed, size_t count)
{
    curl_global_cleanup();
    printf("%d passed, %d failed\n", (int)count - failed, failed);
    return failed != 0;
}

#endif

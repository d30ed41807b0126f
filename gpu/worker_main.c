/* worker_main.c: the program layoutd-worker.
 *
 *     layoutd-worker --url http://HOST:PORT --device gpu:0    leases jobs of that daemon
 *     layoutd-worker executor gpu:0                           runs them; the first one starts this one
 *     layoutd-worker compile                                  compiles one kernel, when the first one asks for it */
#include "gpu.h"
#include "worker.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, MAX_NAME = 64 };

static const char help[] =
    "Usage: layoutd-worker [--url URL] [--device gpu:N|cpu] [--name NAME]\n"
    "       layoutd-worker executor gpu:N|cpu\n"
    "       layoutd-worker compile\n"
    "\n"
    "Runs the jobs of a layoutd, one at a time, until SIGTERM.\n"
    "\n"
    "  --url URL      of the daemon (default: $LAYOUTD_URL, else http://127.0.0.1:8080)\n"
    "  --device DEV   what to run jobs on: gpu:0, gpu:1, ... or cpu (default: gpu:0)\n"
    "  --name NAME    how the daemon lists this worker; letters, digits and ._:@- (default: HOST-PID)\n"
    "  --help\n"
    "\n"
    "$LAYOUTD_WORKER_TOKEN holds the token that the daemon was started with in the same variable.\n"
    "\n"
    "'executor' is the process that touches the device: it reads jobs as lines of JSON from standard\n"
    "input and writes events as lines to standard output. A worker starts, watches and replaces it.\n"
    "'compile' reads one line, {\"arch\":\"sm_90a\",\"spec\":{...}} or \"source\", has its kernel compiled "
    "into\n"
    "the cache, and says so; with \"want\":\"ptx\" or \"sass\" it gives that text.\n";

static int usage_error(const char *what, const char *which)
{
    fprintf(stderr, "layoutd-worker: %s%s (layoutd-worker --help shows how)\n", what, which);
    return EXIT_USAGE;
}

static bool is_device(const char *text)
{
    if (strcmp(text, "cpu") == 0)
        return true;
    return strncmp(text, "gpu:", 4) == 0 && text[4] && text[4 + strspn(text + 4, "0123456789")] == '\0';
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@-";
    return *text && strlen(text) <= MAX_NAME && text[strspn(text, letters)] == '\0';
}

/* HOST-PID, with what a name cannot hold replaced. */
static void default_name(char *name, size_t size)
{
    char host[40] = "worker";
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++) {
        const char one[2] = {*c, '\0'};
        if (!is_name(one))
            *c = '-';
    }
    snprintf(name, size, "%s-%ld", host, (long)getpid());
}

static int run_worker(struct gpu_worker_options o)
{
    char name[MAX_NAME + 1], url[512];
    default_name(name, sizeof name);
    o.name = o.name ? o.name : name;
    o.url = o.url ? o.url : "http://127.0.0.1:8080";
    o.token = getenv("LAYOUTD_WORKER_TOKEN");
    const size_t len = (size_t)snprintf(url, sizeof url, "%s", o.url);
    if (len >= sizeof url || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0))
        return usage_error("--url takes http://HOST:PORT, not ", o.url);
    while (url[strlen(url) - 1] == '/')
        url[strlen(url) - 1] = '\0';
    o.url = url;
    if (!is_device(o.device))
        return usage_error("--device takes cpu or gpu:N, not ", o.device);
    if (!is_name(o.name))
        return usage_error("--name takes up to 64 letters, digits and ._:@-, not ", o.name);
    if (!o.token || !*o.token)
        return usage_error("the daemon's token is missing: set LAYOUTD_WORKER_TOKEN", "");
    return gpu_worker_main(&o);
}

int main(int argc, char **argv)
{
    static const struct option flags[] = {{"url", required_argument, NULL, 'u'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"name", required_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct gpu_worker_options o = {.url = getenv("LAYOUTD_URL"), .device = "gpu:0"};
    if (argc >= 2 && strcmp(argv[1], "executor") == 0)
        return argc == 3 ? gpu_executor_main(argv[2])
                         : usage_error("executor takes a device: cpu or gpu:N", "");
    if (argc >= 2 && strcmp(argv[1], "compile") == 0)
        return argc == 2 ? gpu_compile_main() : usage_error("compile takes no words", "");
    for (int flag; (flag = getopt_long(argc, argv, "h", flags, NULL)) != -1;) {
        switch (flag) {
        case 'u':
            o.url = optarg;
            break;
        case 'd':
            o.device = optarg;
            break;
        case 'n':
            o.name = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_SUCCESS;
        default:
            return usage_error("unknown flag", "");
        }
    }
    return optind == argc ? run_worker(o) : usage_error("unexpected argument ", argv[optind]);
}

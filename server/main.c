/* main.c: the program: flags, subcommands, signals.
 *
 *     layoutd                                 answers on http://127.0.0.1:8080 until SIGTERM
 *     layoutd eval 'logical_divide(12:1,4:1)' prints (_4,_3):(_1,_4)
 * Signals are blocked in every thread and awaited here, so no handler ever runs in the middle of something. The order
 * of the start: bind (the URL is known), jobs (workers are told it), answer; the stop is its reverse. */
#include "auth.h"
#include "json.h"
#include "server.h"

#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    BODY_BYTES = 1 << 20,    /* a program or a job's spec is a few KiB; results of workers are larger */
    ARENA_BYTES = 256 << 20, /* a table of CELLS as JSON takes 30 MiB, its picture 100 MiB */
    CELLS = 1 << 20,         /* a grid of 1024 x 1024: what a page can show */
    USER_QUEUED = 5000,      /* two large sweeps and a day's work of one person */
    KEEP_DAYS = 90,          /* the time that a result is argued about */
    KEEP_MIB = 10 * 1024,    /* a few million jobs */
    PATH_BYTES = 4096
};

/* ---- options ------------------------------------------------------------------------------------------------ */

static const char usage[] =
    "layoutd: the algebra of CuTe layouts over HTTP, and partitions run on a GPU.\n"
    "\n"
    "  layoutd [FLAGS]                        answer requests until SIGTERM\n"
    "  layoutd eval EXPR [--integers MODE]    evaluate one program (-: what stands in standard input)\n"
    "                                         and print its value as CuTe does;\n"
    "                                         MODE is auto (the default), cute or static\n"
    "  layoutd token add NAME [--scope LIST] [--tokens FILE]\n"
    "                                         make a token, and print it: LIST is of eval, run,\n"
    "                                         worker, metrics, admin                 (eval,run)\n"
    "  layoutd token list | revoke NAME [--tokens FILE]\n"
    "  layoutd version                        print the version\n"
    "\n"
    "  --listen HOST:PORT      where to answer; port 0 picks a free one       (127.0.0.1:8080)\n"
    "  --data DIR              the store of jobs and caches                   (%s)\n"
    "  --web DIR               the files of the page                          (%s)\n"
    "  --workers WHICH         auto: one a GPU, or the CPU where there is none;\n"
    "                          cpu, none, or a number                         (auto)\n"
    "  --max-body BYTES        of a request's body                            (%d)\n"
    "  --max-arena BYTES       of memory for one request                      (%d)\n"
    "  --max-cells N           of a table or a picture                        (%d)\n"
    "  --tokens FILE           let in who shows a token of this file; it may\n"
    "                          change meanwhile           (none: everybody; token: %s)\n"
    "  --no-auth               answer on addresses that other machines reach,\n"
    "                          without tokens                                 (off)\n"
    "  --user-queued N         jobs of one user in the queue                  (%d)\n"
    "  --user-running N        jobs of one user that run at a time; 0: all    (0)\n"
    "  --user-seconds N        of workers, for one user in an hour; 0: all    (0)\n"
    "  --keep-days N           that ended jobs are kept                       (%d)\n"
    "  --keep-mib N            that they may take on disk                     (%d)\n"
    "  --allow-private-webhooks  webhooks may call this machine and its\n"
    "                          network, in plain http too                     (off)\n"
    "  --webhook-ca FILE       authorities for webhooks, besides the system's (none)\n"
    "  --allow-planted-faults  jobs may ask for a fault, for tests            (off)\n"
    "  --help                  this text\n";

static char default_data[PATH_BYTES], default_web[PATH_BYTES + 64], default_worker[PATH_BYTES + 64],
    default_tokens[PATH_BYTES + 16];

static bool holds_page(const char *folder)
{
    char path[PATH_BYTES + 80];
    snprintf(path, sizeof path, "%s/index.html", folder);
    return access(path, R_OK) == 0;
}

/* The folder of this binary, which the page's files and the worker are found from. */
static void own_folder(char folder[PATH_BYTES])
{
    ssize_t len = readlink("/proc/self/exe", folder, PATH_BYTES - 1);
    folder[len > 0 ? len : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    else
        strcpy(folder, ".");
}

static void find_defaults(struct options *options)
{
    char folder[PATH_BYTES];
    own_folder(folder);
    snprintf(default_worker, sizeof default_worker, "%s/layoutd-worker", folder);
    /* build/layoutd, build/CONFIG/layoutd, or installed */
    static const char *const places[] = {"/../web", "/../../web"};
    strcpy(default_web, "/usr/share/layoutd/web");
    for (int i = 1; i >= 0; i--) {
        char path[sizeof default_web];
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (holds_page(path))
            strcpy(default_web, path);
    }
    const char *data_home = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data_home && *data_home == '/')
        snprintf(default_data, sizeof default_data, "%s/layoutd", data_home);
    else
        snprintf(default_data, sizeof default_data, "%s/.local/share/layoutd",
                 home && *home ? home : "/var/tmp");
    snprintf(default_tokens, sizeof default_tokens, "%s/tokens", default_data);
    *options = (struct options){.listen = "127.0.0.1:8080",
                                .data = default_data,
                                .web = default_web,
                                .workers = "auto",
                                .worker_path = default_worker,
                                .max_body = BODY_BYTES,
                                .max_arena = ARENA_BYTES,
                                .max_cells = CELLS,
                                .user_queued = USER_QUEUED,
                                .keep_days = KEEP_DAYS,
                                .keep_mib = KEEP_MIB};
}

/* A whole number that is no less, or the end of the program with a message. */
static long number(const char *flag, const char *text, long least)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || !*text || *end || value < least || value > INT32_MAX) {
        fprintf(stderr, "layoutd: --%s takes a number from %ld to %d, not '%s'\n", flag, least, INT32_MAX,
                text);
        exit(2);
    }
    return value;
}

/* One row a flag; what it sets is a member of struct options. */
static const struct flag {
    const char *name;
    enum { FLAG_TEXT, FLAG_SIZE, FLAG_NUMBER, FLAG_ON } kind;
    size_t member;
    long least;
} flags[] = {
    {"listen", FLAG_TEXT, offsetof(struct options, listen), 0},
    {"data", FLAG_TEXT, offsetof(struct options, data), 0},
    {"web", FLAG_TEXT, offsetof(struct options, web), 0},
    {"workers", FLAG_TEXT, offsetof(struct options, workers), 0},
    {"max-body", FLAG_SIZE, offsetof(struct options, max_body), 1},
    {"max-arena", FLAG_SIZE, offsetof(struct options, max_arena), 1},
    {"max-cells", FLAG_NUMBER, offsetof(struct options, max_cells), 1},
    {"tokens", FLAG_TEXT, offsetof(struct options, tokens), 0},
    {"no-auth", FLAG_ON, offsetof(struct options, no_auth), 0},
    {"user-queued", FLAG_NUMBER, offsetof(struct options, user_queued), 1},
    {"user-running", FLAG_NUMBER, offsetof(struct options, user_running), 0},
    {"user-seconds", FLAG_NUMBER, offsetof(struct options, user_seconds), 0},
    {"keep-days", FLAG_NUMBER, offsetof(struct options, keep_days), 1},
    {"keep-mib", FLAG_NUMBER, offsetof(struct options, keep_mib), 1},
    {"allow-private-webhooks", FLAG_ON, offsetof(struct options, allow_private_webhooks), 0},
    {"webhook-ca", FLAG_TEXT, offsetof(struct options, webhook_ca), 0},
    {"allow-planted-faults", FLAG_ON, offsetof(struct options, allow_planted_faults), 0},
};
enum { FLAGS = sizeof flags / sizeof *flags };

static void set_option(struct options *options, const struct flag *flag, const char *value)
{
    void *member = (char *)options + flag->member;
    switch (flag->kind) {
    case FLAG_TEXT:
        *(const char **)member = value;
        break;
    case FLAG_SIZE:
        *(size_t *)member = (size_t)number(flag->name, value, flag->least);
        break;
    case FLAG_NUMBER:
        *(long *)member = number(flag->name, value, flag->least);
        break;
    case FLAG_ON:
        *(bool *)member = true;
        break;
    }
}

static void read_options(struct options *options, int argc, char **argv)
{
    struct option table[FLAGS + 2] = {{"help", no_argument, NULL, 'h'}};
    for (int i = 0; i < FLAGS; i++)
        table[i + 1] = (struct option){flags[i].name,
                                       flags[i].kind == FLAG_ON ? no_argument : required_argument, NULL, 0};
    int which, place = 0;
    while ((which = getopt_long(argc, argv, "h", table, &place)) != -1) {
        if (which == 'h') {
            printf(usage, default_data, default_web, BODY_BYTES, ARENA_BYTES, CELLS, default_tokens,
                   USER_QUEUED, KEEP_DAYS, KEEP_MIB);
            exit(0);
        }
        if (which == '?') {
            fprintf(stderr, "layoutd: --help tells what there is\n");
            exit(2);
        }
        set_option(options, &flags[place - 1], optarg);
    }
    if (optind < argc) {
        fprintf(stderr, "layoutd: what is '%s'? --help tells what there is\n", argv[optind]);
        exit(2);
    }
}

/* ---- layoutd eval ------------------------------------------------------------------------------------------- */

/* The line of the text that holds the error, and a caret under each of its characters that is at fault. */
static void draw_caret(const char *text, const struct la_error *error)
{
    const size_t len = strlen(text);
    const size_t at = error->at < len ? error->at : len;
    size_t begin = at;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    const size_t line = strcspn(text + begin, "\n");
    fprintf(stderr, "  %.*s\n  ", (int)line, text + begin);
    for (size_t i = begin; i < at; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80) /* a character of several bytes takes one place */
            fputc(text[i] == '\t' ? '\t' : ' ', stderr);
    fputc('^', stderr);
    for (size_t i = at + 1; i < at + error->len && i < begin + line; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            fputc('^', stderr);
    fputc('\n', stderr);
}

static void print_program(struct la_ctx *cx, void *arg)
{
    const struct la_program *program = arg;
    for (const struct la_binding *b = program->prints; b; b = b->next)
        puts(la_print(cx, &b->value, LA_SPELL_CUTE));
    puts(la_print(cx, &program->value, LA_SPELL_CUTE));
}

static int evaluate(const char *text, enum la_integers integers)
{
    struct la_ctx cx = {.arena = la_arena_new(ARENA_BYTES)};
    struct la_program program;
    if (!cx.arena) {
        fputs("layoutd: no memory\n", stderr);
        return 1;
    }
    bool ok = la_eval(&cx, text, integers, &program) && la_try(&cx, print_program, &program);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", la_error_name(cx.error.code), cx.error.message);
        if (cx.error.has_position)
            draw_caret(text, &cx.error);
    }
    la_arena_free(cx.arena);
    return ok ? 0 : 1;
}

/* Standard input as one text; NULL when there is none, or too much. */
static const char *read_input(void)
{
    static char text[BODY_BYTES + 2];
    const size_t n = fread(text, 1, BODY_BYTES + 1, stdin);
    if (n > 0 && n <= BODY_BYTES && !memchr(text, 0, n))
        return text;
    fprintf(stderr, "layoutd: standard input must be text of 1 to %d bytes\n", BODY_BYTES);
    return NULL;
}

static int eval_command(int argc, char **argv)
{
    const char *text = NULL, *mode = "auto";
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--integers") == 0 && i + 1 < argc)
            mode = argv[++i];
        else if (!text)
            text = argv[i];
        else
            text = mode = ""; /* too many */
    }
    static const char *const modes[] = {"auto", "cute", "static"}; /* in the order of enum la_integers */
    for (int i = 0; text && i < 3; i++)
        if (strcmp(mode, modes[i]) == 0) {
            text = strcmp(text, "-") == 0 ? read_input() : text;
            return text ? evaluate(text, (enum la_integers)i) : 1;
        }
    fputs("layoutd: eval EXPR [--integers auto|cute|static]\n", stderr);
    return 2;
}

/* ---- the daemon --------------------------------------------------------------------------------------------- */

/* A token that only this daemon and the workers that it starts know. */
static bool make_token(char token[65])
{
    unsigned char bytes[32];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static void greet(const struct server *server)
{
    fprintf(stderr,
            "layoutd: listening on %s\n"
            "layoutd: the page is at %s/\n"
            "layoutd: try: curl -G %s/eval --data-urlencode 'expr=logical_product(3:2, 4:1)'\n",
            server->url, server->url, server->url);
}

static int run(struct server *server)
{
    sigset_t signals;
    int signal_number;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before there are threads, which inherit it */
    signal(SIGPIPE, SIG_IGN);
    json_init();
    curl_global_init(CURL_GLOBAL_DEFAULT); /* for webhooks; before there are threads, too */
    bool ok = make_token(server->worker_token) && auth_open(server) && http_bind(server);
    if (ok && (ok = jobs_open(server))) {
        ok = http_start(server);
        if (ok) {
            greet(server);
            sigwait(&signals, &signal_number);
            fprintf(stderr, "layoutd: %s: finishing what is in flight\n", strsignal(signal_number));
            pthread_sigmask(SIG_UNBLOCK, &signals, NULL); /* a second one ends the process at once */
        } else {
            fputs("layoutd: cannot start answering\n", stderr);
        }
        jobs_close(server); /* before http_stop: what runs is finished, and its results come over HTTP */
        http_stop(server);
    }
    http_free(server);
    auth_close(server);
    curl_global_cleanup();
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "eval") == 0)
        return eval_command(argc, argv);
    if (argc > 1 && strcmp(argv[1], "version") == 0) {
        puts("layoutd " LAYOUTD_VERSION);
        return 0;
    }
    static struct server server;
    find_defaults(&server.options);
    if (argc > 1 && strcmp(argv[1], "token") == 0)
        return token_command(argc, argv, default_tokens);
    read_options(&server.options, argc, argv);
    return run(&server);
}

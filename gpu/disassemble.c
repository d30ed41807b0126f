/* disassemble.c: machine code as SASS, by a tool of the CUDA toolkit, which is where the format is known.
 *
 *     nvdisasm --print-code FILE    cuobjdump --dump-sass FILE      the first of the two that is installed
 *
 * They are looked for in $PATH and where toolkits lie. The text is kept in the cache of kernels: the key is the machine
 * code's own, with the tool's path before it. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TEXT = 32 << 20, MAX_PATH = 1024 };

static const struct tool {
    const char *name, *flag;
} tools[] = {{"nvdisasm", "--print-code"}, {"cuobjdump", "--dump-sass"}};

static const char *const folders[] = {"/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/lib/cuda/bin"};

static bool is_in(const char *folder, size_t len, const char *name, char path[MAX_PATH])
{
    const int n = snprintf(path, MAX_PATH, "%.*s/%s", (int)len, folder, name);
    return len > 0 && n < MAX_PATH && access(path, X_OK) == 0;
}

static bool find_one(const char *name, char path[MAX_PATH])
{
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        const size_t len = strcspn(folder, ":");
        if (is_in(folder, len, name, path))
            return true;
        folder += len + (folder[len] == ':');
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (is_in(folders[i], strlen(folders[i]), name, path))
            return true;
    return false;
}

static const struct tool *find_tool(char path[MAX_PATH])
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (find_one(tools[i].name, path))
            return &tools[i];
    return NULL;
}

/* A file with the machine code; its name replaces the pattern. */
static bool write_file(char *name, const struct gpu_cubin *cubin)
{
    const int fd = mkstemp(name);
    if (fd < 0)
        return false;
    const bool ok = write(fd, cubin->image, cubin->size) == (ssize_t)cubin->size;
    return close(fd) == 0 && ok;
}

/* What it prints, in the arena; NULL when that is too much. */
static char *read_all(struct la_ctx *cx, int fd)
{
    char *text = la_arena_alloc(cx->arena, MAX_TEXT);
    size_t len = 0;
    ssize_t n = 1;
    while (text && len < MAX_TEXT && (n = read(fd, text + len, MAX_TEXT - len)) != 0)
        if (n > 0)
            len += (size_t)n;
        else if (errno != EINTR)
            break;
    if (!text || len == MAX_TEXT || n < 0)
        return NULL;
    text[len] = '\0';
    return text;
}

static bool run(struct la_ctx *cx, const char *path, const struct tool *tool, char *file, char **text)
{
    int out[2], status = -1;
    if (pipe(out))
        return gpu_refuse(cx, LA_E_other, "%s: no pipe to it: %s", tool->name, strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execl(path, tool->name, tool->flag, file, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    *text = pid > 0 ? read_all(cx, out[0]) : NULL;
    close(out[0]);
    if (pid > 0)
        waitpid(pid, &status, 0);
    return (*text && status == 0) || gpu_refuse(cx, LA_E_other, "%s could not read the machine code", path);
}

static bool disassemble(struct la_ctx *cx, const char *path, const struct tool *tool,
                        const struct gpu_cubin *cubin, char **text)
{
    char file[] = "/tmp/layoutd-XXXXXX";
    const bool ok = write_file(file, cubin) ? run(cx, path, tool, file, text)
                                            : gpu_refuse(cx, LA_E_other, "%s: %s", file, strerror(errno));
    unlink(file);
    return ok;
}

bool gpu_disassemble(struct la_ctx *cx, const char *source, const char *arch, const char **text)
{
    struct gpu_cubin cubin, kept;
    char path[MAX_PATH], what[MAX_PATH + 8], *fresh = NULL;
    const struct tool *tool = find_tool(path);
    if (!tool)
        return gpu_refuse(cx, LA_E_other,
                          "no disassembler: neither nvdisasm nor cuobjdump is in $PATH or in %s", folders[0]);
    snprintf(what, sizeof what, "sass %s ", path);
    const char *key = gpu_compile_key(cx, what, source, arch);
    if (key && gpu_cache_read(cx, key, &kept)) {
        *text = kept.image;
        return true;
    }
    if (!gpu_compile(cx, source, arch, &cubin) || !disassemble(cx, path, tool, &cubin, &fresh))
        return false;
    *text = fresh;
    kept = (struct gpu_cubin){.image = fresh, .size = strlen(fresh) + 1, .log = ""};
    if (key)
        gpu_cache_write(cx, key, &kept);
    return true;
}

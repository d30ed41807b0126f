/* gpu_emulator.h: generated CUDA as a shared object of C++: written to a folder of this run, compiled at once, opened.
 *
 *     FILE *out = emulator_begin();  fprintf(out, ...);  emulator_end(out, "-O0")  ->  dlsym(emulator, "run_0")
 *
 * What CUDA has and C++ has not, the suite puts before its kernels; threads that wait for each other are here. */
#ifndef GPU_EMULATOR_H
#define GPU_EMULATOR_H

#include "gpu_test.h"

#include <dlfcn.h>
#include <fcntl.h>

static char folder[] = "/tmp/layoutd-test-gpu-XXXXXX"; /* the cache, and the emulation's files */
static void *emulator;                                 /* the shared object of all kernels, or NULL */

/* Each thread of a block has a stack; one that waits for the others gives way to them. Wants ucontext.h. */
__attribute__((unused)) static const char emulated_threads[] =
    "enum { STACK = 131072 };\n"
    "static void (*body)();\n"
    "static ucontext_t scheduler, fiber[1024];\nstatic bool done[1024];\n"
    "static void give_way() { swapcontext(&fiber[threadIdx.x], &scheduler); }\n"
    "static void __syncthreads() { give_way(); }\n"
    "static void start() { body(); done[threadIdx.x] = true; }\n"
    "static void run_by_turns(unsigned block)\n{\n"
    "    static char *stacks = (char *)malloc(1024 * (size_t)STACK);\n"
    "    for (unsigned t = 0; t < block; ++t) {\n"
    "        getcontext(&fiber[t]);\n"
    "        fiber[t].uc_stack.ss_sp = stacks + t * (size_t)STACK;\n"
    "        fiber[t].uc_stack.ss_size = STACK;\n"
    "        fiber[t].uc_link = &scheduler;\n"
    "        makecontext(&fiber[t], start, 0);\n"
    "        done[t] = false;\n"
    "    }\n"
    "    for (bool any = true; any;) {\n"
    "        any = false;\n"
    "        for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x)\n"
    "            if (!done[threadIdx.x]) {\n"
    "                any = true;\n"
    "                swapcontext(&scheduler, &fiber[threadIdx.x]);\n"
    "            }\n"
    "    }\n"
    "}\n";

/* A kernel's text with what is written in PTX left out, and `instead` in place of the first of it. */
static inline const char *without_ptx(struct la_ctx *cx, const char *text, const char *instead)
{
    static const char begin[] = "// PTX\n", end[] = "// end of PTX\n";
    for (const char *from; (from = strstr(text, begin)); instead = "") {
        const char *to = strstr(from, end);
        assert_non_null(to);
        text = la_format(cx, "%.*s%s%s", (int)(from - text), text, instead, to + sizeof end - 1);
    }
    return text;
}

/* The folder, which is that of the cache of this run, too. */
static inline bool folder_make(void)
{
    return mkdtemp(folder) && setenv("LAYOUTD_CACHE", folder, 1) == 0;
}

/* The file for all kernels; NULL when there is none. */
static inline FILE *emulator_begin(void)
{
    char source[64];
    snprintf(source, sizeof source, "%s/kernels.cc", folder);
    return fopen(source, "w");
}

/* Compile and open it. The emulator stays NULL where there is no C++ compiler. 0, or what a fixture fails with. */
static inline int emulator_end(FILE *out, const char *optimization)
{
    char object[64], command[300];
    fclose(out);
    snprintf(object, sizeof object, "%s/kernels.so", folder);
    snprintf(
        command, sizeof command,
        "${CXX:-c++} -std=c++17 %s -w -fno-strict-aliasing -shared -fPIC -o %s %s/kernels.cc 2>%s/c++.log || "
        "{ head -n 20 %s/c++.log >&2; false; }",
        optimization, object, folder, folder, folder);
    if (system("command -v ${CXX:-c++} >/dev/null 2>&1") != 0)
        return 0;
    if (system(command) != 0)
        return -1;
    emulator = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    return emulator ? 0 : -1;
}

#endif

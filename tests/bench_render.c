/* bench_render.c: how fast pictures are made, each against a ceiling that is measured in the same run.
 *
 * A picture is made from an evaluated layout in a warm arena: offsets, colours and text. Beside it stand the goal (a grid
 * of 64 x 64 as SVG in 5 ms) and what memcpy takes for as many bytes, which no writer can beat. A PNG stands beside its SVG,
 * as librsvg does the rest. */
#include "raster.h"
#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS = 15, /* the median is shown */
    ARENA = 512 << 20,
    MAX_CELLS = 1 << 20
};
#define GOAL_MS 5.0 /* of a grid of 64 x 64 as SVG */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, ascending);
    return v[RUNS / 2];
}

static const struct scene {
    const char *name, *expr;
    struct look look;
    void (*write)(struct json *out, const struct picture *p);
    bool is_memory, is_tv, has_goal;
} scenes[] = {
    {"svg, offsets 64 x 64", "(64,64):(64,1)", {.n = 1, .bytes = 4}, render_svg, false, false, true},
    {"svg, banks 64 x 64, swizzled",
     "composition(Swizzle<3,3,3>{}, (64,64):(64,1))",
     {.labels = LABEL_BANK, .colors = COLOR_BANK, .n = 1, .bytes = 2},
     render_svg,
     false,
     false,
     true},
    {"svg, coords 64 x 64, nested",
     "((8,8),(4,(4,4))):((8,64),(1,(4,512)))",
     {.labels = LABEL_COORD, .n = 1, .bytes = 4},
     render_svg,
     false,
     false,
     true},
    {"svg, memory 64 x 64", "(64,64):(1,65)", {.n = 1, .bytes = 4}, render_svg, true, false, true},
    {"svg, A, B, C of an MMA 64 x 64",
     "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, make_layout((4,8,1)))",
     {.labels = LABEL_TV, .colors = COLOR_HUES, .n = 1, .bytes = 4},
     render_svg,
     false,
     true,
     true},
    {"txt, offsets 64 x 64", "(64,64):(64,1)", {.n = 1, .bytes = 4}, render_txt, false, false, false},
    {"tex, offsets 64 x 64", "(64,64):(64,1)", {.n = 1, .bytes = 4}, render_tex, false, false, false},
    {"svg, offsets 1024 x 1024",
     "(1024,1024):(1024,1)",
     {.n = 1, .bytes = 4},
     render_svg,
     false,
     false,
     false},
};

struct run {
    const struct scene *scene;
    struct la_value value;
    struct picture *picture;
    struct json out;
};

static void draw(struct la_ctx *cx, void *arg)
{
    struct run *run = arg;
    picture_begin(cx, run->picture, &run->value, &run->scene->look);
    if (run->scene->is_tv)
        picture_tv(cx, run->picture, &run->value, NULL, 0);
    else if (run->scene->is_memory)
        picture_memory(cx, run->picture, run->value.layout, NULL, MAX_CELLS);
    else
        picture_grid(cx, run->picture, run->value.layout, NULL, MAX_CELLS);
    run->out = json_new(cx, 1 << 20);
    run->scene->write(&run->out, run->picture);
}

static void evaluate(struct la_ctx *cx, struct run *run)
{
    struct la_program program;
    if (!la_eval(cx, run->scene->expr, LA_INTEGERS_AUTO, &program)) {
        fprintf(stderr, "bench_render: %s\n", cx->error.message);
        exit(1);
    }
    run->value = program.value;
}

static double memcpy_ms(const char *data, size_t len)
{
    double v[RUNS];
    char *copy = malloc(len);
    if (!copy)
        exit(1);
    for (int i = 0; i < RUNS; i++) {
        const double start = now_ms();
        memcpy(copy, data, len);
        __asm__ volatile("" : : "r"(copy) : "memory");
        v[i] = now_ms() - start;
    }
    free(copy);
    return median(v);
}

static void png_ms(const struct run *run)
{
    double v[RUNS];
    int64_t width, height;
    size_t size = 0;
    const char *why;
    if (!raster_open(&why)) {
        printf("%-32s %s\n", "png", why);
        return;
    }
    render_size(run->picture, &width, &height);
    for (int i = 0; i < RUNS; i++) {
        const struct raster what = {.type = RASTER_PNG,
                                    .svg = run->out.data,
                                    .len = run->out.len,
                                    .width = (double)width,
                                    .height = (double)height,
                                    .scale = 1,
                                    .title = ""};
        char *data;
        const double start = now_ms();
        if (!raster_draw(&what, &data, &size))
            exit(1);
        v[i] = now_ms() - start;
        free(data);
    }
    printf("%-32s %8.3f ms  %9zu bytes   by librsvg, from that SVG\n", "png of it", median(v), size);
}

static void bench(const struct scene *scene, bool with_png)
{
    double v[RUNS];
    struct la_arena *arena = la_arena_new(ARENA);
    struct run run = {.scene = scene, .picture = malloc(sizeof *run.picture)};
    for (int i = 0; i < RUNS; i++) {
        struct la_ctx cx = {.arena = arena};
        la_arena_reset(arena);
        evaluate(&cx, &run);
        const double start = now_ms();
        if (!la_try(&cx, draw, &run))
            exit(1);
        v[i] = now_ms() - start;
    }
    const double ms = median(v), ceiling = memcpy_ms(run.out.data, run.out.len);
    printf("%-32s %8.3f ms  %9zu bytes   memcpy of them %7.3f ms, ratio %.3f", scene->name, ms, run.out.len,
           ceiling, ceiling / ms);
    if (scene->has_goal)
        printf("   goal %.0f ms: %s by %.1f x", GOAL_MS, ms <= GOAL_MS ? "met" : "MISSED",
               ms <= GOAL_MS ? GOAL_MS / ms : ms / GOAL_MS);
    putchar('\n');
    if (with_png)
        png_ms(&run);
    free(run.picture);
    la_arena_free(arena);
}

int main(void)
{
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        bench(&scenes[i], i == 0);
    return 0;
}

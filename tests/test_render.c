/* test_render.c: what stands in each cell of a picture.
 *
 * SVGs are made in this process and read back: labels are held against values that are found another way, one coordinate
 * at a time, colours and inks against those of the page's own module. What other programs read in pictures is in
 * test_render_readers.c; requests and refusals one by one are in tests/http/render.jsonl. */
#include "render.h"
#include "render_test.h"

enum { ARENA = 64 << 20, MAX_CELLS = 1 << 16 };

/* ---- a picture in this process ------------------------------------------------------------------------------- */

struct scene {
    const char *expr, *tile;
    bool is_memory, is_tv;
    struct look look;
};

struct scenery {
    const struct scene *scene;
    void (*check)(struct la_ctx *cx, const struct scene *scene, const struct la_value *value,
                  const struct picture *p, const struct seen *seen);
};

static struct la_value evaluate(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_AUTO, &program))
        fail_msg("%s: %s", text, cx->error.message);
    return program.value;
}

static void show(struct la_ctx *cx, void *arg)
{
    const struct scenery *s = arg;
    const struct la_value value = evaluate(cx, s->scene->expr);
    struct picture *p = la_alloc(cx, sizeof *p);
    picture_begin(cx, p, &value, &s->scene->look);
    if (s->scene->is_tv)
        picture_tv(cx, p, &value, s->scene->tile ? evaluate(cx, s->scene->tile).tuple : NULL, 0);
    else if (s->scene->is_memory)
        picture_memory(cx, p, value.layout, NULL, MAX_CELLS);
    else
        picture_grid(cx, p, value.layout, NULL, MAX_CELLS);
    struct json out = json_new(cx, 4096);
    render_svg(&out, p);
    json_bytes(&out, "", 1);
    struct seen seen = svg_read(out.data);
    assert_int_equal(seen.frames, p->n);
    s->check(cx, s->scene, &value, p, &seen);
    seen_free(&seen);
}

static void check_scene(const struct scene *scene,
                        void (*check)(struct la_ctx *cx, const struct scene *scene,
                                      const struct la_value *value, const struct picture *p,
                                      const struct seen *seen))
{
    struct la_arena *arena = la_arena_new(ARENA);
    struct la_ctx cx = {.arena = arena};
    struct scenery scenery = {scene, check};
    if (!la_try(&cx, show, &scenery))
        fail_msg("%s: %s", scene->expr, cx.error.message);
    la_arena_free(arena);
}

static const char *const layouts[] = {"((2,2),(3,2)):((3,6),(1,12))",
                                      "(4,8):(8,1)",
                                      "6:2",
                                      "(2,3,4):(1,2,6)",
                                      "Sw<2,0,3> o _0 o (8,8):(8,1)",
                                      "(4,8):(0,1)",
                                      "(2,(2,(2,2))):(100,(-7,(1,1000)))"};
#define LAYOUTS (sizeof layouts / sizeof *layouts)

static int64_t offset_at(struct la_ctx *cx, const struct la_value *value, int64_t index)
{
    return la_layout_at(cx, value->layout, la_int(cx, index, true))->value;
}

/* ---- labels ------------------------------------------------------------------------------------------------- */

/* The label that a cell of a grid must have; lines joined by '|'. */
static const char *label_wanted(struct la_ctx *cx, const struct scene *scene, const struct la_value *value,
                                int64_t index)
{
    const int64_t offset = offset_at(cx, value, index), n = scene->look.n;
    const int64_t byte = offset * scene->look.bytes;
    switch (scene->look.labels) {
    case LABEL_OFFSET:
        return la_format(cx, "%lld", (long long)offset);
    case LABEL_INDEX:
        return la_format(cx, "%lld", (long long)index);
    case LABEL_BANK:
        return la_format(cx, "%lld", (long long)(((byte >> 2) % 32 + 32) % 32));
    case LABEL_TV:
        return la_format(cx, "T%lld|V%lld", (long long)(((offset % n) + n) % n),
                         (long long)(offset / n - (offset % n < 0)));
    case LABEL_NONE:
        return "";
    case LABEL_COORD:
        break;
    }
    const char *shape = la_print_tuple(cx, value->layout.shape, LA_SPELL_TEXT);
    const struct la_node *coord =
        evaluate(cx, la_format(cx, "idx2crd(%lld,%s)", (long long)index, shape)).tuple;
    if (!la_is_tuple(coord))
        return la_print_tuple(cx, coord, LA_SPELL_TEXT);
    const char *text = "";
    const struct la_node *mode = coord + 1;
    for (uint32_t i = 0; i < la_rank(coord); i++, mode = la_next(mode))
        text = la_format(cx, "%s%s%s", text,
                         i == 0   ? ""
                         : i == 1 ? "|"
                                  : ",",
                         la_print_tuple(cx, mode, LA_SPELL_TEXT));
    return text;
}

static void check_labels(struct la_ctx *cx, const struct scene *scene, const struct la_value *value,
                         const struct picture *p, const struct seen *seen)
{
    const struct la_node *shape = value->layout.shape;
    const int64_t size = la_product(cx, shape)->value;
    const int64_t rows = la_rank(shape) == 1 ? 1 : la_product(cx, la_mode(cx, shape, 0))->value,
                  cols = size / rows;
    assert_int_equal(p->panel[0].rows.n, rows);
    assert_int_equal(p->panel[0].cols.n, cols);
    for (int64_t i = 0; i < size; i++) {
        char got[SEEN_TEXT];
        seen_label(seen, seen_cell(seen, 0, rows, cols, i % rows, i / rows), false, got);
        assert_string_equal(got, label_wanted(cx, scene, value, i));
    }
}

static void test_labels(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++)
        for (int labels = LABEL_OFFSET; labels <= LABEL_NONE; labels++)
            for (int64_t bytes = 1; bytes <= 16; bytes *= 2)
                check_scene(&(struct scene){.expr = layouts[i],
                                            .look = {.labels = (enum labels)labels, .n = 4, .bytes = bytes}},
                            check_labels);
}

/* Every offset stands in its line at its place, with how many have it; everything else is empty. */
static void check_memory(struct la_ctx *cx, const struct scene *scene, const struct la_value *value,
                         const struct picture *p, const struct seen *seen)
{
    const int64_t places = 128 / scene->look.bytes, size = la_size(cx, value->layout)->value;
    const struct seen_rect f = seen->frame[0];
    const long rows = (long)p->panel[0].rows.n;
    int64_t found = 0;
    for (size_t h = 0; h < seen->texts; h++) {
        const struct seen_text *head = &seen->text[h];
        if (strcmp(head->class, "h r") != 0)
            continue;
        const long row = (head->y - f.y) / (f.h / rows);
        for (long col = 0; col < places; col++) {
            char label[SEEN_TEXT], mark[SEEN_TEXT];
            const struct seen_rect cell = seen_cell(seen, 0, rows, (long)places, row, col);
            const int64_t offset = atoll(head->text) + col;
            int64_t times = 0;
            for (int64_t i = 0; i < size; i++)
                times += offset_at(cx, value, i) == offset;
            found += times;
            seen_label(seen, cell, false, label);
            seen_label(seen, cell, true, mark);
            assert_string_equal(label, times ? la_format(cx, "%lld", (long long)offset) : "");
            assert_string_equal(mark, times > 1 ? la_format(cx, "\u00d7%lld", (long long)times) : "");
            assert_int_equal(seen_color(seen, cell) >= 0, times > 0);
        }
    }
    assert_int_equal(found, size);
}

static void test_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++)
        for (int64_t bytes = 2; bytes <= 16; bytes *= 2)
            check_scene(
                &(struct scene){.expr = layouts[i], .is_memory = true, .look = {.n = 1, .bytes = bytes}},
                check_memory);
}

/* Each element says the first thread and value that the TV layout sends there, and how many it sends. */
static void check_tv(struct la_ctx *cx, const struct scene *scene, const struct la_value *value,
                     const struct picture *p, const struct seen *seen)
{
    const int64_t threads = la_size(cx, la_layout_mode(cx, value->layout, 0))->value;
    const int64_t places = la_size(cx, value->layout)->value;
    const long rows = (long)p->panel[0].rows.n, cols = (long)p->panel[0].cols.n;
    (void)scene;
    for (long i = 0; i < rows * cols; i++) {
        int64_t first = -1, times = 0;
        for (int64_t place = places - 1; place >= 0; place--)
            if (offset_at(cx, value, place) == i) {
                first = place;
                times++;
            }
        char label[SEEN_TEXT], mark[SEEN_TEXT];
        const struct seen_rect cell = seen_cell(seen, 0, rows, cols, i % rows, i / rows);
        seen_label(seen, cell, false, label);
        seen_label(seen, cell, true, mark);
        assert_string_equal(label, times ? la_format(cx, "T%lld|V%lld", (long long)(first % threads),
                                                     (long long)(first / threads))
                                         : "");
        assert_string_equal(mark, times > 1 ? la_format(cx, "\u00d7%lld", (long long)times) : "");
        static const long hues[] = {0xafafff, 0xafffaf, 0xffffaf, 0xffafaf,
                                    0xd2d2ff, 0xd2ffd2, 0xffffd2, 0xffd2d2};
        assert_int_equal(seen_color(seen, cell), times ? hues[first % threads % 8] : -1);
    }
}

static void test_tv(void **state)
{
    static const char *const scenes[][2] = {{"((4,8),2):((16,1),8)", "(8,8)"},
                                            {"((4,8),(2,2)):((32,1),(16,8))", "(16,8)"},
                                            {"(4,3):(2,1)", "(4,4)"}, /* some twice, some never */
                                            {"(2,2):(1,4)", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        check_scene(&(struct scene){.expr = scenes[i][0],
                                    .tile = scenes[i][1],
                                    .is_tv = true,
                                    .look = {.labels = LABEL_TV, .colors = COLOR_HUES, .bytes = 4}},
                    check_tv);
}

/* ---- colours ------------------------------------------------------------------------------------------------ */

static const char oracle[] =
    "import { readFileSync } from 'node:fs';\n"
    "const hex = (rgb) => rgb.map((u) => u.toString(16).padStart(2, '0')).join('');\n"
    "for (const line of readFileSync(process.env.CASES, 'utf8').trim().split('\\n')) {\n"
    "    const c = JSON.parse(line);\n"
    "    const axes = { rowAxis: { levels: [{ n: c.row }] }, colAxis: { levels: [{ n: c.col }] } };\n"
    "    const picture = { ...c, ...axes, min: Math.min(...c.offsets), max: Math.max(...c.offsets) };\n"
    "    const s = scheme(picture, c, c.dark);\n"
    "    const cells = c.offsets.map((o, i) => s.classOf(o, Math.floor(i / c.cols), i % c.cols));\n"
    "    console.log(cells.map((k) => hex(s.rgb[k]) + (s.inks[k] === '#ffffff' ? 'w' : 'k')).join(' '));\n"
    "}\n";

static FILE *cases, *expected; /* what is asked of the page's module, and what its answer must be */

static int64_t first_of(const struct axis *axis)
{
    return axis->level_count ? axis->level[0].n : 1;
}

static void ask_page(struct la_ctx *cx, const struct scene *scene, const struct la_value *value,
                     const struct picture *p, const struct seen *seen)
{
    const struct panel *panel = &p->panel[0];
    const struct look *look = &scene->look;
    (void)cx, (void)value;
    fprintf(
        cases,
        "{\"colors\":\"%s\",\"n\":%lld,\"bytes\":%lld,\"dark\":%s,\"rows\":%lld,\"cols\":%lld,\"row\":%lld,"
        "\"col\":%lld,\"offsets\":[",
        color_names[look->colors], (long long)look->n, (long long)look->bytes, look->dark ? "true" : "false",
        (long long)panel->rows.n, (long long)panel->cols.n, (long long)first_of(&panel->rows),
        (long long)first_of(&panel->cols));
    for (int64_t i = 0; i < panel_cells(panel); i++) {
        const long color = seen_color(seen, seen_cell(seen, 0, (long)panel->rows.n, (long)panel->cols.n,
                                                      i / panel->cols.n, i % panel->cols.n));
        fprintf(cases, "%s%lld", i ? "," : "", (long long)panel->offsets[i]);
        fprintf(expected, "%s%06lx%c", i ? " " : "", color,
                p->palette.light_ink[panel->color[i]] ? 'w' : 'k');
    }
    fputs("]}\n", cases);
    fputc('\n', expected);
}

/* The same cells have the same colours and inks as on the page. */
static void test_colors(void **state)
{
    (void)state;
    need("node");
    save("oracle.js", oracle, sizeof oracle - 1);
    cases = fopen(path_of("cases"), "w");
    expected = fopen(path_of("expected"), "w");
    assert_true(cases && expected);
    for (size_t i = 0; i < LAYOUTS; i++)
        for (int colors = COLOR_OFFSET; colors <= COLOR_HUES; colors++)
            for (int dark = 0; dark < 2; dark++)
                check_scene(
                    &(struct scene){
                        .expr = layouts[i],
                        .look = {.colors = (enum colors)colors, .n = 3, .bytes = 2, .dark = dark}},
                    ask_page);
    fclose(cases);
    fclose(expected);
    run("cat web/color.js %s | CASES=%s node --input-type=module >%s", path_of("oracle.js"), path_of("cases"),
        path_of("page"));
    run("diff %s %s >&2", path_of("page"), path_of("expected"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_tv),
        cmocka_unit_test(test_colors),
    };
    if (!mkdtemp(folder))
        return 1;
    return report(sizeof tests / sizeof *tests, cmocka_run_group_tests(tests, NULL, NULL));
}

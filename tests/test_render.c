/* test_render.c: pictures, read back.
 *
 * In this process: labels and colours in each cell of an SVG are held against values that are found another way, one
 * coordinate at a time, and colours against the page's own module. Over HTTP: PNG, PDF and TeX are opened by readers that
 * others wrote (xmllint, rsvg-convert, pdftoppm, pdftotext, pdflatex), where they are installed, and the pixels and words
 * are compared with the SVG. Requests and refusals one by one are in tests/http/render.jsonl. */
#include "http_client.h"
#include "picture_read.h"
#include "render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/stat.h>

enum { ARENA = 64 << 20, MAX_CELLS = 1 << 16 };

static struct daemon daemon_under_test;
static char folder[] = "/tmp/layoutd-render-XXXXXX";
static int skipped;

/* Is a reader installed? If not, say so; the test is skipped. */
static void need(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    if (system(command) == 0)
        return;
    printf("skipped: %s is not installed\n", program);
    skipped++;
    skip();
}

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0)
        fail_msg("this failed: %s", command);
}

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void save(const char *name, const void *data, size_t len)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    fclose(f);
}

static char *load(const char *name)
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

/* ---- over HTTP ---------------------------------------------------------------------------------------------- */

static const struct asked {
    const char *expr, *more; /* the rest of the query */
} askeds[] = {
    {"((2,2),(3,2)):((3,6),(1,12))", ""},
    {"((2,2),(3,2)):((3,6),(1,12))", "&view=index&colors=tile&theme=dark"},
    {"((2,2),(3,2)):((3,6),(1,12))", "&view=coords&colors=grays"},
    {"((4,8),2):((16,1),8)", "&view=tv&tile=(8,8)"},
    {"(8,32):(32,1)", "&view=banks&bytes=2"},
    {"(4,(8,2)):(0,(1,512))", "&view=memory&bytes=8"},
    {"make_tiled_mma(SM80_16x8x8_F32F16F16F32_TN{}, make_layout((2,1,1)))", ""},
    {"make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, (16,2):(1,16), (1,8):(0,1))", ""},
};
#define ASKED (sizeof askeds / sizeof *askeds)

static struct answer ask(struct daemon *d, const struct asked *a, const char *format)
{
    struct bytes request = {0};
    bytes_text(&request, "GET /render?format=");
    bytes_text(&request, format);
    bytes_text(&request, a->more);
    bytes_text(&request, "&expr=");
    for (const char *p = a->expr; *p; p++) {
        char code[4];
        snprintf(code, sizeof code, "%%%02X", (unsigned)(unsigned char)*p);
        bytes_text(&request, code);
    }
    bytes_text(&request, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    struct answer answer = client_ask(d, request.data, request.len);
    free(request.data);
    return answer;
}

/* A picture that must be there; skipped where librsvg is not installed. */
static struct answer picture(const struct asked *a, const char *format)
{
    struct answer answer = ask(&daemon_under_test, a, format);
    if (answer.status == 501) {
        printf("skipped: librsvg2-2 is not installed\n");
        skipped++;
        skip();
    }
    if (answer.status != 200)
        fail_msg("%s%s as %s: status %d: %.300s", a->expr, a->more, format, answer.status, answer.body);
    return answer;
}

static void test_xml(void **state)
{
    (void)state;
    need("xmllint");
    for (size_t i = 0; i < ASKED; i++) {
        struct answer svg = picture(&askeds[i], "svg");
        save("x.svg", svg.body, svg.body_len);
        run("xmllint --noout %s", path_of("x.svg"));
        answer_free(&svg);
    }
}

/* Near the left lower corner of each filled rectangle, where no label, mark or border is, the picture has its colour.
 * `tolerance`: how far a reader may be off. */
static void check_pixels(const struct asked *a, const struct pixels *p, double scale, int tolerance)
{
    struct answer svg = picture(a, "svg");
    struct seen seen = svg_read(svg.body);
    assert_non_null(p->rgb);
    assert_true(seen.rects > 0);
    for (size_t i = 0; i < seen.rects; i++) {
        const struct seen_rect *r = &seen.rect[i];
        const long x = (long)((double)(r->x + 4) * scale), y = (long)((double)(r->y + r->h - 4) * scale);
        const int distance = pixel_distance(p, x, y, r->rgb);
        if (distance > tolerance)
            fail_msg("%s%s: at (%ld,%ld) the colour is %d off #%06x", a->expr, a->more, r->x, r->y, distance,
                     r->rgb);
    }
    seen_free(&seen);
    answer_free(&svg);
}

static void test_png(void **state)
{
    (void)state;
    for (size_t i = 0; i < ASKED; i++) {
        char more[256];
        snprintf(more, sizeof more, "%s&scale=1", askeds[i].more);
        struct answer png = picture(&(struct asked){askeds[i].expr, more}, "png");
        struct pixels p = png_read((const unsigned char *)png.body, png.body_len);
        check_pixels(&askeds[i], &p, 1, 0);
        free(p.rgb);
        answer_free(&png);
    }
}

/* Our use of librsvg gives the pixels that its own program gives. */
static void test_rsvg_convert(void **state)
{
    (void)state;
    need("rsvg-convert");
    for (size_t i = 0; i < ASKED; i++) {
        char more[256];
        snprintf(more, sizeof more, "%s&scale=1", askeds[i].more);
        struct answer svg = picture(&askeds[i], "svg");
        struct answer png = picture(&(struct asked){askeds[i].expr, more}, "png");
        save("r.svg", svg.body, svg.body_len);
        run("rsvg-convert -f png -o %s %s", path_of("r.png"), path_of("r.svg"));
        struct stat file;
        assert_int_equal(stat(path_of("r.png"), &file), 0);
        unsigned char *theirs_png = (unsigned char *)load("r.png");
        struct pixels theirs = png_read(theirs_png, (size_t)file.st_size);
        struct pixels ours = png_read((const unsigned char *)png.body, png.body_len);
        assert_non_null(theirs.rgb);
        assert_int_equal(ours.width, theirs.width);
        assert_int_equal(ours.height, theirs.height);
        assert_memory_equal(ours.rgb, theirs.rgb, (size_t)ours.width * ours.height * 3);
        free(theirs_png);
        free(ours.rgb);
        free(theirs.rgb);
        answer_free(&svg);
        answer_free(&png);
    }
}

static void test_pdf(void **state)
{
    (void)state;
    need("pdftoppm");
    for (size_t i = 0; i < ASKED; i++) {
        struct answer pdf = picture(&askeds[i], "pdf");
        save("p.pdf", pdf.body, pdf.body_len);
        run("pdftoppm -r 96 -singlefile %s %s", path_of("p.pdf"), path_of("p")); /* a unit is a pixel */
        struct pixels p = ppm_read(path_of("p.ppm"));
        check_pixels(&askeds[i], &p, 1, 1);
        free(p.rgb);
        answer_free(&pdf);
    }
}

/* Every label of the SVG is a word of the document. */
static void check_words(const struct asked *a, const char *pdf)
{
    struct answer svg = picture(a, "svg");
    struct seen seen = svg_read(svg.body);
    run("pdftotext -raw %s %s", path_of(pdf), path_of("words"));
    char *words = load("words");
    for (size_t i = 0; i < seen.texts; i++)
        if (!seen.text[i].class[0] && !strstr(words, seen.text[i].text))
            fail_msg("%s%s: %s lacks '%s'", a->expr, a->more, pdf, seen.text[i].text);
    free(words);
    seen_free(&seen);
    answer_free(&svg);
}

static void test_pdf_text(void **state)
{
    (void)state;
    need("pdftotext");
    for (size_t i = 0; i < ASKED; i++) {
        struct answer pdf = picture(&askeds[i], "pdf");
        save("t.pdf", pdf.body, pdf.body_len);
        check_words(&askeds[i], "t.pdf");
        answer_free(&pdf);
    }
}

static void test_tex(void **state)
{
    (void)state;
    need("pdflatex");
    need("pdftotext");
    if (system("kpsewhich standalone.cls tikz.sty >/dev/null 2>&1") != 0) {
        printf("skipped: TeX's packages standalone and TikZ are not installed\n");
        skipped++;
        skip();
    }
    for (size_t i = 0; i < ASKED; i++) {
        struct answer tex = picture(&askeds[i], "tex");
        save("l.tex", tex.body, tex.body_len);
        run("cd %s && pdflatex -interaction=nonstopmode -halt-on-error l.tex >l.out 2>&1 || { tail -n 30 "
            "l.out >&2; "
            "false; }",
            folder);
        check_words(&askeds[i], "l.pdf");
        answer_free(&tex);
    }
}

/* The same bytes each time: an ETag promises that. */
static void test_deterministic(void **state)
{
    static const char *const formats[] = {"svg", "png", "pdf", "tex", "txt"};
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct answer first = picture(&askeds[0], formats[i]);
        if (i == 2)
            usleep(1100 * 1000); /* a PDF that told the time would tell another second */
        struct answer second = picture(&askeds[0], formats[i]);
        assert_int_equal(first.body_len, second.body_len);
        assert_memory_equal(first.body, second.body, first.body_len);
        answer_free(&first);
        answer_free(&second);
    }
}

/* ---- turns -------------------------------------------------------------------------------------------------- */

enum { CLIENTS = 12 };

static void *ask_png(void *arg)
{
    struct answer *out = arg;
    *out = ask(&daemon_under_test, &(struct asked){"(24,24):(24,1)", ""}, "png");
    return NULL;
}

/* More at a time than there are threads: each is drawn, one after the other, and others are answered meanwhile. */
static void test_turns(void **state)
{
    pthread_t threads[CLIENTS];
    struct answer answers[CLIENTS];
    (void)state;
    struct answer one = picture(&(struct asked){"(24,24):(24,1)", ""}, "png");
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_png, &answers[i]), 0);
    static const char alive[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    struct answer live = client_ask(&daemon_under_test, alive, sizeof alive - 1);
    assert_int_equal(live.status, 200);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(answers[i].status, 200);
        assert_int_equal(answers[i].body_len, one.body_len);
        assert_memory_equal(answers[i].body, one.body, one.body_len);
        answer_free(&answers[i]);
    }
    answer_free(&live);
    answer_free(&one);
}

/* ---- a machine without librsvg ------------------------------------------------------------------------------- */

/* A file of its name that is no library comes first. */
static void test_without_librsvg(void **state)
{
    struct daemon d = {0};
    struct bytes log = {0};
    (void)state;
    save("librsvg-2.so.2", "", 0);
    setenv("LD_LIBRARY_PATH", folder, 1);
    assert_true(daemon_start(&d, NULL));
    unsetenv("LD_LIBRARY_PATH");
    static const char *const formats[] = {"png", "pdf", "svg", "txt", "tex"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct answer a = ask(&d, &askeds[0], formats[i]);
        assert_int_equal(a.status, i < 2 ? 501 : 200);
        assert_int_equal(i < 2, strstr(a.body, "\"code\":\"not_implemented\"") != NULL);
        assert_int_equal(i < 2, strstr(a.body, "install the package librsvg2-2") != NULL);
        answer_free(&a);
    }
    kill(d.pid, SIGTERM);
    assert_int_equal(daemon_wait(&d, &log), 0);
    free(log.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_tv),
        cmocka_unit_test(test_colors),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_png),
        cmocka_unit_test(test_rsvg_convert),
        cmocka_unit_test(test_pdf),
        cmocka_unit_test(test_pdf_text),
        cmocka_unit_test(test_tex),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_without_librsvg),
    };
    struct bytes log = {0};
    if (!mkdtemp(folder) || !daemon_start(&daemon_under_test, NULL))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kill(daemon_under_test.pid, SIGTERM);
    const int status = daemon_wait(&daemon_under_test, &log);
    if (status != 0) {
        failed++;
        printf("the daemon ended with status %d: %s\n", status, log.data ? log.data : "");
    }
    free(log.data);
    run("rm -rf %s", folder);
    const int count = (int)(sizeof tests / sizeof *tests) + 1 - skipped;
    printf("%d passed, %d failed\n", count - failed, failed);
    return failed ? 1 : 0;
}

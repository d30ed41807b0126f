/* test_render_readers.c: pictures over HTTP, opened by readers that others wrote.
 *
 * xmllint, rsvg-convert, pdftoppm, pdftotext and pdflatex, where they are installed; pixels and words are compared with
 * the SVG, which test_render.c holds against the layout. Also: pictures that wait for their turn, and a machine without
 * librsvg. */
#include "render_test.h"

#include <pthread.h>
#include <sys/stat.h>

static struct daemon daemon_under_test;

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
        if (strchr("w", seen.text[i].class[0]) && !strstr(words, seen.text[i].text))
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

/* Suppressions for the daemon, behind what the options say already. */
static void forgive(const char *variable, const char *name, const char *suppressions)
{
    const char *before = getenv(variable);
    char options[512];
    save(name, suppressions, strlen(suppressions));
    snprintf(options, sizeof options, "%s%ssuppressions=%s:print_suppressions=0", before ? before : "",
             before ? ":" : "", path_of(name));
    setenv(variable, options, 1);
}

/* What sanitizers say of librsvg's libraries, which are built without them, is not the daemon's: fontconfig keeps a few
 * patterns for each thread that has drawn, as many after a thousand pictures as after one; and locks of GLib and Rust are
 * not seen. */
static void forgive_libraries(void)
{
    forgive("LSAN_OPTIONS", "leaks", "leak:libfontconfig\n");
    forgive(
        "TSAN_OPTIONS", "races",
        "called_from_lib:librsvg-2.so\ncalled_from_lib:libfontconfig.so\ncalled_from_lib:libpango-1.0.so\n"
        "called_from_lib:libpangoft2-1.0.so\ncalled_from_lib:libpangocairo-1.0.so\n"
        "called_from_lib:libglib-2.0.so\ncalled_from_lib:libgobject-2.0.so\ncalled_from_lib:libcairo.so\n"
        "called_from_lib:libharfbuzz.so\ncalled_from_lib:libgio-2.0.so\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    if (!mkdtemp(folder))
        return 1;
    forgive_libraries();
    if (!daemon_start(&daemon_under_test, NULL))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kill(daemon_under_test.pid, SIGTERM);
    const int status = daemon_wait(&daemon_under_test, &log);
    if (status != 0) {
        failed++;
        printf("the daemon ended with status %d: %s\n", status, log.data ? log.data : "");
    }
    free(log.data);
    return report((int)(sizeof tests / sizeof *tests) + 1, failed); /* the end of the daemon is a test, too */
}

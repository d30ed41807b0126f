/* fit.c: /fit, from a table of offsets to the layout that gives exactly it.
 *
 *     POST /fit {"offsets":[[0,1,2],[6,7,8]]}   ->  the layout (2,3):(6,1), as /eval answers it
 *     GET  /fit?offsets=0;1;2;6;7;8
 * Where no layout can give the table, the answer is {"found":false} with the first cell that none can. */
#include "exchange.h"
#include "json.h"
#include "pure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct field fit_fields[] = {
    {"offsets", FIELD_LIST, true, NULL,
     "The offsets: integers in the order of the integer coordinate, or rows of them; in a query separated by "
     ";."},
    {"swizzle", FIELD_FLAG, false, NULL, "Also look for a layout behind a swizzle."},
    {0}};

struct table_text {
    int64_t rows, cols;
    int64_t *offsets;
};

static bool bad(struct request *rq, const char *what, size_t i)
{
    respond_field_problem(rq, "bad_field", "offsets", "%s in row %zu", what, i);
    return false;
}

/* The integers of one element: 5, or (0,1,2) as a row. */
static bool read_row(struct request *rq, const char *text, size_t row, struct table_text *t)
{
    int64_t n = 0;
    const char *s = text;
    const bool is_row = *s == '(';
    s += is_row;
    for (;;) {
        char *end;
        errno = 0;
        const long long v = strtoll(s, &end, 10);
        if (end == s || errno)
            return bad(rq, errno ? "an integer beyond 64 bits" : "what is no integer", row);
        if (is_row && row > 0 && n == t->cols)
            return bad(rq, "more cells than in the first row", row);
        t->offsets[is_row ? (int64_t)row * t->cols + n : (int64_t)row] = v;
        n++;
        s = end + strspn(end, " ");
        if (!is_row || *s != ',')
            break;
        s += 1 + strspn(s + 1, " ");
        if (row == 0 && n >= FIELD_ELEMENTS_MAX)
            return bad(rq, "too many cells", row);
    }
    if (s[strspn(s, is_row ? ") " : " ")])
        return bad(rq, "what is no integer", row);
    if (row == 0)
        t->cols = is_row ? n : 1;
    else if (n != t->cols)
        return bad(rq, "another number of cells than in the first row", row);
    return true;
}

static size_t cells_of(const char *row)
{
    size_t n = 1;
    for (; *row; row++)
        n += *row == ',';
    return n;
}

static bool read_table(struct request *rq, struct table_text *t)
{
    const struct element *rows;
    const size_t n = field_list(rq, "offsets", &rows);
    if (n == 0)
        return bad(rq, "no offsets", 0);
    const size_t cells = cells_of(rows[0].text) * n;
    if (cells > (size_t)rq->server->options.max_cells) {
        respond_field_problem(rq, "limit", "offsets", "%zu cells are more than the limit of %ld", cells,
                              rq->server->options.max_cells);
        return false;
    }
    const bool is_row = rows[0].text[0] == '(';
    t->offsets = la_alloc(&rq->cx, cells * sizeof *t->offsets);
    for (size_t i = 0; i < n; i++) {
        if ((rows[i].text[0] == '(') != is_row)
            return bad(rq, "integers mixed with rows of them", i);
        if (!read_row(rq, rows[i].text, i, t))
            return false;
    }
    t->rows = is_row ? (int64_t)n : 1;
    t->cols = is_row ? t->cols : (int64_t)n;
    return true;
}

void handle_fit(struct request *rq)
{
    struct table_text t = {0};
    struct la_fit fit;
    if (!read_table(rq, &t))
        return;
    if (!la_fit_table(&rq->cx, t.rows, t.cols, t.offsets, field_flag(rq, "swizzle"), &fit)) {
        respond_error(rq, "offsets");
        return;
    }
    struct json j = json_new(&rq->cx, 1024);
    json_open(&j, '{');
    json_key(&j, "found");
    json_bool(&j, fit.found);
    if (fit.found) {
        const struct la_value value = la_value_layout(fit.layout);
        json_value(&j, &value);
    } else {
        json_key(&j, "row");
        json_int(&j, fit.cell / t.cols);
        json_key(&j, "col");
        json_int(&j, fit.cell % t.cols);
        json_key(&j, "gives");
        json_int(&j, fit.gives);
        json_key(&j, "should");
        json_int(&j, fit.should);
        json_key(&j, "reason");
        json_text(&j, fit.reason);
    }
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

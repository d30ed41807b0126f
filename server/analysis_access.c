/* analysis_access.c: /access, what one instruction of one warp costs.
 *
 *     POST /access {"space":"shared","op":"load","bytes":4,"lanes":[0,128,256,...]}
 *     ->  {"wavefronts":32,"ideal":1,"conflicts":31,"banks":[{"bank":0,"words":[...],"lanes":[...]}],...}
 *     POST /access {"space":"global","op":"load","bytes":16,"type":"half_t","layout":"(64,64):(64,1)",
 *                   "thr":"(32,8):(8,1)","val":"(1,8):(0,1)"}
 * The lanes are given one by one, or by a layout and a partition of it, of which one warp does one step. */
#include "analysis.h"
#include "exchange.h"
#include "pure.h"

#include <string.h>

static const char *const spaces[] = {"shared", "global", NULL};
static const char *const ops[] = {"load",     "store",          "ldmatrix", "ldmatrix.trans",
                                  "stmatrix", "stmatrix.trans", "cp.async", NULL};

const struct field access_fields[] = {
    {"space", FIELD_CHOICE, true, spaces, "Shared or global memory."},
    {"op", FIELD_CHOICE, true, ops, "The instruction; cp.async reads global and writes shared memory."},
    {"bytes", FIELD_INT, false, NULL,
     "Of each lane: 1, 2, 4, 8 or 16. With a layout: one element if absent."},
    {"matrices", FIELD_INT, false, NULL, "Of ldmatrix and stmatrix: 1, 2 or 4."},
    {"lanes", FIELD_JSON, false, NULL,
     "Byte offsets by lane, null for one that is not active; of ldmatrix and stmatrix those of the rows."},
    {"layout", FIELD_NOTATION, false, NULL,
     "Instead of lanes: the memory that a partition accesses, in elements."},
    {"type", FIELD_NOTATION, false, NULL, "With layout: the type of an element, or its bits."},
    {"thr", FIELD_NOTATION, false, NULL, "With layout: threads, as make_tiled_copy takes them."},
    {"val", FIELD_NOTATION, false, NULL, "With layout: the values of a thread; one if absent."},
    {"tv", FIELD_NOTATION, false, NULL, "Instead of thr and val: (thread, value) to an index in the tile."},
    {"tile", FIELD_NOTATION, false, NULL, "With tv: the extents of the tile."},
    {"warp", FIELD_INT, false, NULL, "With layout: which warp; 0 if absent."},
    {"step", FIELD_INT, false, NULL, "With layout: which of its instructions in the tile; 0 if absent."},
    FIELD_INTEGERS,
    {0}};

struct access_request {
    enum la_space space;
    struct instruction_form form;
    struct la_traffic traffic; /* of a layout */
};

static bool read_head(struct analysis *a, struct access_request *r)
{
    struct request *rq = a->rq;
    struct instruction_form *form = &r->form;
    r->space = strcmp(request_field(rq, "space"), "shared") == 0 ? LA_SHARED : LA_GLOBAL;
    form->prefix = "";
    la_access_op_find(request_field(rq, "op"), &form->op);
    form->has_bytes = request_field(rq, "bytes");
    form->has_matrices = request_field(rq, "matrices");
    form->bytes = field_int(rq, "bytes", 0);
    form->matrices = field_int(rq, "matrices", 0);
    return analysis_form(a, form);
}

/* ---- lanes one by one ---------------------------------------------------------------------------------- */

static void answer_lanes(struct analysis *a, const struct access_request *r)
{
    struct request *rq = a->rq;
    struct la_access access = {.space = r->space, .op = r->form.op, .bytes = (int32_t)r->form.bytes};
    const char *text = NULL;
    const cJSON *array = field_json(rq, "lanes", &text);
    if (!r->form.has_bytes) {
        respond_field_problem(rq, "missing_field", "bytes",
                              "lanes need 'bytes', the width of each lane's access");
        return;
    }
    a->field = "lanes";
    if (!analysis_lanes(a, "lanes", array, text, &access))
        return;
    const bool is_matrix = la_access_is_matrix(r->form.op);
    if (access.lanes == 0 || (is_matrix && access.lanes != r->form.lanes)) {
        analysis_bad(a, "lanes", "'lanes' has %d elements; %s takes %s%d", access.lanes,
                     la_access_op_name(r->form.op), is_matrix ? "" : "1 to ", r->form.lanes);
        return;
    }
    access.lanes = r->form.lanes; /* lanes that are left out are not active */
    la_access_check(&rq->cx, &access);
    struct json j = json_new(&rq->cx, 2048);
    json_open(&j, '{');
    json_access(&j, &access);
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

/* ---- a layout and a partition -------------------------------------------------------------------------- */

/* A thread of one value where no values are given: 1:0, one mode a mode of thr. */
static const char *one_value(struct analysis *a, const char *thr)
{
    struct la_value value;
    if (!analysis_eval(a, "thr", thr, LA_INTEGERS_STATIC, &value) || !(value.kind & LA_K_LAYOUT))
        return "1:0";
    const char *shape = "", *stride = "";
    for (uint32_t i = 0; i < la_rank(value.layout.shape); i++) {
        shape = la_format(&a->rq->cx, "%s%s1", shape, i ? "," : "");
        stride = la_format(&a->rq->cx, "%s%s0", stride, i ? "," : "");
    }
    return la_format(&a->rq->cx, "(%s):(%s)", shape, stride);
}

static bool read_partition(struct analysis *a, struct la_partition *p)
{
    struct request *rq = a->rq;
    struct partition_texts texts = {.prefix = "",
                                    .thr = field_notation(rq, "thr"),
                                    .val = field_notation(rq, "val"),
                                    .tv = field_notation(rq, "tv"),
                                    .tile = field_notation(rq, "tile")};
    if (texts.thr && !texts.val && !texts.tv)
        texts.val = one_value(a, texts.thr);
    return analysis_partition(a, &texts, p);
}

static bool read_traffic(struct analysis *a, struct access_request *r)
{
    struct request *rq = a->rq;
    struct la_ctx *cx = &rq->cx;
    const char *type = field_notation(rq, "type");
    struct la_layout memory;
    const struct la_type *element;
    struct la_partition p;
    uint32_t bits = 0;
    int64_t vector = 1;
    if (!type) {
        respond_field_problem(rq, "missing_field", "type", "a layout needs 'type', that of its elements");
        return false;
    }
    if (!analysis_type(a, "type", type, &element, &bits) || !analysis_vector(a, &r->form, bits, &vector) ||
        !read_partition(a, &p) || !analysis_memory(a, "layout", field_notation(rq, "layout"), &memory))
        return false;
    struct la_reach *reach = la_alloc(cx, sizeof *reach);
    *reach = la_reach_make(cx, &p, memory, bits, 0);
    const struct la_vectors widest = la_vectors_of(cx, reach);
    if (vector > widest.widest)
        la_fail(cx, LA_E_not_contiguous, "an access of %lld elements is not possible, one of %lld is: %s",
                (long long)vector, (long long)widest.widest, widest.text);
    r->traffic = la_traffic_of(cx, reach, r->space, r->form.op, r->form.lanes, vector);
    return true;
}

static void answer_layout(struct analysis *a, struct access_request *r)
{
    struct request *rq = a->rq;
    if (!read_traffic(a, r))
        return;
    const struct la_traffic *t = &r->traffic;
    const int64_t warp = field_int(rq, "warp", 0), step = field_int(rq, "step", 0);
    if (warp < 0 || warp >= t->warps) {
        analysis_bad(a, "warp", "there are warps 0 to %lld", (long long)t->warps - 1);
        return;
    }
    if (step < 0 || step >= t->steps) {
        analysis_bad(a, "step", "a warp has the instructions 0 to %lld in a tile", (long long)t->steps - 1);
        return;
    }
    const struct la_access access = la_traffic_access(t, &t->reach->kind[0], warp, step);
    struct json j = json_new(&rq->cx, 2048);
    json_open(&j, '{');
    json_access(&j, &access);
    json_member_int(&j, "warp", warp);
    json_member_int(&j, "step", step);
    json_open_member(&j, "all", '{');
    json_traffic(&j, t);
    json_close(&j, '}');
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

static void run_access(struct analysis *a)
{
    struct access_request r = {0};
    struct request *rq = a->rq;
    static const char *const of_layouts[] = {"type", "thr", "val", "tv", "tile", "warp", "step", NULL};
    const bool lanes = request_field(rq, "lanes"), layout = field_notation(rq, "layout");
    if (!read_head(a, &r))
        return;
    if (lanes == layout) {
        respond_field_problem(rq, lanes ? "bad_field" : "missing_field", "lanes",
                              "either 'lanes', or 'layout' with 'type' and a partition");
        return;
    }
    for (size_t i = 0; lanes && of_layouts[i]; i++)
        if (request_field(rq, of_layouts[i])) {
            analysis_bad(a, of_layouts[i], "'%s' goes with 'layout', not with 'lanes'", of_layouts[i]);
            return;
        }
    if (lanes)
        answer_lanes(a, &r);
    else
        answer_layout(a, &r);
}

void handle_access(struct request *rq)
{
    const char *texts[] = {field_notation(rq, "layout"), field_notation(rq, "thr"), field_notation(rq, "val"),
                           field_notation(rq, "tv"), field_notation(rq, "tile")};
    struct analysis a = {
        .rq = rq, .body = run_access, .integers = integers_of(rq, texts, sizeof texts / sizeof *texts)};
    analysis_run(&a);
}

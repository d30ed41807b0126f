/* analysis.c: reading what the analyses are given.
 *
 *     "thr":"(32,8):(8,1)", "val":"(1,8):(0,1)"   ->  a partition     "lanes":[0,4,null]  ->  lanes
 *
 * The same texts come as fields of a request and as members of the objects in "accesses"; so readers take a
 * text and the name to blame. */
#include "analysis.h"
#include "exchange.h"
#include "pure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_body(struct la_ctx *cx, void *arg)
{
    struct analysis *a = arg;
    (void)cx;
    a->body(a);
}

void analysis_run(struct analysis *a)
{
    if (!la_try(&a->rq->cx, run_body, a))
        respond_error(a->rq, a->field);
}

bool analysis_bad(struct analysis *a, const char *field, const char *format, ...)
{
    char detail[400];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    respond_field_problem(a->rq, "bad_field", field, "%s", detail);
    return false;
}

bool analysis_eval(struct analysis *a, const char *field, const char *text, enum la_integers integers,
                   struct la_value *out)
{
    struct la_program program;
    if (!la_eval(&a->rq->cx, text, integers, &program)) {
        respond_error(a->rq, field);
        return false;
    }
    a->field = field;
    *out = program.value;
    return true;
}

static bool read_layout(struct analysis *a, const char *field, const char *text, enum la_integers integers,
                        unsigned kinds, struct la_layout *out)
{
    struct la_value value;
    if (!analysis_eval(a, field, text, integers, &value))
        return false;
    if (!(value.kind & kinds)) {
        respond_field_problem(a->rq, "kind", field, "%s is needed, not %s", la_kinds_text(&a->rq->cx, kinds),
                              la_kinds_text(&a->rq->cx, value.kind));
        return false;
    }
    *out = value.layout;
    return true;
}

bool analysis_memory(struct analysis *a, const char *field, const char *text, struct la_layout *out)
{
    return read_layout(a, field, text, a->integers, LA_K_ANYLAYOUT, out);
}

static bool static_layout(struct analysis *a, const char *field, const char *text, struct la_layout *out)
{
    return read_layout(a, field, text, LA_INTEGERS_STATIC, LA_K_LAYOUT, out);
}

bool analysis_type(struct analysis *a, const char *field, const char *text, const struct la_type **type,
                   uint32_t *bits)
{
    struct la_value value;
    if (!analysis_eval(a, field, text, LA_INTEGERS_STATIC, &value))
        return false;
    *type = value.kind == LA_K_TYPE ? value.type : NULL;
    if (*type)
        *bits = la_type_bits(*type);
    else if (value.kind == LA_K_INT && value.tuple->value > 0 && value.tuple->value <= LA_VECTOR_BITS)
        *bits = (uint32_t)value.tuple->value;
    else
        return analysis_bad(a, field,
                            "an element type is needed, like half_t, or its number of bits up to %d",
                            LA_VECTOR_BITS);
    if (*bits == 0 || (*bits & (*bits - 1)) != 0)
        return analysis_bad(a, field, "elements of %u bits are not addressed one by one", *bits);
    return true;
}

/* ---- partitions ---------------------------------------------------------------------------------------- */

static const char *named(struct analysis *a, const struct partition_texts *texts, const char *name)
{
    return la_format(&a->rq->cx, "%s%s", texts->prefix, name);
}

static bool missing(struct analysis *a, const char *field)
{
    respond_field_problem(a->rq, "missing_field", field,
                          "the field '%s' is missing: a partition is 'thr' and 'val', or 'tv' and 'tile'",
                          field);
    return false;
}

static bool partition_of_tv(struct analysis *a, const struct partition_texts *texts, struct la_partition *out)
{
    const char *tv_name = named(a, texts, "tv"), *tile_name = named(a, texts, "tile");
    struct la_layout tv;
    struct la_value tile;
    if (!texts->tile)
        return missing(a, tile_name);
    if (texts->thr || texts->val)
        return analysis_bad(a, tv_name, "'tv' goes with 'tile', without 'thr' and 'val'");
    if (!analysis_eval(a, tile_name, texts->tile, LA_INTEGERS_STATIC, &tile) ||
        !static_layout(a, tv_name, texts->tv, &tv))
        return false;
    if (!(tile.kind & LA_K_INTTUPLE))
        return analysis_bad(a, tile_name, "a tile is a tuple of extents, like (128,64)");
    *out = la_partition_of_tv(&a->rq->cx, tv, tile.tuple);
    return true;
}

bool analysis_partition(struct analysis *a, const struct partition_texts *texts, struct la_partition *out)
{
    struct la_layout thr, val;
    if (texts->tv)
        return partition_of_tv(a, texts, out);
    const char *thr_name = named(a, texts, "thr"), *val_name = named(a, texts, "val");
    if (texts->tile)
        return analysis_bad(a, named(a, texts, "tile"), "'tile' goes with 'tv'");
    if (!texts->thr || !texts->val)
        return missing(a, texts->thr ? val_name : thr_name);
    if (!static_layout(a, val_name, texts->val, &val) || !static_layout(a, thr_name, texts->thr, &thr))
        return false;
    if (thr.outer || val.outer)
        return analysis_bad(a, thr.outer ? thr_name : val_name,
                            "a layout of threads or values is not swizzled");
    *out = la_partition_make(&a->rq->cx, thr, val);
    return true;
}

/* ---- instructions -------------------------------------------------------------------------------------- */

static const char *form_field(struct analysis *a, const struct instruction_form *form, const char *name)
{
    return la_format(&a->rq->cx, "%s%s", form->prefix, name);
}

bool analysis_form(struct analysis *a, struct instruction_form *form)
{
    const char *bytes = form_field(a, form, "bytes"), *matrices = form_field(a, form, "matrices");
    const char *op = la_access_op_name(form->op);
    form->lanes = LA_LANES;
    if (!la_access_is_matrix(form->op)) {
        if (form->has_matrices)
            return analysis_bad(a, matrices, "'matrices' goes with ldmatrix and stmatrix");
        if (form->has_bytes && (form->bytes < 1 || form->bytes > 16 || (form->bytes & (form->bytes - 1))))
            return analysis_bad(a, bytes, "a lane moves 1, 2, 4, 8 or 16 bytes");
        return true;
    }
    if (!form->has_matrices) {
        respond_field_problem(a->rq, "missing_field", matrices, "%s needs '%s': 1, 2 or 4", op, matrices);
        return false;
    }
    if (form->matrices != 1 && form->matrices != 2 && form->matrices != 4)
        return analysis_bad(a, matrices, "%s moves 1, 2 or 4 matrices", op);
    if (form->has_bytes && form->bytes != 16)
        return analysis_bad(a, bytes, "a row of %s has 16 bytes", op);
    form->bytes = 16;
    form->has_bytes = true;
    form->lanes = (int32_t)form->matrices * 8;
    return true;
}

bool analysis_vector(struct analysis *a, const struct instruction_form *form, uint32_t bits, int64_t *vector)
{
    if (form->has_bytes && form->bytes * 8 < bits)
        return analysis_bad(a, form_field(a, form, "bytes"),
                            "an element has %u bits, more than an access of %lld bytes", bits,
                            (long long)form->bytes);
    *vector = form->has_bytes ? form->bytes * 8 / bits : 1;
    return true;
}

/* ---- lanes --------------------------------------------------------------------------------------------- */

/* The whole text of an element as an integer; exact, unlike a double. */
static bool read_offset(const char *text, size_t len, int64_t *out)
{
    char digits[24], *end;
    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    digits[len] = 0;
    errno = 0;
    *out = strtoll(digits, &end, 10);
    return !*end && !errno;
}

bool analysis_lanes(struct analysis *a, const char *field, const cJSON *array, const char *text,
                    struct la_access *out)
{
    const cJSON *item;
    int32_t n = 0;
    if (!cJSON_IsArray(array))
        return analysis_bad(
            a, field, "'%s' must be an array of byte offsets, null for a lane that is not active", field);
    cJSON_ArrayForEach (item, array) {
        size_t len = 0;
        const char *raw = json_next_element(&text, &len);
        if (n == LA_LANES)
            return analysis_bad(a, field, "'%s' has more than %d elements", field, LA_LANES);
        if (cJSON_IsNumber(item) && read_offset(raw, len, &out->at[n]))
            out->active |= UINT32_C(1) << n;
        else if (!cJSON_IsNull(item))
            return analysis_bad(a, field, "element %d of '%s' must be an integer of 64 bits or null", n,
                                field);
        n++;
    }
    out->lanes = n;
    return true;
}

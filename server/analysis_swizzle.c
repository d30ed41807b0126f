/* analysis_swizzle.c: /swizzle, the swizzles that serve the accesses to a layout best, and units of one.
 *
 *     POST /swizzle {"layout":"(64,64):(64,1)","type":"half_t","accesses":[
 *         {"name":"write","op":"store","bytes":16,"thr":"(16,8):(8,1)","val":"(1,8):(0,1)"},
 *         {"name":"read","op":"ldmatrix","matrices":4,"thr":"(16,2):(1,16)","val":"(1,8):(0,1)"}]}
 *     ->  {"none":{"wavefronts":576,...},"swizzles":[{"swizzle":"Swizzle<3,3,3>","wavefronts":128,...}],...}
 *     GET /swizzle?swizzle=Swizzle<3,4,3>&unit=bytes&type=half_t
 *     ->  {"units":{"bits":"Swizzle<3,7,3>","bytes":"Swizzle<3,4,3>","elements":"Swizzle<3,3,3>"}, ...} */
#include "analysis.h"
#include "exchange.h"
#include "pure.h"

#include <string.h>

static const char *const units[] = {"elements", "bytes", "bits", NULL};

const struct field swizzle_fields[] = {
    {"layout", FIELD_NOTATION, false, NULL, "The shared-memory layout in elements, without a swizzle."},
    {"type", FIELD_NOTATION, true, NULL, "The type of an element, or its bits."},
    {"accesses", FIELD_JSON, false, NULL,
     "With layout: the accesses, each {name, op, bytes or matrices, thr and val or tv and tile}."},
    {"swizzle", FIELD_NOTATION, false, NULL,
     "Instead of layout and accesses: a swizzle to be shown in all units."},
    {"unit", FIELD_CHOICE, false, units, "With swizzle: what it counts in; elements if absent."},
    FIELD_INTEGERS,
    {0}};

/* ---- one swizzle in all units -------------------------------------------------------------------------- */

static void answer_units(struct analysis *a, uint32_t bits)
{
    struct request *rq = a->rq;
    const char *unit = request_field(rq, "unit");
    struct la_value value;
    if (!analysis_eval(a, "swizzle", field_notation(rq, "swizzle"), LA_INTEGERS_STATIC, &value))
        return;
    if (value.kind != LA_K_SWIZZLE) {
        respond_field_problem(rq, "kind", "swizzle", "a swizzle is needed, like Swizzle<3,4,3>, not %s",
                              la_kinds_text(&rq->cx, value.kind));
        return;
    }
    const uint32_t from = !unit || *unit == 'e' ? bits : strcmp(unit, "bytes") == 0 ? 8 : 1;
    struct json j = json_new(&rq->cx, 512);
    json_open(&j, '{');
    json_member_int(&j, "element_bits", bits);
    json_swizzle_units(&j, la_swizzle_in_units(&rq->cx, value.swizzle, from, bits), bits);
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

/* ---- the accesses -------------------------------------------------------------------------------------- */

struct accesses {
    uint32_t n;
    const char *name[LA_SEARCH_ACCESSES];
    struct la_search_access at[LA_SEARCH_ACCESSES];
};

static const char *member_name(struct analysis *a, uint32_t i, const char *name)
{
    return la_format(&a->rq->cx, "accesses[%u].%s", i, name);
}

/* Members are known ones, and texts but for the two numbers. */
static bool check_members(struct analysis *a, uint32_t i, const cJSON *access)
{
    static const char *const known[] = {"name", "op", "bytes", "matrices", "thr", "val", "tv", "tile", NULL};
    const cJSON *member;
    if (!cJSON_IsObject(access))
        return analysis_bad(a, la_format(&a->rq->cx, "accesses[%u]", i), "an access is an object");
    cJSON_ArrayForEach (member, access) {
        size_t k = 0;
        while (known[k] && strcmp(known[k], member->string) != 0)
            k++;
        const char *field = member_name(a, i, member->string);
        const bool is_number = k == 2 || k == 3;
        if (!known[k]) {
            respond_field_problem(
                a->rq, "unknown_field", field,
                "an access has no '%s'; there are: name, op, bytes, matrices, thr, val, tv, tile",
                member->string);
            return false;
        }
        if (is_number ? !cJSON_IsNumber(member) : !cJSON_IsString(member))
            return analysis_bad(a, field, "'%s' must be %s", field, is_number ? "a number" : "a text");
    }
    return true;
}

static const char *member_text(const cJSON *access, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(access, name));
}

static bool read_form(struct analysis *a, uint32_t i, const cJSON *access, struct instruction_form *form)
{
    const char *op = member_text(access, "op");
    *form = (struct instruction_form){.prefix = member_name(a, i, ""),
                                      .has_bytes = cJSON_HasObjectItem(access, "bytes"),
                                      .has_matrices = cJSON_HasObjectItem(access, "matrices")};
    if (!op || !la_access_op_find(op, &form->op))
        return analysis_bad(
            a, member_name(a, i, "op"),
            "'op' must be one of load, store, ldmatrix, ldmatrix.trans, stmatrix, stmatrix.trans, "
            "cp.async");
    if (form->has_bytes && !json_get_int(access, "bytes", &form->bytes))
        return analysis_bad(a, member_name(a, i, "bytes"), "'bytes' must be an integer");
    if (form->has_matrices && !json_get_int(access, "matrices", &form->matrices))
        return analysis_bad(a, member_name(a, i, "matrices"), "'matrices' must be an integer");
    return analysis_form(a, form);
}

static bool read_access(struct analysis *a, uint32_t i, const cJSON *access, uint32_t bits,
                        struct accesses *out)
{
    struct la_search_access *at = &out->at[i];
    struct instruction_form form;
    const struct partition_texts texts = {.prefix = member_name(a, i, ""),
                                          .thr = member_text(access, "thr"),
                                          .val = member_text(access, "val"),
                                          .tv = member_text(access, "tv"),
                                          .tile = member_text(access, "tile")};
    if (!check_members(a, i, access) || !read_form(a, i, access, &form) ||
        !analysis_vector(a, &form, bits, &at->vector) || !analysis_partition(a, &texts, &at->part))
        return false;
    at->op = form.op;
    at->lanes = form.lanes;
    out->name[i] = member_text(access, "name");
    return true;
}

static bool read_accesses(struct analysis *a, uint32_t bits, struct accesses *out)
{
    const char *text = NULL;
    const cJSON *array = field_json(a->rq, "accesses", &text), *access;
    if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) < 1 ||
        cJSON_GetArraySize(array) > LA_SEARCH_ACCESSES)
        return analysis_bad(a, "accesses", "'accesses' must be an array of 1 to %d objects",
                            LA_SEARCH_ACCESSES);
    cJSON_ArrayForEach (access, array) {
        if (!read_access(a, out->n, access, bits, out))
            return false;
        out->n++;
    }
    return true;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

static void write_wavefronts(struct json *j, const struct la_search *s, const struct la_candidate *c)
{
    json_member_int(j, "wavefronts", c->wavefronts);
    json_member_int(j, "conflicts", c->wavefronts - s->ideal);
    json_key(j, "each");
    json_ints(j, c->each, s->accesses);
}

static void write_swizzle(struct json *j, const struct la_search *s, const struct la_candidate *c,
                          uint32_t bits)
{
    json_open(j, '{');
    json_member_text(j, "swizzle", swizzle_text(j->cx, c->swizzle));
    write_wavefronts(j, s, c);
    json_swizzle_units(j, c->swizzle, bits);
    json_close(j, '}');
}

static void write_padding(struct json *j, const struct la_search *s)
{
    json_key(j, "padding");
    if (!s->paddable) {
        json_null(j);
        return;
    }
    json_open(j, '{');
    json_member_int(j, "elements", s->padded.padding);
    json_member_int(j, "leading_stride", s->leading);
    json_member_text(j, "layout", la_print_layout(j->cx, s->padded_layout, LA_SPELL_TEXT));
    write_wavefronts(j, s, &s->padded);
    json_close(j, '}');
}

static void write_accesses(struct json *j, const struct accesses *accesses, uint32_t bits)
{
    json_open_member(j, "accesses", '[');
    for (uint32_t i = 0; i < accesses->n; i++) {
        const struct la_search_access *at = &accesses->at[i];
        json_open(j, '{');
        json_member_text(j, "name", accesses->name[i]);
        json_member_text(j, "op", la_access_op_name(at->op));
        json_member_int(j, "bytes", at->vector * bits < 8 ? 1 : at->vector * bits / 8);
        json_member_text(j, "tv", la_print_layout(j->cx, at->part.tv, LA_SPELL_TEXT));
        json_key(j, "tile");
        json_tuple(j, at->part.tiler);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void answer_search(struct analysis *a, uint32_t bits)
{
    struct request *rq = a->rq;
    struct la_layout memory;
    struct accesses accesses = {0};
    if (!read_accesses(a, bits, &accesses) ||
        !analysis_memory(a, "layout", field_notation(rq, "layout"), &memory))
        return;
    const struct la_search s = la_swizzle_search(&rq->cx, memory, bits, accesses.n, accesses.at);
    struct json j = json_new(&rq->cx, 4096);
    json_open(&j, '{');
    json_member_text(&j, "layout", la_print_layout(&rq->cx, memory, LA_SPELL_TEXT));
    json_member_int(&j, "element_bits", bits);
    write_accesses(&j, &accesses, bits);
    json_member_int(&j, "ideal", s.ideal);
    json_member_int(&j, "legal", s.legal);
    json_open_member(&j, "none", '{');
    write_wavefronts(&j, &s, &s.none);
    json_close(&j, '}');
    json_open_member(&j, "swizzles", '[');
    for (uint32_t i = 0; i < s.n; i++)
        write_swizzle(&j, &s, &s.best[i], bits);
    json_close(&j, ']');
    write_padding(&j, &s);
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

static void run_swizzle(struct analysis *a)
{
    struct request *rq = a->rq;
    const bool swizzle = field_notation(rq, "swizzle"), layout = field_notation(rq, "layout");
    const struct la_type *type;
    uint32_t bits;
    if (swizzle == layout || (swizzle && request_field(rq, "accesses")) ||
        (layout && request_field(rq, "unit"))) {
        respond_field_problem(rq, swizzle || layout ? "bad_field" : "missing_field", "layout",
                              "either 'layout' with 'accesses', or 'swizzle' with 'unit'");
        return;
    }
    if (layout && !request_field(rq, "accesses")) {
        respond_field_problem(rq, "missing_field", "accesses", "a layout needs 'accesses'");
        return;
    }
    if (!analysis_type(a, "type", field_notation(rq, "type"), &type, &bits))
        return;
    if (swizzle)
        answer_units(a, bits);
    else
        answer_search(a, bits);
}

void handle_swizzle(struct request *rq)
{
    const char *texts[] = {field_notation(rq, "layout"), request_field(rq, "accesses")};
    struct analysis a = {.rq = rq, .body = run_swizzle, .integers = integers_of(rq, texts, 2)};
    analysis_run(&a);
}

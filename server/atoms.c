/* atoms.c: /atoms and /atoms/NAME: the MMA and copy atoms with their layouts, from core's table.
 *
 *     GET /atoms?like=SM80_16x8x16                   {"count":8,"atoms":[{"name":"SM80_16x8x16_F16F16F16F16_TN",
 *                                                     "kind":"mma"}, ...]}
 *     GET /atoms/SM80_16x8x16_F32F16F16F32_TN        {"kind":"mma","shape_mnk":[16,8,16],"a":"((_4,_8),...):...", ...}
 * Names and kinds are listed without building the atoms; one atom is built from its name, template arguments and all. */
#include "exchange.h"
#include "json.h"
#include "pure.h"

#include <string.h>

static const char *const kinds[] = {"mma", "copy", NULL};

const struct field atoms_fields[] = {{"like", FIELD_TEXT, false, NULL, "Only names that hold this text."},
                                     {"kind", FIELD_CHOICE, false, kinds, "Only MMAs, or only copies."},
                                     {0}};

static void member_layout(struct json *j, const char *key, struct la_layout layout)
{
    if (!layout.shape)
        return;
    json_key(j, key);
    json_text(j, la_print_layout(j->cx, layout, LA_SPELL_CUTE));
}

static void member_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_text(j, text);
}

static void write_mma(struct json *j, const struct la_mma *mma)
{
    static const char *const types[] = {"type_a", "type_b", "type_c", "type_d"};
    json_key(j, "shape_mnk");
    json_tuple(j, mma->shape_mnk);
    for (int i = 0; i < 4; i++)
        if (mma->types[i])
            member_text(j, types[i], la_type_name(mma->types[i]));
    member_layout(j, "a", mma->tv[LA_A]);
    member_layout(j, "b", mma->tv[LA_B]);
    member_layout(j, "c", mma->tv[LA_C]);
    member_layout(j, "e", mma->e);
    member_layout(j, "sfa", mma->sfa);
    member_layout(j, "sfb", mma->sfb);
    json_key(j, "a_by_descriptor");
    json_bool(j, mma->descriptor[LA_A]);
    json_key(j, "b_by_descriptor");
    json_bool(j, mma->descriptor[LA_B]);
}

/* Layouts of bits; with a value type also of values. */
static void write_copy(struct json *j, const struct la_copy *copy)
{
    static const char *const bits[] = {"src_bits", "dst_bits", "ref_bits"};
    static const char *const values[] = {"src", "dst", "ref"};
    for (int i = LA_SRC; i <= LA_REF; i++) {
        member_layout(j, bits[i], copy->bits[i]);
        member_layout(j, values[i], copy->values[i]);
    }
    if (copy->type)
        member_text(j, "type", la_type_name(copy->type));
}

struct atom_request {
    struct request *rq;
    struct json json;
};

static void write_atom(struct la_ctx *cx, void *arg)
{
    struct atom_request *r = arg;
    const struct la_atom *atom = la_atom_named(cx, r->rq->tail);
    struct json *j = &r->json;
    json_open(j, '{');
    member_text(j, "name", atom->name);
    member_text(j, "kind", la_atom_kind_name(atom->kind));
    member_text(j, "arch", atom->arch);
    member_text(j, "doc", atom->doc ? atom->doc : "");
    member_layout(j, "thr_id", atom->thr_id);
    if (atom->kind == LA_ATOM_MMA)
        write_mma(j, &atom->mma);
    else
        write_copy(j, &atom->copy);
    json_close(j, '}');
}

void handle_atom(struct request *rq)
{
    struct atom_request r = {rq, json_new(&rq->cx, 2048)};
    if (la_try(&rq->cx, write_atom, &r))
        respond(rq, 200, "application/json", r.json.data, r.json.len);
    else
        respond_problem(rq, 404, "not_found", "%s", rq->cx.error.message);
}

void handle_atoms(struct request *rq)
{
    const char *like = request_field(rq, "like"), *wanted = request_field(rq, "kind");
    struct json j = json_new(&rq->cx, 64 * 1024);
    int64_t count = 0;
    json_open(&j, '{');
    json_key(&j, "atoms");
    json_open(&j, '[');
    for (size_t i = 0; i < la_atom_count(); i++) {
        const char *name = la_atom_name_at(&rq->cx, i), *kind = la_atom_kind_name(la_atom_kind_at(i));
        if ((like && !strstr(name, like)) || (wanted && strcmp(kind, wanted) != 0))
            continue;
        json_open(&j, '{');
        member_text(&j, "name", name);
        member_text(&j, "kind", kind);
        json_close(&j, '}');
        count++;
    }
    json_close(&j, ']');
    json_key(&j, "count");
    json_int(&j, count);
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

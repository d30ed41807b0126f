/* analysis_legal.c: what wgmma and TMA make of layouts, as JSON; and /copy with a TMA atom.
 *
 *     "wgmma":{"legal":true,"swizzle":"128B","leading_byte_offset":16,"stride_byte_offset":1024,...}
 *     "tma":{"legal":false,"why":"the box has 320 elements along mode 1; 256 is the most",...} */
#include "analysis_side.h"
#include "exchange.h"

#include <string.h>

static void write_swizzle(struct json *j, int32_t bytes)
{
    json_member_text(j, "swizzle", bytes ? la_format(j->cx, "%dB", bytes) : NULL);
}

static void write_step(struct json *j, const char *key, int64_t bytes)
{
    json_key(j, key);
    if (bytes < 0)
        json_null(j);
    else
        json_int(j, bytes);
}

static void write_descriptor(struct json *j, const struct la_wgmma *w)
{
    write_swizzle(j, w->swizzle);
    json_member_int(j, "layout_type", (int64_t)(w->descriptor >> 62));
    json_member_int(j, "leading_byte_offset", w->leading);
    json_member_int(j, "stride_byte_offset", w->stride);
    json_member_int(j, "base_offset", 0);
    json_member_int(j, "alignment", w->alignment);
    json_member_text(j, "descriptor", la_format(j->cx, "0x%016llx", (unsigned long long)w->descriptor));
    json_open_member(j, "instructions", '[');
    json_int(j, w->instructions[0]);
    json_int(j, w->instructions[1]);
    json_close(j, ']');
    write_step(j, "bytes_along_mn", w->instructions[0] > 1 ? w->step[0] : -1);
    write_step(j, "bytes_along_k", w->instructions[1] > 1 ? w->step[1] : -1);
}

void json_wgmma(struct json *j, const struct la_wgmma *w, enum la_major major)
{
    json_open(j, '{');
    json_member_bool(j, "legal", w->legal);
    json_member_text(j, "why", w->why);
    json_member_text(j, "major", major == LA_MAJOR_K ? "K" : "MN");
    json_member_text(j, "canonical", w->canonical);
    json_member_text(j, "in_16_bytes", w->found);
    if (w->legal)
        write_descriptor(j, w);
    json_close(j, '}');
}

/* ---- TMA ----------------------------------------------------------------------------------------------- */

static void write_dims(struct json *j, const struct la_tma *t)
{
    json_open_member(j, "dimensions", '[');
    for (uint32_t i = 0; i < t->rank; i++) {
        json_open(j, '{');
        json_member_int(j, "mode", t->dim[i].mode);
        json_member_int(j, "extent", t->dim[i].extent);
        json_member_int(j, "stride_bytes", t->dim[i].stride);
        json_member_int(j, "box", t->dim[i].box);
        json_member_int(j, "element_stride", t->dim[i].element_stride);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_tma(struct json *j, const struct la_tma *t)
{
    json_open(j, '{');
    json_member_bool(j, "legal", t->legal);
    json_member_text(j, "why", t->why);
    write_dims(j, t);
    write_swizzle(j, t->swizzle);
    json_member_text(j, "interleave", NULL);
    if (t->legal) {
        json_member_int(j, "box_bytes", t->box_bytes);
        json_member_int(j, "instructions", t->instructions);
        json_member_int(j, "alignment", t->alignment);
    }
    json_close(j, '}');
}

bool is_tma(const char *atom)
{
    return atom && strncmp(atom, "SM90_TMA_", strlen("SM90_TMA_")) == 0;
}

/* The tensor map that an atom of TMA needs: SM90_TMA_LOAD... goes from src to smem, SM90_TMA_STORE and _REDUCE from smem to
 * dst. False, and answered, where a memory is missing or none. */
static bool read_map(struct analysis *a, const char *field, uint32_t bits, const struct la_atom **atom,
                     struct la_tma *out)
{
    struct request *rq = a->rq;
    a->field = field;
    *atom = la_atom_named(&rq->cx, request_field(rq, field));
    const char *global = strstr((*atom)->name, "LOAD") ? "src" : "dst";
    const char *tensor_text = field_notation(rq, global), *smem_text = field_notation(rq, "smem");
    struct la_layout tensor, smem;
    if (!tensor_text || !smem_text) {
        respond_field_problem(rq, "missing_field", tensor_text ? "smem" : global, "%s needs '%s' and 'smem'",
                              (*atom)->name, global);
        return false;
    }
    if (!analysis_memory(a, "smem", smem_text, &smem) || !analysis_memory(a, global, tensor_text, &tensor))
        return false;
    a->field = "type";
    *out = la_tma_of(&rq->cx, tensor, smem, bits);
    return true;
}

void answer_tma(struct analysis *a, uint32_t bits)
{
    static const char *const fields[] = {"atom", "dst_atom"}, *const names[] = {"tma", "dst_tma"};
    struct json j = json_new(&a->rq->cx, 1024);
    json_open(&j, '{');
    json_member_int(&j, "element_bits", bits);
    json_member_text(&j, "integers", a->integers == LA_INTEGERS_CUTE ? "cute" : "static");
    for (int i = 0; i < 2; i++) {
        const struct la_atom *atom;
        struct la_tma map;
        if (!is_tma(request_field(a->rq, fields[i])))
            continue;
        if (!read_map(a, fields[i], bits, &atom, &map))
            return;
        json_member_text(&j, fields[i], atom->name);
        json_key(&j, names[i]);
        write_tma(&j, &map);
    }
    json_close(&j, '}');
    respond(a->rq, 200, "application/json", j.data, j.len);
}

/* analysis_json.c: costs, coverage, vectors and facts as JSON.
 *
 *     {"wavefronts":2,"ideal":1,"conflicts":1,"banks":[{"bank":0,"words":[0,32],"lanes":[[0],[1]]}]}
 *
 * What is not known is null, never 0. Lists of instructions are arrays of integers, warp by warp. */
#include "analysis.h"

void json_member_int(struct json *j, const char *key, int64_t value)
{
    json_key(j, key);
    json_int(j, value);
}

void json_member_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    if (text)
        json_text(j, text);
    else
        json_null(j);
}

void json_member_bool(struct json *j, const char *key, bool value)
{
    json_key(j, key);
    json_bool(j, value);
}

void json_open_member(struct json *j, const char *key, char bracket)
{
    json_key(j, key);
    json_open(j, bracket);
}

/* ---- one instruction ----------------------------------------------------------------------------------- */

static void write_lanes(struct json *j, uint32_t lanes)
{
    json_open(j, '[');
    for (int i = 0; i < LA_LANES; i++)
        if (lanes >> i & 1)
            json_int(j, i);
    json_close(j, ']');
}

/* The words that meet in one bank, and for each the lanes that ask for it. */
static void write_clash(struct json *j, const struct la_hit *hits, size_t n)
{
    json_open(j, '{');
    json_member_int(j, "bank", hits->bank);
    json_member_int(j, "phase", hits->phase);
    json_open_member(j, "words", '[');
    for (size_t i = 0; i < n; i++)
        json_int(j, hits[i].word);
    json_close(j, ']');
    json_open_member(j, "lanes", '[');
    for (size_t i = 0; i < n; i++)
        write_lanes(j, hits[i].lanes);
    json_close(j, ']');
    json_close(j, '}');
}

static void write_banks(struct json *j, const struct la_access *a)
{
    struct la_hit hits[LA_ACCESS_HITS];
    const size_t n = la_access_hits(a, hits);
    json_open_member(j, "banks", '[');
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && hits[end].phase == hits[i].phase && hits[end].bank == hits[i].bank;)
            end++;
        if (end - i > 1)
            write_clash(j, hits + i, end - i);
    }
    json_close(j, ']');
}

static void write_cost(struct json *j, const struct la_access *a)
{
    const struct la_cost cost = la_access_cost(a);
    if (a->space == LA_SHARED) {
        json_member_int(j, "phase_lanes", la_access_phase_lanes(a));
        json_member_int(j, "wavefronts", cost.wavefronts);
        json_member_int(j, "ideal", cost.wavefronts_ideal);
        json_member_int(j, "conflicts", cost.wavefronts - cost.wavefronts_ideal);
        json_member_int(j, "ways", cost.ways);
        write_banks(j, a);
    } else {
        json_member_int(j, "sectors", cost.sectors);
        json_member_int(j, "ideal", cost.sectors_ideal);
        json_member_int(j, "lines", cost.lines);
        json_member_int(j, "lines_ideal", cost.lines_ideal);
    }
    json_member_int(j, "requests", cost.requests);
}

void json_access(struct json *j, const struct la_access *a)
{
    json_member_text(j, "space", a->space == LA_SHARED ? "shared" : "global");
    json_member_text(j, "op", la_access_op_name(a->op));
    json_member_int(j, "bytes", a->bytes);
    json_open_member(j, "lanes", '[');
    for (int32_t i = 0; i < a->lanes; i++)
        if (a->active >> i & 1)
            json_int(j, a->at[i]);
        else
            json_null(j);
    json_close(j, ']');
    json_member_int(j, "active", __builtin_popcount(a->active));
    write_cost(j, a);
}

/* ---- traffic ------------------------------------------------------------------------------------------- */

static void json_totals(struct json *j, const struct la_traffic *t, const struct la_totals *totals)
{
    json_member_int(j, "instructions", totals->instructions);
    if (t->space == LA_SHARED) {
        json_member_int(j, "wavefronts", totals->wavefronts);
        json_member_int(j, "ideal", totals->wavefronts_ideal);
        json_member_int(j, "conflicts", totals->wavefronts - totals->wavefronts_ideal);
    } else {
        json_member_int(j, "sectors", totals->sectors);
        json_member_int(j, "ideal", totals->sectors_ideal);
        json_member_int(j, "lines", totals->lines);
        json_member_int(j, "lines_ideal", totals->lines_ideal);
    }
    json_member_int(j, "straddling", totals->straddling);
}

/* One number of every instruction of the tile at the origin, warp by warp. */
static void write_costs(struct json *j, const char *key, const struct la_traffic *t, size_t member)
{
    const size_t n = (size_t)(t->warps * t->steps);
    int64_t *values = la_alloc(j->cx, n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = *(const int32_t *)((const char *)&t->cost[i] + member);
    json_key(j, key);
    json_ints(j, values, n);
}

static void write_instructions(struct json *j, const struct la_traffic *t)
{
    json_open_member(j, "per_instruction", '{');
    json_member_int(j, "warps", t->warps);
    json_member_int(j, "steps", t->steps);
    if (t->space == LA_SHARED) {
        write_costs(j, "wavefronts", t, offsetof(struct la_cost, wavefronts));
        write_costs(j, "ideal", t, offsetof(struct la_cost, wavefronts_ideal));
    } else {
        write_costs(j, "sectors", t, offsetof(struct la_cost, sectors));
        write_costs(j, "ideal", t, offsetof(struct la_cost, sectors_ideal));
        write_costs(j, "lines", t, offsetof(struct la_cost, lines));
    }
    json_close(j, '}');
}

static void write_worst(struct json *j, const struct la_traffic *t)
{
    const struct la_access worst = la_traffic_access(t, t->worst_kind, t->worst_warp, t->worst_step);
    json_open_member(j, "worst", '{');
    json_member_int(j, "warp", t->worst_warp);
    json_member_int(j, "step", t->worst_step);
    json_access(j, &worst);
    json_close(j, '}');
}

void json_traffic(struct json *j, const struct la_traffic *t)
{
    json_member_text(j, "space", t->space == LA_SHARED ? "shared" : "global");
    json_member_text(j, "op", la_access_op_name(t->op));
    json_member_int(j, "bytes", t->bytes);
    json_member_int(j, "tiles", t->reach->tiles);
    json_totals(j, t, &t->all);
    json_open_member(j, "tile", '{');
    json_totals(j, t, &t->tile);
    json_close(j, '}');
    write_instructions(j, t);
    write_worst(j, t);
}

/* ---- vectors ------------------------------------------------------------------------------------------- */

void json_vectors(struct json *j, const struct la_vectors *v, uint32_t bits)
{
    json_open(j, '{');
    json_member_int(j, "elements", v->widest);
    json_member_int(j, "bits", v->widest * bits);
    json_member_text(j, "stopped_by", la_stop_name(v->stop));
    json_key(j, "mode");
    if (v->mode >= 0)
        json_int(j, v->mode);
    else
        json_null(j);
    json_key(j, "stride");
    if (v->mode >= 0)
        json_int(j, v->stride);
    else
        json_null(j);
    json_member_text(j, "why", v->text);
    json_member_bool(j, "static", v->is_static);
    json_close(j, '}');
}

/* ---- coverage ------------------------------------------------------------------------------------------ */

static void write_owner(struct json *j, const struct la_partition *p, int64_t place)
{
    json_open(j, '{');
    json_member_int(j, "thread", place % p->threads);
    json_member_int(j, "value", place / p->threads);
    json_close(j, '}');
}

static void write_doubled(struct json *j, const struct la_partition *p, const int64_t doubled[3])
{
    json_open(j, '{');
    json_key(j, "coord");
    json_tuple(j, la_partition_coord(j->cx, p, doubled[0]));
    json_open_member(j, "by", '[');
    write_owner(j, p, doubled[1]);
    write_owner(j, p, doubled[2]);
    json_close(j, ']');
    json_close(j, '}');
}

void json_coverage(struct json *j, const struct la_partition *p, const struct la_coverage *c)
{
    json_open(j, '{');
    json_member_int(j, "elements", p->elements);
    json_member_bool(j, "each_once", c->missed == 0 && c->doubled == 0 && c->outside == 0);
    json_member_int(j, "missed", c->missed);
    json_member_int(j, "doubled", c->doubled);
    json_member_int(j, "outside", c->outside);
    json_key(j, "owners");
    json_ints(j, (const int64_t[]){c->least, c->most}, 2);
    json_open_member(j, "missed_at", '[');
    for (uint32_t i = 0; i < c->missed_told; i++)
        json_tuple(j, la_partition_coord(j->cx, p, c->missed_at[i]));
    json_close(j, ']');
    json_open_member(j, "doubled_at", '[');
    for (uint32_t i = 0; i < c->doubled_told; i++)
        write_doubled(j, p, c->doubled_at[i]);
    json_close(j, ']');
    json_open_member(j, "outside_by", '[');
    for (uint32_t i = 0; i < c->outside_told; i++)
        write_owner(j, p, c->outside_at[i]);
    json_close(j, ']');
    json_close(j, '}');
}

/* ---- facts --------------------------------------------------------------------------------------------- */

static void write_permutation(struct json *j, const struct la_facts *f)
{
    json_key(j, "permutation");
    if (!f->permutation) {
        json_null(j);
        return;
    }
    json_open(j, '{');
    json_member_int(j, "fixed", f->fixed);
    json_member_int(j, "cycles", f->cycles);
    json_member_int(j, "longest", f->longest);
    json_key(j, "order");
    if (f->order)
        json_int(j, f->order);
    else
        json_null(j);
    json_close(j, '}');
}

/* Bit i of the offset is the xor of the bits of the index that are set in row i. */
static void write_matrix(struct json *j, const struct la_facts *f)
{
    int64_t all = 0;
    json_key(j, "f2");
    if (!f->linear) {
        json_null(j);
        return;
    }
    for (uint32_t k = 0; k < f->bits; k++)
        all |= f->column[k];
    json_open(j, '{');
    json_member_int(j, "rank", f->rank);
    json_open_member(j, "columns", '[');
    for (uint32_t k = 0; k < f->bits; k++)
        json_int(j, f->column[k]);
    json_close(j, ']');
    json_open_member(j, "rows", '[');
    for (uint32_t i = 0; all >> i; i++) {
        int64_t row = 0;
        for (uint32_t k = 0; k < f->bits; k++)
            row |= (f->column[k] >> i & 1) << k;
        json_int(j, row);
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void write_known(struct json *j, const struct la_facts *f)
{
    json_member_int(j, "distinct", f->distinct);
    json_member_int(j, "unused", f->unused);
    json_open_member(j, "gaps", '[');
    for (uint32_t i = 0; i < f->gaps_told; i++)
        json_ints(j, f->gap[i], 2);
    json_close(j, ']');
    json_member_bool(j, "injective", f->injective);
    json_member_bool(j, "bijective", f->injective && f->unused == 0);
    if (f->counted && !f->injective) {
        json_key(j, "same");
        json_ints(j, f->same, 2);
    }
}

void json_facts(struct json *j, struct la_layout layout, const struct la_facts *f)
{
    const struct la_value value = la_value_layout(layout);
    json_open(j, '{');
    json_value(j, &value);
    json_member_int(j, "size", f->size);
    json_member_int(j, "low", f->low);
    json_member_int(j, "high", f->high);
    json_member_bool(j, "counted", f->counted);
    if (f->known)
        write_known(j, f);
    write_permutation(j, f);
    write_matrix(j, f);
    json_close(j, '}');
}

/* ---- swizzles ------------------------------------------------------------------------------------------ */

const char *swizzle_text(struct la_ctx *cx, struct la_swizzle s)
{
    return la_format(cx, "Swizzle<%d,%d,%d>", s.bits, s.base, s.shift);
}

static void write_bits(struct json *j, const char *key, const struct la_swizzle bytes, int32_t from)
{
    json_open_member(j, key, '[');
    for (int32_t i = 0; i < bytes.bits; i++)
        json_int(j, from + i);
    json_close(j, ']');
}

void json_swizzle_units(struct json *j, struct la_swizzle elements, uint32_t bits)
{
    const struct la_swizzle in_bits = la_swizzle_in_units(j->cx, elements, bits, 1);
    const bool has_bytes = in_bits.base >= 3; /* 8 bits; below, bytes are torn */
    const int32_t distance = elements.shift < 0 ? -elements.shift : elements.shift,
                  hardware = la_swizzle_hardware(elements, bits);
    json_open_member(j, "units", '{');
    json_member_text(j, "bits", swizzle_text(j->cx, in_bits));
    json_member_text(j, "bytes",
                     has_bytes ? swizzle_text(j->cx, la_swizzle_in_units(j->cx, elements, bits, 8)) : NULL);
    json_member_text(j, "elements", swizzle_text(j->cx, elements));
    json_close(j, '}');
    json_open_member(j, "address_bits", '{'); /* of a byte's address */
    if (has_bytes) {
        write_bits(j, "flipped", in_bits, in_bits.base - 3 + (elements.shift < 0 ? distance : 0));
        write_bits(j, "by", in_bits, in_bits.base - 3 + (elements.shift < 0 ? 0 : distance));
    }
    json_close(j, '}');
    json_member_text(j, "hardware", hardware ? la_format(j->cx, "%dB", hardware) : NULL);
}

/* copy_spec.c: the fields of a copy's spec: element types, copy atoms, and what the fields ask of each other.
 *
 *   {"kind":"copy", "type":"half_t", "atom":"UniversalCopy<uint128_t>", "thr":"(32,8):(8,1)",
 *    "val":"(1,8):(0,1)", "src":"(4096,4096):(4096,1)", "dst":"(4096,4096):(4096,1)"}
 *
 * One row a field; spec.c reads them. What the texts mean is plan.c's business. */
#include "spec.h"

#include <string.h>

/* CuTe's element types of 4 bits and of whole bytes. */
static const struct gpu_type types[] = {
    {"int8_t", 8},          {"uint8_t", 8},      {"char", 8},
    {"float_e4m3_t", 8},    {"float_e5m2_t", 8}, {"float_ue4m3_t", 8},
    {"float_ue8m0_t", 8},   {"int16_t", 16},     {"uint16_t", 16},
    {"half_t", 16},         {"bfloat16_t", 16},  {"int32_t", 32},
    {"uint32_t", 32},       {"int", 32},         {"unsigned", 32},
    {"float", 32},          {"tfloat32_t", 32},  {"complex<half_t>", 32},
    {"int64_t", 64},        {"uint64_t", 64},    {"double", 64},
    {"complex<float>", 64}, {"uint128_t", 128},  {"complex<double>", 128},
    {"float_e2m1_t", 4},    {"int4_t", 4},       {"uint4_t", 4},
    {"int4b_t", 4},         {"uint4b_t", 4},
};
enum { TYPES = sizeof types / sizeof types[0] };

static const char *const caches[] = {"auto", "default", "streaming", "no_allocate", NULL};
static const char auto_atom[] = "AutoVectorizingCopy";
static const char *const atoms[] = {auto_atom,
                                    "UniversalCopy<uint8_t>",
                                    "UniversalCopy<uint16_t>",
                                    "UniversalCopy<uint32_t>",
                                    "UniversalCopy<uint64_t>",
                                    "UniversalCopy<uint128_t>",
                                    "SM80_CP_ASYNC_CACHEALWAYS<uint32_t>",
                                    "SM80_CP_ASYNC_CACHEALWAYS<uint64_t>",
                                    "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>",
                                    "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>",
                                    "SM90_TMA_LOAD",
                                    "SM90_TMA_STORE",
                                    NULL};
/* How a warp moves matrices between shared memory and its registers; the first is each thread for itself. */
static const char *const matrix_loads[] = {
    auto_atom,           "SM75_U32x1_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U32x4_LDSM_N",
    "SM75_U16x2_LDSM_T", "SM75_U16x4_LDSM_T", "SM75_U16x8_LDSM_T", NULL};
static const char *const matrix_stores[] = {
    auto_atom,           "SM90_U32x1_STSM_N", "SM90_U32x2_STSM_N", "SM90_U32x4_STSM_N",
    "SM90_U16x2_STSM_T", "SM90_U16x4_STSM_T", "SM90_U16x8_STSM_T", NULL};

enum {
    MAX_UNROLL =
        64 /* tiles in flight: more than GPU_MAX_HELD bytes of the narrowest access is refused anyway */
};

const char *gpu_cache_name(enum gpu_cache cache)
{
    return caches[cache];
}

static const struct gpu_type *type_find(const char *name)
{
    for (size_t i = 0; i < TYPES; i++)
        if (!strcmp(name, types[i].name))
            return &types[i];
    return NULL;
}

static bool unknown_type(const struct gpu_reading *r, const char *name)
{
    const char *names[TYPES], *known = "";
    for (size_t i = 0; i < TYPES; i++) {
        names[i] = types[i].name;
        known = la_format(r->cx, "%s %s", known, names[i]);
    }
    return gpu_refuse(r->cx, LA_E_unknown_name, "%s: unknown type '%.60s'%s; known:%s", r->field->name, name,
                      gpu_did_you_mean(r->cx, name, names, TYPES), known);
}

static bool read_type(const struct gpu_reading *r, void *member)
{
    const char *name = NULL;
    if (!gpu_read_text(r, &name))
        return false;
    const struct gpu_type *type = type_find(name);
    *(const struct gpu_type **)member = type;
    return type || unknown_type(r, name);
}

/* Copy operations without a type. */
static const struct gpu_atom plain_atoms[] = {{.name = auto_atom},
                                              {.name = "SM90_TMA_LOAD", .op = GPU_TMA_LOAD},
                                              {.name = "SM90_TMA_STORE", .op = GPU_TMA_STORE}};
enum { PLAIN_ATOMS = sizeof plain_atoms / sizeof plain_atoms[0] };

/* Those with one and how they are spelled: the name, and the widths that it has. */
static const struct {
    const char *prefix;
    enum gpu_op op;
    unsigned least, most; /* bits */
} operations[] = {{"UniversalCopy<", GPU_UNIVERSAL, 8, 128},
                  {"SM80_CP_ASYNC_CACHEALWAYS<", GPU_CP_ASYNC_ALWAYS, 32, 128},
                  {"SM80_CP_ASYNC_CACHEGLOBAL<", GPU_CP_ASYNC_GLOBAL, 128, 128}};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* UniversalCopy<T>: moves as many bits as T has. AutoVectorizingCopy: plan.c finds out how many. */
static bool read_atom(const struct gpu_reading *r, void *member)
{
    const char *text = NULL;
    size_t i = 0;
    if (!gpu_read_text(r, &text))
        return false;
    for (size_t k = 0; k < PLAIN_ATOMS; k++)
        if (!strcmp(text, plain_atoms[k].name)) {
            *(struct gpu_atom *)member = plain_atoms[k];
            return true;
        }
    while (i < OPERATIONS && strncmp(text, operations[i].prefix, strlen(operations[i].prefix)) != 0)
        i++;
    const size_t len = strlen(text), head = i < OPERATIONS ? strlen(operations[i].prefix) : 0;
    if (i == OPERATIONS || len <= head + 1 || text[len - 1] != '>')
        return gpu_refuse(
            r->cx, LA_E_unknown_name,
            "unknown copy atom '%.60s'%s; known: AutoVectorizingCopy, SM90_TMA_LOAD, SM90_TMA_STORE, "
            "UniversalCopy<T>, SM80_CP_ASYNC_CACHEALWAYS<T> and SM80_CP_ASYNC_CACHEGLOBAL<T>, with T "
            "one of uint8_t uint16_t uint32_t uint64_t uint128_t or an element type",
            text, gpu_did_you_mean(r->cx, text, atoms, gpu_count_words(atoms)));
    const char *inner = la_format(r->cx, "%.*s", (int)(len - head - 1), text + head);
    const struct gpu_type *type = type_find(inner);
    if (!type)
        return unknown_type(r, inner);
    if (type->bits < operations[i].least || type->bits > operations[i].most)
        return gpu_refuse(r->cx, LA_E_domain, "%.60s moves %u bits; it can move %u to %u", text, type->bits,
                          operations[i].least, operations[i].most);
    *(struct gpu_atom *)member = (struct gpu_atom){text, type->bits, operations[i].op};
    return true;
}

/* One of the row's words; the first, and null, are none. */
static bool read_matrix(const struct gpu_reading *r, void *member)
{
    unsigned i = 0;
    if (!cJSON_IsNull(r->item) && !gpu_read_word(r, &i))
        return false;
    *(const char **)member = i ? r->field->words[i] : NULL;
    return true;
}

#define AT(member) offsetof(struct gpu_spec, member)
static const struct gpu_field fields[] = {
    {.name = "type", .read = read_type, .member = AT(type), .required = true},
    {.name = "atom", .read = read_atom, .member = AT(atom)},
    {.name = "thr", .read = gpu_read_text, .member = AT(thr), .required = true},
    {.name = "val", .read = gpu_read_text, .member = AT(val), .required = true},
    {.name = "src", .read = gpu_read_text, .member = AT(src), .required = true},
    {.name = "dst", .read = gpu_read_text, .member = AT(dst), .required = true},
    {.name = "smem", .read = gpu_read_text_or_null, .member = AT(smem)},
    {.name = "smem_store", .read = read_matrix, .member = AT(smem_store), .words = matrix_stores},
    {.name = "smem_load", .read = read_matrix, .member = AT(smem_load), .words = matrix_loads},
    {.name = "dst_atom", .read = read_atom, .member = AT(dst_atom)},
    {.name = "dst_thr", .read = gpu_read_text, .member = AT(dst_thr)},
    {.name = "dst_val", .read = gpu_read_text, .member = AT(dst_val)},
    {.name = "grid", .read = gpu_read_integer, .member = AT(grid), .max = GPU_MAX_GRID},
    {.name = "unroll", .read = gpu_read_integer, .member = AT(unroll), .max = MAX_UNROLL},
    {.name = "stages", .read = gpu_read_integer, .member = AT(stages), .max = GPU_MAX_STAGES},
    {.name = "cache", .read = gpu_read_word, .member = AT(cache), .words = caches},
};

/* Whether the values go through registers between global and shared memory. */
static bool passes_registers(const struct gpu_atom *atom)
{
    return atom->op == GPU_UNIVERSAL;
}

/* What needs shared memory, and which atoms go which way. */
static bool check_atoms(struct la_ctx *cx, const cJSON *json, const struct gpu_spec *s, const char **field)
{
    static const char *const seconds[] = {"dst_atom", "dst_thr", "dst_val", "smem_store", "smem_load"};
    for (size_t i = 0; !s->smem && i < sizeof seconds / sizeof seconds[0]; i++)
        if (cJSON_GetObjectItemCaseSensitive(json, *field = seconds[i]))
            return gpu_refuse(cx, LA_E_arity,
                              "'%s' needs 'smem': without shared memory a thread stores what it loaded",
                              *field);
    *field = "atom";
    if (s->atom.op == GPU_TMA_STORE)
        return gpu_refuse(cx, LA_E_kind, "%s copies out of shared memory: it is a 'dst_atom'", s->atom.name);
    if (!passes_registers(&s->atom) && !s->smem)
        return gpu_refuse(cx, LA_E_arity, "%s needs 'smem': it copies into shared memory", s->atom.name);
    *field = "dst_atom";
    if (!passes_registers(&s->dst_atom) && s->dst_atom.op != GPU_TMA_STORE)
        return gpu_refuse(cx, LA_E_kind, "%s copies into shared memory, not out of it", s->dst_atom.name);
    *field = "smem_store";
    if (s->smem_store && !passes_registers(&s->atom))
        return gpu_refuse(cx, LA_E_kind, "%s stores registers, but %s fills shared memory past them",
                          s->smem_store, s->atom.name);
    *field = "smem_load";
    if (s->smem_load && !passes_registers(&s->dst_atom))
        return gpu_refuse(cx, LA_E_kind, "%s loads registers, but %s empties shared memory past them",
                          s->smem_load, s->dst_atom.name);
    return true;
}

/* What fields ask of each other. The way to dst has a partition of its own only from shared memory, and then it is that of
 * the way from src unless told. */
static bool check_together(struct la_ctx *cx, const cJSON *json, struct gpu_spec *s, const char **field)
{
    s->atom.name = s->atom.name ? s->atom.name : auto_atom;
    s->dst_atom.name = s->dst_atom.name ? s->dst_atom.name : auto_atom;
    if (!check_atoms(cx, json, s, field))
        return false;
    const bool both = passes_registers(&s->atom) && !s->smem_load && !s->smem_store;
    *field = "stages";
    if (s->stages && passes_registers(&s->atom))
        return gpu_refuse(cx, LA_E_arity,
                          "'stages' needs cp.async or TMA: %s holds its tiles in registers, see 'unroll'",
                          s->atom.name);
    *field = "cache";
    if (s->cache > GPU_CACHE_DEFAULT && s->atom.op == GPU_TMA_LOAD && s->dst_atom.op == GPU_TMA_STORE)
        return gpu_refuse(cx, LA_E_kind, "'%s' is a hint of loads and stores, and TMA makes none",
                          gpu_cache_name(s->cache));
    if (both && !cJSON_GetObjectItemCaseSensitive(json, "dst_atom") && !s->dst_thr && !s->dst_val)
        s->dst_atom = s->atom;
    s->dst_thr = s->dst_thr ? s->dst_thr : s->thr;
    s->dst_val = s->dst_val ? s->dst_val : s->val;
    return true;
}

const struct gpu_fields gpu_copy_fields = {"a copy", fields, sizeof fields / sizeof fields[0],
                                           check_together};

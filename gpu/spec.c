/* spec.c: the fields of a job's spec, read strictly: an unknown name, a repeated one or a wrong kind is
 * refused.
 *
 *   {"kind":"copy", "type":"half_t", "atom":"UniversalCopy<uint128_t>", "thr":"(32,8):(8,1)",
 *    "val":"(1,8):(0,1)", "src":"(4096,4096):(4096,1)", "dst":"(4096,4096):(4096,1)"}
 *
 * One row a field. What the texts mean is plan.c's business. */
#include "internal.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* CuTe's element types. Sub-byte types need accesses that never split a byte: not here yet. */
static const struct gpu_type types[] = {
    {"int8_t", 8},          {"uint8_t", 8},      {"char", 8},
    {"float_e4m3_t", 8},    {"float_e5m2_t", 8}, {"float_ue4m3_t", 8},
    {"float_ue8m0_t", 8},   {"int16_t", 16},     {"uint16_t", 16},
    {"half_t", 16},         {"bfloat16_t", 16},  {"int32_t", 32},
    {"uint32_t", 32},       {"int", 32},         {"unsigned", 32},
    {"float", 32},          {"tfloat32_t", 32},  {"complex<half_t>", 32},
    {"int64_t", 64},        {"uint64_t", 64},    {"double", 64},
    {"complex<float>", 64}, {"uint128_t", 128},  {"complex<double>", 128},
};
enum { TYPES = sizeof types / sizeof types[0] };

/* Words in the order of their enums, ended by NULL. */
static const char *const kinds[] = {"copy", NULL};
static const char *const plants[] = {"none",     "illegal_address", "trap", "hang",
                                     "segfault", "wrong_value",     NULL};
static const char *const wheres[] = {"any", "cpu", "gpu", NULL};
static const char *const caches[] = {"auto", "default", "streaming", "no_allocate", NULL};
static const char *const integer_modes[] = {"auto", "cute", "static", NULL};
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
                                    NULL};
_Static_assert(LA_INTEGERS_AUTO == 0 && LA_INTEGERS_CUTE == 1 && LA_INTEGERS_STATIC == 2, "integer_modes");

enum {
    MAX_WORD = 64, /* bytes of a word that nearest names are looked for */
    MAX_UNROLL =
        64 /* tiles in flight: more than GPU_MAX_HELD bytes of the narrowest access is refused anyway */
};

const char *gpu_plant_name(enum gpu_plant plant)
{
    return plants[plant];
}

const char *gpu_cache_name(enum gpu_cache cache)
{
    return caches[cache];
}

const char *gpu_where_name(enum gpu_where where)
{
    return wheres[where];
}

bool gpu_refuse(struct la_ctx *cx, enum la_error_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cx->error = (struct la_error){.code = code};
    vsnprintf(cx->error.message, sizeof cx->error.message, format, args);
    va_end(args);
    return false;
}

/* Levenshtein's distance: insertions, deletions and substitutions that turn a into b. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_WORD + 1];
    const size_t la = strnlen(a, MAX_WORD), lb = strnlen(b, MAX_WORD);
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            const size_t keep = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            const size_t step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = keep < step ? keep : step;
        }
    }
    return row[lb];
}

const char *gpu_nearest(const char *word, const char *const *words, size_t count)
{
    const char *best = NULL;
    /* More than a third of the letters wrong is no misspelling any more. */
    size_t least = strnlen(word, MAX_WORD) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        const size_t d = distance(word, words[i]);
        if (d < least) {
            least = d;
            best = words[i];
        }
    }
    return best;
}

/* " (did you mean 'thr'?)", or nothing. */
static const char *did_you_mean(struct la_ctx *cx, const char *word, const char *const *words, size_t count)
{
    const char *near = gpu_nearest(word, words, count);
    return near ? la_format(cx, " (did you mean '%s'?)", near) : "";
}

/* ---- readers: each fills the member of struct gpu_spec that its row names ---- */

struct field;

struct reading {
    struct la_ctx *cx;
    const struct field *field;
    const cJSON *item;
};

/* One row a field: the one place that a spec's names are known from. */
struct field {
    const char *name;
    bool (*read)(const struct reading *r, void *member);
    size_t member;            /* offset in struct gpu_spec */
    const char *const *words; /* of read_word: one a value of the member's enum */
    double max;               /* of read_integer, counted from 1 */
    bool required;
};

static bool read_text(const struct reading *r, void *member)
{
    if (!cJSON_IsString(r->item) || !r->item->valuestring[0])
        return gpu_refuse(r->cx, LA_E_kind, "'%s' takes a text that is not empty", r->field->name);
    *(const char **)member = r->item->valuestring;
    return true;
}

static size_t count_words(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
}

/* A text among the row's words; the member is an enum with their indices as values. */
static bool read_word(const struct reading *r, void *member)
{
    const char *text = NULL;
    if (!read_text(r, &text))
        return false;
    const char *const *words = r->field->words, *known = "";
    for (unsigned i = 0; words[i]; i++) {
        if (!strcmp(text, words[i])) {
            *(unsigned *)member = i;
            return true;
        }
        known = la_format(r->cx, "%s %s", known, words[i]);
    }
    return gpu_refuse(r->cx, LA_E_unknown_name, "'%.60s' is no '%s'%s; known:%s", text, r->field->name,
                      did_you_mean(r->cx, text, words, count_words(words)), known);
}

static bool read_integer(const struct reading *r, void *member)
{
    const double x = cJSON_IsNumber(r->item) ? r->item->valuedouble : NAN;
    if (!(x >= 1 && x <= r->field->max) || floor(x) != x)
        return gpu_refuse(r->cx, LA_E_domain, "'%s' takes an integer from 1 to %.0f", r->field->name,
                          r->field->max);
    *(int64_t *)member = (int64_t)x;
    return true;
}

static const struct gpu_type *type_find(const char *name)
{
    for (size_t i = 0; i < TYPES; i++)
        if (!strcmp(name, types[i].name))
            return &types[i];
    return NULL;
}

static bool unknown_type(const struct reading *r, const char *name)
{
    const char *names[TYPES], *known = "";
    for (size_t i = 0; i < TYPES; i++) {
        names[i] = types[i].name;
        known = la_format(r->cx, "%s %s", known, names[i]);
    }
    return gpu_refuse(r->cx, LA_E_unknown_name, "%s: unknown type '%.60s'%s; known:%s", r->field->name, name,
                      did_you_mean(r->cx, name, names, TYPES), known);
}

static bool read_type(const struct reading *r, void *member)
{
    const char *name = NULL;
    if (!read_text(r, &name))
        return false;
    const struct gpu_type *type = type_find(name);
    *(const struct gpu_type **)member = type;
    return type || unknown_type(r, name);
}

/* Copy operations and how they are spelled: the name of one, and the widths that it has. */
static const struct {
    const char *prefix;
    enum gpu_op op;
    unsigned least, most; /* bits */
} operations[] = {{"UniversalCopy<", GPU_UNIVERSAL, 8, 128},
                  {"SM80_CP_ASYNC_CACHEALWAYS<", GPU_CP_ASYNC_ALWAYS, 32, 128},
                  {"SM80_CP_ASYNC_CACHEGLOBAL<", GPU_CP_ASYNC_GLOBAL, 128, 128}};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* UniversalCopy<T>: moves as many bits as T has. AutoVectorizingCopy: plan.c finds out how many. */
static bool read_atom(const struct reading *r, void *member)
{
    const char *text = NULL;
    size_t i = 0;
    if (!read_text(r, &text))
        return false;
    if (!strcmp(text, auto_atom)) {
        *(struct gpu_atom *)member = (struct gpu_atom){.name = auto_atom};
        return true;
    }
    while (i < OPERATIONS && strncmp(text, operations[i].prefix, strlen(operations[i].prefix)) != 0)
        i++;
    const size_t len = strlen(text), head = i < OPERATIONS ? strlen(operations[i].prefix) : 0;
    if (i == OPERATIONS || len <= head + 1 || text[len - 1] != '>')
        return gpu_refuse(r->cx, LA_E_unknown_name,
                          "unknown copy atom '%.60s'%s; known: AutoVectorizingCopy, UniversalCopy<T>, "
                          "SM80_CP_ASYNC_CACHEALWAYS<T> and SM80_CP_ASYNC_CACHEGLOBAL<T>, with T one of "
                          "uint8_t uint16_t uint32_t "
                          "uint64_t uint128_t or an element type",
                          text, did_you_mean(r->cx, text, atoms, count_words(atoms)));
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

/* A text, or null for none. */
static bool read_text_or_null(const struct reading *r, void *member)
{
    return cJSON_IsNull(r->item) || read_text(r, member);
}

static bool read_truth(const struct reading *r, void *member)
{
    *(bool *)member = cJSON_IsTrue(r->item);
    return cJSON_IsBool(r->item) || gpu_refuse(r->cx, LA_E_kind, "'%s' takes true or false", r->field->name);
}

#define AT(member) offsetof(struct gpu_spec, member)
static const struct field fields[] = {
    {.name = "kind", .read = read_word, .member = AT(kind), .words = kinds, .required = true},
    {.name = "type", .read = read_type, .member = AT(type), .required = true},
    {.name = "atom", .read = read_atom, .member = AT(atom)},
    {.name = "thr", .read = read_text, .member = AT(thr), .required = true},
    {.name = "val", .read = read_text, .member = AT(val), .required = true},
    {.name = "src", .read = read_text, .member = AT(src), .required = true},
    {.name = "dst", .read = read_text, .member = AT(dst), .required = true},
    {.name = "smem", .read = read_text_or_null, .member = AT(smem)},
    {.name = "dst_atom", .read = read_atom, .member = AT(dst_atom)},
    {.name = "dst_thr", .read = read_text, .member = AT(dst_thr)},
    {.name = "dst_val", .read = read_text, .member = AT(dst_val)},
    {.name = "executor", .read = read_word, .member = AT(where), .words = wheres},
    {.name = "integers", .read = read_word, .member = AT(integers), .words = integer_modes},
    {.name = "grid", .read = read_integer, .member = AT(grid), .max = GPU_MAX_GRID},
    {.name = "unroll", .read = read_integer, .member = AT(unroll), .max = MAX_UNROLL},
    {.name = "stages", .read = read_integer, .member = AT(stages), .max = GPU_MAX_STAGES},
    {.name = "cache", .read = read_word, .member = AT(cache), .words = caches},
    {.name = "seed", .read = read_integer, .member = AT(seed), .max = 999999999999999},
    {.name = "plant", .read = read_word, .member = AT(plant), .words = plants},
    {.name = "counters", .read = read_truth, .member = AT(counters)},
    {.name = "fresh", .read = read_truth, .member = AT(fresh)},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };
_Static_assert(FIELDS <= 32, "check_names keeps one bit a field");

static bool unknown_field(struct la_ctx *cx, const char *name)
{
    const char *names[FIELDS];
    for (size_t i = 0; i < FIELDS; i++)
        names[i] = fields[i].name;
    return gpu_refuse(cx, LA_E_unknown_name, "a copy has no field '%.60s'%s", name,
                      did_you_mean(cx, name, names, FIELDS));
}

/* Refuses fields that no row knows, and repeated ones: cJSON keeps both. */
static bool check_names(struct la_ctx *cx, const cJSON *json, const char **field)
{
    unsigned seen = 0;
    for (const cJSON *item = json->child; item; item = item->next) {
        size_t i = 0;
        *field = item->string;
        while (i < FIELDS && strcmp(item->string, fields[i].name) != 0)
            i++;
        if (i == FIELDS)
            return unknown_field(cx, item->string);
        if (seen & 1u << i)
            return gpu_refuse(cx, LA_E_kind, "the field '%s' is given twice", item->string);
        seen |= 1u << i;
    }
    return true;
}

struct body {
    const cJSON *json;
    struct gpu_spec *out;
    const char **field;
    bool ok;
};

/* In a la_try, since messages are built in the arena, which may be full. */
static void read_fields(struct la_ctx *cx, void *arg)
{
    struct body *b = arg;
    b->ok = check_names(cx, b->json, b->field);
    for (size_t i = 0; b->ok && i < FIELDS; i++) {
        const struct field *f = &fields[i];
        const struct reading r = {cx, f, cJSON_GetObjectItemCaseSensitive(b->json, f->name)};
        *b->field = f->name;
        if (r.item)
            b->ok = f->read(&r, (char *)b->out + f->member);
        else if (f->required)
            b->ok = gpu_refuse(cx, LA_E_arity, "a copy needs the field '%s'", f->name);
    }
}

/* What fields ask of each other. The way to dst has a partition of its own only from shared memory, and then it is that of the way from src unless
 * told. */
static bool check_together(struct la_ctx *cx, const cJSON *json, struct gpu_spec *s, const char **field)
{
    static const char *const seconds[] = {"dst_atom", "dst_thr", "dst_val"};
    for (size_t i = 0; !s->smem && i < sizeof seconds / sizeof seconds[0]; i++)
        if (cJSON_GetObjectItemCaseSensitive(json, *field = seconds[i]))
            return gpu_refuse(cx, LA_E_arity,
                              "'%s' needs 'smem': without shared memory a thread stores what it loaded",
                              *field);
    const bool async = s->atom.op != GPU_UNIVERSAL;
    *field = "atom";
    if (async && !s->smem)
        return gpu_refuse(cx, LA_E_arity, "%s needs 'smem': it copies into shared memory", s->atom.name);
    *field = "dst_atom";
    if (s->dst_atom.op != GPU_UNIVERSAL)
        return gpu_refuse(cx, LA_E_kind, "%s copies into shared memory, not out of it", s->dst_atom.name);
    *field = "stages";
    if (s->stages && !async)
        return gpu_refuse(cx, LA_E_arity,
                          "'stages' needs cp.async: %s holds its tiles in registers, see 'unroll'",
                          s->atom.name);
    if (!cJSON_GetObjectItemCaseSensitive(json, "dst_atom") && !s->dst_thr && !s->dst_val && !async)
        s->dst_atom = s->atom;
    s->dst_thr = s->dst_thr ? s->dst_thr : s->thr;
    s->dst_val = s->dst_val ? s->dst_val : s->val;
    return true;
}

bool gpu_spec_read(struct la_ctx *cx, const cJSON *json, struct gpu_spec *out, const char **field)
{
    *field = NULL;
    if (!cJSON_IsObject(json))
        return gpu_refuse(cx, LA_E_kind, "a spec is a JSON object");
    *out = (struct gpu_spec){
        .integers = LA_INTEGERS_STATIC, .atom = {.name = auto_atom}, .dst_atom = {.name = auto_atom}};
    struct body b = {json, out, field, false};
    return la_try(cx, read_fields, &b) && b.ok && check_together(cx, json, out, field);
}

/* spec.c: the fields of a job's spec, read strictly: an unknown name, a repeated one or a wrong kind is
 * refused.
 *
 *   {"kind":"copy", ..., "executor":"gpu", "seed":17}
 *
 * The kind comes first: it says which fields there are besides those that all have. Their rows stand in copy_spec.c
 * and mma_spec.c. */
#include "spec.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Words in the order of their enums, ended by NULL. */
static const char *const kinds[] = {"copy", "mma", NULL};
static const char *const plants[] = {"none",     "illegal_address", "trap", "hang",
                                     "segfault", "wrong_value",     NULL};
static const char *const wheres[] = {"any", "cpu", "gpu", NULL};
static const char *const integer_modes[] = {"auto", "cute", "static", NULL};
_Static_assert(LA_INTEGERS_AUTO == 0 && LA_INTEGERS_CUTE == 1 && LA_INTEGERS_STATIC == 2, "integer_modes");

enum { MAX_WORD = 64 }; /* bytes of a word that nearest names are looked for */

const char *gpu_plant_name(enum gpu_plant plant)
{
    return plants[plant];
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

/* The word of a list that is nearest to a wrong one, or NULL when none is near. */
static const char *nearest(const char *word, const char *const *words, size_t count)
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

const char *gpu_did_you_mean(struct la_ctx *cx, const char *word, const char *const *words, size_t count)
{
    const char *near = nearest(word, words, count);
    return near ? la_format(cx, " (did you mean '%s'?)", near) : "";
}

const char *gpu_given(struct la_ctx *cx, const cJSON *item)
{
    if (cJSON_IsNumber(item))
        return la_format(cx, "%.15g", item->valuedouble);
    if (cJSON_IsString(item))
        return la_format(cx, "'%.60s'", item->valuestring);
    return cJSON_IsNull(item)    ? "null"
           : cJSON_IsTrue(item)  ? "true"
           : cJSON_IsFalse(item) ? "false"
           : cJSON_IsArray(item) ? "an array"
                                 : "an object";
}

/* ---- readers: each fills the member of struct gpu_spec that its row names ---- */

bool gpu_read_text(const struct gpu_reading *r, void *member)
{
    if (!cJSON_IsString(r->item) || !r->item->valuestring[0])
        return gpu_refuse(r->cx, LA_E_kind, "'%s' takes a text that is not empty, not %s", r->field->name,
                          gpu_given(r->cx, r->item));
    *(const char **)member = r->item->valuestring;
    return true;
}

size_t gpu_count_words(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
}

/* A text among the row's words; the member is an enum with their indices as values. */
bool gpu_read_word(const struct gpu_reading *r, void *member)
{
    const char *text = NULL;
    if (!gpu_read_text(r, &text))
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
                      gpu_did_you_mean(r->cx, text, words, gpu_count_words(words)), known);
}

bool gpu_read_integer(const struct gpu_reading *r, void *member)
{
    const double x = cJSON_IsNumber(r->item) ? r->item->valuedouble : NAN;
    if (!(x >= 1 && x <= r->field->max) || floor(x) != x)
        return gpu_refuse(r->cx, LA_E_domain, "'%s' takes an integer from 1 to %.0f, not %s", r->field->name,
                          r->field->max, gpu_given(r->cx, r->item));
    *(int64_t *)member = (int64_t)x;
    return true;
}

/* A text, or null for none. */
bool gpu_read_text_or_null(const struct gpu_reading *r, void *member)
{
    return cJSON_IsNull(r->item) || gpu_read_text(r, member);
}

static bool read_truth(const struct gpu_reading *r, void *member)
{
    *(bool *)member = cJSON_IsTrue(r->item);
    return cJSON_IsBool(r->item) || gpu_refuse(r->cx, LA_E_kind, "'%s' takes true or false, not %s",
                                               r->field->name, gpu_given(r->cx, r->item));
}

#define AT(member) offsetof(struct gpu_spec, member)
/* The fields of every kind. */
static const struct gpu_field fields[] = {
    {.name = "kind", .read = gpu_read_word, .member = AT(kind), .words = kinds, .required = true},
    {.name = "executor", .read = gpu_read_word, .member = AT(where), .words = wheres},
    {.name = "integers", .read = gpu_read_word, .member = AT(integers), .words = integer_modes},
    {.name = "seed", .read = gpu_read_integer, .member = AT(seed), .max = 999999999999999},
    {.name = "plant", .read = gpu_read_word, .member = AT(plant), .words = plants},
    {.name = "counters", .read = read_truth, .member = AT(counters)},
    {.name = "fresh", .read = read_truth, .member = AT(fresh)},
};
enum { FIELDS = sizeof fields / sizeof fields[0], MAX_FIELDS = 64 };

struct body {
    const cJSON *json;
    struct gpu_spec *out;
    const char **field;
    const struct gpu_fields *own; /* of the kind */
    bool ok;
};

/* Row i: those of every kind, then the kind's own. */
static const struct gpu_field *field_at(const struct body *b, size_t i)
{
    return i < FIELDS ? &fields[i] : i - FIELDS < b->own->count ? &b->own->rows[i - FIELDS] : NULL;
}

static bool unknown_field(struct la_ctx *cx, const struct body *b, const char *name)
{
    const char *names[MAX_FIELDS];
    size_t n = 0;
    for (const struct gpu_field *f; (f = field_at(b, n)); n++)
        names[n] = f->name;
    return gpu_refuse(cx, LA_E_unknown_name, "%s has no field '%.60s'%s", b->own->what, name,
                      gpu_did_you_mean(cx, name, names, n));
}

/* Refuses fields that no row knows, and repeated ones: cJSON keeps both. */
static bool check_names(struct la_ctx *cx, const struct body *b)
{
    uint64_t seen = 0;
    for (const cJSON *item = b->json->child; item; item = item->next) {
        const struct gpu_field *f;
        size_t i = 0;
        *b->field = item->string;
        while ((f = field_at(b, i)) && strcmp(item->string, f->name) != 0)
            i++;
        if (!f)
            return unknown_field(cx, b, item->string);
        if (seen & UINT64_C(1) << i)
            return gpu_refuse(cx, LA_E_kind, "the field '%s' is given twice", item->string);
        seen |= UINT64_C(1) << i;
    }
    return true;
}

static bool read_field(struct la_ctx *cx, const struct body *b, const struct gpu_field *f)
{
    const struct gpu_reading r = {cx, f, cJSON_GetObjectItemCaseSensitive(b->json, f->name)};
    *b->field = f->name;
    if (r.item)
        return f->read(&r, (char *)b->out + f->member);
    return !f->required || gpu_refuse(cx, LA_E_arity, "%s needs the field '%s'", b->own->what, f->name);
}

/* In a la_try, since messages are built in the arena, which may be full. The kind comes first: it says which other
 * fields there are. */
static void read_fields(struct la_ctx *cx, void *arg)
{
    static const struct gpu_fields *const of_kind[] = {&gpu_copy_fields, &gpu_mma_fields};
    static const struct gpu_fields of_any = {.what = "a job"};
    struct body *b = arg;
    b->own = &of_any;
    b->ok = read_field(cx, b, &fields[0]);
    if (!b->ok)
        return;
    b->own = of_kind[b->out->kind];
    if (b->out->kind == GPU_MMA && cJSON_GetObjectItemCaseSensitive(b->json, "problem")) {
        b->own = &gpu_gemm_fields;
        b->out->kind = GPU_GEMM;
    }
    b->ok = check_names(cx, b);
    const struct gpu_field *f;
    for (size_t i = 1; b->ok && (f = field_at(b, i)); i++)
        b->ok = read_field(cx, b, f);
    b->ok = b->ok && (!b->own->together || b->own->together(cx, b->json, b->out, b->field));
}

bool gpu_spec_read(struct la_ctx *cx, const cJSON *json, struct gpu_spec *out, const char **field)
{
    *field = NULL;
    if (!cJSON_IsObject(json))
        return gpu_refuse(cx, LA_E_kind, "a spec is a JSON object");
    *out = (struct gpu_spec){.integers = LA_INTEGERS_STATIC};
    struct body b = {json, out, field, NULL, false};
    return la_try(cx, read_fields, &b) && b.ok;
}

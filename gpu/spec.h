/* spec.h: what the tables of fields share: a row a field, and the readers that rows name. */
#ifndef GPU_SPEC_H
#define GPU_SPEC_H

#include "internal.h"

#include <stddef.h>

struct gpu_field;

struct gpu_reading {
    struct la_ctx *cx;
    const struct gpu_field *field;
    const cJSON *item;
};

/* One row a field: the one place that its name is known from. */
struct gpu_field {
    const char *name;
    bool (*read)(const struct gpu_reading *r, void *member);
    size_t member;            /* offset in struct gpu_spec */
    const char *const *words; /* of gpu_read_word: one a value of the member's enum */
    double max;               /* of gpu_read_integer, counted from 1 */
    bool required;
};

/* The fields of one kind besides those that all have, and what they ask of each other, if anything. */
struct gpu_fields {
    const char *what; /* "a copy" */
    const struct gpu_field *rows;
    size_t count;
    bool (*together)(struct la_ctx *cx, const cJSON *json, struct gpu_spec *spec, const char **field);
};
extern const struct gpu_fields gpu_copy_fields, gpu_mma_fields, gpu_gemm_fields;

/* Readers: each fills the member that its row names. */
bool gpu_read_text(const struct gpu_reading *r, void *member);
bool gpu_read_text_or_null(const struct gpu_reading *r, void *member);
bool gpu_read_word(const struct gpu_reading *r, void *member);
bool gpu_read_integer(const struct gpu_reading *r, void *member);

/* What a field holds, for a message: 17, 'NaN', an object. */
const char *gpu_given(struct la_ctx *cx, const cJSON *item);
/* " (did you mean 'thr'?)", or nothing. */
const char *gpu_did_you_mean(struct la_ctx *cx, const char *word, const char *const *words, size_t count);
/* Of a list that NULL ends. */
size_t gpu_count_words(const char *const *words);

#endif

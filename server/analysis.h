/* analysis.h: what /access, /copy, /mma and /swizzle share.
 *
 *     analysis.c           reading: layouts, types, partitions, lanes      analysis_json.c   writing
 *     analysis_access.c    /access                                         analysis_swizzle.c   /swizzle
 *     analysis_copy.c      /copy        analysis_mma.c    /mma             (and analysis_side.h)
 *
 * A handler runs its body under analysis_run, so that core's refusals come out as problems of the field that
 * was being looked at: a->field. Readers return false when they have answered themselves. */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include "fields.h"
#include "json.h"

struct analysis {
    struct request *rq;
    const char *field; /* that an error is about; NULL: none */
    enum la_integers integers;
    void (*body)(struct analysis *a);
    void *state; /* the body's own */
};

/* Run the body; what it leaves by la_fail is answered as a problem of a->field. */
void analysis_run(struct analysis *a);

/* ---- reading (analysis.c) ---- */

/* A 400 for a field that has the wrong form. Always false. */
bool analysis_bad(struct analysis *a, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Evaluate a text and blame `field`. */
bool analysis_eval(struct analysis *a, const char *field, const char *text, enum la_integers integers,
                   struct la_value *out);
/* A layout in memory, read as a->integers says. */
bool analysis_memory(struct analysis *a, const char *field, const char *text, struct la_layout *out);
/* half_t, or a number of bits (then *type is NULL). */
bool analysis_type(struct analysis *a, const char *field, const char *text, const struct la_type **type,
                   uint32_t *bits);

/* The texts of a partition, and what they are called. */
struct partition_texts {
    const char *prefix; /* of the fields' names: "dst_", "accesses[0]." */
    const char *thr, *val, *tv, *tile;
};
/* thr and val, or tv and the tile that it maps to. */
bool analysis_partition(struct analysis *a, const struct partition_texts *texts, struct la_partition *out);

/* What an instruction is: its op, and how wide. */
struct instruction_form {
    const char *prefix; /* of the fields' names */
    enum la_access_op op;
    bool has_bytes, has_matrices;
    int64_t bytes, matrices;
    int32_t lanes; /* set by analysis_form, with the bytes of ldmatrix and stmatrix */
};
bool analysis_form(struct analysis *a, struct instruction_form *form);
/* How many elements an access of the form has; one where no width was given. */
bool analysis_vector(struct analysis *a, const struct instruction_form *form, uint32_t bits, int64_t *vector);
/* Integers and nulls of a JSON array, at most LA_LANES. */
bool analysis_lanes(struct analysis *a, const char *field, const cJSON *array, const char *text,
                    struct la_access *out);

/* ---- writing (analysis_json.c) ---- */

void json_member_int(struct json *j, const char *key, int64_t value);
void json_member_text(struct json *j, const char *key, const char *text); /* NULL: null */
void json_member_bool(struct json *j, const char *key, bool value);
void json_open_member(struct json *j, const char *key, char bracket);

/* Members of an open object. */
void json_access(struct json *j, const struct la_access *a);
void json_traffic(struct json *j, const struct la_traffic *t);
/* Objects. */
void json_vectors(struct json *j, const struct la_vectors *v, uint32_t bits);
void json_facts(struct json *j, struct la_layout layout, const struct la_facts *f);
void json_coverage(struct json *j, const struct la_partition *p, const struct la_coverage *c);
/* Members: the swizzle in units of bits, bytes and elements, and the address bits that it flips. */
void json_swizzle_units(struct json *j, struct la_swizzle elements, uint32_t bits);
const char *swizzle_text(struct la_ctx *cx, struct la_swizzle s);

extern const struct field access_fields[], copy_fields[], mma_fields[], swizzle_fields[];

#endif

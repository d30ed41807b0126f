/* atoms.h: what the files of the atom table share: families of atoms, and how a family builds one. */
#ifndef LA_ATOMS_H
#define LA_ATOMS_H

#include "internal.h"

enum {
    LA_MAX_PARAMETERS = 8 /* names in the formulas of one atom */
};

struct la_family;

/* One atom that is wanted: the alternatives of its name and its template arguments. */
struct la_request {
    struct la_ctx *cx;
    const struct la_family *family;
    const char *name; /* as it is spelled, without template arguments */
    struct la_choice choice[LA_MAX_CHOICES];
    uint32_t n;
    const struct la_value *args;
    struct la_binding parameters[LA_MAX_PARAMETERS]; /* of the formulas; see la_let */
    uint32_t n_parameters;
};

/* Names and how to build any of them. The part of the pattern behind '<' shows typical template arguments. */
struct la_family {
    const char *pattern, *arch, *doc;
    void (*build)(struct la_request *r, struct la_atom *atom);
    const char *detail; /* for build: what the members of the family share */
};

extern const struct la_family la_families_warp[], la_families_wide[], la_families_copy[];

/* A number by name in the formulas that follow. */
void la_let(struct la_request *r, const char *name, int64_t value);
/* A layout in the notation, over these numbers: "(128,(N,K)):(0,(1,N))". */
struct la_layout la_formula(struct la_request *r, const char *text);
/* The same with modes of extent 1 left out of mode i, as CuTe writes the smaller members of a family. */
struct la_layout la_formula_tight(struct la_request *r, uint32_t i, const char *text);

bool la_choice_is(const struct la_choice *c, const char *text);
int64_t la_choice_number(const struct la_choice *c);
/* "16x8x32": three numbers. */
void la_choice_shape(const struct la_choice *c, int64_t mnk[3]);

/* "F32F16F16": the types of D, A, B and, where there are four, C. */
void la_choice_types(struct la_request *r, const struct la_choice *c, struct la_mma *mma);
/* Shape_MNK, and M, N and K in the formulas. */
void la_set_shape(struct la_request *r, struct la_mma *mma, const int64_t mnk[3]);

/* Template argument i as an element type; `otherwise` (a type's name, or NULL: it must be there) when it is left out. */
const struct la_type *la_type_arg(struct la_request *r, uint32_t i, const char *otherwise);
int64_t la_integer_arg(struct la_request *r, uint32_t i);
/* Fail with arity unless there are between `least` and `most` template arguments. */
void la_need_args(struct la_request *r, uint32_t least, uint32_t most);
const struct la_type *la_type_named(const char *name);

#endif

/* analysis_copy.h: a copy as /copy sees it: its halves, the sides of memory that they touch. */
#ifndef ANALYSIS_COPY_H
#define ANALYSIS_COPY_H

#include "analysis.h"

#define COPY_SIDES 4

/* One tiled copy. Its ends may have partitions of their own: the atom decides who addresses what. */
struct copy_half {
    const char *prefix; /* of its fields: "" or "dst_" */
    const struct la_atom *atom;
    struct la_partition whole;    /* as thr and val have it */
    struct la_partition src, dst; /* as the atom's ends are addressed */
    enum la_access_op load, store;
    int32_t lanes;     /* of ldmatrix and stmatrix: rows */
    bool automatic;    /* accesses as wide as the layouts allow */
    int64_t most_bits; /* ... and no wider than this */
    int64_t vector[2]; /* by enum la_end: elements of an access; 0: as wide as the layout allows */
};

/* One access to memory: loads or stores of a half at one end. */
struct copy_side {
    const char *name, *field; /* "smem_load"; the field of its memory: "smem" */
    enum la_space space;
    enum la_end end;
    uint32_t half;
    enum la_access_op op;
    struct la_layout memory;
    struct la_reach reach;
    struct la_vectors vectors;
    struct la_facts facts;
    int64_t wanted; /* elements of an access, as the atom has it */
    struct la_traffic traffic;
};

struct copy {
    const struct la_type *type;
    uint32_t bits;
    bool has_second; /* the second half has a partition or an atom of its own */
    struct copy_half half[2];
    struct la_coverage coverage[2];
    uint32_t sides;
    struct copy_side side[COPY_SIDES];
};

/* "warnings": what would go wrong without a word (analysis_warn.c). */
void json_copy_warnings(struct json *j, const struct copy *c);

#endif

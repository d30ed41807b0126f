/* analysis_side.h: what /copy and /mma say of each side: an access of a partition to one memory.
 *
 *     analysis_atom.c   a copy atom as instructions      analysis_side.c    a side, and its JSON
 *     analysis_warn.c   silent mistakes                  analysis_legal.c   wgmma and TMA */
#ifndef ANALYSIS_SIDE_H
#define ANALYSIS_SIDE_H

#include "analysis.h"

/* A copy atom over a tile. Its ends have partitions of their own: the atom decides who addresses what. */
struct copying {
    const struct la_atom *atom;
    enum la_access_op load, store;
    bool automatic;               /* accesses as wide as the layouts allow */
    int64_t most_bits;            /* ... and no wider than this */
    struct la_partition whole;    /* threads and values, as registers hold them */
    struct la_partition src, dst; /* as the two ends are addressed */
    int32_t lanes;                /* of ldmatrix and stmatrix: rows */
    int64_t vector[2];            /* by enum la_end: elements of an access; 0: as wide as the layout allows */
};

/* Read an atom; false, and answered, for one whose lanes do not address memory one by one. */
bool copying_read(struct analysis *a, const char *field, const char *text, const struct la_type *type,
                  struct copying *out);
/* Lay it over a tile: a partition, or (of atoms that are not automatic) what a tiled copy makes of it. */
void copying_over(struct analysis *a, const struct la_partition *whole, struct copying *c);
void copying_tiled(struct analysis *a, const struct la_tiled_copy *tiled, struct copying *c);

/* One access to memory. */
struct side {
    const char *name, *field; /* "smem_load"; the field of its memory: "smem" */
    enum la_space space;
    enum la_end end; /* the memory is the source or the destination */
    const struct copying *copying;
    const struct la_type *type;
    uint32_t bits;
    struct la_layout memory;
    struct la_reach reach;
    struct la_vectors vectors;
    struct la_facts facts;
    int64_t wanted; /* elements of an access, as the atom has it */
    struct la_traffic traffic;
};
/* Read the memory and lay the partition over it; name, field, space, end, copying, bits are set. */
bool side_open(struct analysis *a, struct side *s);
/* Cost it, in accesses of `automatic` elements when its atom leaves that open. */
void side_cost(struct analysis *a, struct side *s, int64_t automatic);
void json_side(struct json *j, const struct side *s);
enum la_access_op side_op(const struct side *s);

/* ---- warnings (analysis_warn.c): objects of an open array ---- */

void warn_coverage(struct json *j, const char *field, const struct la_partition *p,
                   const struct la_coverage *c);
void warn_order(struct json *j, const char *field, const struct la_partition *from,
                const struct la_partition *to);
void warn_side(struct json *j, const struct side *s);
void warn_shapes(struct json *j, const struct side *first, const struct side *last);

/* ---- analysis_legal.c ---- */

void json_wgmma(struct json *j, const struct la_wgmma *w, enum la_major major);
/* /copy with an atom of TMA: the tensor map of src or dst and smem. */
bool is_tma(const char *atom);
void answer_tma(struct analysis *a, uint32_t bits);

#endif

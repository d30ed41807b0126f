/* laws.h: what check.c and laws.c share: an answer under examination, and its laws. */
#ifndef LA_LAWS_H
#define LA_LAWS_H

#include "internal.h"

struct la_checking {
    struct la_ctx *cx;
    struct la_checks *out;
    const struct la_call *call;
    struct la_value answer;
    bool broken; /* the answer is not the function that its law asks for */
    /* zipped_divide and its like have the elements of logical_divide, of which the law speaks, in another order: this
     * maps an index in the answer to the one in that. Of no shape: the order is the same. */
    struct la_layout arranged;
};

/* Where the points of a law lie: "mode 1: ", and the layout of their indices in the answer (of no shape: nowhere). */
struct la_place {
    const char *prefix;
    struct la_layout index;
};

extern const struct la_place la_nowhere;
/* The place of everything in a layout, in order; nowhere when its elements cannot be counted. */
struct la_layout la_in_order(struct la_checking *c, struct la_layout a);

/* Each adds one law or more to c->out. Those that give a bool say whether it holds; a layout that has other values than
 * integers is not looked at. */

/* result(i) = a(b(i)); NULL stands for the identity. */
bool la_law_composed(struct la_checking *c, const char *law, const struct la_place *place,
                     struct la_layout result, const struct la_layout *a, const struct la_layout *b);
/* No two coordinates with one value; the second of them is the place where it fails. */
bool la_law_injective(struct la_checking *c, const char *law, const struct la_place *place,
                      struct la_layout a);
/* Each value from 0 to size-1 is there: with injectivity, a bijection. */
void la_law_surjective(struct la_checking *c, const char *law, struct la_layout a);
/* The complement r of a: ordered, and apart from a but for 0. */
void la_law_complement(struct la_checking *c, struct la_layout a, struct la_layout r);
void la_law_equal(struct la_checking *c, struct la_layout a, struct la_layout b);

/* The compositions inside an operation with a tiler, one a mode that is tiled. */
struct la_tiled_law {
    const char *law;
    struct la_layout (*right)(struct la_ctx *cx, struct la_layout a, struct la_layout tiler);
    bool covers; /* the tiles must hold every element of A */
};

/* Mode by mode where the tiler is a tuple. */
void la_law_tiled(struct la_checking *c, const struct la_tiled_law *law, const struct la_place *place,
                  struct la_layout a, const struct la_node *tiler, struct la_layout result);

#endif

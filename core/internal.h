/* internal.h: what the files of core share and nobody else sees. */
#ifndef LA_INTERNAL_H
#define LA_INTERNAL_H

#include "la.h"

/* ---- integer.c: CuTe's arithmetic on static and run-time integers, and on scaled bases ---- */

extern const struct la_node la_zero[1], la_one[1], la_any[1]; /* _0, _1, _ */

/* Static and equal to v: what CuTe asks with is_constant<v, T>. Never test value == v in an operation. */
static inline bool la_is(const struct la_node *a, int64_t v)
{
    return a->kind == LA_INT && a->is_static && !a->path && a->value == v;
}
static inline bool la_is_basis(const struct la_node *a)
{
    return a->kind == LA_INT && a->path;
}
/* a == b and both static, so that CuTe can prove it. */
bool la_proven_equal(const struct la_node *a, const struct la_node *b);

/* The operators: static op static is static; _0 * n, _0 / n, n % _1 are _0. Overflow, division by zero: errors. */
const struct la_node *la_add(struct la_ctx *cx, const struct la_node *a,
                             const struct la_node *b); /* also tuples, mode by mode, and bases */
const struct la_node *la_sub(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);
const struct la_node *la_mul(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);
const struct la_node *la_div(struct la_ctx *cx, const struct la_node *a,
                             const struct la_node *b); /* truncates towards zero, as C does */
const struct la_node *la_mod(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);
const struct la_node *la_neg(struct la_ctx *cx, const struct la_node *a);
const struct la_node *la_abs(struct la_ctx *cx, const struct la_node *a);
const struct la_node *la_signum(struct la_ctx *cx, const struct la_node *a);
const struct la_node *la_min(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);
const struct la_node *la_max(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);
const struct la_node *la_gcd(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);
const struct la_node *la_ceil_div(struct la_ctx *cx, const struct la_node *a,
                                  const struct la_node *b); /* of tuples too: CuTe's four cases */
const struct la_node *la_shape_div(struct la_ctx *cx, const struct la_node *a,
                                   const struct la_node *b); /* likewise */
const struct la_node *la_basis(struct la_ctx *cx, const struct la_node *scale, uint32_t len,
                               const uint32_t *path);
/* The integer of a scaled basis, or the integer itself. */
const struct la_node *la_basis_value(struct la_ctx *cx, const struct la_node *a);
/* _2@1 as the tuple (_0,_2). */
const struct la_node *la_as_tuple(struct la_ctx *cx, const struct la_node *a);
/* a xor b of integers whose static bits are known: the offset of a sliced swizzle. */
int64_t la_to_i64(struct la_ctx *cx, const struct la_node *a, const char *what);

/* ---- tuple.c: building tuples from left to right ---- */

struct la_builder {
    struct la_ctx *cx;
    struct la_node *nodes;
    uint32_t len, cap;
};
void la_build(struct la_builder *b, struct la_ctx *cx);
uint32_t la_build_open(struct la_builder *b); /* begin a tuple; gives the handle to close it with */
void la_build_close(struct la_builder *b, uint32_t handle);
void la_build_add(struct la_builder *b, const struct la_node *n); /* copy a whole subtree */
const struct la_node *la_build_done(struct la_builder *b); /* the first node: an element or a closed tuple */

/* f at each mode or leaf; the result keeps the profile of a. */
const struct la_node *la_map_leaves(struct la_ctx *cx, const struct la_node *a,
                                    const struct la_node *(*f)(struct la_ctx *cx,
                                                               const struct la_node *leaf));
/* f(a_i, b_i): a tuple of a's rank; ranks must agree. */
const struct la_node *la_map2(struct la_ctx *cx, const struct la_node *a, const struct la_node *b,
                              const struct la_node *(*f)(struct la_ctx *cx, const struct la_node *x,
                                                         const struct la_node *y));
const struct la_node *la_wrap(struct la_ctx *cx, const struct la_node *a); /* an integer becomes (a) */
const struct la_node *la_append(struct la_ctx *cx, const struct la_node *a, const struct la_node *x);
const struct la_node *la_prepend(struct la_ctx *cx, const struct la_node *a, const struct la_node *x);
const struct la_node *la_append_to(struct la_ctx *cx, const struct la_node *a, uint32_t rank,
                                   const struct la_node *x); /* append x until rank modes */
const struct la_node *la_prepend_to(struct la_ctx *cx, const struct la_node *a, uint32_t rank,
                                    const struct la_node *x);
const struct la_node *la_replace(struct la_ctx *cx, const struct la_node *a, uint32_t i,
                                 const struct la_node *x);
const struct la_node *la_take(struct la_ctx *cx, const struct la_node *a, uint32_t begin, uint32_t end);
const struct la_node *la_select(struct la_ctx *cx, const struct la_node *a, uint32_t n,
                                const uint32_t *modes);
const struct la_node *la_group(struct la_ctx *cx, const struct la_node *a, uint32_t begin, uint32_t end);
const struct la_node *la_zip(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);
const struct la_node *la_zip_modes(struct la_ctx *cx,
                                   const struct la_node *a); /* ((a,b),(c,d)) -> ((a,c),(b,d)) */
const struct la_node *la_zip2_by(struct la_ctx *cx, const struct la_node *a, const struct la_node *guide);
const struct la_node *la_slice(struct la_ctx *cx, const struct la_node *coord,
                               const struct la_node *a); /* the modes at _ */
const struct la_node *la_dice(struct la_ctx *cx, const struct la_node *coord,
                              const struct la_node *a); /* the modes not at _ */
const struct la_node *la_repeat_like(struct la_ctx *cx, const struct la_node *a, const struct la_node *x);
const struct la_node *la_repeat(struct la_ctx *cx, uint32_t n,
                                const struct la_node *x); /* (x,x,...); x itself when n is 1 */
const struct la_node *la_product_each(struct la_ctx *cx, const struct la_node *a);
const struct la_node *la_depth(struct la_ctx *cx, const struct la_node *a);
const struct la_node *la_coalesce_shape(struct la_ctx *cx, const struct la_node *shape);
const struct la_node *la_filter_zeros(struct la_ctx *cx, const struct la_node *guide,
                                      const struct la_node *a);
const struct la_node *la_get(struct la_ctx *cx, const struct la_node *a, uint32_t n, const uint32_t *path);
bool la_has_any(const struct la_node *a);
bool la_all_any(const struct la_node *a);
bool la_all_integers(const struct la_node *a);                  /* no _, no layouts, no bases below */
bool la_same(const struct la_node *a, const struct la_node *b); /* same structure, values, staticness */

/* ---- layout.c ---- */

const struct la_node *la_crd2idx(struct la_ctx *cx, const struct la_node *coord, const struct la_node *shape,
                                 const struct la_node *stride);
const struct la_node *la_idx2crd(struct la_ctx *cx, const struct la_node *index, const struct la_node *shape,
                                 const struct la_node *stride); /* stride NULL: compact */
const struct la_node *la_compact_left_from(struct la_ctx *cx, const struct la_node *shape,
                                           const struct la_node *current);
const struct la_node *la_compact_right_from(struct la_ctx *cx, const struct la_node *shape,
                                            const struct la_node *current);
const struct la_node *la_compact_order(struct la_ctx *cx, const struct la_node *shape,
                                       const struct la_node *order);
const struct la_node *la_coshape(struct la_ctx *cx, struct la_layout a);
const struct la_node *la_coprofile(struct la_ctx *cx, struct la_layout a);
struct la_layout la_plain(const struct la_node *shape, const struct la_node *stride);
struct la_layout la_layout_of(struct la_ctx *cx, const struct la_node *shape); /* compact, leftmost first */
/* A tiler as one node: a layout becomes a leaf. */
const struct la_node *la_value_node(struct la_ctx *cx, struct la_value v);
struct la_value la_node_value(const struct la_node *n);
struct la_value la_truth(bool truth);
struct la_layout la_leaf_layout(struct la_ctx *cx, const struct la_node *leaf);
/* f over modes of a and of the tiler's tuple, then a's other modes when keep_rest. */

struct la_layout
la_map_modes(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler, bool keep_rest,
             struct la_layout (*f)(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler));
struct la_layout la_inner(struct la_layout a);                             /* B of A o O o B */
struct la_layout la_rewrap(struct la_layout like, struct la_layout inner); /* A o O o inner */

/* ---- swizzle.c ---- */

int64_t la_swizzle_apply(struct la_swizzle s, int64_t x);
int64_t la_swizzle_y(struct la_swizzle s); /* the bits that are xored */
int64_t la_swizzle_z(struct la_swizzle s); /* ... into these */
struct la_value la_slice_value(struct la_ctx *cx, const struct la_node *coord, struct la_layout a);
struct la_layout la_compose_swizzle(struct la_ctx *cx, struct la_swizzle s, const struct la_node *offset,
                                    struct la_layout a);

struct la_swizzle la_make_swizzle(struct la_ctx *cx, int64_t bits, int64_t base, int64_t shift);
struct la_swizzle la_swizzle_of_masks(struct la_ctx *cx, int64_t y, int64_t z);
struct la_value la_slice_and_offset(struct la_ctx *cx, const struct la_node *coord, struct la_layout a);

/* ---- algebra.c ---- */

struct la_layout la_coalesce_x(struct la_ctx *cx, struct la_layout a);
struct la_layout la_coalesce_profile(struct la_ctx *cx, struct la_layout a, const struct la_node *profile);
struct la_layout la_filter(struct la_ctx *cx, struct la_layout a);

/* ---- tiling.c ---- */

struct la_layout la_tiled_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler);
struct la_layout la_flat_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler);

struct la_layout la_tile_unzip(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler);
/* What registers hold of a: compact, mode 0 first, the others in the order of a's strides. */
struct la_layout la_fragment_like(struct la_ctx *cx, struct la_layout a);
/* Compact strides in an order of the modes; NULL is LayoutLeft. */
struct la_layout la_ordered_layout(struct la_ctx *cx, const struct la_node *shape,
                                   const struct la_value *order);

/* ---- recast.c ---- */

/* In units of n elements: of a layout, a composed one or a swizzle. */
struct la_value la_upcast(struct la_ctx *cx, struct la_value v, const struct la_node *n);
/* From elements of `old` bits to elements of `new` bits. */
struct la_value la_recast(struct la_ctx *cx, struct la_value v, const struct la_node *old,
                          const struct la_node *new);

/* ---- layout_ops.c ---- */

/* Of a layout, a tuple or a tiler: each layout's shape in its place. */
const struct la_node *la_shape_of(struct la_ctx *cx, struct la_value v);
/* One integer a mode: where a compact layout has an offset. */
const struct la_node *la_flat_coord(struct la_ctx *cx, struct la_layout a, const struct la_node *index);

/* ---- pattern.c ---- */

enum {
    LA_MAX_CHOICES = 8,    /* {...} in a pattern */
    LA_MAX_ATOM_NAME = 160 /* the longest has 9 template arguments and 112 characters */
};

/* The alternative that a name has at {...}. */
struct la_choice {
    const char *text;
    size_t len;
};
bool la_pattern_match(const char *pattern, const char *name, size_t len,
                      struct la_choice choice[LA_MAX_CHOICES]);
size_t la_pattern_count(const char *pattern);
void la_pattern_name(const char *pattern, size_t i, char out[LA_MAX_ATOM_NAME]);
/* How many edits a name is away from the nearest of the pattern, without template arguments; and that one. */
size_t la_pattern_distance(const char *pattern, const char *name, size_t len);
void la_pattern_nearest(const char *pattern, const char *name, size_t len, char out[LA_MAX_ATOM_NAME]);

/* ---- atoms.c ---- */

/* The atom of a name and its template arguments; NULL when there is no such name. */
const struct la_atom *la_atom_build(struct la_ctx *cx, const char *name, size_t len, uint32_t n,
                                    const struct la_value *args);
bool la_is_atom_name(struct la_ctx *cx, const char *name, size_t len);
const char *la_atom_nearest(struct la_ctx *cx, const char *name, size_t len);

/* ---- smem.c ---- */

/* smem_ptr[16b](unset): the offset of a layout that waits for a pointer to elements of so many bits. */
const struct la_node *la_smem_flag(struct la_ctx *cx, int64_t bits);
struct la_layout la_position_independent(struct la_ctx *cx, struct la_layout a);
enum { LA_MAX_SMEM_BITS = 1 << 20 }; /* of an element */
struct la_smem_atom {
    bool k_major;
    int swizzle_bits;
};
extern const char la_smem_atoms[]; /* the pattern of their names */
bool la_smem_atom_find(const char *name, size_t len, struct la_smem_atom *out);
struct la_layout la_smem_atom(struct la_ctx *cx, struct la_smem_atom atom, const struct la_type *type);

/* ---- tiled_copy.c, tiled_mma.c ---- */

const struct la_tiled_copy *la_make_cotiled_copy(struct la_ctx *cx, const struct la_atom *atom,
                                                 struct la_layout tv, struct la_layout data);
const struct la_tiled_copy *la_tiled_copy_c_atom(struct la_ctx *cx, const struct la_atom *atom,
                                                 const struct la_tiled_mma *mma);
struct la_layout la_tiled_copy_mn(struct la_ctx *cx, const struct la_tiled_copy *copy, enum la_end end);
struct la_layout la_retile(struct la_ctx *cx, const struct la_tiled_copy *copy, struct la_layout fragment);
const struct la_node *la_permutation_mnk(struct la_ctx *cx, const struct la_tiled_mma *mma, uint32_t mode);
struct la_layout la_tiled_mma_mn(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x);
struct la_layout la_tiled_mma_threads(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x);
const struct la_node *la_thread_vmnk(struct la_ctx *cx, const struct la_tiled_mma *mma,
                                     const struct la_node *thread);
/* The slice of a at a coordinate, and where it begins. */
struct la_part la_part_at(struct la_ctx *cx, const struct la_node *coord, struct la_layout a);

/* ---- tiled_ops.c ---- */

/* size(tiled) and thr_size(tiled): the threads, of an MMA also along modes of its (V,M,N,K). */
struct la_value la_tiled_threads(struct la_ctx *cx, const struct la_call *call);

/* ---- tiled_text.c ---- */

/* How CuTe prints an atom, a tiled copy or a tiled MMA: several lines. */
const char *la_tiled_text(struct la_ctx *cx, const struct la_value *v, enum la_spelling spelling);
/* Its name in one line. */
const char *la_tiled_name(struct la_ctx *cx, const struct la_value *v);

/* ---- program.c ---- */

/* The value of a text of the program's own, all integers static, with these names bound. */
struct la_value la_read(struct la_ctx *cx, const char *text, struct la_binding *names);

/* ---- ops.c: the groups of operations, each at the foot of the file that computes them ---- */

/* Whether a name of a length that is so many edits away is near enough for a suggestion. */
bool la_name_is_near(size_t len, size_t edits);
/* Keep `candidate` when it is near, and nearer than `nearest`, which is `least` edits away. */
void la_name_nearer(const char *name, size_t len, const char *candidate, const char **nearest, size_t *least);

extern const struct la_op la_ops_tuple[], la_ops_layout[], la_ops_algebra[], la_ops_inverse[],
    la_ops_tiling[], la_ops_modes[], la_ops_swizzle[], la_ops_recast[], la_ops_smem[], la_ops_atom[],
    la_ops_tiled_copy[], la_ops_tiled_mma[], la_ops_predicates[], la_ops_tensor[];

/* The template arguments of a call as the path of a mode: get<1,0>(t). At most LA_MAX_ARGS long. */
uint32_t la_call_path(struct la_ctx *cx, const struct la_call *call, uint32_t path[LA_MAX_ARGS]);

/* ---- trace.c: call only when cx->trace ---- */

/* Add a step; the operands are copied. */
void la_step(struct la_ctx *cx, const char *rule, struct la_value result, uint32_t n,
             const struct la_operand *operands, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Steps inside an operation: +1 before, -1 after. */
void la_trace_indent(struct la_ctx *cx, int by);
/* The steps of layout(coord): how each integer is split, the strides applied, the outer function. */
void la_trace_evaluation(struct la_ctx *cx, struct la_layout a, const struct la_node *coord);
/* The step of a whole call. */
void la_trace_call(struct la_ctx *cx, const struct la_call *call, struct la_value result);

/* ---- types.c: element types and tags that stand in template arguments ---- */

struct la_type {
    const char *name; /* half_t, LayoutLeft */
    uint32_t bits;    /* of an element; 0 for a tag */
};
extern const struct la_type la_layout_left[1], la_layout_right[1];
const struct la_type *la_type_find(const char *name, size_t len);
const struct la_type *la_type_complex(struct la_ctx *cx, const struct la_type *part);
/* sparse_elem<2,half_t>: of so many elements one is stored. */
const struct la_type *la_type_sparse(struct la_ctx *cx, int64_t sparsity, const struct la_type *element);

/* Check the arguments and run the operation: la_apply without the safety net. */
struct la_value la_run(struct la_ctx *cx, const struct la_call *call);

/* Fail with an error about argument i of the running call: the parser shows it under that argument. */
_Noreturn void la_fail_arg(struct la_ctx *cx, uint32_t i, enum la_error_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* How a value looks in a message: CuTe's spelling, shortened when long. */
const char *la_show(struct la_ctx *cx, const struct la_node *n);
const char *la_show_layout(struct la_ctx *cx, struct la_layout a);

enum {
    LA_MAX_DEPTH =
        256, /* of nested parentheses and calls: keeps recursion far from the end of a thread's stack */
    LA_MAX_BASIS_MODE = 1023 /* _1@N is a tuple of N+1 elements */
};

#endif

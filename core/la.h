/* la.h: the algebra of layouts. Text in, flat immutable values in one arena, text out.
 *
 * This is the one public header of core, and its manual. A section stands for a .c file of the same name.
 *
 * Ownership, in one sentence: whatever a function returns lives in the arena of the context that it was given and
 * dies with it; nothing is freed one by one; arguments are const and never kept.
 *
 * Errors: functions that take a context and return a value leave by longjmp when they fail, to the setjmp of the
 * public entry that was called (la_try, la_eval, la_apply). Entries return bool and fill cx->error. So the algebra
 * reads as mathematics: la_mul(cx, a, b) is an expression. Core owns nothing but arena memory; nothing leaks.
 */
#ifndef LA_H
#define LA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- arena.c: memory of one request ------------------------------------------------------------------------- */

struct la_arena;

/* A new arena that will hand out at most `limit` bytes; NULL when the system has no memory. */
struct la_arena *la_arena_new(size_t limit);
void la_arena_free(struct la_arena *arena);
/* Forget everything that was handed out; keeps the first block, so that a warm arena makes no system calls. */
void la_arena_reset(struct la_arena *arena);
/* `size` bytes aligned to 16, not cleared; NULL when that would pass the limit. */
void *la_arena_alloc(struct la_arena *arena, size_t size);
/* Bytes handed out since the last reset. */
size_t la_arena_used(const struct la_arena *arena);

/* ---- error.c: what can go wrong ----------------------------------------------------------------------------- */

/* X(code, title): the code is the tail of the problem's type, the title its meaning in one line. */
#define LA_ERRORS(X) \
    X(syntax, "the text is not in the notation") \
    X(unknown_name, "a name that nobody has defined") \
    X(arity, "wrong number of arguments") \
    X(kind, "an argument of the wrong kind") \
    X(overflow, "a number beyond 64 bits") \
    X(limit, "larger than this server answers") \
    X(domain, "a number outside its domain") \
    X(stride_divisibility, "composition: a stride that does not fit the extents of the left layout") \
    X(shape_divisibility, "composition: an extent that does not fit the extents of the left layout") \
    X(dynamic_stride, "needs static strides") \
    X(non_injective, "needs an injective layout") \
    X(tile_does_not_divide, "the tile does not divide the target shape") \
    X(too_many_modes, "more modes in the tiler than in the layout") \
    X(rank_mismatch, "tuples of different ranks") \
    X(divisibility, "numbers that do not divide") \
    X(not_contiguous, "needs a mode of static stride 1") \
    X(copy_too_few_threads, "a tiled copy with fewer threads than its atom") \
    X(copy_too_few_values, "a tiled copy with fewer values than its atom") \
    X(other, "CuTe does not compile this")

enum la_error_code {
    LA_OK,
#define X(code, title) LA_E_##code,
    LA_ERRORS(X)
#undef X
};

struct la_error {
    enum la_error_code code;
    bool has_position; /* at, len are bytes in the text that was evaluated */
    size_t at, len;
    char message[480]; /* a sentence that names the operation and shows the values */
};

/* "stride_divisibility" and its title; "ok" for LA_OK. */
const char *la_error_name(enum la_error_code code);
const char *la_error_title(enum la_error_code code);

struct la_call;

struct la_ctx {
    struct la_arena *arena;
    struct la_error error;
    jmp_buf *escape;            /* where la_fail goes; set by the public entries */
    const struct la_call *call; /* the operation that runs, for messages and positions */
    const struct la_span
        *spans; /* where in the text: the call, then its arguments; NULL when not from a text */
    int blame;  /* the argument that an error is about, or -1 */
    int depth;  /* of nested parentheses and calls */
};

/* Bytes [at, at+len) of a text. */
struct la_span {
    size_t at, len;
};

/* Run body(cx, arg); false when it failed, with cx->error filled. Nests. */
bool la_try(struct la_ctx *cx, void (*body)(struct la_ctx *cx, void *arg), void *arg);

/* Fail with a code and a sentence; does not return. */
_Noreturn void la_fail(struct la_ctx *cx, enum la_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `size` bytes from the arena, or the error `limit`. */
void *la_alloc(struct la_ctx *cx, size_t size);
/* printf into the arena. */
const char *la_format(struct la_ctx *cx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- tuple.c: IntTuples ------------------------------------------------------------------------------------- */

enum la_node_kind {
    LA_INT,   /* an integer, or with a path a scaled basis: value@path */
    LA_TUPLE, /* value modes follow */
    LA_ANY,   /* _ in slices and tilers */
    LA_LEAF,  /* any other value as an element, for example a layout in a tiler */
    LA_BITS /* the offset of a sliced swizzle: an integer of which some bits are static (CuTe's MixedBits) */
};

/* value = known | run, where run has only bits of `free`: known is static, run is known at run time only. */
struct la_bits {
    uint32_t known, free, run;
};

/* The path of a basis: E<0,1> is {2, {0,1}}; it prints innermost first: _1@1@0. */
struct la_path {
    uint32_t len;
    uint32_t at[];
};

struct la_value;

/* A tuple is a pre-order array of nodes; a pointer to its first node is the tuple. Mode 0 of a tuple t is t + 1, and
 * the next mode of m is m + m->span. Congruent tuples have equal spans index by index. */
struct la_node {
    int64_t value; /* LA_INT: the integer; LA_TUPLE: the number of modes */
    union {
        const struct la_path *path;  /* LA_INT: NULL, or the path of a scaled basis */
        const struct la_value *leaf; /* LA_LEAF */
        const struct la_bits *bits;  /* LA_BITS */
    };
    uint32_t span; /* nodes of this subtree, itself included */
    uint8_t kind;  /* enum la_node_kind */
    bool is_static;
};

static inline bool la_is_tuple(const struct la_node *n)
{
    return n->kind == LA_TUPLE;
}
/* Number of modes: CuTe's rank, which is 1 for an integer. */
static inline uint32_t la_rank(const struct la_node *n)
{
    return n->kind == LA_TUPLE ? (uint32_t)n->value : 1;
}
static inline const struct la_node *la_next(const struct la_node *n)
{
    return n + n->span;
}
/* Mode i; an integer is its own mode 0. Fails with rank_mismatch outside. */
const struct la_node *la_mode(struct la_ctx *cx, const struct la_node *n, uint32_t i);

const struct la_node *la_int(struct la_ctx *cx, int64_t value, bool is_static);
/* The tuple of the given modes. */
const struct la_node *la_tuple(struct la_ctx *cx, uint32_t rank, const struct la_node *const *modes);
/* True when all integers of the tuple are static. */
bool la_all_static(const struct la_node *n);
/* Product of all integers. */
const struct la_node *la_product(struct la_ctx *cx, const struct la_node *n);
bool la_congruent(const struct la_node *a, const struct la_node *b);
const struct la_node *la_flatten(struct la_ctx *cx, const struct la_node *n);
/* LayoutLeft and LayoutRight: compact strides for a shape, leftmost or rightmost first. */
const struct la_node *la_compact_left(struct la_ctx *cx, const struct la_node *shape);
const struct la_node *la_compact_right(struct la_ctx *cx, const struct la_node *shape);

/* ---- layout.c: a layout as a function ----------------------------------------------------------------------- */

/* Swizzle<B,M,S>: xor of B bits at M+max(S,0).. into B bits at M-min(S,0).. */
struct la_swizzle {
    int32_t bits, base, shift;
};

/* Shape:Stride, congruent. With `outer` it is a composed layout  outer o offset o shape:stride. */
struct la_layout {
    const struct la_node *shape, *stride;
    const struct la_value *outer; /* NULL, or a swizzle or a layout */
    const struct la_node *offset; /* NULL exactly when outer is */
};

/* One bit a kind, so that an operation can say which kinds a parameter takes. */
enum la_kind {
    LA_K_INT = 1,
    LA_K_TUPLE = 2, /* integers only */
    LA_K_TILE = 4,  /* a tuple with layouts or _ among its leaves */
    LA_K_LAYOUT = 8,
    LA_K_COMPOSED = 16,
    LA_K_SWIZZLE = 32,
    LA_K_BOOL = 64,
    LA_K_ANY = 128,  /* _ */
    LA_K_TYPE = 256, /* a name that stands for a type or a tag: half_t, LayoutLeft */
    LA_K_TILED_COPY = 512,
    LA_K_TILED_MMA = 1024,
    LA_K_ATOM = 2048,
    LA_K_TEXT = 4096,
    LA_OPTIONAL = 1 << 20, /* in a parameter: may be left out */
    LA_VARIADIC = 1 << 21  /* in the last parameter: any number */
};
#define LA_K_INTTUPLE (LA_K_INT | LA_K_TUPLE)
#define LA_K_COORD (LA_K_INTTUPLE | LA_K_ANY | LA_K_TILE)
#define LA_K_TILER (LA_K_INTTUPLE | LA_K_TILE | LA_K_LAYOUT | LA_K_ANY)
#define LA_K_ANYLAYOUT (LA_K_LAYOUT | LA_K_COMPOSED)

struct la_value {
    enum la_kind kind;
    union {
        const struct la_node *tuple; /* INT TUPLE TILE ANY */
        struct la_layout layout;     /* LAYOUT COMPOSED */
        struct la_swizzle swizzle;   /* SWIZZLE */
        bool truth;                  /* BOOL */
        const struct la_type *type;  /* TYPE */
        const void *object;          /* TILED_COPY TILED_MMA ATOM */
        const char *text;            /* TEXT */
    };
};

struct la_value la_value_tuple(const struct la_node *n);
struct la_value la_value_layout(struct la_layout layout);

/* Checks congruence; fails with rank_mismatch. */
struct la_layout la_make_layout(struct la_ctx *cx, const struct la_node *shape, const struct la_node *stride);
const struct la_node *la_size(struct la_ctx *cx, struct la_layout layout);
/* The smallest M with layout(i) < M for all i (strides taken as absolute values, as CuTe does). */
const struct la_node *la_cosize(struct la_ctx *cx, struct la_layout layout);
/* layout(coord): coord is an integer, a nested or a partial coordinate. Gives an integer (or a tuple for bases). */
const struct la_node *la_layout_at(struct la_ctx *cx, struct la_layout layout, const struct la_node *coord);
/* Mode i as a layout of its own. */
struct la_layout la_layout_mode(struct la_ctx *cx, struct la_layout layout, uint32_t i);
/* The concatenation (A,B,...): each becomes a mode. */
struct la_layout la_layout_concat(struct la_ctx *cx, uint32_t n, const struct la_layout *parts);

/* ---- algebra.c: coalesce, composition, complement, inverses ------------------------------------------------- */

struct la_layout la_coalesce(struct la_ctx *cx, struct la_layout a);
struct la_layout la_composition(struct la_ctx *cx, struct la_layout a, struct la_value b);
/* cotarget may be NULL: the single-argument complement. */
struct la_layout la_complement(struct la_ctx *cx, struct la_layout a, const struct la_node *cotarget);
struct la_layout la_right_inverse(struct la_ctx *cx, struct la_layout a);
struct la_layout la_left_inverse(struct la_ctx *cx, struct la_layout a);

/* ---- tiling.c: divides and products ------------------------------------------------------------------------- */

struct la_layout la_logical_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler);
struct la_layout la_zipped_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler);
struct la_layout la_logical_product(struct la_ctx *cx, struct la_layout a, struct la_value tiler);
struct la_layout la_tiled_product(struct la_ctx *cx, struct la_layout a, struct la_value tiler);
struct la_layout la_blocked_product(struct la_ctx *cx, struct la_layout a, struct la_layout b);
struct la_layout la_raked_product(struct la_ctx *cx, struct la_layout a, struct la_layout b);

/* ---- parse.c: the notation ---------------------------------------------------------------------------------- */

/* How a bare 3 is read. */
enum la_integers {
    LA_INTEGERS_AUTO,  /* CUTE when the text holds a static spelling (_3, Int<3>, C<3>), else STATIC */
    LA_INTEGERS_CUTE,  /* a run-time integer */
    LA_INTEGERS_STATIC /* a static integer */
};

struct la_binding {
    const char *name;
    size_t at, len; /* bytes of its statement's expression in the text */
    struct la_value value;
    struct la_binding *next;
};

struct la_program {
    enum la_integers integers;       /* never AUTO */
    struct la_value value;           /* of the last expression */
    const struct la_binding *names;  /* in order of first assignment, each with its last value */
    const struct la_binding *prints; /* print(x); in order; name is the text of x */
};

/* Evaluate a program. False with cx->error (position included) when it is refused. */
bool la_eval(struct la_ctx *cx, const char *text, enum la_integers integers, struct la_program *out);
/* True when a text holds a static spelling, outside comments. */
bool la_has_static(const char *text);

/* ---- print.c: values to text -------------------------------------------------------------------------------- */

enum la_spelling {
    LA_SPELL_CUTE, /* (_3,4):(_1,3), as CuTe prints */
    LA_SPELL_TEXT  /* (3,4):(1,3), without underscores */
};
const char *la_print(struct la_ctx *cx, const struct la_value *value, enum la_spelling spelling);
const char *la_print_tuple(struct la_ctx *cx, const struct la_node *n, enum la_spelling spelling);
const char *la_print_layout(struct la_ctx *cx, struct la_layout layout, enum la_spelling spelling);
/* "layout", "tuple", "int", ...: the name of a kind in answers. */
const char *la_kind_name(enum la_kind kind);
/* "an integer, a tuple or a layout": a set of kinds, for messages. */
const char *la_kinds_text(struct la_ctx *cx, unsigned kinds);

/* ---- table.c: many offsets at once -------------------------------------------------------------------------- */

struct la_table {
    int64_t rows, cols;
    const struct la_node *row_shape, *col_shape;
    int64_t *offsets; /* rows*cols, row by row */
};
/* The grid of a layout: mode 0 is the rows and the others are the columns; a layout of rank 1 is one row.
 * Fails with limit above max_cells, with kind when the layout does not give integers. */
bool la_table(struct la_ctx *cx, struct la_layout layout, int64_t max_cells, struct la_table *out);
/* out[i] = layout(i) for i < n; strides are integers. */
void la_offsets(struct la_ctx *cx, struct la_layout layout, int64_t n, int64_t *out);

/* ---- ops.c: the table of operations ------------------------------------------------------------------------- */

#define LA_MAX_PARAMS 4
#define LA_MAX_ARGS 64

struct la_param {
    const char *name;
    unsigned kinds; /* enum la_kind bits, LA_OPTIONAL, LA_VARIADIC */
};

struct la_call {
    const struct la_op *op;
    uint32_t argc, targc;
    struct la_value args[LA_MAX_ARGS];
    struct la_value targs[LA_MAX_ARGS]; /* template arguments: get<1,0>(t) */
};

/* One row an operation: the one place that parser, HTTP, documents, page and tests know it from. */
struct la_op {
    const char *name, *doc;
    const char *law; /* a sentence that holds for every answer, or NULL */
    struct la_param params[LA_MAX_PARAMS];
    const char *template_params; /* NULL: takes none; else how they are spelled: "<I...>" */
    unsigned gives;
    struct la_value (*run)(struct la_ctx *cx, const struct la_call *call);
    const char *example, *result; /* a documented call and its answer in CuTe's spelling: a test */
};

/* The i-th operation of all groups, NULL after the last. */
const struct la_op *la_op_at(size_t i);
const struct la_op *la_op_find(const char *name, size_t len);
/* The nearest known name, or NULL when none is near. */
const char *la_op_nearest(const char *name, size_t len);
/* Check the arguments against the row and run it. False with cx->error. */
bool la_apply(struct la_ctx *cx, struct la_call *call, struct la_value *out);

#endif

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

/* "stride_divisibility"; "ok" for LA_OK. */
const char *la_error_name(enum la_error_code code);

struct la_call;

struct la_ctx {
    struct la_arena *arena;
    struct la_error error;
    jmp_buf *escape;            /* where la_fail goes; set by the public entries */
    const struct la_call *call; /* the operation that runs, for messages and positions */
    const struct la_span
        *spans;             /* where in the text: the call, then its arguments; NULL when not from a text */
    int blame;              /* the argument that an error is about, or -1 */
    int depth;              /* of nested parentheses and calls */
    struct la_trace *trace; /* where derivation steps are written, or NULL */
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
    LA_BITS, /* the offset of a sliced swizzle: an integer of which some bits are static (CuTe's MixedBits) */
    LA_SMEM /* the offset _0 of a layout of shared memory whose swizzle acts on bytes; value: bits of an element */
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

/* ---- atoms.c: one MMA or copy instruction ------------------------------------------------------------------- */

struct la_type; /* half_t: see types.c */
const char *la_type_name(const struct la_type *type);
uint32_t la_type_bits(const struct la_type *type); /* of one element */

enum la_atom_kind { LA_ATOM_MMA, LA_ATOM_COPY };
enum la_matrix { LA_A, LA_B, LA_C, LA_D }; /* D has the layout of C */
enum la_end { LA_SRC, LA_DST, LA_REF }; /* of a copy; Ref is the order of bits that connects the other two */

/* What MMA_Traits tell of an MMA. */
struct la_mma {
    const struct la_node *shape_mnk;
    struct la_layout tv[3];       /* (thread, value) -> index in the tile: A (M,K), B (N,K), C (M,N) */
    struct la_layout e, sfa, sfb; /* of sparse and of block-scaled MMAs; shape is NULL where there is none */
    const struct la_type *types[4]; /* by enum la_matrix */
    const struct la_type *major[2]; /* of an operand in shared memory: Major::K or Major::MN */
    bool descriptor[2];             /* A or B is read from shared (or tensor) memory through a descriptor */
};

/* What Copy_Traits tell of a copy, in bits; with a value type it is a Copy_Atom and counts in values, too. */
struct la_copy {
    struct la_layout bits[3]; /* by enum la_end; shape is NULL where the tensors decide (TMA) */
    const struct la_type *type;
    struct la_layout values[3];
};

struct la_atom {
    const char *name; /* with its template arguments: UniversalCopy<uint128_t> */
    const char *arch; /* "SM80"; "any" */
    const char *doc;
    enum la_atom_kind kind;
    struct la_layout thr_id; /* thread of the atom -> thread of its group */
    struct la_mma mma;
    struct la_copy copy;
};

/* The i-th atom of the table, families with each legal name and typical template arguments; NULL after the last. */
const struct la_atom *la_atom_at(struct la_ctx *cx, size_t i);
/* How many there are, their names and kinds, without building them. */
size_t la_atom_count(void);
const char *la_atom_name_at(struct la_ctx *cx, size_t i);
enum la_atom_kind la_atom_kind_at(size_t i);
const char *la_atom_kind_name(enum la_atom_kind kind); /* "mma" or "copy" */
/* The atom that a text spells: "Copy_Atom<UniversalCopy<uint128_t>,half_t>{}". Fails with unknown_name, kind, ... */
const struct la_atom *la_atom_named(struct la_ctx *cx, const char *text);
/* Copy_Atom<op, type>: other where the type does not suit the instruction. */
const struct la_atom *la_copy_atom(struct la_ctx *cx, const struct la_atom *op, const struct la_type *type);

/* ---- tiled_copy.c, tiled_mma.c: atoms over tiles, made of layouts and nothing else ---------------------------- */

struct la_tiled_copy {
    const struct la_atom *atom;   /* a Copy_Atom */
    struct la_layout layout_tv;   /* (thread, value) -> index in the tile, in the order of the atom's Ref */
    const struct la_node *tiler;  /* Tiler_MN: integers or layouts, one a mode */
    struct la_layout thr, val;    /* of make_tiled_copy; shape is NULL of another maker's, which has none */
    const struct la_node *thread; /* of a ThrCopy; NULL: all of them */
};

struct la_tiled_mma {
    const struct la_atom *atom;
    struct la_layout atoms;            /* (m,n,k) -> atom */
    struct la_layout thr_vmnk;         /* (thread of the atom, M, N, K) -> thread */
    const struct la_node *permutation; /* of M, N, K: integers, layouts or _ */
    const struct la_node *thread;      /* (v,m,n,k) of a ThrMMA; NULL: all of them */
};

/* What one thread has of a tensor, and the offset at which it begins. */
struct la_part {
    struct la_layout layout;
    const struct la_node *offset;
};

/* Threads and values over the tile of a TV layout. Fails with copy_too_few_threads and copy_too_few_values. */
const struct la_tiled_copy *la_tiled_copy(struct la_ctx *cx, const struct la_atom *atom,
                                          struct la_layout layout_tv, const struct la_node *tiler);
/* make_tiled_copy: thr and val map (m,n) to a thread and to a value. */
const struct la_tiled_copy *la_make_tiled_copy(struct la_ctx *cx, const struct la_atom *atom,
                                               struct la_layout thr, struct la_layout val);
/* make_tiled_copy_A and so on: the copy whose threads hold what the MMA wants of a matrix. */
const struct la_tiled_copy *la_tiled_copy_for(struct la_ctx *cx, const struct la_atom *atom,
                                              const struct la_tiled_mma *mma, enum la_matrix x);
/* (thread, value) -> index in the tile. */
struct la_layout la_tiled_copy_tv(struct la_ctx *cx, const struct la_tiled_copy *copy, enum la_end end);
/* A tensor as ((thread), value, (rest)). */
struct la_layout la_tidfrg(struct la_ctx *cx, const struct la_tiled_copy *copy, enum la_end end,
                           struct la_layout tensor);
struct la_part la_copy_partition(struct la_ctx *cx, const struct la_tiled_copy *copy, enum la_end end,
                                 struct la_layout tensor, const struct la_node *thread);

const struct la_tiled_mma *la_make_tiled_mma(struct la_ctx *cx, const struct la_atom *atom,
                                             struct la_layout atoms, const struct la_node *permutation);
const struct la_node *la_tiled_mma_size(struct la_ctx *cx, const struct la_tiled_mma *mma, uint32_t mode);
struct la_layout la_tiled_mma_tv(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x);
/* A tensor as ((thread of the atom,(threads)),(value,(rest))). */
struct la_layout la_thrfrg(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x,
                           struct la_layout tensor);
struct la_part la_mma_partition(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x,
                                struct la_layout tensor, const struct la_node *thread);

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
    const struct la_call *call;      /* the call that gave the value, NULL when no call did */
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
/* Which modes are the rows and which the columns, in which order; together they are all modes, each once. */
struct la_axes {
    uint32_t n_rows, n_cols;
    const uint32_t *rows, *cols;
};
/* The grid of a layout: mode 0 is the rows and the others are the columns; a layout of rank 1 is one row.
 * Fails with limit above max_cells, with kind when the layout does not give integers. */
bool la_table(struct la_ctx *cx, struct la_layout layout, int64_t max_cells, struct la_table *out);
/* The same with chosen modes. */
bool la_table_by(struct la_ctx *cx, struct la_layout layout, const struct la_axes *axes, int64_t max_cells,
                 struct la_table *out);
/* out[i] = layout(i) for i < n; strides are integers. */
void la_offsets(struct la_ctx *cx, struct la_layout layout, int64_t n, int64_t *out);

/* ---- trace.c: how an answer comes about ----------------------------------------------------------------------- */

struct la_operand {
    const char *name;
    struct la_value value;
};

/* One step of a derivation: a rule, what it was given, what came out. Law: the last step's result is the answer. */
struct la_step {
    const char *rule; /* "complement", "gap", "split", ...: a word */
    const char *text; /* a sentence with the numbers */
    int depth;        /* steps inside an operation lie one deeper than the operation's own */
    uint32_t n;
    const struct la_operand *operands;
    struct la_value result;
    struct la_step *next;
};

/* Set cx->trace to an empty one before la_eval. Above LA_MAX_STEPS only the last step is added. */
struct la_trace {
    struct la_step *first, *last;
    uint32_t n;
    int depth;
};

/* ---- access.c: what one instruction of one warp costs ------------------------------------------------------- */

enum {
    LA_LANES = 32,        /* of a warp */
    LA_BANKS = 32,        /* of shared memory, a 4-byte word wide each */
    LA_ACCESS_HITS = 128, /* words that an instruction can touch: 32 lanes of 16 bytes */
    LA_BASE_BYTES = 128   /* costs do not change when all addresses move by a multiple of this */
};

enum la_space { LA_SHARED, LA_GLOBAL };

enum la_access_op {
    LA_LOAD,
    LA_STORE,
    LA_LDMATRIX,
    LA_LDMATRIX_TRANS,
    LA_STMATRIX,
    LA_STMATRIX_TRANS,
    LA_CP_ASYNC /* in global memory its reads, in shared memory its writes */
};

/* One instruction, lane by lane. */
struct la_access {
    enum la_space space;
    enum la_access_op op;
    int32_t bytes;        /* of each lane: 1, 2, 4, 8 or 16; ldmatrix and stmatrix: the 16 of a row */
    int32_t lanes;        /* 32; of ldmatrix and stmatrix the 8 rows of each matrix */
    uint32_t active;      /* bit i: lane i takes part */
    int64_t at[LA_LANES]; /* byte offsets from a multiple of LA_BASE_BYTES, each a multiple of bytes */
};

/* Shared memory: wavefronts, the fewest that these lanes could take, and the most words that meet in one bank.
 * Global memory: 32-byte sectors and 128-byte lines, and the fewest that hold as many distinct bytes. */
struct la_cost {
    int32_t wavefronts, wavefronts_ideal, ways;
    int32_t sectors, sectors_ideal, lines, lines_ideal, requests;
};

/* The lanes of one phase that touch one word. */
struct la_hit {
    int32_t phase, bank;
    int64_t word; /* its byte offset over 4 */
    uint32_t lanes;
};

/* "ldmatrix.trans" */
const char *la_access_op_name(enum la_access_op op);
bool la_access_op_find(const char *name, enum la_access_op *out);
bool la_access_is_matrix(enum la_access_op op);
/* Fails with domain unless such an instruction exists and every address is aligned. */
void la_access_check(struct la_ctx *cx, const struct la_access *a);
struct la_cost la_access_cost(const struct la_access *a);
/* How many lanes are served together. */
int32_t la_access_phase_lanes(const struct la_access *a);
/* Every word of shared memory that is touched, by phase and bank; returns how many. */
size_t la_access_hits(const struct la_access *a, struct la_hit hits[LA_ACCESS_HITS]);

/* ---- fit.c: from offsets to the layout ------------------------------------------------------------------------ */

struct la_fit {
    bool found;
    struct la_layout layout; /* of the smallest rank; plain, or a swizzle of a plain one */
    int64_t cell;          /* when not found: the first cell that no layout can give behind those before it */
    int64_t gives, should; /* its value, and the one that a layout would have to have there; see reason */
    const char *reason;    /* a sentence */
};
/* The layout of rows*cols static integers, row by row: (rows,cols):(...), each mode as flat as it can be; of one row
 * the layout of rank 1. With `swizzles` also layouts behind one swizzle. */
bool la_fit_table(struct la_ctx *cx, int64_t rows, int64_t cols, const int64_t *offsets, bool swizzles,
                  struct la_fit *out);

/* ---- check.c: is it right? -------------------------------------------------------------------------------------- */

enum { LA_MAX_CHECKS = 12 };

/* A law of the operation that gave the answer, looked at point by point. */
struct la_check {
    const char *law;
    bool holds;                      /* on all points that were looked at */
    int64_t looked_at, total;        /* points */
    const char *at, *gives, *should; /* the first counterexample, as texts; NULL when it holds */
    int64_t index;                   /* of `at` in the answer; -1: none of its elements */
};

/* Three things are kept apart: what C++ prints is the answer, that C++ accepts it is that there is one, and what the
 * true function is stands here. */
struct la_checks {
    uint32_t n;
    struct la_check at[LA_MAX_CHECKS + 1];
    const char *tiler; /* how the second argument was taken, or NULL */
    const char
        *static_reading; /* the answer when every integer is static, where it is another one; else NULL */
    const char *
        true_function; /* the layout that the law asks for, where the answer is none; "none" when there is none */
    const char *advice; /* what to write instead, or NULL */
};
/* text may be NULL: then there is no other reading of it. */
bool la_check(struct la_ctx *cx, const char *text, const struct la_program *program, struct la_checks *out);

/* ---- partition.c: who has which elements of a tile ----------------------------------------------------------- */

enum {
    LA_PARTITION_THREADS = 1024, /* of a block: CUDA's own limit */
    LA_PARTITION_ELEMENTS =
        1 << 18,           /* threads times values, and of a tile: a block's registers hold 2^16 words */
    LA_PARTITION_RANK = 8, /* modes of a tile and of what it is cut from */
    LA_EXAMPLES = 8        /* of what is wrong that are told one by one */
};

/* tv maps (thread, value) to an index in the tile, leftmost mode first, as get_layoutS_TV of a TiledCopy does. */
struct la_partition {
    struct la_layout tv;
    const struct la_node *tiler; /* the extents of the tile */
    int64_t threads, values, elements;
    const int64_t *index; /* [thread + threads * value]: tv, evaluated */
};

/* What make_tiled_copy makes of a thread and a value layout; refused only where no such tile can be: whether every
 * element has one owner is for la_coverage to say. */
struct la_partition la_partition_make(struct la_ctx *cx, struct la_layout thr, struct la_layout val);
struct la_partition la_partition_of_tv(struct la_ctx *cx, struct la_layout tv, const struct la_node *tiler);
/* The coordinate of an index in the tile: (1,(0,2)) has as many integers as the tiler has modes. */
const struct la_node *la_partition_coord(struct la_ctx *cx, const struct la_partition *p, int64_t index);

/* How often elements of the tile are touched: once, if all is well. */
struct la_coverage {
    int64_t missed, doubled; /* elements */
    int64_t least, most;     /* owners of an element */
    int64_t outside;         /* pairs (thread, value) that meet no element of the tile */
    uint32_t missed_told, doubled_told, outside_told;
    int64_t missed_at[LA_EXAMPLES];     /* indices in the tile */
    int64_t doubled_at[LA_EXAMPLES][3]; /* an index, and two of its owners as thread + threads * value */
    int64_t outside_at[LA_EXAMPLES];    /* thread + threads * value */
};
struct la_coverage la_coverage_of(struct la_ctx *cx, const struct la_partition *p);

/* ---- reach.c: where in memory a partition reaches ------------------------------------------------------------- */

enum {
    LA_NEVER = 1 << LA_PARTITION_RANK,
    LA_REACH_PERIOD =
        1 << 18 /* elements: shared memory has fewer bytes, so no swizzle of it reaches further */
};

/* Tiles that cost the same: their origins agree modulo the period, and they lie at the same edges of the shape. */
struct la_tiles {
    int64_t base, count;
    uint32_t edges; /* bit k: the last tile along mode k, which the shape cuts short */
};

/* A partition laid over a memory layout, tile by tile. */
struct la_reach {
    struct la_partition part;
    struct la_layout memory; /* in elements; may be swizzled */
    uint32_t bits;           /* of an element */
    const int64_t *offset;   /* [thread + threads * value]: from the tile's origin, before the swizzle */
    const uint16_t
        *outside;   /* likewise: bit k: beyond the shape in a tile at the edge of mode k; LA_NEVER: in all */
    uint32_t edges; /* all bits of `outside` */
    int64_t tiles, period;
    uint32_t kinds;
    const struct la_tiles *kind; /* the tile at the origin is of kind 0 */
};
/* Origins are told apart modulo `period` at least; 0: as far as costs depend on them. */
struct la_reach la_reach_make(struct la_ctx *cx, const struct la_partition *p, struct la_layout memory,
                              uint32_t bits, int64_t period);
/* The offset in elements of a place, in a tile of a kind: the swizzle applied. */
int64_t la_reach_at(const struct la_reach *r, const struct la_tiles *kind, int64_t place);

/* ---- vectors.c: the widest access ----------------------------------------------------------------------------- */

enum { LA_VECTOR_BITS = 128 }; /* of the widest load or store of a lane */

enum la_stop {
    LA_STOP_WIDTH,     /* it has 128 bits */
    LA_STOP_VALUES,    /* a thread has no more values, or not a multiple */
    LA_STOP_ORDER,     /* the next value is no neighbour in memory */
    LA_STOP_SWIZZLE,   /* ... nor where it is swizzled to */
    LA_STOP_ALIGNMENT, /* some access would begin at an odd place */
};
struct la_vectors {
    int64_t widest; /* elements, a power of two */
    enum la_stop stop;
    int32_t mode;     /* of the memory layout, where one mode is to blame; else -1 */
    int64_t stride;   /* its stride */
    bool is_static;   /* CuTe can prove that neighbours are: a static stride of 1 */
    const char *text; /* a sentence with the numbers */
};
struct la_vectors la_vectors_of(struct la_ctx *cx, const struct la_reach *r);
const char *la_stop_name(enum la_stop stop);

/* ---- traffic.c: what a partition costs ------------------------------------------------------------------------ */

enum { LA_TRAFFIC_INSTRUCTIONS = 1 << 20 }; /* that are looked at: a quarter of a second */

struct la_totals {
    int64_t instructions, wavefronts, wavefronts_ideal, sectors, sectors_ideal, lines, lines_ideal;
    int64_t straddling; /* accesses of a lane that the edge of the shape cuts */
};

/* Instruction `step` of a warp moves the values [step*vector, (step+1)*vector) of its threads. */
struct la_traffic {
    const struct la_reach *reach;
    enum la_space space;
    enum la_access_op op;
    int32_t lanes, bytes; /* as in struct la_access */
    int64_t vector;
    int64_t warps, steps;       /* of a tile */
    const struct la_cost *cost; /* [warp * steps + step], in the tile at the origin */
    struct la_totals tile, all; /* of that tile, and of all tiles */
    int64_t worst_warp, worst_step;
    const struct la_tiles *worst_kind; /* the instruction furthest from its ideal */
};
struct la_traffic la_traffic_of(struct la_ctx *cx, const struct la_reach *r, enum la_space space,
                                enum la_access_op op, int32_t lanes, int64_t vector);
struct la_access la_traffic_access(const struct la_traffic *t, const struct la_tiles *kind, int64_t warp,
                                   int64_t step);

/* ---- facts.c: a layout as a map of numbers -------------------------------------------------------------------- */

enum {
    LA_FACTS_CELLS = 1 << 18, /* elements that are counted one by one: a millisecond */
    LA_FACTS_SPAN = 1 << 20   /* ... within so many offsets: 4 MiB */
};

struct la_facts {
    int64_t size, low, high;  /* the least and the greatest offset */
    bool counted;             /* element by element; else `known` says what the strides alone prove */
    bool known;               /* distinct, unused, injective hold */
    int64_t distinct, unused; /* offsets that are taken; ones between low and high that are not */
    bool injective;
    int64_t same[2];    /* counted and not injective: two indices with one offset */
    uint32_t gaps_told; /* counted: the first gaps, [begin, end) */
    int64_t gap[LA_EXAMPLES][2];
    bool permutation;                      /* counted: each of 0..size-1 once */
    int64_t fixed, cycles, longest, order; /* of a permutation; order 0: beyond 64 bits */
    /* Over bits: layout(x) is the xor of column[j] for the bits j of x. */
    bool linear;
    uint32_t bits, rank;
    int64_t column[64];
};
struct la_facts la_facts_of(struct la_ctx *cx, struct la_layout a);

/* ---- swizzle_search.c: the swizzle that serves the accesses best ----------------------------------------------- */

enum {
    LA_SEARCH_ACCESSES = 8,   /* to one layout: a few copies and the operands of an MMA */
    LA_SEARCH_TOLD = 16,      /* the best that are told */
    LA_SEARCH_COSTS = 1 << 22 /* instructions that are costed: half a second */
};

/* How a partition accesses the layout; lanes as in struct la_access, vector in elements. */
struct la_search_access {
    struct la_partition part;
    enum la_access_op op;
    int32_t lanes;
    int64_t vector;
};

/* A way to lay the elements out, and its wavefronts. Without a swizzle bits is 0; without padding it is 0. */
struct la_candidate {
    struct la_swizzle swizzle;
    int64_t padding; /* elements after each row, as many as the leading stride grows */
    int64_t wavefronts, each[LA_SEARCH_ACCESSES];
};

struct la_search {
    uint32_t accesses, legal, n;              /* legal swizzles; how many of them are told */
    int64_t ideal;                            /* wavefronts */
    struct la_candidate none;                 /* the layout as it is */
    struct la_candidate best[LA_SEARCH_TOLD]; /* swizzles, the best first */
    bool paddable;
    int64_t leading;            /* the stride that padding makes longer */
    struct la_candidate padded; /* the least padding that does as well as the best swizzle, or the best */
    struct la_layout padded_layout;
};
struct la_search la_swizzle_search(struct la_ctx *cx, struct la_layout memory, uint32_t bits, uint32_t n,
                                   const struct la_search_access *accesses);

/* A swizzle of offsets in units of `from` bits as one in units of `to` bits: <3,4,3> of bytes is <3,3,3> of half_t.
 * Fails with domain when it swizzles bits below the unit. */
struct la_swizzle la_swizzle_in_units(struct la_ctx *cx, struct la_swizzle s, uint32_t from, uint32_t to);
/* 128, 64 or 32 when TMA and wgmma know the swizzle by that many bytes, else 0. */
int32_t la_swizzle_hardware(struct la_swizzle s, uint32_t bits);

/* ---- wgmma.c: shared memory as wgmma reads it ----------------------------------------------------------------- */

enum la_major { LA_MAJOR_K, LA_MAJOR_MN };

/* What make_gmma_desc makes of a layout (mn, k) of shared memory, or why it refuses it. */
struct la_wgmma {
    bool legal;
    const char *why;         /* not legal: a sentence with the numbers */
    const char *canonical;   /* the form that was looked for, in units of 16 bytes: "((8,n),2):((8,SBO),1)" */
    const char *found;       /* the layout of one instruction's operand in these units; NULL: not even that */
    int32_t swizzle;         /* 0, 32, 64 or 128 bytes */
    int64_t leading, stride; /* LBO and SBO, in bytes */
    int64_t alignment;       /* of the start address, so that the base offset is 0 */
    uint64_t descriptor;     /* all fields but the start address */
    int64_t instructions[2]; /* along mn and k */
    int64_t step[2];         /* bytes from one to the next along mn and k; -1: not the same everywhere */
};
/* An instruction takes `mn` rows or columns (64 of A, N of B) and 256 bits along k. */
struct la_wgmma la_wgmma_of(struct la_ctx *cx, struct la_layout smem, uint32_t bits, enum la_major major,
                            int64_t mn);

/* ---- tma.c: boxes of a tensor --------------------------------------------------------------------------------- */

enum { LA_TMA_RANK = 5 };

/* What a tensor map says of a tile that goes between a global tensor and shared memory, or why none can. */
struct la_tma {
    bool legal;
    const char *why;
    uint32_t rank;
    struct la_tma_dim {
        uint32_t mode;          /* of the tensor */
        int64_t extent, stride; /* elements; bytes */
        int64_t box, element_stride;
    } dim[LA_TMA_RANK];
    int32_t swizzle; /* 0, 32, 64 or 128 bytes */
    int64_t box_bytes;
    int64_t instructions; /* for the tile */
    int64_t alignment;    /* of the tile in shared memory */
    uint32_t repeats;     /* the boxes of a tile are those of all repeats, the first the fastest */
    const struct la_tma_repeat {
        uint32_t mode;
        int64_t extent;
        int64_t step;   /* of the coordinate along the mode, from one box to the next */
        int64_t stride; /* in shared memory, in elements before the swizzle */
    } * repeat;
};
struct la_tma la_tma_of(struct la_ctx *cx, struct la_layout tensor, struct la_layout smem, uint32_t bits);

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

/* access.c: what one instruction of one warp costs in shared and in global memory.
 *
 *     32 lanes load 4 bytes at 0, 128, 256, ...: 32 words of bank 0, so 32 wavefronts, where 1 could do
 *
 * Shared memory serves an instruction phase by phase, as many lanes at a time as ask for at most 128 bytes; a
 * phase takes as many wavefronts as its busiest bank has distinct words. In global memory the 32-byte sectors
 * that are touched are counted. These rules reproduce 1,576 measurements of the hardware
 * (tests/golden/access/h200.jsonl). Which lanes there are and what they ask for is not decided here: see
 * traffic.c. */
#include "internal.h"

#include <string.h>

enum {
    WORD_BYTES = 4,
    ROW_BYTES = LA_BANKS * WORD_BYTES, /* what the banks give in one wavefront */
    SECTOR_BYTES = 32,
    LINE_BYTES = 128,
    MATRIX_ROWS = 8,
    MATRIX_ROW_BYTES = 16
};

static const char *const op_names[] = {"load",     "store",          "ldmatrix", "ldmatrix.trans",
                                       "stmatrix", "stmatrix.trans", "cp.async"};
enum { OPS = sizeof op_names / sizeof *op_names };

const char *la_access_op_name(enum la_access_op op)
{
    return op_names[op];
}

bool la_access_op_find(const char *name, enum la_access_op *out)
{
    for (unsigned i = 0; i < OPS; i++)
        if (strcmp(name, op_names[i]) == 0) {
            *out = (enum la_access_op)i;
            return true;
        }
    return false;
}

bool la_access_is_matrix(enum la_access_op op)
{
    return op >= LA_LDMATRIX && op <= LA_STMATRIX_TRANS;
}

/* ---- what an instruction may be ---- */

static void check_matrix(struct la_ctx *cx, const struct la_access *a)
{
    const int32_t matrices = a->lanes / MATRIX_ROWS;
    if (a->space != LA_SHARED)
        la_fail(cx, LA_E_domain, "%s reaches shared memory only", op_names[a->op]);
    if (a->bytes != MATRIX_ROW_BYTES)
        la_fail(cx, LA_E_domain, "a row of %s has 16 bytes, not %d", op_names[a->op], a->bytes);
    if (a->lanes % MATRIX_ROWS != 0 || (matrices != 1 && matrices != 2 && matrices != 4))
        la_fail(cx, LA_E_domain, "%s takes the addresses of 8, 16 or 32 rows, 8 a matrix, not of %d",
                op_names[a->op], a->lanes);
    if (a->active != (a->lanes == LA_LANES ? UINT32_MAX : (UINT32_C(1) << a->lanes) - 1))
        la_fail(cx, LA_E_domain, "%s needs the address of every row", op_names[a->op]);
}

static void check_plain(struct la_ctx *cx, const struct la_access *a)
{
    const int32_t least = a->op == LA_CP_ASYNC ? WORD_BYTES : 1;
    if (a->bytes < least || a->bytes > 16 || (a->bytes & (a->bytes - 1)) != 0)
        la_fail(cx, LA_E_domain, "a lane of %s moves %s bytes, not %d", op_names[a->op],
                a->op == LA_CP_ASYNC ? "4, 8 or 16" : "1, 2, 4, 8 or 16", a->bytes);
    if (a->lanes != LA_LANES)
        la_fail(cx, LA_E_domain, "a warp has 32 lanes, not %d", a->lanes);
}

void la_access_check(struct la_ctx *cx, const struct la_access *a)
{
    if (la_access_is_matrix(a->op))
        check_matrix(cx, a);
    else
        check_plain(cx, a);
    for (int32_t i = 0; i < a->lanes; i++) {
        if (!(a->active >> i & 1))
            continue;
        if (a->at[i] % a->bytes != 0)
            la_fail(cx, LA_E_domain,
                    "lane %d: the offset %lld is not a multiple of the %d bytes of the access", i,
                    (long long)a->at[i], a->bytes);
        if (a->at[i] > INT64_MAX - ROW_BYTES)
            la_fail(cx, LA_E_overflow, "lane %d: the offset %lld ends beyond 64 bits", i,
                    (long long)a->at[i]);
    }
}

/* ---- shared memory ---- */

/* Do all pairs of active lanes l and l^x read the same address? */
static bool paired(const struct la_access *a, int32_t x)
{
    for (int32_t i = 0; i < LA_LANES; i++)
        if ((i & x) == 0 && (a->active >> i & 1) && (a->active >> (i + x) & 1) && a->at[i] != a->at[i + x])
            return false;
    return true;
}

/* Loads of 8 and 16 bytes, unlike stores, serve twice as many lanes at a time where neighbours share
 * addresses. */
int32_t la_access_phase_lanes(const struct la_access *a)
{
    if (la_access_is_matrix(a->op))
        return MATRIX_ROWS;
    if (a->bytes <= WORD_BYTES)
        return LA_LANES;
    const int32_t lanes = ROW_BYTES / a->bytes;
    return a->op == LA_LOAD && (paired(a, 1) || paired(a, 2)) ? 2 * lanes : lanes;
}

/* Lanes ask for aligned units: a word, or all the words of a wider access, which lie in as many banks. A slot
 * is the banks of a unit, so that units of one slot clash and units of different slots do not. */
static int32_t unit_bytes(const struct la_access *a)
{
    return a->bytes < WORD_BYTES ? WORD_BYTES : a->bytes;
}

/* The distinct units that the lanes [begin, end) ask for, as chains of one lane a unit, one chain a slot, the
 * largest unit first: lanes mostly ask for rising addresses, which then go to the front. */
struct chains {
    int8_t head[LA_BANKS], next[LA_LANES]; /* a lane, or -1 */
    uint8_t length[LA_BANKS];
    int64_t unit[LA_LANES];
    uint32_t sharing[LA_LANES]; /* the lanes that ask for the same unit */
};

/* Fills the chains of a phase; returns the length of the longest. */
static int32_t chain_units(const struct la_access *a, int32_t begin, int32_t end, struct chains *c)
{
    const int shift = __builtin_ctz((unsigned)unit_bytes(a));
    const int64_t slots = ROW_BYTES >> shift;
    int32_t longest = 0;
    memset(c->head, -1, sizeof c->head);
    memset(c->length, 0, sizeof c->length);
    for (int32_t i = begin; i < end; i++) {
        if (!(a->active >> i & 1))
            continue;
        const int64_t unit = a->at[i] >> shift, slot = unit & (slots - 1);
        int8_t *link = &c->head[slot];
        while (*link >= 0 && c->unit[*link] > unit)
            link = &c->next[*link];
        if (*link >= 0 && c->unit[*link] == unit) {
            c->sharing[*link] |= UINT32_C(1) << i;
            continue;
        }
        c->unit[i] = unit;
        c->sharing[i] = UINT32_C(1) << i;
        c->next[i] = *link;
        *link = (int8_t)i;
        if (++c->length[slot] > longest)
            longest = c->length[slot];
    }
    return longest;
}

static struct la_cost shared_cost(const struct la_access *a)
{
    const int32_t together = la_access_phase_lanes(a);
    struct la_cost cost = {.requests = a->active != 0};
    struct chains c;
    for (int32_t i = 0; i < a->lanes; i += together) {
        const int32_t ways = chain_units(a, i, i + together, &c);
        cost.wavefronts += ways;
        cost.wavefronts_ideal += ways > 0;
        cost.ways = ways > cost.ways ? ways : cost.ways;
    }
    return cost;
}

size_t la_access_hits(const struct la_access *a, struct la_hit hits[LA_ACCESS_HITS])
{
    const int32_t together = la_access_phase_lanes(a), words = unit_bytes(a) / WORD_BYTES;
    struct chains c;
    size_t n = 0;
    for (int32_t begin = 0; begin < a->lanes; begin += together) {
        chain_units(a, begin, begin + together, &c);
        for (int32_t bank = 0; bank < LA_BANKS; bank++) {
            const size_t first = n;
            for (int8_t i = c.head[bank / words]; i >= 0; i = c.next[i]) {
                size_t k = n++; /* chains run from the largest to the smallest */
                for (; k > first; k--)
                    hits[k] = hits[k - 1];
                hits[k] = (struct la_hit){begin / together, bank, c.unit[i] * words + bank % words,
                                          c.sharing[i]};
            }
        }
    }
    return n;
}

/* ---- global memory ---- */

/* How many blocks of 2^shift bytes hold the lanes' first bytes. Lanes mostly ask for rising addresses, so a
 * block beyond all others is new without a search. */
static int32_t distinct_blocks(const struct la_access *a, int shift)
{
    int64_t block[LA_LANES], highest = INT64_MIN;
    int32_t n = 0;
    for (int32_t i = 0; i < a->lanes; i++) {
        if (!(a->active >> i & 1))
            continue;
        const int64_t b = a->at[i] >> shift;
        int32_t k = b > highest ? 0 : n;
        while (k > 0 && block[k - 1] != b)
            k--;
        if (k > 0)
            continue;
        block[n++] = b;
        highest = b > highest ? b : highest;
    }
    return n;
}

static struct la_cost global_cost(const struct la_access *a)
{
    const int32_t bytes = distinct_blocks(a, __builtin_ctz((unsigned)a->bytes)) * a->bytes;
    return (struct la_cost){.sectors = distinct_blocks(a, __builtin_ctz(SECTOR_BYTES)),
                            .sectors_ideal = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES,
                            .lines = distinct_blocks(a, __builtin_ctz(LINE_BYTES)),
                            .lines_ideal = (bytes + LINE_BYTES - 1) / LINE_BYTES,
                            .requests = a->active != 0};
}

struct la_cost la_access_cost(const struct la_access *a)
{
    return a->space == LA_SHARED ? shared_cost(a) : global_cost(a);
}

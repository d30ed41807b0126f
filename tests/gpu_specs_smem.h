/* gpu_specs_smem.h: copy specs through shared memory by ldmatrix, stmatrix and TMA: hand-picked ones, and ones drawn at
 * random from a seed. */
#ifndef GPU_SPECS_SMEM_H
#define GPU_SPECS_SMEM_H

#include "gpu_specs.h"

/* Both ways through shared memory: thr, val and what else the way in has; then those of the way out. */
#define VIA(type, src, dst, smem, thr, val, in, dst_thr, dst_val, out) \
    "{\"kind\":\"copy\",\"type\":\"" type "\",\"src\":\"" src "\",\"dst\":\"" dst "\",\"smem\":\"" smem \
    "\",\"thr\":\"" thr "\",\"val\":\"" val "\"" in ",\"dst_thr\":\"" dst_thr "\",\"dst_val\":\"" dst_val \
    "\"" out "}"
#define LDSM(atom) ",\"smem_load\":\"SM75_" atom "\""
#define STSM(atom) ",\"smem_store\":\"SM90_" atom "\""
#define TMA_LOAD ",\"atom\":\"SM90_TMA_LOAD\""
#define TMA_STORE ",\"dst_atom\":\"SM90_TMA_STORE\""

/* Partitions of the tile (32,64) of 256 threads and 8 values: rows of 8 values; registers as ldmatrix has them, not
 * transposed and transposed. */
#define ROWS "(32,8):(8,1)", "(1,8):(0,1)"
#define MATRIX_N "(8,(4,8)):(4,(1,32))", "(4,2):(2,1)"
#define MATRIX_T "(4,(8,8)):(1,(4,32))", "(8,1):(1,0)"
#define SWIZZLED "composition(Swizzle<3,3,3>{},(32,64):(64,1))"
#define VIA_P(type, src, dst, smem, in_part, in, out_part, out) \
    VIA_(type, src, dst, smem, in_part, in, out_part, out)
#define VIA_(type, src, dst, smem, thr, val, in, dst_thr, dst_val, out) \
    VIA(type, src, dst, smem, thr, val, in, dst_thr, dst_val, out)
/* By TMA both ways: the partition only says what the tile is. */
#define BOXES(type, thr, val, src, dst, smem, more) \
    VIA(type, src, dst, smem, thr, val, TMA_LOAD, thr, val, TMA_STORE more)

/* Every one must be verified. */
static const char *const smem_specs[] = {
    /* ldmatrix and stmatrix of four matrices: rows to rows, rows to columns, columns to rows */
    VIA_P("half_t", "(128,256):(256,1)", "(128,256):(256,1)", SWIZZLED, ROWS, "", MATRIX_N,
          LDSM("U32x4_LDSM_N")),
    VIA_P("half_t", "(128,256):(256,1)", "(128,256):(1,128)", SWIZZLED, ROWS, "", MATRIX_T,
          LDSM("U16x8_LDSM_T")),
    VIA_P("bfloat16_t", "(128,256):(256,1)", "(128,256):(256,1)", SWIZZLED, MATRIX_N, STSM("U32x4_STSM_N"),
          ROWS, ""),
    VIA_P("half_t", "(128,256):(1,128)", "(128,256):(256,1)", SWIZZLED, MATRIX_T, STSM("U16x8_STSM_T"), ROWS,
          ""),
    VIA_P("half_t", "(128,256):(1,128)", "(128,256):(1,128)", SWIZZLED, MATRIX_T, STSM("U16x8_STSM_T"),
          MATRIX_T, LDSM("U16x8_LDSM_T")),
    VIA_P("half_t", "(128,256):(256,1)", "(128,256):(1,128)", SWIZZLED, MATRIX_N, STSM("U32x4_STSM_N"),
          MATRIX_T, LDSM("U16x8_LDSM_T") ",\"grid\":3,\"unroll\":2"),
    /* ... of one and of two, padded, at the edges of odd shapes, where accesses straddle them */
    VIA_P("half_t", "(101,203):(203,1)", "(101,203):(204,1)", "(32,64):(72,1)", ROWS, "", MATRIX_N,
          LDSM("U32x1_LDSM_N")),
    VIA_P("half_t", "(101,203):(203,1)", "(101,203):(1,104)", "(32,64):(72,1)", ROWS, "", MATRIX_T,
          LDSM("U16x4_LDSM_T") ",\"grid\":2,\"unroll\":3"),
    VIA_P("half_t", "(101,203):(204,1)", "(101,203):(203,1)", "(32,64):(72,1)", MATRIX_N,
          STSM("U32x2_STSM_N"), ROWS, ""),
    VIA_P("half_t", "(101,203):(1,104)", "(101,203):(208,1)", "(32,64):(72,1)", MATRIX_T,
          STSM("U16x2_STSM_T"), ROWS, ",\"grid\":3"),
    VIA_P("half_t", "(101,203):(1,101)", "(101,203):(1,101)", "(32,64):(72,1)", MATRIX_T,
          STSM("U16x4_STSM_T"), MATRIX_T, LDSM("U16x2_LDSM_T")),
    /* ... of bytes and words, and behind cp.async */
    VIA("uint8_t", "(64,256):(256,1)", "(64,256):(256,1)", "composition(Swizzle<3,4,3>{},(32,128):(128,1))",
        "(32,8):(8,1)", "(1,16):(0,1)", "", "(8,(4,8)):(4,(1,32))", "(4,4):(4,1)", LDSM("U32x4_LDSM_N")),
    VIA("float", "(33,70):(72,1)", "(33,70):(1,36)", "composition(Swizzle<2,2,3>{},(32,16):(16,1))",
        "(32,4):(4,1)", "(1,4):(0,1)", "", "(8,(4,4)):(4,(1,32))", "(4,1):(1,0)", LDSM("U32x4_LDSM_N")),
    VIA("float", "(33,70):(1,36)", "(33,70):(72,1)", "composition(Swizzle<2,2,3>{},(32,16):(16,1))",
        "(8,(4,4)):(4,(1,32))", "(4,1):(1,0)", STSM("U32x2_STSM_N"), "(32,4):(4,1)", "(1,4):(0,1)", ""),
    VIA_P("half_t", "(160,512):(512,1)", "(160,512):(1,160)", SWIZZLED, ROWS,
          ",\"atom\":\"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>\",\"stages\":3,\"grid\":5", MATRIX_T,
          LDSM("U16x8_LDSM_T")),
    VIA_P("half_t", "(101,203):(208,1)", "(101,203):(208,1)", SWIZZLED, ROWS,
          ",\"atom\":\"SM80_CP_ASYNC_CACHEALWAYS<uint128_t>\",\"stages\":1", MATRIX_N, LDSM("U32x4_LDSM_N")),
    /* TMA both ways: every swizzle, none, one box or many */
    BOXES("half_t", "(16,16):(16,1)", "(4,8):(8,1)", "(256,512):(512,1)", "(256,512):(512,1)",
          "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{},(64,128))", ""),
    BOXES("half_t", "(16,16):(16,1)", "(4,8):(8,1)", "(250,504):(504,1)", "(250,504):(512,1)",
          "tile_to_shape(GMMA::Layout_K_SW64_Atom<half_t>{},(64,128))", ",\"stages\":3,\"grid\":2"),
    BOXES("float", "(16,16):(16,1)", "(2,2):(2,1)", "(250,500):(504,1)", "(250,500):(512,1)",
          "tile_to_shape(GMMA::Layout_K_SW32_Atom<float>{},(32,32))", ",\"stages\":1,\"grid\":7"),
    BOXES("half_t", "(16,16):(16,1)", "(8,4):(4,1)", "(512,256):(1,512)", "(512,256):(1,520)",
          "tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{},(128,64))", ""),
    BOXES("uint8_t", "(8,16):(16,1)", "(8,8):(8,1)", "(200,304):(304,1)", "(200,304):(320,1)",
          "(64,128):(128,1)", ""),
    BOXES("double", "(8,4):(4,1)", "(2,4):(4,1)", "(33,46):(46,1)", "(33,46):(48,1)", "(16,16):(32,1)",
          ",\"stages\":4,\"grid\":1"),
    BOXES("float", "128:1", "2:1", "10240:1", "10240:1", "256:1", ""),
    BOXES("half_t", "(4,8,2):(16,2,1)", "(2,4,4):(16,4,1)", "(9,60,24):(1536,24,1)", "(9,60,24):(1920,32,1)",
          "(8,32,8):(256,8,1)", ""),
    /* ... of tensors with more modes than the tile, and with modes of several extents */
    BOXES("float", "(8,8):(8,1)", "(2,4):(4,1)", "(40,68,3,2):(72,1,2880,8640)", "(40,68,3,2):(432,1,72,216)",
          "(16,32):(32,1)", ""),
    BOXES("half_t", "(8,8):(8,1)", "(4,8):(8,1)", "((16,7),(64,3)):((64,3072),(1,1024))", "(112,192):(192,1)",
          "composition(Swizzle<3,3,3>{},(32,64):(64,1))", ""),
    /* TMA in, threads or ldmatrix out; threads, cp.async or stmatrix in, TMA out */
    VIA("half_t", "(250,501):(504,1)", "(250,501):(1,250)", "(64,128):(128,1)", "(16,16):(16,1)",
        "(4,8):(8,1)", TMA_LOAD ",\"stages\":2", "(8,32):(1,8)", "(8,4):(1,8)", ""),
    VIA_P("half_t", "(250,501):(504,1)", "(250,501):(1,256)", SWIZZLED, ROWS,
          TMA_LOAD ",\"stages\":4,\"grid\":6", MATRIX_T, LDSM("U16x8_LDSM_T")),
    VIA("half_t", "(250,504):(505,1)", "(250,504):(504,1)", "(64,128):(128,1)", "(16,16):(16,1)",
        "(4,8):(8,1)", "", "(16,16):(16,1)", "(4,8):(8,1)", TMA_STORE ",\"grid\":3,\"unroll\":2"),
    VIA_P("half_t", "(250,504):(1,256)", "(250,504):(504,1)", SWIZZLED, MATRIX_T, STSM("U16x8_STSM_T"), ROWS,
          TMA_STORE ",\"grid\":5"),
    VIA_P("half_t", "(250,504):(504,1)", "(250,504):(512,1)", SWIZZLED, ROWS,
          ",\"atom\":\"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>\",\"stages\":3,\"grid\":4", ROWS, TMA_STORE),
    /* elements of 4 bits: by threads, ldmatrix, TMA */
    SPEC("int4b_t", "uint128_t", "(16,4):(4,1)", "(1,32):(0,1)", "(64,256):(256,1)", "(64,256):(288,1)", ""),
    SPEC("float_e2m1_t", "uint8_t", "(8,8):(8,1)", "(2,2):(2,1)", "(61,70):(70,1)", "(61,70):(74,1)", ""),
    SPEC("uint4_t", "uint32_t", "(8,8):(1,8)", "(8,1):(1,0)", "((64,2),37):((1,2368),64)", "(128,37):(1,136)",
         ""),
    VIA("uint4b_t", "(100,500):(512,1)", "(100,500):(520,1)",
        "composition(Swizzle<3,5,3>{},(32,256):(256,1))", "(32,8):(8,1)", "(1,32):(0,1)", "",
        "(8,(4,8)):(4,(1,32))", "(4,8):(8,1)", LDSM("U32x4_LDSM_N")),
    BOXES("int4_t", "(32,8):(8,1)", "(1,32):(0,1)", "(100,480):(512,1)", "(100,480):(544,1)",
          "tile_to_shape(GMMA::Layout_K_SW128_Atom<int4_t>{},(32,256))", ""),
};
enum { SMEM_SPECS = sizeof smem_specs / sizeof smem_specs[0] };

/* ---- drawn at random ---- */

/* A (rows, columns) pair of numbers as it stands in a spec, the other way round when turned. */
static inline struct drawn pair(bool turned, const char *a, const char *b)
{
    struct drawn out = {""};
    put(&out, "(%s,%s)", turned ? b : a, turned ? a : b);
    return out;
}

static inline struct drawn digits(int n)
{
    struct drawn out = {""};
    put(&out, "%d", n);
    return out;
}

static inline struct drawn layout2(bool turned, int a, int b, int stride_a, int stride_b)
{
    struct drawn out = pair(turned, digits(a).text, digits(b).text);
    put(&out, ":%s", pair(turned, digits(stride_a).text, digits(stride_b).text).text);
    return out;
}

/* A way through the tile: its partition, and the fields of its atoms. */
struct way {
    struct drawn thr, val;
    char atoms[100];
};

/* How ldmatrix and stmatrix hold the tile: the registers of a warp lie over 8 rows of 16 bytes a matrix, or transposed. */
struct matrices {
    bool turned, trans;
    int bits, count, warps[2], repeat; /* of instructions along the rows */
    int tile[2];                       /* rows, columns */
};

static inline struct matrices draw_matrices(uint64_t *state, int bits)
{
    struct matrices m = {.turned = draw(state, 2),
                         .trans = bits <= 16 && draw(state, 2),
                         .bits = bits,
                         .count = 1 << draw(state, 3),
                         .warps = {1 << draw(state, 2), 1 << draw(state, 3)},
                         .repeat = 1 + draw(state, 2)};
    m.tile[0] = 8 * m.count * m.repeat * m.warps[0];
    m.tile[1] = 128 / bits * m.warps[1];
    return m;
}

static inline struct way matrix_way(const struct matrices *m, bool store)
{
    struct way w = {0};
    const int rows = m->trans ? 4 : 8, columns = 32 / rows, both = m->warps[0] * 32;
    const int values = (m->trans ? 2 : 1) * m->count * m->repeat, beside = (m->trans ? 16 : 32) / m->bits;
    struct drawn extent[2] = {{""}, {""}}, stride[2] = {{""}, {""}};
    put(&extent[0], "(%d,%d)", rows, m->warps[0]);
    put(&stride[0], "(%d,32)", m->trans ? 1 : 4);
    put(&extent[1], "(%d,%d)", columns, m->warps[1]);
    put(&stride[1], "(%d,%d)", m->trans ? 4 : 1, both);
    w.thr = pair(m->turned, extent[0].text, extent[1].text);
    put(&w.thr, ":%s", pair(m->turned, stride[0].text, stride[1].text).text);
    w.val = layout2(m->turned, values, beside, beside, 1);
    snprintf(w.atoms, sizeof w.atoms, ",\"smem_%s\":\"%s_U%dx%d_%s_%s\"", store ? "store" : "load",
             store ? "SM90" : "SM75", m->trans ? 16 : 32, m->trans ? 2 * m->count : m->count,
             store ? "STSM" : "LDSM", m->trans ? "T" : "N");
    return w;
}

/* Each thread a block of the tile, as tall as its number of threads allows; of `beside` columns at least. */
static inline struct way thread_way(uint64_t *state, bool turned, const int tile[2], int threads, int beside)
{
    struct way w = {0};
    int tall = 1 << draw(state, 6);
    while (tall > 1 &&
           (tile[0] % tall != 0 || threads % tall != 0 || tile[1] % (threads / tall * beside) != 0))
        tall /= 2;
    while (tile[1] % (threads / tall * beside) != 0)
        tall *= 2;
    const int wide = threads / tall, values[2] = {tile[0] / tall, tile[1] / wide};
    const bool by_rows = beside > 1 || draw(state, 2);
    w.thr = layout2(turned, tall, wide, wide, 1);
    w.val = layout2(turned, values[0], values[1], by_rows ? values[1] : 1, by_rows ? 1 : values[0]);
    return w;
}

/* Rows of 16-byte pieces: one after the other, padded, swizzled, or piece beside piece. */
static inline struct drawn draw_rows(uint64_t *state, const struct matrices *m)
{
    struct drawn out = {""}, columns = {""}, strides = {""};
    const int piece = 128 / m->bits, kind = draw(state, 3), *tile = m->tile;
    int log = 0;
    while (1 << log < piece)
        log++;
    if (kind == 0)
        put(&out, "Swizzle<%d,%d,%d> o 0 o ", 1 + draw(state, 3), log, 3 + draw(state, 2));
    if (kind == 2) {
        put(&columns, "(%d,%d)", piece, tile[1] / piece);
        put(&strides, "(1,%d)", tile[0] * piece);
        put(&out, "%s:%s", pair(m->turned, digits(tile[0]).text, columns.text).text,
            pair(m->turned, digits(piece).text, strides.text).text);
    } else {
        const int pitch = tile[1] + (kind == 1 ? piece * draw(state, 3) : 0);
        put(&out, "%s", layout2(m->turned, tile[0], tile[1], pitch, 1).text);
    }
    return out;
}

struct drawn_type {
    const char *name;
    int bits;
};

static inline struct drawn_type draw_type(uint64_t *state, int most_bits)
{
    static const struct drawn_type types[] = {{"uint8_t", 8}, {"half_t", 16},     {"bfloat16_t", 16},
                                              {"float", 32},  {"tfloat32_t", 32}, {"float_e4m3_t", 8},
                                              {"double", 64}};
    struct drawn_type type;
    do
        type = types[draw(state, 7)];
    while (type.bits > most_bits);
    return type;
}

/* Some tiles of a shape, and often a part of one. */
static inline void draw_extents(uint64_t *state, int rank, const int *tile, int *extents)
{
    for (int k = 0; k < rank; k++) {
        extents[k] = tile[k] * (1 + draw(state, 3));
        if (draw(state, 2))
            extents[k] -= draw(state, tile[k]);
    }
}

static inline void print_ways(char *out, size_t size, const char *type, const char *src, const char *dst,
                              const char *smem, const struct way *in, const struct way *to, const char *more)
{
    snprintf(
        out, size,
        "{\"kind\":\"copy\",\"type\":\"%s\",\"src\":\"%s\",\"dst\":\"%s\",\"smem\":\"%s\",\"thr\":\"%s\","
        "\"val\":\"%s\"%s,\"dst_thr\":\"%s\",\"dst_val\":\"%s\"%s%s}",
        type, src, dst, smem, in->thr.text, in->val.text, in->atoms, to->thr.text, to->val.text, to->atoms,
        more);
}

/* Through ldmatrix, stmatrix or both; by cp.async before ldmatrix. */
static inline void draw_matrix_spec(uint64_t *state, char *out, size_t size)
{
    const struct drawn_type type = draw_type(state, 32);
    const struct matrices m = draw_matrices(state, type.bits);
    const int threads = 32 * m.warps[0] * m.warps[1], which = draw(state, 3);
    const bool async = which == 0 && draw(state, 2);
    const int tile[2] = {m.tile[m.turned], m.tile[!m.turned]}, beside = async ? 32 / type.bits : 1;
    int extents[2] = {0};
    draw_extents(state, 2, tile, extents);
    struct way in = which == 0 ? thread_way(state, m.turned, m.tile, threads, beside) : matrix_way(&m, true);
    const struct way to = which == 1 ? thread_way(state, m.turned, m.tile, threads, 1)
                                     : matrix_way(&m, false);
    if (async)
        snprintf(in.atoms, sizeof in.atoms, ",\"atom\":\"SM80_CP_ASYNC_CACHEALWAYS<uint32_t>\",\"stages\":%d",
                 1 + draw(state, 4));
    const struct drawn smem = draw_rows(state, &m);
    const int first = async ? !m.turned : draw(state, 2), n = async ? beside : draw(state, 2) ? 8 : 1;
    const struct drawn src = draw_tensor(state, 2, extents, tile, first, n, true);
    const struct drawn dst = draw_tensor(state, 2, extents, tile, draw(state, 2), draw(state, 2) ? 8 : 1,
                                         false);
    print_ways(out, size, type.name, src.text, dst.text, smem.text, &in, &to, "");
}

/* A tensor that a tensor map can have: nothing reversed, five dimensions at most. */
static inline struct drawn draw_mapped(uint64_t *state, int rank, const int *extents, const int *tile,
                                       int first, int bytes)
{
    struct drawn out;
    int dimensions;
    do {
        out = draw_tensor(state, rank, extents, tile, first, 16 / bytes, false);
        dimensions = rank;
        for (const char *p = out.text + 1; *p && *p != ':'; p++)
            dimensions += *p == '(';
    } while (strchr(out.text, '-') || dimensions > 5);
    return out;
}

/* A buffer of boxes, contiguous along `first`: swizzled rows of 32, 64 or 128 bytes beside each other; rows one after the
 * other; rows at multiples of 128 bytes. tile[first] becomes what suits. */
static inline struct drawn draw_boxes(uint64_t *state, int rank, int first, int bytes, int *tile)
{
    struct drawn out = {""}, shape = {""}, stride = {""};
    const int kind = draw(state, 3), log = draw(state, 3),
              row = kind == 0 ? (32 << log) / bytes : tile[first];
    int order[3] = {0}, strides[3] = {0}, next = row, base = 0;
    while (bytes << base < 16)
        base++;
    int rows = 1;
    for (int k = 0; k < rank; k++)
        rows *= k == first ? 1 : tile[k];
    /* Swizzled rows stand beside others, which begin at a multiple of 128 bytes; a single row would continue. */
    if (kind == 0) {
        tile[first] = row * (rows > 1 && rows * row * bytes % 128 == 0 ? 1 + draw(state, 2) : 1);
        put(&out, "Swizzle<%d,%d,3> o 0 o ", log + 1, base);
    }
    if (kind == 2)
        next = (row * bytes + 127) / 128 * 128 / bytes + 128 / bytes * draw(state, 2);
    draw_order(state, rank, first, order);
    strides[first] = 1;
    for (int i = 0; i < rank; i++) {
        if (order[i] == first)
            continue;
        strides[order[i]] = next;
        next *= tile[order[i]];
    }
    for (int k = 0; k < rank; k++) {
        const bool split = k == first && tile[k] > row;
        put(&shape, split ? "%s(%d,%d)" : "%s%d", k ? "," : "", split ? row : tile[k], tile[k] / row);
        put(&stride, split ? "%s(1,%d)" : "%s%d", k ? "," : "", split ? next : strides[k]);
    }
    put(&out, "(%s):(%s)", shape.text, stride.text);
    return out;
}

/* The partition of one thread a row of the tile: any will do. */
static inline struct way box_way(int rank, int first, const int *tile, const char *atoms)
{
    struct way w = {0};
    int thr[3], val[3], thr_strides[3], val_strides[3], threads = 1, values = 1;
    for (int k = rank - 1; k >= 0; k--) {
        thr[k] = k == first ? 4 : tile[k];
        val[k] = tile[k] / thr[k];
        thr_strides[k] = threads;
        val_strides[k] = values;
        threads *= thr[k];
        values *= val[k];
    }
    put_tuple(&w.thr, rank, thr);
    put(&w.thr, ":");
    put_tuple(&w.thr, rank, thr_strides);
    put_tuple(&w.val, rank, val);
    put(&w.val, ":");
    put_tuple(&w.val, rank, val_strides);
    snprintf(w.atoms, sizeof w.atoms, "%s", atoms);
    return w;
}

/* By TMA in, out or both ways. */
static inline void draw_tma_spec(uint64_t *state, char *out, size_t size)
{
    const struct drawn_type type = draw_type(state, 64);
    const int bytes = type.bits / 8, rank = 1 + draw(state, 3), first = draw(state, rank),
              which = draw(state, 3);
    int tile[3] = {0}, extents[3] = {0};
    for (int k = 0; k < rank; k++)
        tile[k] = k == first ? 16 / bytes * (1 << draw(state, 3)) * 4 : 1 + draw(state, 8);
    while (rank == 1 && tile[0] > 256)
        tile[0] /= 2;
    const struct drawn smem = draw_boxes(state, rank, first, bytes, tile);
    draw_extents(state, rank, tile, extents);
    extents[first] += extents[first] == 1; /* a mode of one element has no stride */
    if (which != 0)                        /* TMA stores whole pieces of 16 bytes */
        extents[first] = (extents[first] * bytes + 15) / 16 * 16 / bytes;
    const struct way in = box_way(rank, first, tile, which == 1 ? "" : TMA_LOAD);
    const struct way to = box_way(rank, first, tile, which == 0 ? "" : TMA_STORE);
    const struct drawn src = which == 1 ? draw_tensor(state, rank, extents, tile, first, 1, true)
                                        : draw_mapped(state, rank, extents, tile, first, bytes);
    const struct drawn dst = which == 0 ? draw_tensor(state, rank, extents, tile, first, 1, false)
                                        : draw_mapped(state, rank, extents, tile, first, bytes);
    struct drawn more = {""};
    if (which != 1)
        put(&more, ",\"stages\":%d", 1 + draw(state, 4));
    print_ways(out, size, type.name, src.text, dst.text, smem.text, &in, &to, more.text);
}

#endif

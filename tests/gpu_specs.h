/* gpu_specs.h: copy specs for tests: hand-picked ones, and ones drawn at random from a seed. */
#ifndef GPU_SPECS_H
#define GPU_SPECS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SPEC(type, atom, thr, val, src, dst, more) \
    "{\"kind\":\"copy\",\"type\":\"" type "\",\"atom\":\"UniversalCopy<" atom ">\",\"thr\":\"" thr \
    "\",\"val\":\"" val "\",\"src\":\"" src "\",\"dst\":\"" dst "\"" more "}"

/* Through shared memory: a second partition of the same tile, which dst is written by. */
#define STAGED(type, atom, thr, val, src, dst, smem, dst_atom, dst_thr, dst_val, more) \
    SPEC(type, atom, thr, val, src, dst, \
         ",\"smem\":\"" smem "\",\"dst_atom\":\"UniversalCopy<" dst_atom ">\",\"dst_thr\":\"" dst_thr \
         "\",\"dst_val\":\"" dst_val "\"" more)

/* Through shared memory by cp.async, and from there as wide as it goes. */
#define ASYNC(type, op, thr, val, src, dst, smem, more) \
    "{\"kind\":\"copy\",\"type\":\"" type "\",\"atom\":\"SM80_CP_ASYNC_CACHE" op "\",\"thr\":\"" thr \
    "\",\"val\":\"" val "\",\"src\":\"" src "\",\"dst\":\"" dst "\",\"smem\":\"" smem "\"" more "}"

/* Every one must be verified. */
static const char *const good_specs[] = {
    /* both sides contiguous along the accesses: rows, columns, other orders of threads and values */
    SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)", "(256,256):(256,1)", "(256,256):(256,1)", ""),
    SPEC("half_t", "uint64_t", "(32,8):(8,1)", "(1,8):(0,1)", "(256,256):(256,1)", "(256,256):(256,1)", ""),
    SPEC("half_t", "half_t", "(32,8):(8,1)", "(1,8):(0,1)", "(256,256):(256,1)", "(256,256):(256,1)", ""),
    SPEC("float", "uint128_t", "(8,32):(1,8)", "(4,1):(1,0)", "(256,128):(1,256)", "(256,128):(1,256)", ""),
    SPEC("float", "uint32_t", "(8,8):(8,1)", "(2,2):(2,1)", "(64,64):(64,1)", "(64,64):(64,1)", ""),
    SPEC("float", "uint64_t", "(8,8):(8,1)", "(2,4):(4,1)", "(64,64):(64,1)", "(64,64):(64,1)", ""),
    SPEC("float", "uint128_t", "(4,8):(1,4)", "(4,4):(4,1)", "(64,64):(64,1)", "(64,64):(64,1)", ""),
    /* transposing */
    SPEC("half_t", "uint16_t", "(32,8):(8,1)", "(1,8):(0,1)", "(256,256):(256,1)", "(256,256):(1,256)", ""),
    SPEC("float", "float", "(32,8):(1,32)", "(4,4):(1,4)", "(256,64):(1,256)", "(256,64):(64,1)", ""),
    SPEC("uint8_t", "uint8_t", "(16,16):(16,1)", "(4,4):(1,4)", "(128,128):(128,1)", "(128,128):(1,128)", ""),
    /* widths of elements */
    SPEC("int8_t", "uint128_t", "(16,4):(4,1)", "(1,16):(0,1)", "(64,128):(128,1)", "(64,128):(128,1)", ""),
    SPEC("double", "uint128_t", "(16,4):(4,1)", "(1,2):(0,1)", "(64,64):(64,1)", "(64,64):(64,1)", ""),
    SPEC("complex<float>", "complex<float>", "(8,4):(4,1)", "(2,2):(2,1)", "(32,32):(32,1)", "(32,32):(1,32)",
         ""),
    SPEC("complex<double>", "uint128_t", "(8,4):(4,1)", "(2,2):(2,1)", "(32,32):(32,1)", "(32,32):(1,32)",
         ""),
    /* hierarchical, interleaved, strided, padded, reversed */
    SPEC("half_t", "uint128_t", "(16,8):(8,1)", "(1,8):(0,1)", "((16,4),(64,2)):((64,2048),(1,1024))",
         "(64,128):(128,1)", ""),
    SPEC("float", "float", "((2,4),(2,4)):((1,4),(2,16))", "(2,(2,2)):(1,(4,2))",
         "((2,32),(16,4)):((1,128),(2,64))", "(64,64):(1,64)", ""),
    SPEC("float", "uint32_t", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(200,3)", "(64,64):(1,70)", ""),
    SPEC("half_t", "uint64_t", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(72,1)", "(64,64):(80,1)", ""),
    SPEC("float", "float", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(-64,1)", "(64,64):(64,-1)", ""),
    SPEC("float", "uint128_t", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(-64,1)", "(64,64):(64,1)", ""),
    /* broadcast sources */
    SPEC("float", "uint128_t", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(0,1)", "(64,64):(64,1)", ""),
    SPEC("float", "float", "(8,8):(8,1)", "(4,1):(1,0)", "(64,64):(1,0)", "(64,64):(64,1)", ""),
    SPEC("half_t", "uint16_t", "(8,8):(8,1)", "(2,2):(2,1)", "(64,64):(0,0)", "(64,64):(1,64)", ""),
    /* other ranks: one, three, a tile of fewer modes than the tensor */
    SPEC("float", "uint128_t", "128:1", "8:1", "10240:1", "10240:1", ""),
    SPEC("float", "uint32_t", "32:1", "4:1", "1000:1", "1000:2", ""),
    SPEC("half_t", "uint32_t", "(4,4,2):(8,2,1)", "(1,2,2):(0,2,1)", "(16,24,8):(192,8,1)",
         "(16,24,8):(200,8,1)", ""),
    SPEC("float", "uint64_t", "(8,8):(8,1)", "(1,2):(0,1)", "(32,32,5):(32,1,1024)", "(32,32,5):(160,1,32)",
         ""),
    /* tiles that do not divide the shape */
    SPEC("float", "uint128_t", "(8,4):(4,1)", "(1,8):(0,1)", "(100,100):(100,1)", "(100,100):(100,1)", ""),
    SPEC("float", "uint128_t", "(8,4):(4,1)", "(1,8):(0,1)", "(33,101):(104,1)", "(33,101):(112,1)", ""),
    SPEC("half_t", "uint16_t", "(32,8):(8,1)", "(1,8):(0,1)", "(101,103):(103,1)", "(101,103):(1,101)", ""),
    SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)", "(3,5):(8,1)", "(3,5):(16,1)", ""),
    SPEC("float", "float", "(4,8):(8,1)", "(3,5):(5,1)", "(50,70):(1,50)", "(50,70):(70,1)", ""),
    SPEC("uint8_t", "uint32_t", "(4,8,2):(16,2,1)", "(1,1,4):(0,0,1)", "(5,9,13):(144,16,1)",
         "(5,9,13):(160,16,1)", ""),
    /* few threads, many threads, many values, batches that are not even */
    SPEC("float", "uint128_t", "1:0", "4:1", "1024:1", "1024:1", ""),
    SPEC("float", "float", "(1,1):(0,0)", "(1,1):(0,0)", "(7,9):(9,1)", "(7,9):(1,7)", ""),
    SPEC("half_t", "uint16_t", "(32,32):(32,1)", "(1,2):(0,1)", "(128,128):(128,1)", "(128,128):(128,1)", ""),
    SPEC("half_t", "uint128_t", "(8,4):(4,1)", "(8,32):(32,1)", "(128,256):(256,1)", "(128,256):(256,1)", ""),
    SPEC("float", "float", "(8,4):(4,1)", "(37,1):(1,0)", "(592,8):(8,1)", "(592,8):(1,592)", ""),
    SPEC("float", "float", "(8,4):(4,1)", "(37,1):(1,0)", "(600,9):(9,1)", "(600,9):(1,600)", ""),
    /* through shared memory: a transpose with padding, with a swizzle, without either */
    STAGED("float", "uint32_t", "(8,32):(32,1)", "(4,1):(1,0)", "(256,128):(128,1)", "(256,128):(1,256)",
           "(32,32):(33,1)", "uint32_t", "(32,8):(1,32)", "(1,4):(0,1)", ""),
    STAGED("float", "uint128_t", "(32,8):(8,1)", "(1,4):(0,1)", "(256,128):(128,1)", "(256,128):(1,256)",
           "Swizzle<3,2,5> o 0 o (32,32):(32,1)", "uint128_t", "(8,32):(1,8)", "(4,1):(1,0)", ""),
    STAGED("float", "uint32_t", "(8,32):(32,1)", "(4,1):(1,0)", "(256,128):(128,1)", "(256,128):(1,256)",
           "(32,32):(32,1)", "uint32_t", "(32,8):(1,32)", "(1,4):(0,1)", ",\"grid\":3,\"unroll\":2"),
    STAGED("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)", "(128,256):(256,1)", "(128,256):(1,128)",
           "composition(Swizzle<3,3,3>{},(32,64):(64,1))", "uint64_t", "(8,32):(1,8)", "(4,2):(1,4)", ""),
    /* ... at the edges of odd shapes, one thread partition for both ways, many values, other ranks */
    STAGED("float", "uint32_t", "(8,32):(32,1)", "(4,1):(1,0)", "(101,103):(103,1)", "(101,103):(1,101)",
           "(32,32):(33,1)", "uint32_t", "(32,8):(1,32)", "(1,4):(0,1)", ""),
    STAGED("float", "uint128_t", "(32,8):(8,1)", "(1,4):(0,1)", "(101,103):(104,1)", "(101,103):(1,104)",
           "Swizzle<3,2,5> o 0 o (32,32):(32,1)", "uint128_t", "(8,32):(1,8)", "(4,1):(1,0)",
           ",\"grid\":2,\"unroll\":3"),
    SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)", "(96,130):(136,1)", "(96,130):(144,1)",
         ",\"smem\":\"(32,64):(72,1)\""),
    STAGED("uint8_t", "uint8_t", "(4,8):(8,1)", "(8,20):(20,1)", "(64,320):(320,1)", "(64,320):(1,64)",
           "(32,160):(161,1)", "uint64_t", "(4,8):(1,4)", "(8,20):(1,8)", ""),
    STAGED("double", "uint64_t", "(4,4,2):(8,2,1)", "(1,2,2):(0,2,1)", "(9,17,8):(136,8,1)",
           "(9,17,8):(200,8,1)", "(4,8,4):(32,1,8)", "uint128_t", "(4,8,1):(8,1,0)", "(1,1,4):(0,0,1)", ""),
    STAGED("float", "uint32_t", "32:1", "4:1", "1000:1", "1000:3", "((4,32)):((1,5))", "uint32_t", "32:1",
           "4:1", ""),
    /* cp.async: deep, shallow, of 4 and 8 bytes, at edges, accesses that straddle them */
    ASYNC("half_t", "GLOBAL<uint128_t>", "(32,8):(8,1)", "(1,8):(0,1)", "(256,512):(512,1)",
          "(256,512):(512,1)", "composition(Swizzle<3,3,3>{},(32,64):(64,1))", ""),
    ASYNC("half_t", "ALWAYS<uint128_t>", "(32,8):(8,1)", "(1,8):(0,1)", "(256,512):(512,1)",
          "(256,512):(1,256)", "composition(Swizzle<3,3,3>{},(32,64):(64,1))", ",\"stages\":3,\"grid\":5"),
    ASYNC("float", "ALWAYS<float>", "(8,32):(32,1)", "(4,1):(1,0)", "(101,203):(203,1)", "(101,203):(1,101)",
          "(32,32):(33,1)", ",\"stages\":4,\"grid\":3"),
    ASYNC("float", "ALWAYS<uint64_t>", "(8,16):(16,1)", "(4,2):(2,1)", "(101,203):(204,1)",
          "(101,203):(1,101)", "(32,32):(34,1)", ",\"stages\":1,\"grid\":3"),
    ASYNC("uint8_t", "GLOBAL<uint128_t>", "(16,4):(4,1)", "(1,16):(0,1)", "(50,300):(304,1)",
          "(50,300):(304,1)", "(16,64):(80,1)", ",\"stages\":2,\"grid\":2"),
    ASYNC("float", "GLOBAL<uint128_t>", "(8,4):(4,1)", "(1,8):(0,1)", "(64,64):(64,1)", "(64,64):(64,1)",
          "(8,32):(32,1)", ",\"stages\":16,\"cache\":\"default\""),
    /* the widest that is right */
    "{\"kind\":\"copy\",\"type\":\"half_t\",\"atom\":\"AutoVectorizingCopy\",\"thr\":\"(16,8):(8,1)\","
    "\"val\":"
    "\"(1,8):(0,1)\",\"src\":\"(64,100):(100,1)\",\"dst\":\"(64,100):(104,1)\"}",
    "{\"kind\":\"copy\",\"type\":\"half_t\",\"thr\":\"(8,8):(8,1)\",\"val\":\"(1,8):(0,1)\",\"src\":\"(64,"
    "100):("
    "100,1)\",\"dst\":\"(64,100):(1,64)\",\"smem\":\"GMMA::Layout_K_SW128_Atom<half_t>{}\",\"dst_thr\":\"(1,"
    "64):("
    "0,1)\",\"dst_val\":\"(8,1):(1,0)\"}",
    /* what a spec may override */
    SPEC("float", "uint128_t", "128:1", "4:1", "65536:1", "65536:1",
         ",\"grid\":7,\"unroll\":3,\"cache\":\"streaming\""),
    SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)", "(300,300):(304,1)", "(300,300):(304,1)",
         ",\"grid\":3,\"unroll\":4,\"cache\":\"default\",\"seed\":1234"),
    SPEC("half_t", "uint128_t", "(_32,_8):(_8,_1)", "(_1,_8):(_0,_1)", "(128,128):(128,_1)",
         "(128,128):(128,_1)", ",\"integers\":\"cute\",\"smem\":null"),
};
enum { GOOD_SPECS = sizeof good_specs / sizeof good_specs[0] };

/* ---- drawn at random ---- */

static inline uint64_t draw_word(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* From 0 to n - 1. */
static inline int draw(uint64_t *state, int n)
{
    return (int)(draw_word(state) % (uint64_t)n);
}

/* A random order of the modes, `first` the fastest unless it is negative. */
static inline void draw_order(uint64_t *state, int rank, int first, int *order)
{
    for (int i = 0; i < rank; i++) {
        const int j = draw(state, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 1; i < rank; i++)
        if (order[i] == first) {
            order[i] = order[0];
            order[0] = first;
        }
}

struct drawn {
    char text[120];
};

static inline void put(struct drawn *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void put(struct drawn *out, const char *format, ...)
{
    const size_t len = strlen(out->text);
    va_list args;
    va_start(args, format);
    vsnprintf(out->text + len, sizeof out->text - len, format, args);
    va_end(args);
}

static inline void put_tuple(struct drawn *out, int rank, const int *values)
{
    for (int k = 0; k < rank; k++)
        put(out, "%s%d", rank > 1 ? (k ? "," : "(") : "", values[k]);
    put(out, "%s", rank > 1 ? ")" : "");
}

/* A layout that numbers its places 0..size-1, modes in a random order. */
static inline struct drawn draw_numbering(uint64_t *state, int rank, const int *extents, int first)
{
    struct drawn out = {""};
    int order[3] = {0}, strides[3] = {0}, stride = 1;
    draw_order(state, rank, first, order);
    for (int i = 0; i < rank; i++) {
        strides[order[i]] = stride;
        stride *= extents[order[i]];
    }
    put_tuple(&out, rank, extents);
    put(&out, ":");
    put_tuple(&out, rank, strides);
    return out;
}

/* A tensor over the extents: a random order of modes with gaps, some modes split where tiles meet, some
 * reversed, some of a source broadcast. With accesses of n > 1 elements mode `first` is contiguous and all
 * else aligned. */
static inline struct drawn draw_tensor(uint64_t *state, int rank, const int *extents, const int *tile,
                                       int first, int n, bool source)
{
    int order[3] = {0}, inner[3] = {0}, outer[3] = {0}, stride = 1;
    bool split[3] = {false};
    draw_order(state, rank, n > 1 ? first : -1, order);
    for (int i = 0; i < rank; i++) {
        const int k = order[i];
        const bool free_mode = n == 1 || k != first;
        const bool broadcast = source && free_mode && draw(state, 8) == 0;
        const int sign = !broadcast && free_mode && draw(state, 8) == 0 ? -1 : 1;
        split[k] = extents[k] % tile[k] == 0 && extents[k] > tile[k] && draw(state, 3) == 0;
        inner[k] = broadcast ? 0 : stride * sign;
        if (broadcast)
            continue;
        stride *= split[k] ? tile[k] : extents[k];
        stride = (stride + n - 1) / n * n + n * draw(state, 3);
        outer[k] = stride * sign;
        if (split[k])
            stride = stride * (extents[k] / tile[k]) + n * draw(state, 2);
    }
    struct drawn out = {""};
    for (int pass = 0; pass < 2; pass++) {
        put(&out, "%s%s", pass ? ":" : "", rank > 1 || split[0] ? "(" : "");
        for (int k = 0; k < rank; k++) {
            put(&out, "%s", k ? "," : "");
            if (split[k])
                put(&out, "(%d,%d)", pass ? inner[k] : tile[k], pass ? outer[k] : extents[k] / tile[k]);
            else
                put(&out, "%d", pass ? inner[k] : extents[k]);
        }
        put(&out, "%s", rank > 1 || split[0] ? ")" : "");
    }
    return out;
}

/* A buffer over the tile: modes in a random order, padded or not, behind a swizzle or not. */
static inline struct drawn draw_smem(uint64_t *state, int rank, const int *tile)
{
    struct drawn out = {""};
    int order[3] = {0}, strides[3] = {0}, stride = 1;
    if (draw(state, 2))
        put(&out, "Swizzle<%d,%d,%d> o 0 o ", 1 + draw(state, 3), draw(state, 4), 3 + draw(state, 2));
    draw_order(state, rank, -1, order);
    for (int i = 0; i < rank; i++) {
        strides[order[i]] = stride;
        stride = stride * tile[order[i]] + draw(state, 2) * draw(state, 9);
    }
    put_tuple(&out, rank, tile);
    put(&out, ":");
    put_tuple(&out, rank, strides);
    return out;
}

/* A spec that must be verified. */
static inline void draw_spec(uint64_t *state, char *out, size_t size)
{
    static const struct {
        const char *name;
        int bits;
    } types[] = {{"uint8_t", 8}, {"half_t", 16}, {"bfloat16_t", 16},
                 {"float", 32},  {"double", 64}, {"uint128_t", 128}};
    static const int thr_extents[] = {1, 2, 3, 4, 8, 16};
    const int type = draw(state, 6), rank = draw(state, 4) ? 2 : 1 + 2 * draw(state, 2),
              first = draw(state, rank);
    int bits = types[type].bits, thr[3] = {0}, val[3] = {0}, tile[3] = {0}, extents[3] = {0};
    while (bits < 128 && draw(state, 3))
        bits *= 2;
    const int n = bits / types[type].bits;
    for (int k = 0, threads = 1; k < rank; k++, threads *= thr[k - 1]) {
        do
            thr[k] = thr_extents[draw(state, 6)];
        while (threads * thr[k] > 128);
        val[k] = k == first ? n * (1 + draw(state, 2)) : 1 + draw(state, 3);
        tile[k] = thr[k] * val[k];
        extents[k] = tile[k] * (1 + draw(state, 4));
        if (draw(state, 3) == 0)
            extents[k] -= draw(state, tile[k]);
    }
    const bool staged = draw(state, 2);
    const int last = staged ? draw(state, rank) : first; /* the mode along which dst is written */
    int m = n;
    while (val[last] % m != 0)
        m /= 2;
    const struct drawn t = draw_numbering(state, rank, thr, -1), v = draw_numbering(state, rank, val, first);
    const struct drawn src = draw_tensor(state, rank, extents, tile, first, n, true);
    const struct drawn dst = draw_tensor(state, rank, extents, tile, last, m, false);
    const struct drawn smem = draw_smem(state, rank, tile), dst_thr = draw_numbering(state, rank, thr, -1),
                       dst_val = draw_numbering(state, rank, val, last);
    if (staged)
        snprintf(out, size,
                 STAGED("%s", "uint%d_t", "%s", "%s", "%s", "%s", "%s", "uint%d_t", "%s", "%s", ""),
                 types[type].name, bits, t.text, v.text, src.text, dst.text, smem.text, m * types[type].bits,
                 dst_thr.text, dst_val.text);
    else
        snprintf(out, size, SPEC("%s", "uint%d_t", "%s", "%s", "%s", "%s", ""), types[type].name, bits,
                 t.text, v.text, src.text, dst.text);
}

#endif

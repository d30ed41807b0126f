/* kernels.c: the kernels that every job needs besides its own, as CUDA C: filling, checking, holding,
 * flushing, and the plain vector copy that partitions are compared with.
 *
 * check walks the elements by the layouts alone, with divisions at run time: it shares neither code nor
 * arithmetic with the partition that it judges. Where an element is right it puts the poison back, so that
 * afterwards all of the destination's memory is poison unless something strayed. */
#include "kernels.h"

static const char common[] =
    "typedef unsigned long long u64;\n"
    "typedef long long i64;\n"
    "typedef unsigned u32;\n"
    "struct alignas(16) wide { u64 low, high; };\n"
    "__device__ bool differ(wide a, wide b) { return a.low != b.low || a.high != b.high; }\n"
    "template <class T> __device__ bool differ(T a, T b) { return a != b; }\n"
    "\n"
    "// found[0] counts what is wrong, found[1] is the least place of it.\n"
    "__device__ void report(u64 *found, u64 place) { atomicAdd(found, 1ull); atomicMin(found + 1, place); }\n"
    "__device__ u64 first() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }\n"
    "__device__ u64 step() { return (u64)gridDim.x * blockDim.x; }\n"
    "\n"
    "// The same function as gpu_random_word.\n"
    "__device__ u64 mix(u64 x)\n"
    "{\n"
    "    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;\n"
    "    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;\n"
    "    return x ^ (x >> 31);\n"
    "}\n"
    "__device__ u64 random_word(u64 seed, u64 i) { return mix(mix(seed) + (i + 1) * 0x9e3779b97f4a7c15ull); "
    "}\n"
    "\n";

static const char filling[] =
    "extern \"C\" __global__ void fill(u64 *out, u64 words, u64 seed)\n"
    "{\n"
    "    for (u64 i = first(); i < words; i += step())\n"
    "        out[i] = random_word(seed, i);\n"
    "}\n"
    "// Still what fill wrote?\n"
    "extern \"C\" __global__ void intact(const u64 *data, u64 words, u64 seed, u64 *found)\n"
    "{\n"
    "    for (u64 i = first(); i < words; i += step())\n"
    "        if (data[i] != random_word(seed, i))\n"
    "            report(found, i);\n"
    "}\n"
    "// Still poison?\n"
    "extern \"C\" __global__ void strays(const u64 *data, u64 words, u64 poison, u64 *found)\n"
    "{\n"
    "    for (u64 i = first(); i < words; i += step())\n"
    "        if (data[i] != poison)\n"
    "            report(found, i);\n"
    "}\n"
    "\n";

static const char checking[] =
    "// struct gpu_check_shape\n"
    "struct mode { i64 extent, stride; };\n"
    "struct shape {\n"
    "    u64 elements;\n"
    "    u32 rank, src_modes[8], dst_modes[8];\n"
    "    u64 extent[8], weight[8];\n"
    "    mode src[32], dst[32];\n"
    "};\n"
    "template <class Index> __device__ i64 walk(const mode *modes, u32 n, Index c)\n"
    "{\n"
    "    i64 offset = 0;\n"
    "#pragma unroll 1\n"
    "    for (u32 m = 0; m < n; ++m) {\n"
    "        const Index extent = (Index)modes[m].extent;\n"
    "        offset += (i64)(c % extent) * modes[m].stride;\n"
    "        c /= extent;\n"
    "    }\n"
    "    return offset;\n"
    "}\n"
    "template <class T, class Index>\n"
    "__device__ void check_element(const shape &s, const T *src, T *dst, T poison, u64 *found, Index i)\n"
    "{\n"
    "    i64 from = 0, to = 0;\n"
    "    u64 place = 0;\n"
    "    const mode *a = s.src, *b = s.dst;\n"
    "#pragma unroll 1\n"
    "    for (u32 k = 0; k < s.rank; ++k) {\n"
    "        const Index c = i % (Index)s.extent[k];\n"
    "        i /= (Index)s.extent[k];\n"
    "        place += c * s.weight[k];\n"
    "        from += walk(a, s.src_modes[k], c);\n"
    "        to += walk(b, s.dst_modes[k], c);\n"
    "        a += s.src_modes[k];\n"
    "        b += s.dst_modes[k];\n"
    "    }\n"
    "    if (differ(src[from], dst[to]))\n"
    "        report(found, place);\n"
    "    else\n"
    "        dst[to] = poison;\n"
    "}\n"
    "template <class T> __device__ void check(const shape &s, const void *src, void *dst, u64 poison, u64 "
    "*found)\n"
    "{\n"
    "    T value;\n"
    "    for (u32 i = 0; i < sizeof(T); ++i)\n"
    "        reinterpret_cast<unsigned char *>(&value)[i] = (unsigned char)poison;\n"
    "#pragma unroll 1\n"
    "    for (u64 i = first(); i < s.elements; i += step())\n"
    "        if (s.elements >> 32)\n"
    "            check_element<T, u64>(s, (const T *)src, (T *)dst, value, found, i);\n"
    "        else\n"
    "            check_element<T, u32>(s, (const T *)src, (T *)dst, value, found, (u32)i);\n"
    "}\n"
    "#define CHECK(bits, T) \\\n"
    "    extern \"C\" __global__ void check_##bits(const __grid_constant__ shape s, const void *src, void "
    "*dst, \\\n"
    "                                           u64 poison, u64 *found) \\\n"
    "    { check<T>(s, src, dst, poison, found); }\n"
    "CHECK(8, unsigned char)\n"
    "CHECK(16, unsigned short)\n"
    "CHECK(32, u32)\n"
    "CHECK(64, u64)\n"
    "CHECK(128, wide)\n"
    "\n"
    "// Elements of `bytes` bytes at some offsets, one after the other.\n"
    "extern \"C\" __global__ void gather(const unsigned char *from, const i64 *offsets, u64 n, u32 bytes,\n"
    "                                  unsigned char *out)\n"
    "{\n"
    "    for (u64 i = first(); i < n; i += step())\n"
    "        for (u32 b = 0; b < bytes; ++b)\n"
    "            out[i * bytes + b] = from[offsets[i] * (i64)bytes + b];\n"
    "}\n"
    "\n";

static const char timing[] =
    "// Keeps the stream waiting until the host says go, so that what is queued behind it starts without a "
    "gap; not for ever,\n"
    "// so that a host that must wait for the stream first gets through.\n"
    "extern \"C\" __global__ void hold(volatile u32 *go, u64 nanoseconds)\n"
    "{\n"
    "    u64 start, now;\n"
    "    asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(start));\n"
    "    do\n"
    "        asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
    "    while (!*go && now - start < nanoseconds);\n"
    "}\n"
    "// Reads enough that nothing of an earlier run is left in L2: clean lines, which cost nothing to drop.\n"
    "extern \"C\" __global__ void flush(const uint4 *data, u64 n, u32 *sink)\n"
    "{\n"
    "    u32 x = 0;\n"
    "    for (u64 i = first(); i < n; i += step())\n"
    "        x ^= data[i].x ^ data[i].y ^ data[i].z ^ data[i].w;\n"
    "    if (x == 0x9e3779b9)\n"
    "        *sink = x;\n"
    "}\n"
    "// 16 bytes a thread and access, four in flight, nothing else: what a copy without a partition does.\n"
    "extern \"C\" __global__ void __launch_bounds__(256) vector_copy(const uint4 *src, uint4 *dst, u64 n)\n"
    "{\n"
    "    const u64 i = (u64)blockIdx.x * 1024 + threadIdx.x;\n"
    "    uint4 held[4];\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 4; ++k)\n"
    "        if (i + k * 256 < n)\n"
    "            held[k] = __ldcs(src + i + k * 256);\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 4; ++k)\n"
    "        if (i + k * 256 < n)\n"
    "            __stcs(dst + i + k * 256, held[k]);\n"
    "}\n";

const char *gpu_support_common(void)
{
    return common;
}

const char *gpu_support_source(struct la_ctx *cx)
{
    return la_format(cx, "%s%s%s%s", common, filling, checking, timing);
}

static uint32_t put_modes(struct gpu_map map, struct gpu_mode *out)
{
    for (uint32_t i = 0; i < map.count; i++)
        out[i] = map.modes[i];
    return map.count;
}

struct gpu_check_shape gpu_check_shape_of(const struct gpu_copy *c)
{
    struct gpu_check_shape s = {.elements = (uint64_t)c->src.elements, .rank = c->src.rank};
    uint64_t weight[GPU_MAX_RANK], size = 1;
    uint32_t src = 0, dst = 0;
    for (uint32_t k = 0; k < c->src.rank; k++) {
        weight[k] = size;
        size *= (uint64_t)c->src.extent[k];
    }
    for (uint32_t i = 0; i < c->src.rank; i++) {
        const uint32_t k = c->order[i]; /* the nearest in memory fastest, so that neighbours share sectors */
        s.extent[i] = (uint64_t)c->src.extent[k];
        s.weight[i] = weight[k];
        src += s.src_modes[i] = put_modes(c->src.mode[k], s.src + src);
        dst += s.dst_modes[i] = put_modes(c->dst.mode[k], s.dst + dst);
    }
    return s;
}

/* emit_stage.c: a copy through shared memory as CUDA C. The threads load a tile by the first partition and put it into
 * a buffer, wait for each other, and get and store it by the second; several tiles, each with a buffer, are in flight.
 *
 *   put: place(put_thread(t) + put_value(v)), get: place(get_thread(t) + get_value(v))
 *
 * where place is the swizzle. What a thread holds of an access to global memory is a union with the pieces that go
 * through shared memory, which the compiler keeps in registers. */
#include "internal.h"

static void emit_types(struct gpu_text *t, const struct gpu_copy *c)
{
    const unsigned bits = c->type->bits;
    gpu_text_add(t, "using Element = %s; // %s, as bits\n", gpu_bits_type(bits), c->type->name);
    gpu_text_add(t, "using Load = %s;    // what a thread moves at a time from src,\n",
                 gpu_bits_type(c->in.atom.bits));
    gpu_text_add(t, "using Put = %s;     // ... into shared memory,\n",
                 gpu_bits_type((unsigned)c->in.smem_vector * bits));
    gpu_text_add(t, "using Get = %s;     // ... out of it,\n",
                 gpu_bits_type((unsigned)c->out.smem_vector * bits));
    gpu_text_add(t, "using Store = %s;   // ... and to dst\n", gpu_bits_type(c->out.atom.bits));
    gpu_text_add(t, "using Offset = %s;  // in elements\n\n", gpu_offset_type(c));
}

static void emit_leg_constants(struct gpu_text *t, const struct gpu_leg *leg, const char *global,
                               const char *shared)
{
    gpu_text_add(t, "constexpr int %sS = %lld, %s_VECTOR = %lld, %s_VECTOR = %lld", global,
                 (long long)(leg->part.values / leg->vector), global, (long long)leg->vector, shared,
                 (long long)leg->smem_vector);
    if (leg->atom.op == GPU_UNIVERSAL)
        gpu_text_add(t, ", %s_BATCH = %lld", global, (long long)leg->batch);
    gpu_text_add(t, ";\n");
}

static void emit_constants(struct gpu_text *t, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    gpu_text_add(
        t,
        "constexpr int THREADS = %lld; // of a block\n"
        "// Accesses of a thread in a tile, their values, and how many are made before the first is used.\n",
        (long long)c->in.part.threads);
    emit_leg_constants(t, &c->in, "LOAD", "PUT");
    emit_leg_constants(t, &c->out, "STORE", "GET");
    gpu_text_add(t, "constexpr int UNROLL = %lld; // tiles in flight\n", (long long)c->unroll);
    if (c->stages > 1)
        gpu_text_add(t, "constexpr int STAGES = %lld; // buffers: one is read, the others are on their way\n",
                     (long long)c->stages);
    if (c->stages)
        gpu_text_add(t, "constexpr Offset SHARE = %lld; // tiles of a block\n",
                     (long long)((c->tiles + plan->grid - 1) / plan->grid));
    gpu_text_add(t, "constexpr int SPAN = %lld;   // elements of a tile's buffer\n",
                 (long long)c->smem->span);
    gpu_text_add(t, "constexpr Offset TILES = %lld;\n\n", (long long)c->tiles);
}

/* The swizzle: bits of the offset above are xored into bits below, or the other way. */
static void emit_place(struct gpu_text *t, const struct gpu_smem *smem)
{
    const struct la_swizzle s = smem->swizzle;
    gpu_text_add(t, "// %s\n__device__ constexpr Offset place(Offset x) { ",
                 gpu_layout_text(t->cx, smem->layout));
    if (smem->shift)
        gpu_text_add(t, "x += %lld; ", (long long)smem->shift);
    if (s.bits)
        gpu_text_add(t, "return x ^ (x >> %d & %lld) << %d; }\n", s.base + (s.shift > 0 ? s.shift : 0),
                     (1LL << s.bits) - 1, s.base + (s.shift < 0 ? -s.shift : 0));
    else
        gpu_text_add(t, "return x; }\n");
}

static void emit_pieces(struct gpu_text *t)
{
    gpu_text_add(t,
                 "template <class Whole, class Part> union Split { Whole whole; Part part[sizeof(Whole) / "
                 "sizeof(Part)]; };\n"
                 "\n"
                 "// Access a of thread t, into and out of the buffer of a tile.\n"
                 "__device__ inline void put(Element *buffer, Offset t, Offset a, Load held)\n{\n"
                 "    Split<Load, Put> split;\n"
                 "    split.whole = held;\n"
                 "#pragma unroll\n"
                 "    for (int p = 0; p < LOAD_VECTOR; p += PUT_VECTOR)\n"
                 "        store_shared(buffer + place(put_thread(t) + put_value(a * LOAD_VECTOR + p)), "
                 "split.part[p / PUT_VECTOR]);\n"
                 "}\n"
                 "__device__ inline Store get(const Element *buffer, Offset t, Offset a)\n{\n"
                 "    Split<Store, Get> split;\n"
                 "#pragma unroll\n"
                 "    for (int p = 0; p < STORE_VECTOR; p += GET_VECTOR)\n"
                 "        split.part[p / GET_VECTOR] =\n"
                 "            load_shared(buffer + place(get_thread(t) + get_value(a * STORE_VECTOR + p)));\n"
                 "    return split.whole;\n"
                 "}\n\n");
}

/* Both ways of a tile that the edge of the shape cuts. */
static void emit_edges(struct gpu_text *t)
{
    gpu_text_add(t, "// A tile at the edge: an access that straddles the edge is made value by value.\n"
                    "__device__ void put_edge(Element *buffer, const Element *src, Offset t, Offset i)\n{\n"
                    "#pragma unroll 1\n"
                    "    for (Offset v = 0; v < LOADS * LOAD_VECTOR; v += LOAD_VECTOR) {\n"
                    "        const Element *from = src + src_tile(i) + src_value(v);\n"
                    "        int inside = 0;\n"
                    "        for (int e = 0; e < LOAD_VECTOR; ++e)\n"
                    "            inside += in_within(t, v + e, i);\n"
                    "        if (inside == LOAD_VECTOR)\n"
                    "            put(buffer, t, v / LOAD_VECTOR, load(from));\n"
                    "        else if (LOAD_VECTOR > 1)\n"
                    "            for (int e = 0; e < LOAD_VECTOR; ++e)\n"
                    "                if (in_within(t, v + e, i))\n"
                    "                    buffer[place(put_thread(t) + put_value(v + e))] = from[e];\n"
                    "    }\n}\n"
                    "__device__ void get_edge(const Element *buffer, Element *dst, Offset t, Offset i)\n{\n"
                    "#pragma unroll 1\n"
                    "    for (Offset v = 0; v < STORES * STORE_VECTOR; v += STORE_VECTOR) {\n"
                    "        Element *to = dst + dst_tile(i) + dst_value(v);\n"
                    "        int inside = 0;\n"
                    "        for (int e = 0; e < STORE_VECTOR; ++e)\n"
                    "            inside += out_within(t, v + e, i);\n"
                    "        if (inside == STORE_VECTOR)\n"
                    "            store(to, get(buffer, t, v / STORE_VECTOR));\n"
                    "        else if (STORE_VECTOR > 1)\n"
                    "            for (int e = 0; e < STORE_VECTOR; ++e)\n"
                    "                if (out_within(t, v + e, i))\n"
                    "                    to[e] = buffer[place(get_thread(t) + get_value(v + e))];\n"
                    "    }\n}\n\n");
}

/* ---- the kernel ---- */

/* What must hold for access b + a of tile first + u: "first + u < TILES && whole(first + u)". */
static const char *guard_of(struct la_ctx *cx, const struct gpu_copy *c, const struct gpu_leg *leg,
                            const char *count)
{
    const bool ragged = c->tiles % c->unroll != 0, uneven = leg->part.values / leg->vector % leg->batch != 0;
    const char *text = ragged ? "first + u < TILES" : "";
    if (c->predicated)
        text = la_format(cx, "%s%swhole(first + u)", text, *text ? " && " : "");
    if (uneven)
        text = la_format(cx, "%s%sb + a < %s", text, *text ? " && " : "", count);
    return *text ? la_format(cx, "                    if (%s)\n    ", text) : "";
}

/* One line for each access of each tile in flight. */
static void emit_each(struct gpu_text *t, const char *batch, const char *guard, const char *line)
{
    gpu_text_add(t,
                 "#pragma unroll\n"
                 "            for (int u = 0; u < UNROLL; ++u)\n"
                 "#pragma unroll\n"
                 "                for (int a = 0; a < %s; ++a)\n"
                 "%s                    %s\n",
                 batch, guard, line);
}

static void emit_edge_tiles(struct gpu_text *t, const struct gpu_copy *c, const char *call)
{
    if (c->predicated)
        gpu_text_add(t,
                     "#pragma unroll 1\n"
                     "        for (int u = 0; u < UNROLL; ++u)\n"
                     "            if (%s!whole(first + u))\n"
                     "                %s\n",
                     c->tiles % c->unroll != 0 ? "first + u < TILES && " : "", call);
}

static void emit_in(struct gpu_text *t, const struct gpu_copy *c)
{
    const char *guard = guard_of(t->cx, c, &c->in, "LOADS");
    gpu_text_add(t, "    for (Offset first = Offset(blockIdx.x) * UNROLL; first < TILES; "
                    "first += Offset(gridDim.x) * UNROLL) {\n"
                    "        for (int b = 0; b < LOADS; b += LOAD_BATCH) {\n"
                    "            Load held[UNROLL][LOAD_BATCH];\n");
    emit_each(t, "LOAD_BATCH", guard,
              "held[u][a] = load(src + src_tile(first + u) + src_value((b + a) * LOAD_VECTOR));");
    emit_each(t, "LOAD_BATCH", guard, "put(buffers + u * SPAN, t, b + a, held[u][a]);");
    gpu_text_add(t, "        }\n");
    emit_edge_tiles(t, c, "put_edge(buffers + u * SPAN, src, t, first + u);");
    gpu_text_add(t, "        __syncthreads();\n"
                    "        const Element *full = buffers;\n");
}

static void emit_out(struct gpu_text *t, const struct gpu_copy *c)
{
    const char *guard = guard_of(t->cx, c, &c->out, "STORES");
    gpu_text_add(t, "        for (int b = 0; b < STORES; b += STORE_BATCH) {\n"
                    "            Store held[UNROLL][STORE_BATCH];\n");
    emit_each(t, "STORE_BATCH", guard, "held[u][a] = get(full + u * SPAN, t, b + a);");
    emit_each(t, "STORE_BATCH", guard,
              "store(dst + dst_tile(first + u) + dst_value((b + a) * STORE_VECTOR), held[u][a]);");
    gpu_text_add(t, "        }\n");
    emit_edge_tiles(t, c, "get_edge(full + u * SPAN, dst, t, first + u);");
}

static void emit_kernel(struct gpu_text *t, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    gpu_text_add(t, "extern \"C\" __global__ void __launch_bounds__(THREADS)\n"
                    "copy(const Element *__restrict__ src, Element *__restrict__ dst)\n{\n"
                    "    extern __shared__ uint4 shared_memory[]; // a buffer for each tile in flight\n"
                    "    Element *buffers = reinterpret_cast<Element *>(shared_memory);\n");
    gpu_emit_plant(t, plan->plant);
    gpu_text_add(t, "    const Offset t = threadIdx.x;\n"
                    "    src += src_thread(t);\n"
                    "    dst += dst_thread(t);\n");
    if (c->stages)
        gpu_emit_async_loop(t, c);
    else
        emit_in(t, c);
    emit_out(t, c);
    if (c->stages > 1)
        gpu_text_add(t, "        reading = reading + 1 < STAGES ? reading + 1 : 0;\n"
                        "        writing = writing + 1 < STAGES ? writing + 1 : 0;\n");
    else if (plan->grid * c->unroll < c->tiles)
        gpu_text_add(t, "        __syncthreads(); // before the buffers are written again\n");
    gpu_text_add(t, "    }\n");
    if (plan->plant == GPU_PLANT_WRONG_VALUE)
        gpu_text_add(t, "    if (blockIdx.x == 0 && t == 0)\n"
                        "        *reinterpret_cast<unsigned char *>(dst) ^= 1; // planted\n");
    gpu_text_add(t, "}\n");
}

void gpu_emit_stage(struct gpu_text *t, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    emit_types(t, c);
    emit_constants(t, plan);
    gpu_emit_maps(t, "src", c->load.thread, c->load.value, c->load.tile);
    gpu_emit_maps(t, "dst", c->store.thread, c->store.value, c->store.tile);
    gpu_emit_map(t, "put", "thread", "t", c->in.smem.thread);
    gpu_emit_map(t, "put", "value", "v", c->in.smem.value);
    gpu_emit_map(t, "get", "thread", "t", c->out.smem.thread);
    gpu_emit_map(t, "get", "value", "v", c->out.smem.value);
    emit_place(t, c->smem);
    gpu_emit_access(t, c->in.atom.bits, c->out.atom.bits, c->cache);
    gpu_emit_shared_access(t, (unsigned)c->out.smem_vector * c->type->bits,
                           (unsigned)c->in.smem_vector * c->type->bits);
    emit_pieces(t);
    if (c->predicated) {
        gpu_emit_whole(t, c);
        gpu_emit_within(t, c, &c->in, "in_");
        gpu_emit_within(t, c, &c->out, "out_");
        emit_edges(t);
    }
    if (c->stages)
        gpu_emit_async(t, c);
    emit_kernel(t, plan);
}

/* emit_stage.c: a copy through shared memory as CUDA C. The threads load a tile by the first partition and put it into
 * a buffer, wait for each other, and get and store it by the second; several tiles, each with a buffer, are in flight.
 *
 *   put: place(put_thread(t) + put_value(v)), get: place(get_thread(t) + get_value(v))
 *
 * where place is the swizzle. What a thread holds of an access to global memory is a union with the pieces that go
 * through shared memory, which the compiler keeps in registers. Other ways than loads and stores: cp.async in
 * emit_async.c, TMA in emit_tma.c, ldmatrix and stmatrix in emit_matrix.c. */
#include "internal.h"

/* Whether threads of this leg load or store for themselves on the shared side, and whether they hold what they move. */
static bool is_plain(const struct gpu_leg *leg)
{
    return !leg->tma && !leg->matrix;
}

static void emit_type(struct gpu_text *t, const char *name, unsigned bits, const char *what)
{
    gpu_text_add(t, "using %s = %s; // %s\n", name, gpu_bits_type(bits), what);
}

static void emit_types(struct gpu_text *t, const struct gpu_copy *c)
{
    const unsigned bits = c->type->bits;
    emit_type(t, "Element", bits, la_format(t->cx, "%s, as bits", c->type->name));
    if (!c->in.tma)
        emit_type(t, "Load", c->in.atom.bits, "what a thread moves at a time from src,");
    if (is_plain(&c->in))
        emit_type(t, "Put", (unsigned)c->in.smem_vector * bits, "... into shared memory,");
    if (is_plain(&c->out))
        emit_type(t, "Get", (unsigned)c->out.smem_vector * bits, "... out of it,");
    if (!c->out.tma)
        emit_type(t, "Store", c->out.atom.bits, "... and to dst");
    gpu_text_add(t, "using Offset = %s; // in elements\n\n", gpu_offset_type(c));
}

static void emit_leg_constants(struct gpu_text *t, const struct gpu_leg *leg, const char *global,
                               const char *shared)
{
    if (leg->tma)
        return;
    gpu_text_add(t, "constexpr int %sS = %lld, %s_VECTOR = %lld", global,
                 (long long)(leg->part.values / leg->vector), global, (long long)leg->vector);
    if (!leg->matrix)
        gpu_text_add(t, ", %s_VECTOR = %lld", shared, (long long)leg->smem_vector);
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
    if (c->stages > 1 || c->in.tma)
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

static void emit_put(struct gpu_text *t)
{
    gpu_text_add(t, "// Access a of thread t, into the buffer of a tile.\n"
                    "__device__ inline void put(Element *buffer, Offset t, Offset a, Load held)\n{\n"
                    "    Split<Load, Put> split;\n"
                    "    split.whole = held;\n"
                    "#pragma unroll\n"
                    "    for (int p = 0; p < LOAD_VECTOR; p += PUT_VECTOR)\n"
                    "        store_shared(buffer + place(put_thread(t) + put_value(a * LOAD_VECTOR + p)), "
                    "split.part[p / PUT_VECTOR]);\n"
                    "}\n\n");
}

static void emit_get(struct gpu_text *t)
{
    gpu_text_add(t,
                 "// Access a of thread t, out of the buffer of a tile.\n"
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
static void emit_put_edge(struct gpu_text *t)
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
                    "    }\n}\n\n");
}

static void emit_get_edge(struct gpu_text *t)
{
    gpu_text_add(t, "// A tile at the edge: an access that straddles the edge is made value by value.\n"
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

/* One line for each access of each tile in flight, or for every `step` of them. */
static void emit_each(struct gpu_text *t, const char *batch, int64_t step, const char *guard,
                      const char *line)
{
    gpu_text_add(t,
                 "#pragma unroll\n"
                 "            for (int u = 0; u < UNROLL; ++u)\n"
                 "#pragma unroll\n"
                 "                for (int a = 0; a < %s; %s)\n"
                 "%s                    %s\n",
                 batch, step == 1 ? "++a" : la_format(t->cx, "a += %lld", (long long)step), guard, line);
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
    const int64_t unit = gpu_unit_of(&c->in);
    const char *held = la_format(t->cx, "held[u][a / %lld]", (long long)unit);
    gpu_text_add(t, "    for (Offset first = Offset(blockIdx.x) * UNROLL; first < TILES; "
                    "first += Offset(gridDim.x) * UNROLL) {\n"
                    "        for (int b = 0; b < LOADS; b += LOAD_BATCH) {\n");
    if (c->in.matrix) {
        gpu_text_add(t, "            PutUnit held[UNROLL][LOAD_BATCH / %lld];\n", (long long)unit);
        emit_each(
            t, "LOAD_BATCH", 1, guard,
            la_format(
                t->cx,
                "%s.access[a %% %lld] = load(src + src_tile(first + u) + src_value((b + a) * LOAD_VECTOR));",
                held, (long long)unit));
        emit_each(t, "LOAD_BATCH", unit, guard,
                  la_format(t->cx, "put(buffers + u * SPAN, t, (b + a) * LOAD_VECTOR, %s);", held));
    } else {
        gpu_text_add(t, "            Load held[UNROLL][LOAD_BATCH];\n");
        emit_each(t, "LOAD_BATCH", 1, guard,
                  "held[u][a] = load(src + src_tile(first + u) + src_value((b + a) * LOAD_VECTOR));");
        emit_each(t, "LOAD_BATCH", 1, guard, "put(buffers + u * SPAN, t, b + a, held[u][a]);");
    }
    gpu_text_add(t, "        }\n");
    emit_edge_tiles(t, c, "put_edge(buffers + u * SPAN, src, t, first + u);");
    if (c->out.tma)
        gpu_text_add(t, "        publish();\n");
    gpu_text_add(t, "        __syncthreads();\n"
                    "        const Element *full = buffers;\n");
}

static void emit_out(struct gpu_text *t, const struct gpu_copy *c)
{
    const char *guard = guard_of(t->cx, c, &c->out, "STORES");
    const int64_t unit = gpu_unit_of(&c->out);
    const char *held = la_format(t->cx, "held[u][a / %lld]", (long long)unit);
    gpu_text_add(t, "        for (int b = 0; b < STORES; b += STORE_BATCH) {\n");
    if (c->out.matrix) {
        gpu_text_add(t, "            GetUnit held[UNROLL][STORE_BATCH / %lld];\n", (long long)unit);
        emit_each(t, "STORE_BATCH", unit, guard,
                  la_format(t->cx, "get(full + u * SPAN, t, (b + a) * STORE_VECTOR, %s);", held));
        emit_each(
            t, "STORE_BATCH", 1, guard,
            la_format(
                t->cx,
                "store(dst + dst_tile(first + u) + dst_value((b + a) * STORE_VECTOR), %s.access[a %% %lld]);",
                held, (long long)unit));
    } else {
        gpu_text_add(t, "            Store held[UNROLL][STORE_BATCH];\n");
        emit_each(t, "STORE_BATCH", 1, guard, "held[u][a] = get(full + u * SPAN, t, b + a);");
        emit_each(t, "STORE_BATCH", 1, guard,
                  "store(dst + dst_tile(first + u) + dst_value((b + a) * STORE_VECTOR), held[u][a]);");
    }
    gpu_text_add(t, "        }\n");
    emit_edge_tiles(t, c, "get_edge(full + u * SPAN, dst, t, first + u);");
}

/* By TMA: one thread asks, and what it asks for must have left the buffer before that is written again. */
static void emit_out_boxes(struct gpu_text *t, const struct gpu_copy *c, bool drains)
{
    gpu_text_add(t,
                 "        if (t == 0) {\n"
                 "            for (int u = 0; u < UNROLL; ++u)\n"
                 "%s                store_tile(full + u * SPAN, &dst_map, first + u);\n"
                 "%s        }\n",
                 c->tiles % c->unroll != 0 ? "                if (first + u < TILES)\n    " : "",
                 drains ? "            drain();\n" : "");
}

/* The last of a turn: the next buffers of a ring, or the wait before the only ones are written again. */
static void emit_turn(struct gpu_text *t, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    if (c->stages > 1) {
        gpu_text_add(t, "        reading = reading + 1 < STAGES ? reading + 1 : 0;\n"
                        "        writing = writing + 1 < STAGES ? writing + 1 : 0;\n");
        if (c->in.tma)
            gpu_text_add(t, "        parity ^= reading == 0;\n");
        return;
    }
    if (c->in.tma)
        gpu_text_add(t, "        parity ^= 1;\n");
    if (plan->grid * c->unroll < c->tiles)
        gpu_text_add(t, "        __syncthreads(); // before the buffers are written again\n");
}

/* Parameters, shared memory, and where the thread's own elements begin. */
static void emit_begin(struct gpu_text *t, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    gpu_text_add(t,
                 "extern \"C\" __global__ void __launch_bounds__(THREADS)\n"
                 "copy(const Element *__restrict__ src, Element *__restrict__ dst%s%s)\n{\n",
                 c->in.tma ? ", const __grid_constant__ TensorMap src_map" : "",
                 c->out.tma ? ", const __grid_constant__ TensorMap dst_map" : "");
    gpu_text_add(t, "    extern __shared__ %suint4 shared_memory[]; // a buffer for each tile in flight\n",
                 c->smem->alignment > 16 ? la_format(t->cx, "__align__(%lld) ", (long long)c->smem->alignment)
                                         : "");
    gpu_text_add(t, "    Element *buffers = reinterpret_cast<Element *>(shared_memory);\n");
    gpu_emit_plant(t, plan->plant);
    gpu_text_add(t, "    const Offset t = threadIdx.x;\n");
    if (!c->in.tma)
        gpu_text_add(t, "    src += src_thread(t);\n");
    if (!c->out.tma)
        gpu_text_add(t, "    dst += dst_thread(t);\n");
}

static void emit_kernel(struct gpu_text *t, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    emit_begin(t, plan);
    if (c->stages)
        gpu_emit_ring(t, c);
    else
        emit_in(t, c);
    if (c->out.tma)
        emit_out_boxes(t, c, c->stages <= 1);
    else
        emit_out(t, c);
    emit_turn(t, plan);
    gpu_text_add(t, "    }\n");
    if (c->out.tma)
        gpu_text_add(t, "    if (t == 0)\n        %s();\n",
                     plan->plant == GPU_PLANT_WRONG_VALUE ? "finish" : "drain");
    if (plan->plant == GPU_PLANT_WRONG_VALUE)
        gpu_text_add(t, "    if (blockIdx.x == 0 && t == 0)\n"
                        "        *reinterpret_cast<unsigned char *>(dst) ^= 1; // planted\n");
    gpu_text_add(t, "}\n");
}

/* ---- all of it ---- */

/* The way into shared memory, and what its edges need. */
static void emit_in_pieces(struct gpu_text *t, const struct gpu_copy *c)
{
    const struct gpu_leg *in = &c->in;
    if (in->tma) {
        gpu_emit_tma_load(t, c);
        return;
    }
    gpu_emit_map(t, "put", "thread", "t", in->smem.thread);
    gpu_emit_map(t, "put", "value", "v", in->smem.value);
    if (in->matrix)
        gpu_emit_matrix_put(t, in);
    else
        emit_put(t);
    if (c->predicated) {
        gpu_emit_within(t, c, in, "in_");
        if (in->matrix)
            gpu_emit_matrix_put_edge(t);
        else
            emit_put_edge(t);
    }
    if (c->stages)
        gpu_emit_async(t, c);
}

static void emit_out_pieces(struct gpu_text *t, const struct gpu_copy *c)
{
    const struct gpu_leg *out = &c->out;
    if (out->tma) {
        gpu_emit_tma_store(t, c);
        return;
    }
    gpu_emit_map(t, "get", "thread", "t", out->smem.thread);
    gpu_emit_map(t, "get", "value", "v", out->smem.value);
    if (out->matrix)
        gpu_emit_matrix_get(t, out);
    else
        emit_get(t);
    if (c->predicated) {
        gpu_emit_within(t, c, out, "out_");
        if (out->matrix)
            gpu_emit_matrix_get_edge(t);
        else
            emit_get_edge(t);
    }
}

void gpu_emit_stage(struct gpu_text *t, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    const bool puts = is_plain(&c->in), gets = is_plain(&c->out);
    emit_types(t, c);
    emit_constants(t, plan);
    if (!c->in.tma)
        gpu_emit_maps(t, "src", c->load.thread, c->load.value, c->load.tile);
    if (!c->out.tma)
        gpu_emit_maps(t, "dst", c->store.thread, c->store.value, c->store.tile);
    emit_place(t, c->smem);
    gpu_emit_access(t, c->in.atom.bits, c->out.atom.bits, c->cache);
    if (puts || gets) {
        gpu_emit_shared_access(t, gets ? (unsigned)c->out.smem_vector * c->type->bits : 0,
                               puts ? (unsigned)c->in.smem_vector * c->type->bits : 0);
        gpu_text_add(
            t, "template <class Whole, class Part> union Split { Whole whole; Part part[sizeof(Whole) / "
               "sizeof(Part)]; };\n\n");
    }
    if (c->in.tma || c->out.tma)
        gpu_emit_tma_ptx(t, c);
    if (c->predicated && !(c->in.tma && c->out.tma))
        gpu_emit_whole(t, c);
    emit_in_pieces(t, c);
    emit_out_pieces(t, c);
    emit_kernel(t, plan);
}

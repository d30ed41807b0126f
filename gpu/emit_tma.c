/* emit_tma.c: TMA in generated CUDA: one thread asks for the boxes of a tile.
 *
 *   load_box(buffer + src_buffer(n), &src_map, barrier, src_at0(i, n), src_at1(i, n));
 *
 * A load tells an mbarrier in shared memory how many bytes have come; whoever reads the tile waits for that. A store
 * reads what the threads have written only if they have published it to the engine's side of memory, and its buffer is
 * free when the store has been drained. What lies beyond the tensor comes as zeros and is not written. */
#include "internal.h"

/* "int c0, int c1", "src_at0(i, n), src_at1(i, n)": a list with the number of each dimension in the middle. */
static const char *each_dimension(struct la_ctx *cx, uint32_t rank, const char *before, const char *behind)
{
    const char *text = "";
    for (uint32_t d = 0; d < rank; d++)
        text = la_format(cx, "%s%s%s%u%s", text, d ? ", " : "", before, d, behind);
    return text;
}

/* "{%2, %3}" */
static const char *coordinates(struct la_ctx *cx, uint32_t rank, uint32_t first)
{
    const char *text = "";
    for (uint32_t d = 0; d < rank; d++)
        text = la_format(cx, "%s%s%%%u", text, d ? ", " : "", first + d);
    return la_format(cx, "{%s}", text);
}

static void emit_load(struct gpu_text *t, uint32_t rank)
{
    struct la_ctx *cx = t->cx;
    gpu_text_add(
        t, "using Barrier = unsigned long long;\n"
           "__device__ inline void barrier_init(Barrier *barrier)\n{\n"
           "    asm volatile(\"mbarrier.init.shared::cta.b64 [%%0], 1;\" :: \"r\"(address(barrier)) : "
           "\"memory\");\n}\n"
           "__device__ inline void barrier_expect(Barrier *barrier, unsigned bytes)\n{\n"
           "    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%0], %%1;\"\n"
           "                 :: \"r\"(address(barrier)), \"r\"(bytes) : \"memory\");\n}\n"
           "// Until the phase of this parity is over.\n"
           "__device__ inline void barrier_wait(Barrier *barrier, unsigned parity)\n{\n"
           "    unsigned done;\n"
           "    do\n"
           "        asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%%1], %%2; "
           "selp.u32 %%0, 1, 0, p; }\"\n"
           "                     : \"=r\"(done) : \"r\"(address(barrier)), \"r\"(parity) : \"memory\");\n"
           "    while (!done);\n}\n");
    gpu_text_add(
        t,
        "__device__ inline void load_box(Element *to, const TensorMap *map, Barrier *barrier, %s)\n{\n"
        "    asm volatile(\"cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%%0], [%%1, %s], [%%2];\"\n"
        "                 :: \"r\"(address(to)), \"l\"(map), \"r\"(address(barrier)), %s : \"memory\");\n}\n",
        each_dimension(cx, rank, "int c", ""), rank, coordinates(cx, rank, 3),
        each_dimension(cx, rank, "\"r\"(c", ")"));
}

static void emit_store(struct gpu_text *t, uint32_t rank)
{
    struct la_ctx *cx = t->cx;
    gpu_text_add(
        t,
        "__device__ inline void store_box(const TensorMap *map, const Element *from, %s)\n{\n"
        "    asm volatile(\"cp.async.bulk.tensor.%ud.global.shared::cta.bulk_group [%%0, %s], [%%1];\"\n"
        "                 :: \"l\"(map), \"r\"(address(from)), %s : \"memory\");\n}\n"
        "__device__ inline void commit_boxes() { asm volatile(\"cp.async.bulk.commit_group;\" ::: "
        "\"memory\"); "
        "}\n"
        "// Until all that was stored has been read out of shared memory, or is written.\n"
        "__device__ inline void drain() { asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\"); "
        "}\n"
        "__device__ inline void finish() { asm volatile(\"cp.async.bulk.wait_group 0; fence.proxy.async;\" "
        "::: "
        "\"memory\"); }\n",
        each_dimension(cx, rank, "int c", ""), rank, coordinates(cx, rank, 2),
        each_dimension(cx, rank, "\"r\"(c", ")"));
}

void gpu_emit_tma_ptx(struct gpu_text *t, const struct gpu_copy *c)
{
    gpu_text_add(t, "// PTX\n"
                    "struct alignas(64) TensorMap { unsigned long long words[16]; };\n"
                    "__device__ inline unsigned address(const void *p) { return "
                    "(unsigned)__cvta_generic_to_shared(p); }\n"
                    "// What this thread wrote to shared memory can be seen by TMA.\n"
                    "__device__ inline void publish() { asm volatile(\"fence.proxy.async.shared::cta;\" ::: "
                    "\"memory\"); }\n");
    if (c->in.tma)
        emit_load(t, c->in.tma->map.rank);
    if (c->out.tma)
        emit_store(t, c->out.tma->map.rank);
    gpu_text_add(t, "// end of PTX\n\n");
}

/* Where box n of tile i begins, in the tensor and in the buffer. */
static void emit_boxes(struct gpu_text *t, const struct gpu_copy *c, const struct gpu_tma *tma,
                       const char *name, const char *constant)
{
    gpu_text_add(
        t,
        "// Box n of tile i: where it begins along each dimension of the tensor map, and in the buffer.\n"
        "constexpr int %s_BOXES = %lld;\n",
        constant, (long long)tma->map.instructions);
    for (uint32_t d = 0; d < tma->map.rank; d++) {
        const uint32_t k = tma->map.dim[d].mode;
        gpu_text_add(
            t, "__device__ constexpr int %s_at%u(Offset i, Offset n)\n{\n    const Offset c = ", name, d);
        gpu_text_map(t, c->tile_at[k], "i");
        gpu_text_add(t, " + ");
        gpu_text_map(t, tma->at[k], "n");
        gpu_text_add(t, ";\n    return int(");
        gpu_text_map(t, tma->dim[d], "c");
        gpu_text_add(t, ");\n}\n");
    }
    gpu_emit_map(t, name, "buffer", "n", tma->smem);
}

void gpu_emit_tma_load(struct gpu_text *t, const struct gpu_copy *c)
{
    emit_boxes(t, c, c->in.tma, "src", "SRC");
    gpu_text_add(t,
                 "// All boxes of tile i, if that lies before the end.\n"
                 "__device__ inline void fetch_tile(Element *buffer, const TensorMap *map, Barrier *barrier, "
                 "Offset t, Offset i,\n                                  Offset end)\n{\n"
                 "    if (t != 0 || i >= end)\n"
                 "        return;\n"
                 "    barrier_expect(barrier, SRC_BOXES * %lld);\n"
                 "#pragma unroll 4\n"
                 "    for (Offset n = 0; n < SRC_BOXES; ++n)\n"
                 "        load_box(buffer + src_buffer(n), map, barrier, %s);\n"
                 "}\n\n",
                 (long long)c->in.tma->map.box_bytes,
                 each_dimension(t->cx, c->in.tma->map.rank, "src_at", "(i, n)"));
}

void gpu_emit_tma_store(struct gpu_text *t, const struct gpu_copy *c)
{
    emit_boxes(t, c, c->out.tma, "dst", "DST");
    gpu_text_add(
        t,
        "// All boxes of tile i.\n"
        "__device__ inline void store_tile(const Element *buffer, const TensorMap *map, Offset i)\n{\n"
        "#pragma unroll 4\n"
        "    for (Offset n = 0; n < DST_BOXES; ++n)\n"
        "        store_box(map, buffer + dst_buffer(n), %s);\n"
        "    commit_boxes();\n"
        "}\n\n",
        each_dimension(t->cx, c->out.tma->map.rank, "dst_at", "(i, n)"));
}

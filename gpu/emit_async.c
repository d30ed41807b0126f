/* emit_async.c: cp.async in generated CUDA, and the ring of buffers that it and TMA have: tiles on their way to shared
 * memory while another is read out of it.
 *
 *   buffers 0 1 2 of STAGES = 3:  tile k is read in buffer k % 3 while k+1 and k+2 are fetched into the others
 *
 * One commit group a tile, empty ones included, so that "all but the STAGES - 2 youngest are here" always means the
 * tile that is read next. The barrier behind the wait makes every thread's part visible to all, and says that all
 * have left the buffer that is fetched into next. */
#include "internal.h"

void gpu_emit_async(struct gpu_text *t, const struct gpu_copy *c)
{
    const unsigned bytes = c->in.atom.bits / 8;
    gpu_text_add(
        t,
        "// PTX\n"
        "__device__ inline void fetch(Element *to, const Element *from)\n{\n"
        "    asm volatile(\"cp.async.%s.shared.global [%%0], [%%1], %u;\"\n"
        "                 :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");\n}\n"
        "__device__ inline void commit() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }\n"
        "// Until all but so many of the youngest groups have arrived.\n"
        "template <int Left> __device__ inline void wait()\n{\n"
        "    asm volatile(\"cp.async.wait_group %%0;\" :: \"n\"(Left) : \"memory\");\n}\n"
        "// end of PTX\n\n",
        c->in.atom.op == GPU_CP_ASYNC_GLOBAL ? "cg" : "ca", bytes);
    gpu_text_add(t,
                 "// All that thread t fetches of tile i, if that lies before the end, as one group.\n"
                 "__device__ inline void fetch_tile(Element *buffer, const Element *src, Offset t, Offset i, "
                 "Offset end)\n{\n"
                 "    if (i < end%s) {\n"
                 "#pragma unroll\n"
                 "        for (int a = 0; a < LOADS; ++a)\n"
                 "            fetch(buffer + place(put_thread(t) + put_value(a * LOAD_VECTOR)),\n"
                 "                  src + src_tile(i) + src_value(a * LOAD_VECTOR));\n"
                 "    }%s\n"
                 "    commit();\n}\n\n",
                 c->predicated ? " && whole(i)" : "",
                 c->predicated ? " else if (i < end) {\n        put_edge(buffer, src, t, i);\n    }" : "");
}

/* ---- the ring of buffers, of cp.async and of TMA ---- */

/* The barriers that TMA tells how much has come, one a buffer. */
static void emit_barriers(struct gpu_text *t)
{
    gpu_text_add(t, "    Barrier *barriers = reinterpret_cast<Barrier *>(buffers + STAGES * SPAN);\n"
                    "    if (t == 0) {\n"
                    "        for (int s = 0; s < STAGES; ++s)\n"
                    "            barrier_init(barriers + s);\n"
                    "        publish();\n"
                    "    }\n"
                    "    __syncthreads();\n"
                    "    unsigned parity = 0; // of the phase that the buffer which is read is in\n");
}

static const char *fetch(struct la_ctx *cx, const struct gpu_copy *c, const char *buffer, const char *tile)
{
    return c->in.tma ? la_format(cx, "fetch_tile(buffers + %s * SPAN, &src_map, barriers + %s, t, %s, end);",
                                 buffer, buffer, tile)
                     : la_format(cx, "fetch_tile(buffers + %s * SPAN, src, t, %s, end);", buffer, tile);
}

/* A turn begins when the buffer that is fetched into next has been left, by the threads and by TMA's stores. cp.async
 * must have arrived before the barrier that shows it to all; TMA shows its tile to whoever waits for it. */
static void emit_turns(struct gpu_text *t, const struct gpu_copy *c)
{
    gpu_text_add(t, "    int reading = 0, writing = STAGES - 1; // buffers\n"
                    "    for (Offset first = begin; first < end; ++first) {\n");
    if (c->out.tma)
        gpu_text_add(t, "        if (t == 0)\n            drain();\n");
    if (!c->in.tma)
        gpu_text_add(t, "        wait<STAGES - 2>();\n%s", c->out.tma ? "        publish();\n" : "");
    gpu_text_add(t, "        __syncthreads();\n        %s\n",
                 fetch(t->cx, c, "writing", "first + STAGES - 1"));
    if (c->in.tma)
        gpu_text_add(t, "        barrier_wait(barriers + reading, parity);\n");
    gpu_text_add(t, "        const Element *full = buffers + reading * SPAN;\n");
}

/* One buffer: nothing overlaps. */
static void emit_single(struct gpu_text *t, const struct gpu_copy *c)
{
    gpu_text_add(t, "    for (Offset first = begin; first < end; ++first) {\n        %s\n",
                 fetch(t->cx, c, "0", "first"));
    if (c->in.tma)
        gpu_text_add(t, "        barrier_wait(barriers, parity);\n");
    else
        gpu_text_add(t, "        wait<0>();\n%s        __syncthreads();\n",
                     c->out.tma ? "        publish();\n" : "");
    gpu_text_add(t, "        const Element *full = buffers;\n");
}

/* A block's tiles follow each other, so that what all blocks have on its way at a time is one piece of memory. */
void gpu_emit_ring(struct gpu_text *t, const struct gpu_copy *c)
{
    gpu_text_add(t, "    const Offset begin = blockIdx.x * SHARE, end = begin + SHARE < TILES ? begin + "
                    "SHARE : TILES;\n");
    if (c->in.tma)
        emit_barriers(t);
    if (c->stages > 1)
        gpu_text_add(t, "    for (int s = 0; s < STAGES - 1; ++s)\n        %s\n",
                     fetch(t->cx, c, "s", "begin + s"));
    if (c->stages > 1)
        emit_turns(t, c);
    else
        emit_single(t, c);
}

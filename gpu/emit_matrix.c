/* emit_matrix.c: ldmatrix and stmatrix in generated CUDA: what a thread holds between global memory and a matrix.
 *
 *   SM75_U32x4_LDSM_N, half_t, stores of 32 bits: a unit is 8 values, 1 instruction and 4 stores
 *
 * A unit is as many values as both sides can split evenly: one instruction and the accesses to global memory that its
 * registers make, or one access and the instructions that it fills. At the edge of the shape matrices are still moved
 * whole: shared memory has all of a tile, and only global memory has an edge. */
#include "internal.h"

/* "{%1, %2}" from the operand `first` on. */
static const char *operands(struct la_ctx *cx, int64_t count, int first)
{
    const char *text = "{";
    for (int64_t i = 0; i < count; i++)
        text = la_format(cx, "%s%s%%%lld", text, i ? ", " : "", (long long)(first + i));
    return la_format(cx, "%s}", text);
}

/* "\"=r\"(x[0]), \"=r\"(x[1])" */
static const char *registers(struct la_ctx *cx, int64_t count, const char *constraint)
{
    const char *text = "";
    for (int64_t i = 0; i < count; i++)
        text = la_format(cx, "%s%s\"%s\"(x[%lld])", text, i ? ", " : "", constraint, (long long)i);
    return text;
}

static void emit_instruction(struct gpu_text *t, const struct gpu_matrix *m, bool store)
{
    struct la_ctx *cx = t->cx;
    const char *shape = la_format(cx, "sync.aligned.m8n8.x%lld%s.shared.b16", (long long)m->count,
                                  m->trans ? ".trans" : "");
    gpu_text_add(t, "// PTX\n// %s: `row` is where the lane's row begins.\n", m->name);
    if (store)
        gpu_text_add(
            t,
            "__device__ inline void store_matrices(Element *row, const unsigned *x)\n{\n"
            "    asm volatile(\"stmatrix.%s [%%0], %s;\"\n"
            "                 :: \"r\"((unsigned)__cvta_generic_to_shared(row)), %s : \"memory\");\n}\n",
            shape, operands(cx, m->count, 1), registers(cx, m->count, "r"));
    else
        gpu_text_add(t,
                     "__device__ inline void load_matrices(const Element *row, unsigned *x)\n{\n"
                     "    asm volatile(\"ldmatrix.%s %s, [%%%lld];\"\n"
                     "                 : %s\n"
                     "                 : \"r\"((unsigned)__cvta_generic_to_shared(row)) : \"memory\");\n}\n",
                     shape, operands(cx, m->count, 0), (long long)m->count, registers(cx, m->count, "=r"));
    gpu_text_add(t, "// end of PTX\n\n");
}

static void emit_unit(struct gpu_text *t, const struct gpu_leg *leg, const char *side, const char *name,
                      const char *access)
{
    const long long unit = gpu_unit_of(leg) * leg->vector;
    gpu_text_add(t,
                 "constexpr int %s_UNIT = %lld; // values that go through shared memory together,\n"
                 "constexpr int %s_VALUES = %lld, %s_ROW = %lld; // ... of an instruction, and of a row\n"
                 "union %sUnit {\n"
                 "    %s access[%lld];\n"
                 "    Element element[%lld];\n"
                 "    unsigned word[%lld];\n"
                 "};\n",
                 side, unit, side, (long long)leg->matrix->values, side, (long long)leg->smem_vector, name,
                 access, (long long)gpu_unit_of(leg), unit,
                 (long long)(unit * leg->matrix->count / leg->matrix->values));
}

void gpu_emit_matrix_put(struct gpu_text *t, const struct gpu_leg *leg)
{
    emit_instruction(t, leg->matrix, true);
    emit_unit(t, leg, "PUT", "Put", "Load");
    gpu_text_add(
        t,
        "// The unit of thread t that begins with value v, into the buffer of a tile.\n"
        "__device__ inline void put(Element *buffer, Offset t, Offset v, const PutUnit &held)\n{\n"
        "#pragma unroll\n"
        "    for (int e = 0; e < PUT_UNIT; e += PUT_VALUES)\n"
        "        store_matrices(buffer + place(put_thread(t) + put_value((v + e) / PUT_VALUES * PUT_ROW)),\n"
        "                       held.word + e / PUT_VALUES * %lld);\n"
        "}\n\n",
        (long long)leg->matrix->count);
}

void gpu_emit_matrix_get(struct gpu_text *t, const struct gpu_leg *leg)
{
    emit_instruction(t, leg->matrix, false);
    emit_unit(t, leg, "GET", "Get", "Store");
    gpu_text_add(
        t,
        "// The unit of thread t that begins with value v, out of the buffer of a tile.\n"
        "__device__ inline void get(const Element *buffer, Offset t, Offset v, GetUnit &held)\n{\n"
        "#pragma unroll\n"
        "    for (int e = 0; e < GET_UNIT; e += GET_VALUES)\n"
        "        load_matrices(buffer + place(get_thread(t) + get_value((v + e) / GET_VALUES * GET_ROW)),\n"
        "                      held.word + e / GET_VALUES * %lld);\n"
        "}\n\n",
        (long long)leg->matrix->count);
}

void gpu_emit_matrix_put_edge(struct gpu_text *t)
{
    gpu_text_add(
        t, "// A tile at the edge: an access that straddles it is made value by value; zeros beyond it.\n"
           "__device__ void put_edge(Element *buffer, const Element *src, Offset t, Offset i)\n{\n"
           "#pragma unroll 1\n"
           "    for (Offset v = 0; v < LOADS * LOAD_VECTOR; v += PUT_UNIT) {\n"
           "        PutUnit held = {};\n"
           "#pragma unroll\n"
           "        for (int e = 0; e < PUT_UNIT; e += LOAD_VECTOR) {\n"
           "            const Element *from = src + src_tile(i) + src_value(v + e);\n"
           "            int inside = 0;\n"
           "            for (int x = 0; x < LOAD_VECTOR; ++x)\n"
           "                inside += in_within(t, v + e + x, i);\n"
           "            if (inside == LOAD_VECTOR)\n"
           "                held.access[e / LOAD_VECTOR] = load(from);\n"
           "            else if (LOAD_VECTOR > 1)\n"
           "                for (int x = 0; x < LOAD_VECTOR; ++x)\n"
           "                    if (in_within(t, v + e + x, i))\n"
           "                        held.element[e + x] = from[x];\n"
           "        }\n"
           "        __syncwarp();\n"
           "        put(buffer, t, v, held);\n"
           "    }\n}\n\n");
}

void gpu_emit_matrix_get_edge(struct gpu_text *t)
{
    gpu_text_add(t, "// A tile at the edge: an access that straddles it is made value by value.\n"
                    "__device__ void get_edge(const Element *buffer, Element *dst, Offset t, Offset i)\n{\n"
                    "#pragma unroll 1\n"
                    "    for (Offset v = 0; v < STORES * STORE_VECTOR; v += GET_UNIT) {\n"
                    "        GetUnit held;\n"
                    "        get(buffer, t, v, held);\n"
                    "#pragma unroll\n"
                    "        for (int e = 0; e < GET_UNIT; e += STORE_VECTOR) {\n"
                    "            Element *to = dst + dst_tile(i) + dst_value(v + e);\n"
                    "            int inside = 0;\n"
                    "            for (int x = 0; x < STORE_VECTOR; ++x)\n"
                    "                inside += out_within(t, v + e + x, i);\n"
                    "            if (inside == STORE_VECTOR)\n"
                    "                store(to, held.access[e / STORE_VECTOR]);\n"
                    "            else if (STORE_VECTOR > 1)\n"
                    "                for (int x = 0; x < STORE_VECTOR; ++x)\n"
                    "                    if (out_within(t, v + e + x, i))\n"
                    "                        to[x] = held.element[e + x];\n"
                    "        }\n"
                    "        __syncwarp();\n"
                    "    }\n}\n\n");
}

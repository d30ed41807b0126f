/* emit_access.c: single accesses of memory as CUDA C, exactly as wide as the plan says.
 *
 *   128 bits, default:  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" ...)
 *
 * They are PTX, because the compiler is free with C: it takes a uint4 apart into four stores of 32 bits where
 * it does not see that they are one (offsets of 64 bits), and makes one load of 128 bits of four neighbours
 * of 32. Both are other requests, sectors and bank conflicts than those of the partition that is looked at.
 * What lies between the marks "// PTX" and "// end of PTX" is what C++ without a GPU needs another body for. */
#include "internal.h"

const char *gpu_bits_type(unsigned bits)
{
    return bits == 8    ? "unsigned char"
           : bits == 16 ? "unsigned short"
           : bits == 32 ? "unsigned"
           : bits == 64 ? "unsigned long long"
                        : "uint4";
}

/* How PTX moves so many bits: in one register, or in four. */
struct ptx_access {
    unsigned bits;
    const char *type, *variable, *constraint; /* of the instruction, of a register in C, of asm */
};

static struct ptx_access ptx_access_of(unsigned bits)
{
    static const struct ptx_access known[] = {{8, "u8", "unsigned", "r"},
                                              {16, "u16", "unsigned short", "h"},
                                              {32, "u32", "unsigned", "r"},
                                              {64, "u64", "unsigned long long", "l"},
                                              {128, "v4.u32", "uint4", "r"}};
    size_t i = 0;
    while (known[i].bits != bits)
        i++;
    return known[i];
}

/* What an access is called in C, and what in PTX. */
struct ptx_name {
    const char *function, *instruction;
    bool shared;
};

static const char *address_of(struct la_ctx *cx, struct ptx_name name, const char *pointer)
{
    return name.shared ? la_format(cx, "\"r\"((unsigned)__cvta_generic_to_shared(%s))", pointer)
                       : la_format(cx, "\"l\"(%s)", pointer);
}

static void emit_load(struct gpu_text *t, struct ptx_name name, unsigned bits)
{
    const struct ptx_access p = ptx_access_of(bits);
    gpu_text_add(t,
                 "__device__ inline %s %s(const Element *from)\n{\n    %s x;\n"
                 "    asm volatile(\"%s.%s %s;\"\n                 : %s : %s%s);\n    return x;\n}\n",
                 gpu_bits_type(bits), name.function, p.variable, name.instruction, p.type,
                 bits == 128 ? "{%0, %1, %2, %3}, [%4]" : "%0, [%1]",
                 bits == 128 ? "\"=r\"(x.x), \"=r\"(x.y), \"=r\"(x.z), \"=r\"(x.w)"
                             : la_format(t->cx, "\"=%s\"(x)", p.constraint),
                 address_of(t->cx, name, "from"), name.shared ? " : \"memory\"" : "");
}

static void emit_store(struct gpu_text *t, struct ptx_name name, unsigned bits)
{
    const struct ptx_access p = ptx_access_of(bits);
    gpu_text_add(t,
                 "__device__ inline void %s(Element *to, %s value)\n{\n    const %s x = value;\n"
                 "    asm volatile(\"%s.%s %s;\"\n                 :: %s, %s : \"memory\");\n}\n",
                 name.function, gpu_bits_type(bits), p.variable, name.instruction, p.type,
                 bits == 128 ? "[%0], {%1, %2, %3, %4}" : "[%0], %1", address_of(t->cx, name, "to"),
                 bits == 128 ? "\"r\"(x.x), \"r\"(x.y), \"r\"(x.z), \"r\"(x.w)"
                             : la_format(t->cx, "\"%s\"(x)", p.constraint));
}

void gpu_emit_access(struct gpu_text *t, unsigned load_bits, unsigned store_bits, enum gpu_cache cache)
{
    const char *load = cache == GPU_CACHE_STREAMING     ? "ld.global.cs"
                       : cache == GPU_CACHE_NO_ALLOCATE ? "ld.global.L1::no_allocate.L2::256B"
                                                        : "ld.global.nc";
    const char *store = cache == GPU_CACHE_STREAMING     ? "st.global.cs"
                        : cache == GPU_CACHE_NO_ALLOCATE ? "st.global.L1::no_allocate"
                                                         : "st.global";
    gpu_text_add(t, "// PTX\n// In global memory: no compiler splits or joins these.\n");
    if (load_bits)
        emit_load(t, (struct ptx_name){"load", load, false}, load_bits);
    if (store_bits)
        emit_store(t, (struct ptx_name){"store", store, false}, store_bits);
    gpu_text_add(t, "// end of PTX\n\n");
}

void gpu_emit_shared_access(struct gpu_text *t, unsigned load_bits, unsigned store_bits)
{
    gpu_text_add(t, "// PTX\n// In shared memory, likewise.\n");
    if (load_bits)
        emit_load(t, (struct ptx_name){"load_shared", "ld.shared", true}, load_bits);
    if (store_bits)
        emit_store(t, (struct ptx_name){"store_shared", "st.shared", true}, store_bits);
    gpu_text_add(t, "// end of PTX\n\n");
}

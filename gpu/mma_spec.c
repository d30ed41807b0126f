/* mma_spec.c: the fields of an mma's spec that is the check of one tile: with a problem it is a GEMM, see gemm_spec.c.
 *
 *   {"kind":"mma", "atom":"SM80_16x8x16_F32F16F16F32_TN", "atom_layout":"(2,2,1)", "permutation":"(_,_,_)"}
 *
 * One row a field; spec.c reads them. What the texts mean is mma_plan.c's business. */
#include "spec.h"

#define AT(member) offsetof(struct gpu_spec, mma.member)
static const struct gpu_field fields[] = {
    {.name = "atom", .read = gpu_read_text, .member = AT(atom), .required = true},
    {.name = "atom_layout", .read = gpu_read_text, .member = AT(atom_layout)},
    {.name = "permutation", .read = gpu_read_text, .member = AT(permutation)},
};

const struct gpu_fields gpu_mma_fields = {"an mma", fields, sizeof fields / sizeof fields[0], NULL};

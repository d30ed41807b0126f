/* gemm_choose.c: the tile, the atom layout and the stages of a GEMM where its spec leaves them open.
 *
 *   4096 x 4096 x 4096 half_t -> tile (128,256,64), atoms (2,4,1): 8 warps of 64 x 64, 3 stages of 48 KB
 *
 * A larger tile loads less for each product, until its accumulators fill the registers or there are fewer tiles than
 * multiprocessors. A row of a stage is 128 bytes where K is contiguous: as wide as the banks of shared memory. */
#include "gemm_planning.h"

enum {
    ACCUMULATOR_WORDS = 128, /* of a thread: half of its registers */
    FEWEST_TILES = 120,      /* one a multiprocessor: A100 108, H100 and H200 132, B200 148 */
    ROW_BYTES = 128,         /* of a stage along K */
    SCALAR_ROW_BYTES =
        64, /* for atoms of one thread, whose every product is an instruction that is written out */
    STAGE_BYTES =
        160 << 10, /* of shared memory that all stages may take: what compute capability 8.0 has, too */
    MOST_STAGES = 4
};

/* Tiles and the warps that share them, the largest first. */
static const struct {
    int64_t m, n, warps_m, warps_n;
} shapes[] = {{128, 256, 2, 4}, {128, 128, 2, 2}, {64, 128, 2, 2}, {64, 64, 2, 2}, {32, 32, 2, 2}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Atoms along M and N that so many warps hold: a warp of atoms of one thread is 4 x 8, of four quad pairs 2 x 2. */
static void atoms_of_warps(const struct gpu_instruction *in, int64_t warps_m, int64_t warps_n,
                           int64_t atoms[2])
{
    const int64_t each = in->threads < LA_LANES ? LA_LANES / in->threads : 1;
    const int64_t along_m = each == LA_LANES ? 4 : each == 4 ? 2 : 1;
    atoms[0] = warps_m * along_m;
    atoms[1] = warps_n * (each / along_m);
}

struct gpu_gemm_words gpu_gemm_words_of(const struct gpu_instruction *in, const int64_t tile[2],
                                        int64_t along_m, int64_t along_n)
{
    const int64_t of[2] = {tile[0] / along_m * in->k * in->of[LA_A].number->bits,
                           tile[1] / along_n * in->k * in->of[LA_B].number->bits};
    const int64_t sums = tile[0] * tile[1] * in->of[LA_C].number->bits,
                  threads = along_m * along_n * in->threads;
    /* Hopper multiplies 8-bit floats as half_t, which it makes of them first. */
    const int64_t times = in->of[LA_A].number->kind == GPU_FLOAT && in->of[LA_A].number->bits == 8 ? 3 : 1;
    return (struct gpu_gemm_words){(sums / 32 + threads - 1) / threads,
                                   2 * times * ((of[0] + of[1]) / 32 / in->threads)};
}

/* Half of the registers for the accumulators, and for the fragments what else there is. */
static bool words_fit(const struct gpu_instruction *in, const int64_t tile[2], const int64_t along[2])
{
    const struct gpu_gemm_words words = gpu_gemm_words_of(in, tile, along[0], along[1]);
    return words.accumulators <= ACCUMULATOR_WORDS &&
           words.accumulators + words.fragments <= GPU_GEMM_REGISTERS;
}

static int64_t tiles_of(const struct gpu_gemm *g, int64_t m, int64_t n)
{
    return ((g->m + m - 1) / m) * ((g->n + n - 1) / n);
}

static bool shape_fits(const struct gpu_gemm_planning *p, size_t i)
{
    const struct gpu_gemm *g = p->g;
    const struct gpu_instruction *in = &g->instruction;
    const int64_t tile[2] = {shapes[i].m, shapes[i].n};
    int64_t atoms[2];
    atoms_of_warps(in, shapes[i].warps_m, shapes[i].warps_n, atoms);
    if (p->layer[0]) /* the atom layout was given */
        return tile[0] % p->layer[0] == 0 && tile[1] % p->layer[1] == 0 && words_fit(in, tile, p->along);
    return tile[0] % (atoms[0] * in->m) == 0 && tile[1] % (atoms[1] * in->n) == 0 &&
           words_fit(in, tile, atoms);
}

/* The depth of a step: a row of bytes, less where K is less, a multiple of the atoms' depth. */
static int64_t choose_depth(const struct gpu_gemm_planning *p, int64_t layer)
{
    const struct gpu_instruction *in = &p->g->instruction;
    const unsigned a = in->of[LA_A].number->bits, b = in->of[LA_B].number->bits;
    const int64_t row = in->threads == 1 ? SCALAR_ROW_BYTES : ROW_BYTES;
    int64_t depth = row * 8 / (a > b ? a : b) / layer * layer;
    while (depth > layer && depth / 2 >= p->g->k && depth / 2 % layer == 0)
        depth /= 2;
    return depth < layer ? layer : depth;
}

void gpu_gemm_choose_tile(struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    size_t chosen = SHAPES;
    for (size_t i = 0; i < SHAPES; i++)
        if (shape_fits(p, i)) {
            chosen = i;
            if (tiles_of(g, shapes[i].m, shapes[i].n) >= FEWEST_TILES)
                break;
        }
    for (uint32_t k = 0; k < 2; k++)
        g->tile[k] = chosen == SHAPES ? p->layer[k] : k ? shapes[chosen].n : shapes[chosen].m;
    if (chosen < SHAPES)
        atoms_of_warps(&g->instruction, shapes[chosen].warps_m, shapes[chosen].warps_n, p->atoms);
    g->tile[2] = choose_depth(p, p->layer[2] ? p->layer[2] : g->instruction.k);
}

/* As few warps as hold the tile's accumulators, but four where there is enough for them. */
void gpu_gemm_choose_atoms(struct gpu_gemm_planning *p)
{
    static const int64_t warps[][2] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {4, 8},
                                       {1, 4}, {4, 1}, {1, 2}, {2, 1}, {1, 1}};
    const struct gpu_instruction *in = &p->g->instruction;
    const int64_t *tile = p->g->tile;
    for (size_t i = 0; i < sizeof warps / sizeof warps[0]; i++) {
        atoms_of_warps(in, warps[i][0], warps[i][1], p->atoms);
        if (tile[0] % (p->atoms[0] * in->m) == 0 && tile[1] % (p->atoms[1] * in->n) == 0 &&
            words_fit(in, tile, p->atoms))
            return;
    }
    atoms_of_warps(in, 1, 1, p->atoms);
}

int64_t gpu_gemm_choose_stages(const struct gpu_gemm *g)
{
    const int64_t most = STAGE_BYTES / g->stage_bytes;
    return most < 2 ? 2 : most > MOST_STAGES ? MOST_STAGES : most;
}

/* tma.c: a tile that TMA moves: the boxes that one thread asks for, and where each lies in the tensor and in shared
 * memory.
 *
 *   half_t (4096,4096):(4096,1), smem tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64,128)):
 *   2 boxes of (64,64); box n begins at column 64n of the tile and at element 4096n of its buffer
 *
 * What a tensor map can say, and why it cannot say more, is core's tma.c. A mode of the tensor with several extents is as
 * many dimensions of the map; the last of them grows beyond its extent at the edge of the shape, where TMA reads zeros and
 * writes nothing. Functions here leave by la_fail, as core's do. */
#include "internal.h"

/* Coordinates are signed in the instruction. */
#define EXTENT_MAX (INT64_C(1) << 31)
enum { TMA_PIECE_BYTES = 16 };

static void check_map(struct la_ctx *cx, const char *atom, const struct la_tma *map, unsigned bits)
{
    if (!map->legal)
        la_fail(cx, cx->error.code, "%s: %s", atom, map->why);
    for (uint32_t d = 0; d < map->rank; d++)
        if (map->dim[d].extent >= EXTENT_MAX)
            la_fail(cx, LA_E_limit, "%s: mode %u has %lld elements; coordinates end below 2^31", atom,
                    map->dim[d].mode, (long long)map->dim[d].extent);
    const int64_t inner = map->dim[0].box * bits / 8;
    if (map->swizzle && inner != map->swizzle)
        la_fail(cx, LA_E_other,
                "%s: the box has %lld bytes along mode %u, but the swizzle moves pieces of rows of %d: how "
                "TMA lays "
                "shorter rows out is not documented",
                atom, (long long)inner, map->dim[0].mode, map->swizzle);
}

/* A store writes 16 bytes at a time where a row ends, too: seen on an H200, in each of 13 stores of such rows and in none
 * of 13 others. */
static void check_store(struct la_ctx *cx, const char *atom, const struct la_tma *map, unsigned bits)
{
    const int64_t row = map->dim[0].extent * bits / 8, over = row % TMA_PIECE_BYTES;
    if (over)
        la_fail(
            cx, LA_E_other,
            "%s: a row along mode %u ends after %lld bytes, but TMA writes pieces of %d: the last one would "
            "change %lld bytes behind it",
            atom, map->dim[0].mode, (long long)row, TMA_PIECE_BYTES, (long long)(TMA_PIECE_BYTES - over));
}

/* From the coordinate along the dimension's mode to the coordinate along the dimension: c / inner % extent. */
static struct gpu_map dimension(struct la_ctx *cx, const struct la_tma *map, uint32_t d)
{
    struct gpu_mode *modes = la_alloc(cx, 3 * sizeof *modes);
    uint32_t n = 0;
    int64_t inner = 1;
    bool is_last = true;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->dim[i].mode != map->dim[d].mode)
            continue;
        inner *= i < d ? map->dim[i].extent : 1;
        is_last = is_last && i <= d;
    }
    if (inner > 1)
        modes[n++] = (struct gpu_mode){inner, 0};
    modes[n++] = (struct gpu_mode){map->dim[d].extent, 1};
    if (!is_last)
        modes[n++] = (struct gpu_mode){1, 0};
    return (struct gpu_map){n, modes};
}

/* From a box's number to what it adds: of each repeat, the step where it goes along mode k, or its stride. */
static struct gpu_map along(struct la_ctx *cx, const struct la_tma *map, uint32_t k)
{
    struct gpu_mode *modes = la_alloc(cx, (map->repeats + 1) * sizeof *modes);
    for (uint32_t i = 0; i < map->repeats; i++)
        modes[i] = (struct gpu_mode){map->repeat[i].extent,
                                     map->repeat[i].mode == k ? map->repeat[i].step : 0};
    return (struct gpu_map){map->repeats, modes};
}

static struct gpu_map in_buffer(struct la_ctx *cx, const struct la_tma *map)
{
    struct gpu_mode *modes = la_alloc(cx, (map->repeats + 1) * sizeof *modes);
    for (uint32_t i = 0; i < map->repeats; i++)
        modes[i] = (struct gpu_mode){map->repeat[i].extent, map->repeat[i].stride};
    return (struct gpu_map){map->repeats, modes};
}

void gpu_tma_make(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_tensor *tensor,
                  struct la_layout smem, struct gpu_leg *leg)
{
    struct gpu_tma *tma = la_alloc(cx, sizeof *tma);
    *tma = (struct gpu_tma){.map = la_tma_of(cx, tensor->layout, smem, type->bits)};
    check_map(cx, leg->atom.name, &tma->map, type->bits);
    if (leg->atom.op == GPU_TMA_STORE)
        check_store(cx, leg->atom.name, &tma->map, type->bits);
    tma->smem = in_buffer(cx, &tma->map);
    for (uint32_t k = 0; k < tensor->rank; k++)
        tma->at[k] = along(cx, &tma->map, k);
    for (uint32_t d = 0; d < tma->map.rank; d++)
        tma->dim[d] = dimension(cx, &tma->map, d);
    leg->tma = tma;
}

/* ---- element by element, for the CPU twin ---- */

/* Where a byte of shared memory lies: TMA exchanges 16-byte pieces by the bits of the address, which the buffer's
 * alignment makes those of the offset in the buffer. */
static int64_t swizzled(const struct la_tma *map, int64_t byte)
{
    return map->swizzle ? byte ^ (byte >> 3 & (map->swizzle - 16)) : byte;
}

/* Element e of a box, counted as the box is walked: its place in the buffer, and in the tensor, or NULL beyond its
 * edges. */
static bool box_element(const struct gpu_tma *tma, const int64_t *from, int64_t e, int64_t bytes,
                        int64_t *offset)
{
    bool inside = true;
    *offset = 0;
    for (uint32_t d = 0; d < tma->map.rank; d++) {
        const struct la_tma_dim *dim = &tma->map.dim[d];
        const int64_t c = from[d] + e % dim->box;
        inside = inside && c < dim->extent;
        *offset += c * (dim->stride / bytes);
        e /= dim->box;
    }
    return inside;
}

/* Where a box of a tile begins, along each dimension of the map. */
static void box_at(const struct gpu_tma *tma, const int64_t *tile_at, int64_t box, int64_t *from)
{
    for (uint32_t d = 0; d < tma->map.rank; d++) {
        const uint32_t k = tma->map.dim[d].mode;
        from[d] = gpu_map_at(tma->dim[d], tile_at[k] + gpu_map_at(tma->at[k], box));
    }
}

int64_t gpu_tma_moves(const struct gpu_tma *tma, const int64_t *tile_at, int64_t bytes, struct gpu_move *out)
{
    const int64_t elements = tma->map.box_bytes / bytes;
    int64_t n = 0, from[LA_TMA_RANK];
    for (int64_t box = 0; box < tma->map.instructions; box++) {
        const int64_t first = gpu_map_at(tma->smem, box);
        box_at(tma, tile_at, box, from);
        for (int64_t e = 0; e < elements; e++) {
            int64_t offset;
            if (box_element(tma, from, e, bytes, &offset))
                out[n++] = (struct gpu_move){offset, swizzled(&tma->map, (first + e) * bytes) / bytes};
        }
    }
    return n;
}

int64_t gpu_tma_sectors(const struct gpu_tma *tma, const int64_t *tile_at, int64_t bytes)
{
    enum { SECTOR_BYTES = 32 };
    const struct la_tma_dim *row = &tma->map.dim[0];
    const int64_t elements = tma->map.box_bytes / bytes;
    int64_t sectors = 0, from[LA_TMA_RANK], offset;
    for (int64_t box = 0; box < tma->map.instructions; box++) {
        box_at(tma, tile_at, box, from);
        for (int64_t e = 0; e < elements; e += row->box) {
            if (!box_element(tma, from, e, bytes, &offset))
                continue;
            const int64_t left = row->extent - from[0], n = left < row->box ? left : row->box;
            sectors += ((offset + n) * bytes - 1) / SECTOR_BYTES - offset * bytes / SECTOR_BYTES + 1;
        }
    }
    return sectors;
}

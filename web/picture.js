/* picture.js: a layout's table of offsets, with what the views ask of it.
 *
 *   value: {type, text, cute, value: {shape, stride, ...}} of /eval      table: {rows, cols, offsets}, row by row
 *
 * Invariants: cell = row * cols + col; mode 0 is the rows and runs fastest, the other modes are folded into
 * the columns; a layout of rank 1 is one row. With an arrangement (modes.js) others of its modes may be rows
 * and columns, and some stand still: then the picture is a part of the layout, and its indices and coordinates
 * are still the layout's own. `offsets` is a Float64Array, or a BigInt64Array where a double would not be
 * exact. */
import { Memory } from './memory.js';
import { windowOf } from './modes.js';
import { axis, format, leaves, modes, sizeOf, split } from './shape.js';

export class Picture {
    constructor({ text, cute, type, value }, table, arrangement = null) {
        const { rows, cols, offsets } = arrangement ? windowOf(table, arrangement) : table;
        Object.assign(this, {
            text,
            cute,
            type,
            value,
            rows,
            cols,
            offsets,
            arrangement,
            shape: value.shape,
        });
        const all = modes(value.shape);
        this.sizes = all.map(sizeOf);
        const { rows: down, cols: across } = arrangement ?? usualModes(all.length);
        Object.assign(this, { down, across });
        this.rowShape = shapeOf(down, all);
        this.colShape = shapeOf(across, all);
        this.rowAxis = axis(this.rowShape);
        this.colAxis = axis(this.colShape);
        Object.assign(this, extremes(table.offsets)); /* colours stay while one steps through it */
    }

    /* The cells in the order of their offsets; made when it is first asked for. */
    get memory() {
        return (this.ordered ??= new Memory(this.offsets, this.min, this.max));
    }

    get size() {
        return this.rows * this.cols;
    }

    at(row, col) {
        return this.offsets[row * this.cols + col];
    }

    /* How many elements the layout has, seen or not. */
    get total() {
        return sizeOf(this.shape);
    }

    /* 'row', 'col' or 'still'. */
    sideOf(mode) {
        return this.down.includes(mode) ? 'row' : this.across.includes(mode) ? 'col' : 'still';
    }

    indexAt(row, col) {
        if (!this.arrangement) return row + this.rows * col;
        const at = this.sizes.map(() => 0);
        const spread = (list, i) => {
            for (const mode of list) {
                at[mode] = i % this.sizes[mode];
                i = Math.floor(i / this.sizes[mode]);
            }
        };
        spread(this.down, row);
        spread(this.across, col);
        for (const { mode, at: place } of this.arrangement.steps) at[mode] = place;
        return at.reduceRight((index, digit, mode) => index * this.sizes[mode] + digit, 0);
    }

    /* Null when the element is not in sight. */
    cellOfIndex(index) {
        if (!this.arrangement) return { row: index % this.rows, col: Math.floor(index / this.rows) };
        const at = split(this.sizes, index);
        if (this.arrangement.steps.some(({ mode, at: place }) => at[mode] !== place)) return null;
        const gather = (list) => list.reduceRight((i, mode) => i * this.sizes[mode] + at[mode], 0);
        return { row: gather(this.down), col: gather(this.across) };
    }

    coordAt(row, col) {
        return split(this.shape, this.indexAt(row, col));
    }

    /* What stands before row i, or above column i, of a table. */
    headOf(side, i) {
        return format(split(side === 'row' ? this.rowShape : this.colShape, i));
    }

    has(row, col) {
        return row >= 0 && col >= 0 && row < this.rows && col < this.cols;
    }

    /* The offset as a sum with the numbers put in: [{coord, stride, mode}]. */
    terms(row, col) {
        const coord = modes(this.coordAt(row, col));
        return modes(this.value.stride).flatMap((tree, mode) => {
            const parts = leaves(coord[mode]);
            return leaves(tree).map((stride, i) => ({ coord: parts[i], stride, mode }));
        });
    }
}

/* A loop with an index: over a million of them several times as fast as one without. */
function extremes(offsets) {
    let min = offsets[0] ?? 0;
    let max = min;
    for (let i = 1; i < offsets.length; i++) {
        if (offsets[i] < min) min = offsets[i];
        else if (offsets[i] > max) max = offsets[i];
    }
    return { min, max };
}

const usualModes = (rank) =>
    rank === 1
        ? { rows: [], cols: [0] }
        : { rows: [0], cols: Array.from({ length: rank - 1 }, (_, i) => i + 1) };

/* The shape along one side: 1 when no mode is there. */
function shapeOf(list, all) {
    const shapes = list.map((mode) => all[mode]);
    return shapes.length === 0 ? 1 : shapes.length === 1 ? shapes[0] : shapes;
}

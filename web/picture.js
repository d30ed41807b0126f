/* picture.js: a layout's table of offsets, with what the views ask of it.
 *
 *   value: {type, text, cute, value: {shape, stride, ...}} of /eval      table: {rows, cols, offsets}, row by row
 *
 * Invariants: cell = row * cols + col; mode 0 is the rows and runs fastest, the other modes are folded into
 * the columns; a layout of rank 1 is one row. `offsets` is a Float64Array, or a BigInt64Array where a double
 * would not be exact. */
import { Memory } from './memory.js';
import { axis, leaves, modes, split } from './shape.js';

export class Picture {
    constructor({ text, cute, type, value }, { rows, cols, offsets }) {
        Object.assign(this, { text, cute, type, value, rows, cols, offsets, shape: value.shape });
        const [first, ...others] = modes(value.shape);
        const single = others.length === 0;
        this.rowShape = single ? 1 : first;
        this.colShape = single ? first : others.length === 1 ? others[0] : others;
        this.rowAxis = axis(this.rowShape);
        this.colAxis = axis(this.colShape);
        this.min = this.max = offsets[0] ?? 0;
        for (const offset of offsets) {
            if (offset < this.min) this.min = offset;
            if (offset > this.max) this.max = offset;
        }
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

    indexAt(row, col) {
        return row + this.rows * col;
    }

    cellOfIndex(index) {
        return { row: index % this.rows, col: Math.floor(index / this.rows) };
    }

    coordAt(row, col) {
        return split(this.shape, this.indexAt(row, col));
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

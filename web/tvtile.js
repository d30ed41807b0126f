/* tvtile.js: who holds what of the tile of a copy, of which the picture is raked_product(thr, val): the offset of a
 * place is thread + threads * value, and each place has one holder. An instruction of a thread is the values that one
 * access moves. */
import { WARP } from './color.js';

export class TvTile {
    /* perAccess: values of a thread that move at once */
    constructor(picture, threads, values, perAccess) {
        Object.assign(this, { picture, threads, values, perAccess });
    }

    count(by) {
        return {
            thread: this.threads,
            warp: Math.ceil(this.threads / WARP),
            value: this.values,
            instruction: Math.ceil(this.values / this.perAccess),
        }[by];
    }

    /* Of a code thread + threads * value. */
    holderOf(code, by) {
        const thread = code % this.threads;
        const value = Math.floor(code / this.threads);
        const instruction = Math.floor(value / this.perAccess);
        return { thread, warp: Math.floor(thread / WARP), value, instruction }[by];
    }

    holderAt({ row, col }, by) {
        return this.holderOf(Number(this.picture.at(row, col)), by);
    }

    cellsHeld(by, nth) {
        const { picture, threads, values, perAccess } = this;
        const [t0, t1] =
            by === 'thread' ? [nth, nth + 1] : by === 'warp' ? [WARP * nth, WARP * (nth + 1)] : [0, threads];
        const [v0, v1] =
            by === 'value'
                ? [nth, nth + 1]
                : by === 'instruction'
                  ? [perAccess * nth, perAccess * (nth + 1)]
                  : [0, values];
        const cells = [];
        for (let value = v0; value < Math.min(v1, values); value++)
            for (let thread = t0; thread < Math.min(t1, threads); thread++)
                cells.push(...picture.memory.cellsAt(thread + threads * value));
        return cells;
    }

    instructionWords(nth) {
        const last = Math.min(this.values, this.perAccess * (nth + 1)) - 1;
        return `: values ${this.perAccess * nth} to ${last}`;
    }
}

/* ---- what is held on to, in the picture of any holders: {count(by), holderAt(cell, by), cellsHeld(by, nth)} ---- */

/* While the pointer is elsewhere, what is held on to stays lit, at its first place. */
export function pinnedCell(holders, picture, by, held) {
    if (!picture || !holders || held === null || held >= holders.count(by)) return null;
    const [cell] = holders.cellsHeld(by, held);
    if (cell === undefined) return null;
    return { row: Math.floor(cell / picture.cols), col: cell % picture.cols, by: 'pin', holder: held };
}

/* All that lights up with a cell. */
export function heldWith(holders, cell, by) {
    const holder = cell.holder ?? holders.holderAt(cell, by);
    return holder === null ? [] : holders.cellsHeld(by, holder);
}

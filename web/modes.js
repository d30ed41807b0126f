/* modes.js: which modes of a layout are its rows, which its columns, and which stand still while one steps
 * through them. Written a letter or a number a mode, in the layout's order:
 *
 *     r,c,c      mode 0 down, modes 1 and 2 across: what a picture is unless somebody says otherwise
 *     r,c,3      the fourth of the matrices that mode 2 counts
 *
 * The daemon exchanges the modes, here the question is only written: rows, then columns, then the others,
 * so that one table holds every step. */
import { modes, sizeOf } from './shape.js';

const MAX_MODES = 16; /* of a text from a link */

/* {key, rows, cols, steps: [{mode, at, n}]}, or null when the text says what is so anyway, or does not fit. */
export function arrangementOf(text, shape) {
    const sizes = modes(shape).map(sizeOf);
    const parts = text?.split(',', MAX_MODES + 1) ?? [];
    if (parts.length !== sizes.length || sizes.length < 3 || text === usual(sizes.length)) return null;
    const where = (letter) => sizes.map((n, mode) => mode).filter((mode) => parts[mode] === letter);
    const [rows, cols] = [where('r'), where('c')];
    const steps = sizes
        .map((n, mode) => ({ mode, n, at: Math.min(Number(parts[mode]), n - 1) }))
        .filter(({ at }) => Number.isInteger(at) && at >= 0);
    return rows.length + cols.length + steps.length === sizes.length
        ? { key: text, rows, cols, steps }
        : null;
}

export const usual = (rank) => Array.from({ length: rank }, (_, mode) => (mode ? 'c' : 'r')).join(',');

/* The program whose table is that of the modes so arranged; null for what is composed more than once. */
export function arrangedProgram(cute, { rows, cols, steps }) {
    const parts = cute.split(' o ');
    const inner = parts.pop();
    const select = (list) => (list.length ? `select<${list}>(${inner})` : '_1:_0');
    const layout = `make_layout(${select(rows)}, ${select([...cols, ...steps.map(({ mode }) => mode)])})`;
    if (!parts.length) return layout;
    return parts.length === 2 ? `composition(${parts.join(', ')}, ${layout})` : null;
}

/* The part of that table that is seen at the steps' places: the other columns are other steps. */
export function windowOf({ rows, cols, offsets }, { steps }) {
    const wide = cols / steps.reduce((product, { n }) => product * n, 1);
    let from = 0;
    for (const { at, n } of [...steps].reverse()) from = from * n + at;
    from *= wide;
    if (wide === cols) return { rows, cols, offsets };
    const seen = new offsets.constructor(rows * wide);
    for (let row = 0; row < rows; row++)
        seen.set(offsets.subarray(row * cols + from, row * cols + from + wide), row * wide);
    return { rows, cols: wide, offsets: seen };
}

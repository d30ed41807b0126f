/* cursor.js: one cursor for all pictures. Hover and keys move it, a press pins it; the pictures of expressions
 * are linked, so that each shows where it is in the others.
 *
 * A cursor belongs to a figure; a pinned cell belongs to the document, as an index of its first figure. */
import { shownOf } from './evaluate.js';
import { linkedCell } from './link.js';
import { change } from './state.js';

export const pictureOf = (s, i) => shownOf(s.panes[i]).picture;

const hover = (figure) => (cell) =>
    change((s) => {
        if (cell) s.cursor = { figure, ...cell };
        else if (s.cursor?.figure === figure && s.cursor.by === 'pointer') s.cursor = null;
    });

/* Of a figure that stands for itself. */
export const ownCursor = (figure) => ({
    cursor: hover(figure),
    pin: (cell) =>
        change((s) => {
            s.cursor = cell && { figure, ...cell, by: s.cursor?.by ?? 'pointer' };
        }),
});

/* Of a figure of who holds what: a press holds on to whom a cell belongs, and a second one lets go.
 * holdersOf(s): tvtile.js's */
export const heldCursor = (figure, holdersOf) => ({
    cursor: hover(figure),
    pin: (cell) =>
        change((s) => {
            const { doc } = s;
            const holder = cell ? (holdersOf(s)?.holderAt(cell, doc.by) ?? null) : null;
            doc.held = holder === doc.held ? null : holder;
            s.cursor = cell && { figure, ...cell, by: s.cursor?.by ?? 'pointer' };
        }),
});

/* Of the figure of doc.panes[i]. */
export const linkedCursor = (i) => ({
    cursor: hover(i),
    pin: (cell) =>
        change((s) => {
            const index = cell ? indexOfPin(s, i, cell) : null;
            s.doc.at = index === s.doc.at ? null : index;
            s.cursor = cell && { figure: i, ...cell, by: s.cursor?.by ?? 'pointer' };
        }),
});

/* The index of a cell of figure i in the first figure. */
export function indexOfPin(s, i, cell) {
    const [first, own] = [pictureOf(s, 0), pictureOf(s, i)];
    const there = i === 0 ? cell : first && linkedCell(own, cell, first, s.doc.link);
    return there && first ? first.indexAt(there.row, there.col) : s.doc.at;
}

let last = null;

function pinned(s) {
    const picture = pictureOf(s, 0);
    if (s.doc.at === null || !picture || s.doc.at >= picture.total) return null;
    if (last?.at !== s.doc.at || last.picture !== picture) {
        const cell = picture.cellOfIndex(s.doc.at);
        last = { at: s.doc.at, picture, cell: cell && { figure: 0, ...cell, by: 'pin' } };
    }
    return last.cell;
}

/* The cell that figure i lights: its own, the one linked to another figure's, or the pinned one. */
export function cellOf(s, i) {
    const picture = pictureOf(s, i);
    if (!picture) return null;
    const from = Number.isInteger(s.cursor?.figure) ? s.cursor : pinned(s);
    if (!from) return null;
    if (from.figure === i) return picture.has(from.row, from.col) ? from : null;
    const source = pictureOf(s, from.figure);
    return source?.has(from.row, from.col) ? linkedCell(source, from, picture, s.doc.link) : null;
}

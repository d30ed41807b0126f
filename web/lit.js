/* lit.js: what the cursor lights up in a grid: the cell that it is on, and all that belongs to it: those of the same
 * offset, of the same thread, of the same lane. Cells that touch have one line around them. */
import { NOTHING } from './color.js';

const FADED = 0.62; /* of what is not lit, where somebody's cells are */
const MAX_LIT = 16384; /* cells lit on one screen; more say no more */

/* lit: {cells, cursor}; fades: all others step back */
export function lightCells(f, { cells, cursor }, fades) {
    const seen = seenCells(f, cells);
    if (fades && seen.size) fadeOthers(f, seen);
    for (const cell of seen) contour(f, seen, cell);
    if (cursor && f.picture.has(cursor.row, cursor.col))
        outline(f, cursor.row, cursor.col, f.chrome.cursor, 2.5);
}

/* Those of the cells that are on the screen. */
function seenCells({ picture: { cols }, r0, r1, c0, c1 }, cells) {
    const seen = new Set();
    for (const cell of cells) {
        const row = Math.floor(cell / cols);
        const col = cell - row * cols;
        if (row >= r0 && row < r1 && col >= c0 && col < c1 && seen.add(cell).size >= MAX_LIT) break;
    }
    return seen;
}

/* Paper over all but what is lit, a stretch of a row at a time. */
function fadeOthers({ ctx, picture, chrome, X, Y, r0, r1, c0, c1 }, seen) {
    const { cols } = picture;
    const stays = (row, col) =>
        seen.has(row * cols + col) || (picture.sparse && picture.at(row, col) === NOTHING);
    ctx.fillStyle = chrome.paper;
    ctx.globalAlpha = FADED;
    for (let row = r0; row < r1; row++)
        for (let col = c0, from = c0; col <= c1; col++) {
            if (col < c1 && !stays(row, col)) continue;
            if (col > from) ctx.fillRect(X(from), Y(row), X(col) - X(from), Y(row + 1) - Y(row));
            from = col + 1;
        }
    ctx.globalAlpha = 1;
}

/* The sides of a lit cell beyond which nothing is lit, so that cells that touch have one line around them; with a
 * thin halo within. */
function contour({ ctx, X, Y, dpr, chrome, picture: { cols } }, seen, cell) {
    const row = Math.floor(cell / cols);
    const col = cell - row * cols;
    const [x, y, x1, y1] = [
        X(col),
        Y(row),
        Math.max(X(col + 1), X(col) + 3),
        Math.max(Y(row + 1), Y(row) + 3),
    ];
    const line = Math.max(dpr, Math.min(2 * dpr, 0.16 * (x1 - x), 0.16 * (y1 - y)));
    const open = {
        up: !seen.has(cell - cols),
        down: !seen.has(cell + cols),
        left: col === 0 || !seen.has(cell - 1),
        right: col === cols - 1 || !seen.has(cell + 1),
    };
    for (const [t, style] of [
        [line + dpr, chrome.halo],
        [line, chrome.same],
    ]) {
        ctx.fillStyle = style;
        if (open.up) ctx.fillRect(x, y, x1 - x, t);
        if (open.down) ctx.fillRect(x, y1 - t, x1 - x, t);
        if (open.left) ctx.fillRect(x, y, t, y1 - y);
        if (open.right) ctx.fillRect(x1 - t, y, t, y1 - y);
    }
}

/* A frame inside a cell, so that those of neighbours do not cover each other, with a thin halo within it. */
function outline({ ctx, X, Y, dpr, chrome }, row, col, color, width) {
    const x = X(col);
    const y = Y(row);
    const wide = Math.max(X(col + 1) - x, 3 * dpr);
    const high = Math.max(Y(row + 1) - y, 3 * dpr);
    const t = Math.max(dpr, Math.min(width * dpr, 0.16 * wide, 0.16 * high));
    const frame = (inset, line, style) => {
        ctx.lineWidth = line;
        ctx.strokeStyle = style;
        ctx.strokeRect(x + inset, y + inset, wide - 2 * inset, high - 2 * inset);
    };
    frame((t + dpr) / 2, t + dpr, chrome.halo);
    frame(t / 2, t, color);
}

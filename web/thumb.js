/* thumb.js: a picture the size of a word, coloured by offset. */
import { CHROME, scheme } from './color.js';
import { h } from './dom.js';
import { drawable, drawing } from './evaluate.js';

const PLAIN = { colors: 'offset', n: 1, bytes: 1 };
const MAX_CELL = 14;
const MAX_CELLS = 4096; /* a thumbnail has no more pixels than that */

/* The canvas of a value; its picture comes when it comes, and a value that is no layout has none. */
export function thumbOf(value, dark) {
    const canvas = h('canvas', { class: 'thumb', width: '64', height: '44', 'aria-hidden': 'true' });
    if (drawable(value) && !(value.value?.size > MAX_CELLS))
        drawing(value).then(({ picture }) => picture?.size <= MAX_CELLS && drawThumb(canvas, picture, dark));
    return canvas;
}

function drawThumb(canvas, picture, dark) {
    const { rows, cols } = picture;
    const { classOf, fills } = scheme(picture, PLAIN, dark);
    const ctx = canvas.getContext('2d');
    const cell = Math.min(MAX_CELL, (canvas.width - 2) / cols, (canvas.height - 2) / rows);
    const x0 = (canvas.width - cols * cell) / 2;
    const y0 = (canvas.height - rows * cell) / 2;
    const gap = cell > 4 ? 1 : 0;
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    for (let row = 0; row < rows; row++)
        for (let col = 0; col < cols; col++) {
            ctx.fillStyle = fills[classOf(picture.at(row, col), row, col)];
            ctx.fillRect(x0 + col * cell, y0 + row * cell, Math.max(1, cell - gap), Math.max(1, cell - gap));
        }
    ctx.strokeStyle = CHROME[dark ? 'dark' : 'light'].gap;
    ctx.strokeRect(x0 - 0.5, y0 - 0.5, cols * cell + 1 - gap, rows * cell + 1 - gap);
}

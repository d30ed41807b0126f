/* readout.js: the cell under the cursor in words: its coordinate, its index, the sum that gives its offset.
 *
 *   ((1,0),(2,0))   index 9   offset 5 = 1·3 + 0·6 + 2·1 + 0·12   also at (0,1), (1,1)
 */
import { h } from './dom.js';
import { format, modes } from './shape.js';
import { bankOf, mod } from './color.js';

const ALSO = 3; /* cells of the same offset that are named; the others are counted */

function coordinate(picture, { row, col }) {
    const coord = modes(picture.coordAt(row, col));
    const parts = coord.flatMap((part, i) => [
        i ? ',' : '',
        h('span', { class: picture.sideOf(i) }, format(part)),
    ]);
    return h(
        'span',
        { class: 'coordinate' },
        ...(Array.isArray(picture.shape) ? ['(', ...parts, ')'] : parts),
    );
}

function sum(picture, { row, col }) {
    const terms = picture.terms(row, col);
    if (!terms) return null;
    const factor = (n) => (String(n).startsWith('-') ? `(${n})` : String(n));
    const { outer, offset: base } = picture.value;
    return h(
        'span',
        { class: 'sum' },
        outer ? ` = ${outer}(${base} + ` : ' = ',
        ...terms.flatMap((term, i) => [
            i ? ' + ' : '',
            h('span', { class: picture.sideOf(term.mode) }, `${term.coord}·${factor(term.stride)}`),
        ]),
        outer ? ')' : '',
    );
}

function extras(picture, offset, look) {
    const uses = (name) => look.labels === name || look.colors === name;
    const out = [];
    const [high, low] = [Math.floor(Number(offset) / look.n), mod(Number(offset), look.n)];
    if (uses('tv')) out.push(`thread ${low}, value ${high}`);
    else if (uses('div')) out.push(`offset ÷ ${look.n} is ${high}`);
    else if (uses('mod')) out.push(`offset mod ${look.n} is ${low}`);
    if (uses('bank')) out.push(`bank ${bankOf(offset, look.bytes)}`);
    return out.map((text) => h('span', { class: 'fact' }, text));
}

function also(picture, cell, offset) {
    const self = cell.row * picture.cols + cell.col;
    const cells = picture.memory.cellsAt(offset);
    if (cells.length < 2) return null;
    const others = cells
        .subarray(0, ALSO + 1)
        .filter((other) => other !== self)
        .slice(0, ALSO);
    const named = [...others].map((other) =>
        format(picture.coordAt(Math.floor(other / picture.cols), other % picture.cols)),
    );
    const more = cells.length - 1 - named.length;
    return h('span', { class: 'also' }, `also at ${named.join(', ')}${more ? ` and ${more} more` : ''}`);
}

/* The nodes for a cell; the same words serve eyes and screen readers. */
export function describe(picture, cell, look) {
    const offset = picture.at(cell.row, cell.col);
    return [
        coordinate(picture, cell),
        h('span', { class: 'fact' }, 'index ', h('b', {}, String(picture.indexAt(cell.row, cell.col)))),
        h('span', { class: 'fact' }, 'offset ', h('b', {}, String(offset)), sum(picture, cell)),
        ...extras(picture, offset, look),
        also(picture, cell, offset),
    ].filter(Boolean);
}

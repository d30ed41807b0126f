/* table.js: the cells as a table, for screen readers and for copying. A window of it around the cursor when
 * it is large. */
import { h } from './dom.js';
import { linesOf } from './labels.js';

const WINDOW = 64; /* rows and columns: more elements than these make a browser slow, and a listener lost */

function range(n, around) {
    const from = Math.max(0, Math.min(n - WINDOW, around - WINDOW / 2));
    return { from, to: Math.min(n, from + WINDOW), all: n <= WINDOW };
}

const indices = ({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i);
const span = (name, { from, to }) => `, ${name} ${from} to ${to - 1}`;

export function tableOf(picture, look, cursor) {
    const rows = range(picture.rows, cursor?.row ?? 0);
    const cols = range(picture.cols, cursor?.col ?? 0);
    const part = rows.all && cols.all ? '' : span('rows', rows) + span('columns', cols);
    const head = (scope, i) => h('th', { scope }, picture.headOf(scope, i));
    const cell = (row, col) => linesOf(picture, look, row, col).join(' ');
    const bodyRow = (row) => [head('row', row), indices(cols).map((col) => h('td', {}, cell(row, col)))];
    return h(
        'table',
        { class: 'cells' },
        h('caption', {}, picture.text + part),
        h(
            'thead',
            {},
            h(
                'tr',
                {},
                h('td', {}),
                indices(cols).map((col) => head('col', col)),
            ),
        ),
        h(
            'tbody',
            {},
            indices(rows).map((row) => h('tr', {}, bodyRow(row).flat())),
        ),
    );
}

/* labels.js: what is written into a cell, as lines of text, and how much room the longest needs. */
import { format, modes } from './shape.js';
import { bankOf, mod } from './color.js';

export const FONT =
    'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
export const GLYPH = 0.605; /* width of a digit of that font, in ems */

/* CuTe writes thread and value of a TV picture in two lines, unless cells are wide; so are row and column coordinate
 * here. */
export function linesOf(picture, look, row, col, wide = false) {
    const offset = picture.at(row, col);
    if (picture.sparse && offset < 0) return [''];
    switch (look.labels) {
        case 'index':
            return [String(picture.indexAt(row, col))];
        case 'coord':
            return coordLines(picture, row, col);
        case 'tv':
        case 'thread':
        case 'value':
            return ownerLines(Number(offset), look, wide);
        case 'bank':
            return [String(bankOf(offset, look.bytes))];
        case 'lane':
            return [laneText(look.lanes.get(row * picture.cols + col))];
        case 'unit' /* lanes.js */:
            return [offset < 0 ? '' : String(offset)];
        default:
            return [String(offset)];
    }
}

/* The offset of a TV picture is thread + threads * value. */
function ownerLines(code, { labels, n }, wide) {
    const thread = `T${mod(code, n)}`;
    const value = `V${Math.floor(code / n)}`;
    const both = wide ? [`${thread} ${value}`] : [thread, value];
    return { tv: both, thread: [thread], value: [value] }[labels];
}

const laneText = (lanes) =>
    !lanes ? '' : lanes.length > 1 ? `${lanes[0]}+${lanes.length - 1}` : `${lanes[0]}`;

function coordLines(picture, row, col) {
    const coord = modes(picture.coordAt(row, col)).map(format);
    return coord.length === 1 ? coord : [coord[0], coord.slice(1).join(',')];
}

/* {lines, chars} of the widest label. */
export function room(picture, look, wide = false) {
    if (look.labels === 'none' || !picture.size) return { lines: 0, chars: 1 };
    const last = linesOf(picture, look, picture.rows - 1, picture.cols - 1);
    const longest = (lines) => Math.max(...lines.map((line) => line.length));
    if (look.labels === 'lane') return { lines: 1, chars: 2 };
    if (look.labels === 'offset' || look.labels === 'unit')
        return { lines: 1, chars: Math.max(String(picture.min).length, String(picture.max).length) };
    const [thread, value] = [look.n - 1, Math.floor(Number(picture.max) / look.n)].map(
        (n) => String(n).length,
    );
    if (look.labels === 'tv' && wide) return { lines: 1, chars: thread + value + 3 };
    if (['tv', 'thread', 'value'].includes(look.labels))
        return { lines: look.labels === 'tv' ? 2 : 1, chars: 1 + Math.max(thread, value) };
    return { lines: last.length, chars: look.labels === 'bank' ? 2 : longest(last) };
}

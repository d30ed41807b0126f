/* mmapicture.js: who holds what of A, B and C in a tiled MMA, as one picture, arranged as CuTe's print_latex does:
 *
 *             |  B (k,n)         C(m,n) is the sum over k of A(m,k) B(n,k): along its row and up its column, so
 *     --------+---------         that one zoom and one cursor serve all three.
 *     A (m,k) |  C (m,n)
 *
 * The offset of a cell is thread + threads * value of the first thread that holds it, as CuTe labels it; others may
 * hold it, too. What a descriptor leaves in shared memory no thread holds (SHARED), and between the operands there is
 * NOTHING.
 *
 *   answer: of /mma      tables: {A: {offsets, shape}}: the index in the tile of each value of each thread, thread by
 *   thread, and the shape (thread, value) of its TV layout; null for what no thread holds      atom: its (m,n,k) */
import { NOTHING, SHARED, WARP } from './color.js';
import { h } from './dom.js';
import { FONT } from './labels.js';
import { axis, modes, sizeOf } from './shape.js';

const CORNER = 40; /* pixels that three names need */
const NAME = 14; /* pixels of a name */
const GAP = 1; /* cells between the operands */
const NAMED = 3; /* threads that are named as holders of one element */
export const OPERANDS = ['A', 'B', 'C'];
const MODES = { A: ['m', 'k'], B: ['n', 'k'], C: ['m', 'n'] };

export class MmaPicture {
    constructor(answer, tables, atom) {
        const [m, n, k] = answer.tile_mnk;
        Object.assign(this, { answer, tables, threads: answer.threads, type: 'mma', sparse: true });
        this.extent = { m, n, k };
        this.rows = k + GAP + m;
        this.cols = k + GAP + n;
        this.offsets = new Float64Array(this.rows * this.cols).fill(NOTHING);
        const low = k + GAP;
        this.blocks = [
            { name: 'A', row: low, col: 0, ...axesOf(m, k, atom?.[0], atom?.[2]) },
            { name: 'B', row: 0, col: low, ...axesOf(k, n, atom?.[2], atom?.[1]) },
            { name: 'C', row: low, col: low, ...axesOf(m, n, atom?.[0], atom?.[1]) },
        ];
        this.rowAxis = this.colAxis = twice(k);
        this.rowAxis = { ...this.rowAxis, n: this.rows, levels: [{ n: this.rows, step: 1 }] };
        this.colAxis = { ...this.colAxis, n: this.cols, levels: [{ n: this.cols, step: 1 }] };
        this.rests = restsOf(tables);
        this.text = `C ${m}×${n} = A ${m}×${k} · B ${k}×${n}`;
        this.min = 0;
        this.max = Math.max(...OPERANDS.map((name) => this.threads * this.valuesOf(name) - 1));
        for (const name of OPERANDS) this.fill(name);
    }

    valuesOf(name) {
        return this.tables[name] ? this.answer[name].values : 0;
    }

    /* The first that holds it, from thread to thread. */
    fill(name) {
        const table = this.tables[name];
        const values = this.valuesOf(name);
        const { offsets, threads } = this;
        if (!table)
            for (let i = 0; i < sizeOf(this.answer[name].tile); i++) offsets[this.cellOf(name, i)] = SHARED;
        for (let thread = 0, at = 0; table && thread < threads; thread++)
            for (let value = 0; value < values; value++, at++) {
                const cell = this.cellOf(name, Number(table.offsets[at]));
                if (offsets[cell] === NOTHING) offsets[cell] = thread + threads * value;
            }
    }

    /* ---- places ---- */

    /* The cell of an operand's element: its index runs along m, or n of B, first. */
    cellOf(name, index) {
        const first = name === 'B' ? this.extent.n : this.extent.m;
        const [i, j] = [index % first, Math.floor(index / first)];
        const block = this.block(name);
        const [row, col] = name === 'B' ? [j, i] : [i, j];
        return (block.row + row) * this.cols + block.col + col;
    }

    block(name) {
        return this.blocks[OPERANDS.indexOf(name)];
    }

    /* {name, index, coord: as CuTe writes it, (n,k) of B} of a cell, or null between the operands. */
    elementAt({ row, col }) {
        const block = this.blocks.find(
            (one) => row >= one.row && col >= one.col && row < one.row + one.rows && col < one.col + one.cols,
        );
        if (!block) return null;
        const [i, j] = [row - block.row, col - block.col];
        const coord = block.name === 'B' ? [j, i] : [i, j];
        const first = block.name === 'B' ? block.cols : block.rows;
        return { name: block.name, coord, index: coord[0] + first * coord[1] };
    }

    get size() {
        return this.rows * this.cols;
    }
    at(row, col) {
        return this.offsets[row * this.cols + col];
    }
    has(row, col) {
        return row >= 0 && col >= 0 && row < this.rows && col < this.cols;
    }
    indexAt(row, col) {
        return row * this.cols + col;
    }
    headOf(side, i) {
        const n = (side === 'row' ? this.rowAxis : this.colAxis).numberOf(i);
        const mode = i < this.extent.k ? 'k' : side === 'row' ? 'm' : 'n';
        return n === null ? '' : `${mode} ${n}`;
    }
    /* For the key n, and for nothing else: all that is held by who holds this. */
    get memory() {
        return { cellsAt: (code) => this.cellsHeld('thread', code % this.threads) };
    }

    /* ---- holders ---- */

    /* How many threads, warps, values or instructions there are. */
    count(by) {
        const { m, n, k } = this.rests;
        return {
            thread: this.threads,
            warp: Math.ceil(this.threads / WARP),
            value: Math.max(1, ...OPERANDS.map((name) => this.valuesOf(name))),
            instruction: m * n * k,
        }[by];
    }

    /* The instructions of a thread go through k last, and through m first. */
    instruction(nth) {
        const { m, n } = this.rests;
        return { m: nth % m, n: Math.floor(nth / m) % n, k: Math.floor(nth / (m * n)) };
    }

    instructionWords(nth) {
        const { m, n, k } = this.instruction(nth);
        return `: (m,n,k) = (${m},${n},${k})`;
    }

    /* visit(thread, value, index) of all elements of an operand that thread, warp, value or instruction `nth` holds. */
    eachHeld(name, by, nth, visit) {
        const table = this.tables[name];
        const values = this.valuesOf(name);
        if (!table) return;
        const [t0, t1] =
            by === 'thread'
                ? [nth, nth + 1]
                : by === 'warp'
                  ? [WARP * nth, Math.min(this.threads, WARP * (nth + 1))]
                  : [0, this.threads];
        const [v0, v1] = this.valuesUsed(name, by, nth);
        for (let thread = t0; thread < t1; thread++)
            for (let value = v0; value < v1; value++)
                visit(thread, value, Number(table.offsets[thread * values + value]));
    }

    /* Values of an instruction stand one after the other; its rest of an operand is (m,k), (n,k) or (m,n). */
    valuesUsed(name, by, nth) {
        const values = this.valuesOf(name);
        if (by === 'value') return nth < values ? [nth, nth + 1] : [0, 0];
        if (by !== 'instruction') return [0, values];
        const at = this.instruction(nth);
        const [first, second] = MODES[name];
        const each = values / (this.rests[first] * this.rests[second]);
        const from = each * (at[first] + this.rests[first] * at[second]);
        return [from, from + each];
    }

    cellsHeld(by, nth) {
        const cells = new Set();
        for (const name of OPERANDS)
            this.eachHeld(name, by, nth, (thread, value, index) => cells.add(this.cellOf(name, index)));
        return [...cells];
    }

    /* Which thread, warp, value or instruction a cell belongs to first; null when to none. */
    holderAt(cell, by) {
        const code = this.at(cell.row, cell.col);
        if (code < 0) return null;
        const thread = code % this.threads;
        const value = Math.floor(code / this.threads);
        return { thread, warp: Math.floor(thread / WARP), value, instruction: this.usedAt(cell, value) }[by];
    }

    /* The first instruction that uses a value. */
    usedAt(cell, value) {
        const { name } = this.elementAt(cell);
        const [first, second] = MODES[name];
        const { rests } = this;
        const each = this.valuesOf(name) / (rests[first] * rests[second]);
        const rest = Math.floor(value / each);
        const at = {
            m: 0,
            n: 0,
            k: 0,
            [first]: rest % rests[first],
            [second]: Math.floor(rest / rests[first]),
        };
        return at.m + rests.m * (at.n + rests.n * at.k);
    }

    /* [[thread, value]] of all that hold an element. */
    holders({ name, index }) {
        const found = [];
        this.eachHeld(name, 'all', 0, (thread, value, i) => i === index && found.push([thread, value]));
        return found;
    }

    /* ---- drawing ---- */

    /* The operands' names, in the corner that they leave free. */
    drawNames({ ctx, chrome, dpr, X, Y }) {
        const { k } = this.extent;
        const [left, top, right, bottom] = [X(0), Y(0), X(k + GAP), Y(k + GAP)];
        if (right - left < CORNER * dpr || bottom - top < CORNER * dpr) return;
        const half = (CORNER / 4) * dpr;
        ctx.font = `650 ${NAME * dpr}px ${FONT}`;
        ctx.fillStyle = chrome.strong;
        ctx.textBaseline = 'middle';
        ctx.textAlign = 'center';
        ctx.fillText('A', (left + right) / 2, bottom - half);
        ctx.fillText('B', right - half, (top + bottom) / 2);
        ctx.fillText('C', right - half, bottom - half);
    }
}

/* A block with a thicker line at the bounds of an atom, where whole atoms fill it. */
function axesOf(rows, cols, atomRows, atomCols) {
    const along = (n, atom) => axis(atom && n % atom === 0 && atom < n ? [atom, n / atom] : [n]);
    return { rows, cols, rowAxis: along(rows, atomRows), colAxis: along(cols, atomCols) };
}

/* Both axes count k, and after the gap m or n. */
const twice = (k) => ({ numberOf: (i) => (i < k ? i : i < k + GAP ? null : i - k - GAP) });

/* How many instructions a thread issues along m, n and k: the value mode of C is (values, (m, n)). */
function restsOf(tables) {
    const rest = (name) => {
        const [, values] = modes(tables[name]?.shape ?? [1, [1, [1, 1]]]);
        return modes(modes(values)[1] ?? [1, 1]).map(sizeOf);
    };
    const [[m, n], [, byA], [, byB]] = [rest('C'), rest('A'), rest('B')];
    return { m, n: n ?? 1, k: Math.max(byA ?? 1, byB ?? 1) };
}

/* The read-out of a cell: which element, who holds it. */
export function mmaWords(picture, cell) {
    const element = picture.elementAt(cell);
    if (!element) return [h('span', { class: 'hint' }, 'Between the operands.')];
    const { name, coord } = element;
    const code = picture.at(cell.row, cell.col);
    const fact = (...nodes) => h('span', { class: 'fact' }, ...nodes);
    const head = h('span', { class: 'coordinate' }, `${name}(${coord.join(',')})`);
    if (code === SHARED)
        return [head, fact('in shared memory: read through a descriptor, held by no thread')];
    if (code === NOTHING) return [head, h('span', { class: 'also' }, 'held by no thread')];
    const [[thread, value], ...others] = picture.holders(element);
    const named = others.slice(0, NAMED).map(([t, v]) => `T${t} V${v}`);
    const more = others.length - named.length;
    return [
        head,
        h('span', { class: 'coordinate' }, `thread ${thread}`),
        h('span', { class: 'coordinate' }, `value ${value}`),
        fact(`warp ${Math.floor(thread / WARP)}`),
        others.length
            ? h('span', { class: 'also' }, `also ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`)
            : null,
    ].filter(Boolean);
}

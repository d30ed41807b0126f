/* mma.js: a tiled MMA: who holds what of A, B and C, asked of /mma as one types.
 *
 * doc.mma    {atom, atom_layout, permutation, problem}      doc.by, doc.held: whose elements are lit
 * state.mma  {key, answer, picture, problem, stale} */
import { get, isAbort, post, tableOf, valueOf } from './api.js';
import { bitsOf } from './access.js';
import { MmaPicture, OPERANDS } from './mmapicture.js';
import { sizeOf } from './shape.js';
import { change } from './state.js';

const DEBOUNCE_MS = 80;
const MNK = /^\s*\(?\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)?\s*$/;

export function specOf({ mma: { problem, ...fields } }) {
    const [, m, n, k] = (MNK.exec(problem) ?? []).map(Number);
    const whole = problem.trim() === '' ? {} : { problem: m === undefined ? problem : { m, n, k } };
    return { kind: 'mma', ...fields, ...whole };
}

export const questionOf = ({ mma: { atom, atom_layout, permutation } }) => ({
    atom,
    atom_layout,
    permutation,
});

let timer = 0;
let controller = null;

export function syncMma(now) {
    if (now.doc.view !== 'mma') return;
    const question = questionOf(now.doc);
    const key = JSON.stringify(question);
    if (now.mma?.key === key) return;
    const wait = now.mma ? DEBOUNCE_MS : 0;
    now.mma = { ...now.mma, key, stale: true };
    clearTimeout(timer);
    controller?.abort();
    timer = setTimeout(() => ask(key, question), wait);
}

async function ask(key, question) {
    controller = new AbortController();
    const { signal } = controller;
    const put = (edit) =>
        change((s) => {
            if (s.mma.key === key) Object.assign(s.mma, { problem: null, stale: false }, edit);
        });
    try {
        const answer = await post('/mma', question, { signal }).catch((problem) => {
            if (problem.code !== 'limit') throw problem;
            return largeAnswer(question, signal);
        });
        const [shape, ...tables] = await Promise.all([
            atomShape(answer.atom),
            ...OPERANDS.map((name) => heldOf(answer[name])),
        ]);
        const byName = Object.fromEntries(OPERANDS.map((name, i) => [name, tables[i]]));
        put({ answer, picture: new MmaPicture(answer, byName, shape) });
    } catch (problem) {
        if (!isAbort(problem)) put({ problem, stale: true });
    }
}

/* Of an MMA of which /mma says that its values are too many to list: the same facts, from its layouts. Most of the
 * values are what a descriptor reads, which no thread holds. */
async function largeAnswer({ atom, atom_layout: atoms, permutation }, signal) {
    const layout = atoms.includes(':') ? atoms : `make_layout(${atoms})`;
    const program = [
        `mma = make_tiled_mma(${atom}{}, ${layout}, ${permutation})`,
        ...OPERANDS.map((name) => `tv${name} = get_layout${name}_TV(mma)`),
        ...['m', 'n', 'k'].map((mode, i) => `${mode} = tile_size_mnk<${i}>(mma)`),
        'tvC',
    ].join('; ');
    const [{ names, value }, facts] = await Promise.all([
        post('/eval', { expr: program, integers: 'static' }, { signal }),
        get(`/atoms/${encodeURIComponent(atom)}`, { signal }),
    ]);
    const [m, n, k] = ['m', 'n', 'k'].map((mode) => names[mode].value);
    const operand = async (name, tile) => {
        const own = name.toLowerCase();
        const type = facts[`type_${own}`];
        const { text: tv, value: layoutOf } = names[`tv${name}`];
        const values = sizeOf(layoutOf.shape[1]);
        const bits = values * (await bitsOf(type));
        return { type, tv, tile, values, bits, descriptor: Boolean(facts[`${own}_by_descriptor`]) };
    };
    const [A, B, C] = await Promise.all([operand('A', [m, k]), operand('B', [n, k]), operand('C', [m, n])]);
    return { atom: facts.name, threads: sizeOf(value.shape[0]), tile_mnk: [m, n, k], A, B, C };
}

/* The element of each value of each thread; null where a descriptor reads it. */
async function heldOf({ tv, descriptor }) {
    if (descriptor) return null;
    const [table, { value }] = await Promise.all([tableOf(tv), valueOf(tv)]);
    return { offsets: table.offsets, shape: value.shape };
}

async function atomShape(atom) {
    return (await get(`/atoms/${encodeURIComponent(atom)}`)).shape_mnk;
}

/* ---- the atoms that there are -------------------------------------------------------------------------- */

const IS_MMA = /MMA|FMA|DP[24]A|_\d+x\d+x\d+/; /* by their names; the list says no more */
let names = null;

export function mmaAtoms() {
    names ??= get('/atoms').then(
        ({ atoms }) => atoms.filter((name) => IS_MMA.test(name)),
        () => {
            names = null;
            return [];
        },
    );
    return names;
}

/* mma.js: a tiled MMA: who holds what of A, B and C, asked of /mma as one types.
 *
 * doc.mma    {atom, atom_layout, permutation, problem}      doc.by, doc.held: whose elements are lit
 * state.mma  {key, answer, picture, problem, stale} */
import { get, post, tableOf, valueOf } from './api.js';
import { asking } from './asking.js';
import { MmaPicture, OPERANDS } from './mmapicture.js';

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

const sync = asking('mma', async (question, signal) => {
    const answer = await post('/mma', question, { signal });
    const [shape, ...tables] = await Promise.all([
        atomShape(answer.atom),
        ...OPERANDS.map((name) => heldOf(answer[name])),
    ]);
    const byName = Object.fromEntries(OPERANDS.map((name, i) => [name, tables[i]]));
    return { answer, picture: new MmaPicture(answer, byName, shape) };
});

export function syncMma(now) {
    if (now.doc.view === 'mma') sync(now, questionOf(now.doc));
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

let names = null;

export function mmaAtoms() {
    names ??= get('/atoms?kind=mma').then(
        ({ atoms }) => atoms.map(({ name }) => name),
        () => {
            names = null;
            return [];
        },
    );
    return names;
}

/* tiled.js: from a spec, or a tiled copy or MMA that a program made, to the form that it could have come from.
 *
 *     make_tiled_mma(SM80_...{}, Layout<Shape<_2,_2>>{})    Open in MMA: atom, atom_layout, permutation */
import { h } from './dom.js';
import { namedValues } from './evaluate.js';
import { blank, step } from './state.js';

export const FORMS = { copy: 'Copy', mma: 'MMA' };
const KINDS = { tiled_copy: 'copy', tiled_mma: 'mma' };

/* What a spec leaves out is as at first; held: the thread that is lit. */
export function showSpec(kind, spec, held = null) {
    step(({ doc }) => {
        const known = Object.keys(doc[kind]).filter((key) => (spec[key] ?? null) !== null);
        doc[kind] = { ...blank()[kind], ...Object.fromEntries(known.map((key) => [key, spec[key]])) };
        Object.assign(doc, { view: kind, by: 'thread', held });
    });
}

/* The form that has all of which a value was made; null: there is none. A copy like another, or for an MMA, has no
 * threads and values of its own. */
export function formOf({ type, value }) {
    const kind = KINDS[type] ?? null;
    return kind === 'copy' && value.thr === null ? null : kind;
}

/* A button for the answer, and for each named value that is no other by the same text. */
export function formButtons(answer) {
    if (!answer) return [];
    const seen = new Set();
    const all = [{ label: null, value: answer }, ...namedValues(answer)];
    return all
        .filter(({ value }) => formOf(value) && !seen.has(value.cute) && seen.add(value.cute))
        .map(({ label, value }) => {
            const kind = formOf(value);
            const words = label === null ? `Open in ${FORMS[kind]}` : `Open ${label} in ${FORMS[kind]}`;
            return h('button', { type: 'button', onclick: () => showSpec(kind, value.value) }, words);
        });
}

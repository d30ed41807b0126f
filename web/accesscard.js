/* accesscard.js: one access of a list: which instruction, how wide, which threads. The one that is shown has its
 * fields open; of the others there is a line. */
import { isMatrix } from './access.js';
import { h, icon } from './dom.js';
import { change } from './state.js';

export const OPS = {
    shared: ['load', 'store', 'ldmatrix', 'ldmatrix.trans', 'stmatrix', 'stmatrix.trans', 'cp.async'],
    global: ['load', 'store', 'cp.async'],
};
const BYTES = { 0: 'one element', 1: '1 byte', 2: '2 bytes', 4: '4 bytes', 8: '8 bytes', 16: '16 bytes' };
const MATRICES = { 1: '1 matrix', 2: '2 matrices', 4: '4 matrices' };
const FIRST = { warp: 0, step: 0 };

export const edit = (run) => change(({ doc }) => run(doc.access));

export function put(control, value) {
    if (control.value !== value) control.value = value;
}

export function input(id, run) {
    const control = h('input', {
        id,
        spellcheck: 'false',
        autocomplete: 'off',
        autocapitalize: 'off',
        oninput: () => edit((access) => run(access, control.value)),
    });
    return control;
}

function select(id, label, options, run) {
    const control = h(
        'select',
        { id, 'aria-label': label, onchange: () => edit((access) => run(access, control.value)) },
        Object.entries(options).map(([value, words]) => h('option', { value }, words)),
    );
    return control;
}

function setOp(one, op) {
    if (isMatrix(op) !== isMatrix(one.op)) one.width = isMatrix(op) ? 4 : 16;
    one.op = op;
}

function removeAccess(access, i) {
    access.list.splice(i, 1);
    Object.assign(access, FIRST, { at: Math.max(0, access.at - (access.at >= i ? 1 : 0)) });
}

/* {el, op, width, thr, val, words}: the card and its controls; field(name, label, control) wraps one with its error */
export function accessCard(access, i, field) {
    const id = (name) => `access-${i}-${name}`;
    const shown = i === access.at;
    const ops = Object.fromEntries(OPS[access.space].map((name) => [name, name]));
    const widths = isMatrix(access.list[i].op) ? MATRICES : BYTES;
    const controls = {
        op: select(id('instruction'), 'instruction', ops, (a, op) => setOp(a.list[i], op)),
        width: select(id('width'), 'width', widths, (a, width) => (a.list[i].width = Number(width))),
        thr: input(id('thr'), (a, value) => (a.list[i].thr = value)),
        val: input(id('val'), (a, value) => (a.list[i].val = value)),
        words: h('code', {}),
    };
    const fields = shown
        ? [
              h('div', { class: 'form' }, controls.op, controls.width),
              field('thr', 'Threads', controls.thr),
              field('val', 'Values of a thread', controls.val),
          ]
        : [];
    const el = h(
        'li',
        { class: shown ? 'shown' : '' },
        headOf(access, i, shown ? null : controls.words),
        fields,
    );
    return { el, ...controls };
}

function headOf(access, i, words) {
    const pick = () => edit((a) => Object.assign(a, FIRST, { at: i }));
    return h(
        'header',
        {},
        h(
            'button',
            { type: 'button', class: 'access-head', 'aria-expanded': String(!words), onclick: pick },
            h('span', {}, `Access ${i + 1}`),
            words,
        ),
        h(
            'button',
            {
                type: 'button',
                class: 'quiet',
                'aria-label': `Remove access ${i + 1}`,
                hidden: access.list.length < 2,
                onclick: () => edit((a) => removeAccess(a, i)),
            },
            icon('close'),
        ),
    );
}

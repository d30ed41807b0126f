/* access.js: what a warp's access to memory costs, asked of /access as one types; and the swizzles that make it
 * cheaper, asked of /swizzle when somebody wants them.
 *
 * doc.access      {space, type, layout, list: [{op, width, thr, val}], at, warp, step}: `at` is shown
 * state.access    {key, answer, lanes, picture, note, bits, problem, stale}
 * state.swizzles  {key, answer, plain, problem, busy}: `plain` is the program without a swizzle */
import { get, post, Problem } from './api.js';
import { asking } from './asking.js';
import { showExpressions } from './edits.js';
import { drawing } from './evaluate.js';
import { LanePicture } from './lanes.js';
import { change, paneOf, state, step } from './state.js';
import { wrapLast } from './text.js';

const BANK_BITS = 32;
const SECTOR_BITS = 256;

export const isMatrix = (op) => /matrix/.test(op);

/* Which instruction of which width: the fields of /access and of /swizzle. */
const formOf = ({ op, width, thr, val }) => ({
    op,
    ...(width ? { [isMatrix(op) ? 'matrices' : 'bytes']: width } : {}),
    thr,
    ...(val.trim() ? { val } : {}),
});

export function questionOf({ space, type, layout, list, at, warp, step: nth }, integers) {
    return { space, type, layout, ...formOf(list[at]), warp, step: nth, integers };
}

const sync = asking('access', async (question, signal) => {
    try {
        const [answer, memory] = await Promise.all([
            post('/access', question, { signal }),
            memoryOf(question),
        ]);
        return { answer, lanes: new LanePicture(answer), ...memory };
    } catch (problem) {
        if (problem.code !== 'bad_field' || (problem.in !== 'warp' && problem.in !== 'step')) throw problem;
        firstInstruction();
        return null;
    }
});

export function syncAccess(now) {
    if (now.doc.view === 'access') sync(now, questionOf(now.doc.access, now.doc.integers));
}

/* Another partition has fewer warps: begin again with the first. */
function firstInstruction() {
    change(({ doc }) => Object.assign(doc.access, { warp: 0, step: 0 }));
}

/* The layout as a picture, where it is not too large, and how many bits an element has. */
async function memoryOf({ layout, type, integers }) {
    const [value, bits] = await Promise.all([
        post('/eval', { expr: layout, integers }).catch(() => null),
        bitsOf(type).catch(() => null),
    ]);
    return { bits, composed: value?.type === 'composed', ...(await drawing(value)) };
}

const known = new Map();

async function bitsOf(type) {
    if (!known.has(type)) {
        const query = new URLSearchParams({ swizzle: 'Swizzle<0,0,0>', type });
        known.set(type, (await get(`/swizzle?${query}`)).element_bits);
    }
    return known.get(type);
}

/* A map from cells of the layout's picture to the lanes of the instruction that is shown; unitOf(offset) is the
 * word of shared memory, or the sector of global memory, that an element is in. */
export function lanesOfCells(picture, answer, bits) {
    const lanes = new Map();
    lanes.shared = answer?.space !== 'global';
    const unitBits = lanes.shared ? BANK_BITS : SECTOR_BITS;
    lanes.unitOf = (offset) => Math.floor((Number(offset) * bits) / unitBits);
    if (!picture || !answer || !bits) return lanes;
    answer.lanes.forEach((at, lane) => {
        if (at === null) return;
        const first = Math.floor((at * 8) / bits);
        for (let i = 0; i < Math.max(1, (answer.bytes * 8) / bits); i++)
            for (const cell of picture.memory.cellsAt(first + i))
                lanes.set(cell, [...(lanes.get(cell) ?? []), lane]);
    });
    return lanes;
}

/* The rows and columns of a picture that have the cells; null when there are none. */
export function boxOf(picture, cells) {
    const box = { r0: Infinity, r1: 0, c0: Infinity, c1: 0 };
    for (const cell of cells) {
        const [row, col] = [Math.floor(cell / picture.cols), cell % picture.cols];
        box.r0 = Math.min(box.r0, row);
        box.r1 = Math.max(box.r1, row + 1);
        box.c0 = Math.min(box.c0, col);
        box.c1 = Math.max(box.c1, col + 1);
    }
    return box.r1 ? box : null;
}

/* ---- swizzles ------------------------------------------------------------------------------------------ */

/* The layout without a swizzle, as a program. */
const plainText = ({ layout }, composed) => (composed ? (wrapLast(layout, 'layout_b') ?? layout) : layout);

/* What a search depends on; an older answer is not shown beside another question. */
export const searchKey = ({ type, layout, list }) => JSON.stringify([type, layout, list]);

export async function findSwizzles() {
    const { access } = state.doc;
    const key = searchKey(access);
    const put = (edit) => change((s) => (s.swizzles = { key, ...edit }));
    put({ busy: true });
    const question = {
        layout: plainText(access, state.access?.composed),
        type: access.type,
        accesses: access.list.map(formOf),
        integers: state.doc.integers,
    };
    try {
        const answer = await post('/swizzle', question);
        const simple = !access.layout.includes(';') && question.layout === access.layout;
        put({ answer, plain: simple ? access.layout : answer.layout });
    } catch (problem) {
        put({ problem: problem instanceof Problem ? problem : new Problem({ detail: String(problem) }) });
    }
}

/* The memory with and without its swizzle, in the layout view. */
export function compareSwizzle() {
    step((s) => {
        const { layout } = s.doc.access;
        showExpressions(s, [paneOf(plainText(s.doc.access, true)), paneOf(layout)]);
        Object.assign(s.doc, {
            colors: 'bank',
            link: 'coord',
            bytes: Math.max(1, (s.access?.bits ?? 8) / 8),
        });
    });
}

/* Into the expression, so that it can be seen, shared, and undone by going back. */
export function useSwizzle(swizzle, plain) {
    useLayout(`composition(${swizzle}{}, ${plain})`);
}

export function useLayout(layout) {
    step((s) => {
        s.doc.access.layout = layout;
        /* the answer that led here still holds: it is of the layout without its swizzle */
        if (s.swizzles) s.swizzles = { ...s.swizzles, key: searchKey(s.doc.access) };
    });
}

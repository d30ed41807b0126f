/* state.js: one state, one render.
 *
 * `state.doc` is the document: all that a link shares, and nothing else. The rest of `state` is what the
 * daemon answered and what the pointer is at. Whoever changes anything calls change(); then every view's
 * render(state) runs once in the next frame. Views hold no truth of their own besides what is cheaper to keep
 * than to compute (a canvas's pixels).
 *
 * A document as text:  e=blocked_product((2,3):(3,1),(2,2):(1,2))&e=raked_product(...)&link=offset */

export const FIRST = 'blocked_product((2,3):(3,1), (2,2):(1,2))';

const COPY = {
    type: 'half_t',
    atom: 'UniversalCopy<uint128_t>',
    thr: '(32,8):(8,1)',
    val: '(1,8):(0,1)',
    src: '(4096,4096):(4096,1)',
    dst: '(4096,4096):(4096,1)',
};

/* A tile that is written row by row and read by ldmatrix, and what is to be seen of it: the reading. */
const ACCESS = () => ({
    space: 'shared',
    type: 'half_t',
    layout: '(64,64):(64,1)',
    list: [
        { op: 'ldmatrix', width: 4, thr: '(16,2):(1,16)', val: '(1,8):(0,1)' },
        { op: 'store', width: 16, thr: '(16,8):(8,1)', val: '(1,8):(0,1)' },
    ],
    at: 0,
    warp: 0,
    step: 0,
});

/* One MMA of every warp of four: (m,n,k) of the problem only where a whole product is to be run. `by` and `held`:
 * whose elements are lit, thread 12's or instruction 3's. */
const MMA = {
    atom: 'SM80_16x8x16_F32F16F16F32_TN',
    atom_layout: '(1,1,1)',
    permutation: '(_,_,_)',
    problem: '',
};

/* Values that a field may have; the first is the default and is left out of links. */
const CHOICES = {
    view: ['layout', 'copy', 'mma', 'access', 'jobs'],
    integers: ['auto', 'cute', 'static'],
    labels: ['offset', 'index', 'coord', 'tv', 'bank', 'none'],
    colors: ['offset', 'tile', 'div', 'mod', 'mode0', 'mode1', 'bank', 'grays', 'hues'],
    link: ['coord', 'index', 'offset'],
    tvlabels: ['tv', 'thread', 'value', 'none'],
    tvcolors: ['thread', 'value', 'warp', 'cute'],
    by: ['thread', 'warp', 'value', 'instruction'],
};
export const VIEWS = CHOICES.view;
const NUMBERS = { n: 32, bytes: 4 }; /* a warp of threads; a float */
const JOBS = ['job', 'versus', 'part', 'arch', 'sort', 'axis'];
export const MAX_ACCESSES = 4; /* of one tile: written, read, and a second reader or two */
export const MAX_PANES = 4; /* more do not fit side by side */
export const MAX_N = 1 << 20;

/* One expression: its text, which of its named values is drawn, which modes are rows (modes.js). */
export const paneOf = (expr, pick = null) => ({ expr, pick, modes: null });

export const blank = () => ({
    panes: [paneOf(FIRST)],
    ...Object.fromEntries(Object.entries(CHOICES).map(([key, values]) => [key, values[0]])),
    ...NUMBERS,
    table: false /* the screen reader's view of the cells */,
    trace: null /* the pane whose derivation is shown */,
    at: null /* the index of the pinned cell */,
    copy: { ...COPY },
    mma: { ...MMA },
    held: null /* the thread, warp, ... of the MMA whose elements are lit */,
    access: ACCESS() /* access.js */,
    job: null /* the job that is looked at */,
    versus: null /* and the one beside it */,
    part: null /* jobtexts.js: its source, ... in place of its result */,
    arch: '' /* jobtexts.js: of PTX and SASS */,
    sort: '' /* sweepview.js */,
    axis: '' /* sweepview.js */,
});

export const state = {
    doc: blank(),
    panes: [] /* evaluate.js: what was answered for each of doc.panes */,
    cursor: null /* {figure, row, col, by}: hover is state; by is 'pointer' or 'keys' */,
    ops: new Map() /* ops.js */,
    devices: null /* jobs.js */,
    job: null /* jobs.js: the partition that was sent last */,
    board: {
        jobs: [],
        next: undefined,
        filter: { state: '', user: '' },
        problem: null,
    } /* jobs.js: the list */,
    seen: new Map() /* jobs.js: the jobs that are looked at */,
    tile: null /* copypanel.js: who owns what */,
    predicted: null /* prediction.js: what the partition will do to memory */,
    mma: null /* mma.js: who holds what of A, B and C */,
    access: null /* access.js */,
    swizzles: null /* access.js */,
    dark: false /* theme as shown */,
};

const views = [];
let queued = false;

export function onRender(view) {
    views.push(view);
}

export function change(edit) {
    edit?.(state);
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
        queued = false;
        for (const view of views) view(state);
    });
}

/* ---- the document as text ------------------------------------------------------------------------------ */

/* Percent-encode no more than a fragment needs: a link to a layout should still read like one. */
const encode = (text) =>
    encodeURIComponent(text).replace(/%(3A|2C|3B|2F|40|20)/g, (code) =>
        code === '%20' ? '+' : decodeURIComponent(code),
    );

export function toHash(doc) {
    const base = blank();
    const parts = [];
    const put = (key, value) => parts.push(`${key}=${encode(String(value))}`);
    for (const pane of doc.panes) {
        put('e', pane.expr);
        if (pane.pick !== null) put('pick', pane.pick);
        if (pane.modes !== null) put('modes', pane.modes);
    }
    for (const key of [...Object.keys(CHOICES), ...Object.keys(NUMBERS)])
        if (doc[key] !== base[key]) put(key, doc[key]);
    if (doc.table) put('table', 1);
    if (doc.trace !== null) put('trace', doc.trace);
    if (doc.at !== null) put('at', doc.at);
    for (const key of JOBS) if (doc[key]) put(key, doc[key]);
    for (const key of Object.keys(COPY)) if (doc.copy[key] !== COPY[key]) put(key, doc.copy[key]);
    for (const key of Object.keys(MMA)) if (doc.mma[key] !== MMA[key]) put(MMA_KEYS[key], doc.mma[key]);
    if (doc.held !== null) put('held', doc.held);
    putAccess(doc.access, put);
    return parts.join('&');
}

/* `atom` is the copy's. */
const MMA_KEYS = { atom: 'mma', atom_layout: 'atoms', permutation: 'permutation', problem: 'mnk' };
const mmaField = (key) => Object.keys(MMA_KEYS).find((name) => MMA_KEYS[name] === key);

/* op|width|thr|val: a bar is in no program */
const accessText = ({ op, width, thr, val }) => [op, width, thr, val].join('|');

function putAccess(access, put) {
    const first = ACCESS();
    const same = (list) => JSON.stringify(list) === JSON.stringify(first.list);
    if (access.space !== first.space) put('space', access.space);
    if (access.type !== first.type) put('element', access.type);
    if (access.layout !== first.layout) put('memory', access.layout);
    if (!same(access.list)) for (const one of access.list) put('access', accessText(one));
    for (const key of ['warp', 'step']) if (access[key]) put(key, access[key]);
    if (access.at) put('shown', access.at);
}

/* One field of a link; false when it is none of an access. */
function takeAccess(access, found, key, value) {
    const count = /^\d{1,6}$/.test(value) ? Number(value) : 0;
    if (key === 'space') access.space = value === 'global' ? 'global' : 'shared';
    else if (key === 'element') access.type = value;
    else if (key === 'memory') access.layout = value;
    else if (key === 'warp' || key === 'step') access[key] = count;
    else if (key === 'shown') access.at = count;
    else if (key === 'access' && found.length < MAX_ACCESSES) {
        const [op, width, thr = '', val = ''] = value.split('|');
        found.push({ op, width: Number(width) || 0, thr, val });
    } else return false;
    return true;
}

export function fromHash(hash) {
    const doc = blank();
    const panes = [];
    const accesses = [];
    for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
        if (key === 'e' && panes.length < MAX_PANES) panes.push(paneOf(value));
        else if ((key === 'pick' || key === 'modes') && panes.length) panes.at(-1)[key] = value;
        else if (Object.hasOwn(CHOICES, key) && CHOICES[key].includes(value)) doc[key] = value;
        else if (Object.hasOwn(NUMBERS, key)) doc[key] = toCount(value, NUMBERS[key]);
        else if (key === 'table') doc.table = value === '1';
        else if (key === 'trace' && /^\d$/.test(value)) doc.trace = Number(value);
        else if (key === 'at' && /^\d{1,15}$/.test(value)) doc.at = Number(value);
        else if (JOBS.includes(key) && /^-?\w{1,64}$/.test(value)) doc[key] = value;
        else if (Object.hasOwn(COPY, key)) doc.copy[key] = value;
        else if (mmaField(key)) doc.mma[mmaField(key)] = value;
        else if (key === 'held' && /^\d{1,6}$/.test(value)) doc.held = Number(value);
        else takeAccess(doc.access, accesses, key, value);
    }
    if (accesses.length) doc.access.list = accesses;
    doc.access.at = Math.min(doc.access.at, doc.access.list.length - 1);
    if (panes.length) doc.panes = panes;
    if (doc.trace >= doc.panes.length) doc.trace = null;
    return doc;
}

/* A whole number from 1 on, or `otherwise`. */
export function toCount(text, otherwise) {
    const n = Number(text);
    return Number.isInteger(n) && n >= 1 && n <= MAX_N ? n : otherwise;
}

/* ---- the document in the address bar ------------------------------------------------------------------- */

const SETTLE_MS = 250; /* browsers refuse more than some 20 history calls a second */
let timer = 0;
let written = '';

/* Typing rewrites the current entry of the history; a step (an example, another view) makes a new one. */
export function step(edit) {
    flush();
    const before = written;
    change(edit);
    const hash = toHash(state.doc);
    if (hash !== before) history.pushState(null, '', `#${hash}`);
    written = hash;
}

export function flush() {
    clearTimeout(timer);
    timer = 0;
    const hash = toHash(state.doc);
    if (hash === written) return;
    written = hash;
    history.replaceState(null, '', `#${hash}`);
}

export function startHistory() {
    const load = () =>
        change((s) => {
            if (location.hash.slice(1) === written) return;
            s.doc = fromHash(location.hash);
            s.cursor = null;
            written = toHash(s.doc);
        });
    load();
    addEventListener('popstate', load);
    addEventListener('pagehide', flush);
    onRender(() => {
        if (!timer && toHash(state.doc) !== written) timer = setTimeout(flush, SETTLE_MS);
    });
}

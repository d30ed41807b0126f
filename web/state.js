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

/* Values that a field may have; the first is the default and is left out of links. */
const CHOICES = {
    view: ['layout', 'partition'],
    integers: ['auto', 'cute', 'static'],
    labels: ['offset', 'index', 'coord', 'tv', 'bank', 'none'],
    colors: ['offset', 'tile', 'div', 'mod', 'mode0', 'mode1', 'bank', 'grays', 'hues'],
    link: ['coord', 'index', 'offset'],
};
const NUMBERS = { n: 32, bytes: 4 }; /* a warp of threads; a float */
export const MAX_PANES = 4; /* more do not fit side by side */
export const MAX_N = 1 << 20;

export const blank = () => ({
    panes: [{ expr: FIRST, pick: null }],
    ...Object.fromEntries(Object.entries(CHOICES).map(([key, values]) => [key, values[0]])),
    ...NUMBERS,
    table: false /* the screen reader's view of the cells */,
    at: null /* the index of the pinned cell */,
    copy: { ...COPY },
});

export const state = {
    doc: blank(),
    panes: [] /* evaluate.js: what was answered for each of doc.panes */,
    cursor: null /* {figure, row, col, by}: hover is state; by is 'pointer' or 'keys' */,
    ops: new Map() /* ops.js */,
    devices: null /* jobs.js */,
    job: null /* jobs.js: the partition that was sent last */,
    tile: null /* partition.js: who owns what */,
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
    }
    for (const key of [...Object.keys(CHOICES), ...Object.keys(NUMBERS)])
        if (doc[key] !== base[key]) put(key, doc[key]);
    if (doc.table) put('table', 1);
    if (doc.at !== null) put('at', doc.at);
    for (const key of Object.keys(COPY)) if (doc.copy[key] !== COPY[key]) put(key, doc.copy[key]);
    return parts.join('&');
}

export function fromHash(hash) {
    const doc = blank();
    const panes = [];
    for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
        if (key === 'e' && panes.length < MAX_PANES) panes.push({ expr: value, pick: null });
        else if (key === 'pick' && panes.length) panes.at(-1).pick = value;
        else if (Object.hasOwn(CHOICES, key) && CHOICES[key].includes(value)) doc[key] = value;
        else if (Object.hasOwn(NUMBERS, key)) doc[key] = toCount(value, NUMBERS[key]);
        else if (key === 'table') doc.table = value === '1';
        else if (key === 'at' && /^\d{1,15}$/.test(value)) doc.at = Number(value);
        else if (Object.hasOwn(COPY, key)) doc.copy[key] = value;
    }
    if (panes.length) doc.panes = panes;
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

function flush() {
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

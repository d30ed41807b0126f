/* accesspanel.js: the fields of an access, what it costs, and the swizzles that would cost less. */
import { findSwizzles, isMatrix, searchKey, useLayout, useSwizzle } from './access.js';
import { h, icon, setText } from './dom.js';
import { ranges } from './lanes.js';
import { bars } from './plot.js';
import { blank, change, MAX_ACCESSES, step } from './state.js';

const OPS = {
    shared: ['load', 'store', 'ldmatrix', 'ldmatrix.trans', 'stmatrix', 'stmatrix.trans', 'cp.async'],
    global: ['load', 'store', 'cp.async'],
};
const BYTES = { 0: 'one element', 1: '1 byte', 2: '2 bytes', 4: '4 bytes', 8: '8 bytes', 16: '16 bytes' };
const MATRICES = { 1: '1 matrix', 2: '2 matrices', 4: '4 matrices' };

/* Accesses to start from. */
const PRESETS = [
    ['ldmatrix from rows', {}],
    [
        'Down a column',
        {
            type: 'float',
            layout: '(32,32):(32,1)',
            list: [{ op: 'load', width: 4, thr: '(32,1):(1,0)', val: '(1,1):(0,0)' }],
        },
    ],
    [
        'Global, across rows',
        {
            space: 'global',
            layout: '(256,256):(256,1)',
            list: [{ op: 'load', width: 16, thr: '(32,8):(8,1)', val: '(1,8):(0,1)' }],
        },
    ],
    [
        'Global, strided',
        {
            space: 'global',
            type: 'float',
            layout: '(256,256):(256,1)',
            list: [{ op: 'load', width: 4, thr: '(32,4):(1,32)', val: '(1,1):(0,0)' }],
        },
    ],
];

export class AccessPanel {
    constructor() {
        this.space = h(
            'select',
            { id: 'access-space', onchange: () => edit((a) => this.setSpace(a)) },
            ['shared', 'global'].map((value) => h('option', { value }, `${value} memory`)),
        );
        this.type = input('access-type', (a, value) => (a.type = value));
        this.layout = input('access-layout', (a, value) => (a.layout = value));
        this.cards = h('ul', { class: 'accesses', 'aria-label': 'Accesses' });
        this.add = h('button', { type: 'button', class: 'quiet text', onclick: () => edit(addAccess) }, icon('plus'), 'Another access');
        this.errors = {};
        this.cost = h('div', { class: 'cost', role: 'status' });
        this.search = h('button', { type: 'button', class: 'primary', onclick: findSwizzles }, 'Find a swizzle');
        this.found = h('div', { class: 'swizzles', role: 'status' });
        this.el = h(
            'div',
            { class: 'access' },
            presets(),
            h('div', { class: 'field' }, h('label', { for: 'access-space' }, 'Memory'), this.space),
            this.field('type', 'Element type', this.type),
            this.field('layout', 'Layout', this.layout),
            this.cards,
            this.add,
            this.cost,
            this.search,
            this.found,
        );
    }

    field(name, label, control) {
        const error = (this.errors[name] = h('p', { class: 'problem', id: `${control.id}-error`, hidden: true }));
        control.setAttribute('aria-describedby', error.id);
        return h('div', { class: `field ${name}` }, h('label', { for: control.id }, label), control, error);
    }

    setSpace(access) {
        access.space = this.space.value;
        for (const one of access.list)
            if (!OPS[access.space].includes(one.op)) Object.assign(one, { op: 'load', width: 0 });
    }

    show({ doc: { access }, access: now, swizzles }) {
        this.space.value = access.space;
        put(this.type, access.type);
        put(this.layout, access.layout);
        this.showCards(access);
        this.add.hidden = access.list.length >= MAX_ACCESSES;
        this.fault(now?.problem ?? null);
        if (now?.answer !== this.answer || now?.problem !== this.problem)
            this.cost.replaceChildren(...(now?.answer && !now.problem ? costNodes(now.answer) : []));
        this.answer = now?.answer;
        this.problem = now?.problem;
        this.search.hidden = access.space !== 'shared';
        const current = swizzles?.key === searchKey(access) ? swizzles : null;
        this.search.disabled = Boolean(current?.busy);
        if (current !== this.current || access.layout !== this.shownLayout)
            this.found.replaceChildren(...(current ? swizzleNodes(current, access) : []));
        this.current = current;
        this.shownLayout = access.layout;
    }

    /* A problem stands under its field; those of an access under the one that is shown. */
    fault(problem) {
        const field = problem?.in ?? 'layout';
        for (const [name, error] of Object.entries(this.errors)) {
            const here = problem && (name === field || (name === 'layout' && !this.errors[field]));
            error.hidden = !here;
            setText(error, here ? problem.message : '');
        }
        for (const [name, control] of [['type', this.type], ['layout', this.layout]])
            control.setAttribute('aria-invalid', String(Boolean(problem) && field === name));
    }

    showCards(access) {
        const key = JSON.stringify([access.space, access.at, access.list.map(({ op }) => op), access.list.length]);
        if (key !== this.key) {
            for (const name of ['thr', 'val', 'bytes']) delete this.errors[name];
            this.controls = access.list.map((one, i) => this.card(access, one, i));
            this.cards.replaceChildren(...this.controls.map(({ el }) => el));
        }
        this.key = key;
        this.controls.forEach(({ op, width, thr, val, words }, i) => {
            const one = access.list[i];
            op.value = one.op;
            width.value = String(one.width);
            put(thr, one.thr);
            put(val, one.val);
            setText(words, `${one.op} ${one.thr} ${one.val}`);
        });
    }

    /* The access that is shown has its fields open; of the others there is a line. */
    card(access, one, i) {
        const id = (name) => `access-${i}-${name}`;
        const select = (name, options, run) =>
            h(
                'select',
                { id: id(name), 'aria-label': name, onchange: (event) => edit((a) => run(a.list[i], event.target.value)) },
                Object.entries(options).map(([value, words]) => h('option', { value }, words)),
            );
        const ops = Object.fromEntries(OPS[access.space].map((name) => [name, name]));
        const op = select('instruction', ops, setOp);
        const width = select('width', isMatrix(one.op) ? MATRICES : BYTES, (a, value) => (a.width = Number(value)));
        const thr = input(id('thr'), (a, value) => (a.list[i].thr = value));
        const val = input(id('val'), (a, value) => (a.list[i].val = value));
        const words = h('code', {});
        const shown = i === access.at;
        const pick = () => edit((a) => Object.assign(a, { at: i, warp: 0, step: 0 }));
        const head = h(
            'button',
            { type: 'button', class: 'access-head', 'aria-expanded': String(shown), onclick: pick },
            h('span', {}, `Access ${i + 1}`),
            shown ? null : words,
        );
        const remove = h(
            'button',
            { type: 'button', class: 'quiet', 'aria-label': `Remove access ${i + 1}`, hidden: access.list.length < 2, onclick: () => edit((a) => removeAccess(a, i)) },
            icon('close'),
        );
        const fields = shown
            ? [
                  h('div', { class: 'form' }, op, width),
                  this.field('thr', 'Threads', thr),
                  this.field('val', 'Values of a thread', val),
              ]
            : [];
        return { el: h('li', { class: shown ? 'shown' : '' }, h('header', {}, head, remove), fields), op, width, thr, val, words };
    }
}

/* ---- edits --------------------------------------------------------------------------------------------- */

const edit = (run) => change(({ doc }) => run(doc.access));

function put(control, value) {
    if (control.value !== value) control.value = value;
}

function input(id, run) {
    const control = h('input', {
        id,
        spellcheck: 'false',
        autocomplete: 'off',
        autocapitalize: 'off',
        oninput: () => edit((a) => run(a, control.value)),
    });
    return control;
}

function setOp(one, op) {
    if (isMatrix(op) !== isMatrix(one.op)) one.width = isMatrix(op) ? 4 : 16;
    one.op = op;
}

function addAccess(a) {
    a.list.push({ ...a.list[a.at] });
    Object.assign(a, { at: a.list.length - 1, warp: 0, step: 0 });
}

function removeAccess(a, i) {
    a.list.splice(i, 1);
    Object.assign(a, { at: Math.max(0, a.at - (a.at >= i ? 1 : 0)), warp: 0, step: 0 });
}

function presets() {
    const use = (part) => step((s) => (s.doc.access = { ...blank().access, ...structuredClone(part) }));
    return h(
        'div',
        { class: 'presets', role: 'group', 'aria-label': 'Accesses to start from' },
        PRESETS.map(([title, part]) =>
            h('button', { type: 'button', class: 'quiet text', onclick: () => use(part) }, title),
        ),
    );
}

/* ---- what it costs ------------------------------------------------------------------------------------- */

const many = (n) => n.toLocaleString('en');
const NAMED = 8; /* clashes that are named; more are counted */

function costNodes(answer) {
    const shared = answer.space === 'shared';
    const [unit, count] = shared ? ['wavefronts', answer.wavefronts] : ['sectors', answer.sectors];
    const good = count <= answer.ideal;
    return [
        h(
            'p',
            { class: good ? 'verdict good' : 'verdict warn' },
            icon(good ? 'check' : 'warn'),
            `${many(count)} ${unit}`,
            h('span', {}, good ? 'as few as can be' : `the ideal is ${many(answer.ideal)}${shared ? `: ${answer.ways} words of one bank` : ''}`),
        ),
        bars([['this', count], ['ideal', answer.ideal]], null, unit),
        chooser(answer),
        ...(shared && answer.banks.length ? [clashes(answer)] : []),
        h('p', { class: 'hint' }, totals(answer, unit)),
    ];
}

function totals({ all }, unit) {
    if (!all) return '';
    const { instructions, tiles, ideal } = all;
    return `All ${many(instructions)} instructions of ${many(tiles)} tiles: ${many(all[unit])} ${unit}, the ideal is ${many(ideal)}.`;
}

/* Which warp, and which of its instructions in the tile. */
function chooser({ all, warp, step: nth }) {
    if (!all) return null;
    const { warps, steps } = all.per_instruction;
    const go = (to) => edit((a) => Object.assign(a, to));
    const stepper = (name, at, n, key) =>
        h(
            'span',
            { class: 'stepper' },
            h('button', { type: 'button', class: 'quiet', 'aria-label': `${name}, one back`, onclick: () => go({ [key]: (at + n - 1) % n }) }, '‹'),
            h('output', {}, `${name} ${at} of 0…${n - 1}`),
            h('button', { type: 'button', class: 'quiet', 'aria-label': `${name}, one on`, onclick: () => go({ [key]: (at + 1) % n }) }, '›'),
        );
    const worst = all.worst.warp !== warp || all.worst.step !== nth;
    return h(
        'div',
        { class: 'chooser' },
        warps > 1 ? stepper('warp', warp, warps, 'warp') : null,
        steps > 1 ? stepper('instruction', nth, steps, 'step') : null,
        worst && warps * steps > 1
            ? h('button', { type: 'button', class: 'link', onclick: () => go({ warp: all.worst.warp, step: all.worst.step }) }, 'the worst')
            : null,
    );
}

/* The lanes that take turns, named; banks where it is the same lanes are told together. */
function clashes({ banks, phase_lanes: phase, lanes }) {
    const groups = new Map();
    for (const { bank, phase: at, words, lanes: who } of banks) {
        const names = ranges(who.flat().sort((a, b) => a - b));
        const key = `${at} ${names} ${words.length}`;
        if (!groups.has(key)) groups.set(key, { at, names, words: words.length, banks: [] });
        groups.get(key).banks.push(bank);
    }
    const line = ({ at, names, words, banks: list }) =>
        h(
            'li',
            {},
            h('b', {}, `bank${list.length > 1 ? 's' : ''} ${ranges(list)}`),
            `${phase < lanes.length ? `, phase ${at}` : ''}: ${words} words${list.length > 1 ? ' each' : ''}, lanes ${names}`,
        );
    const all = [...groups.values()];
    return h(
        'ul',
        { class: 'clashes', 'aria-label': 'Lanes that clash' },
        all.slice(0, NAMED).map(line),
        all.length > NAMED ? h('li', { class: 'hint' }, `and ${all.length - NAMED} more`) : null,
    );
}

/* ---- swizzles ------------------------------------------------------------------------------------------ */

const BEST = 5;

function swizzleNodes({ busy, problem, answer, plain }, { layout }) {
    if (busy) return [h('p', { class: 'hint' }, 'Searching.')];
    if (problem) return [h('p', { class: 'problem' }, problem.message)];
    const { none, swizzles, padding, ideal, accesses } = answer;
    const row = (name, cost, more, run, used) =>
        h(
            'li',
            { class: used ? 'used' : '' },
            h('code', {}, name),
            h('span', { class: cost.conflicts ? 'outcome bad' : 'outcome good' }, conflicts(cost.conflicts)),
            h('small', {}, [`${many(cost.wavefronts)} wavefronts`, accesses.length > 1 ? `(${cost.each.join(' + ')})` : '', more].join(' ')),
            h('button', { type: 'button', disabled: used, onclick: run, 'aria-label': `${used ? 'Applied' : 'Apply'} ${name}` }, used ? 'Applied' : 'Apply'),
        );
    const text = (swizzle) => `composition(${swizzle}{}, ${plain})`;
    return [
        h('p', { class: 'hint' }, `For all accesses together; the ideal is ${many(ideal)} wavefronts.`),
        h(
            'ul',
            { class: 'found', 'aria-label': 'Swizzles, the best first' },
            row(plain, none, 'as it is', () => useLayout(plain), layout === plain),
            swizzles
                .slice(0, BEST)
                .map((one) =>
                    row(one.swizzle, one, one.hardware ? `the card’s ${one.hardware}` : '', () => useSwizzle(one.swizzle, plain), layout === text(one.swizzle)),
                ),
            padding
                ? row(padding.layout, padding, `padded by ${padding.elements}`, () => useLayout(padding.layout), layout === padding.layout)
                : null,
        ),
    ];
}

const conflicts = (n) => (n ? `${many(n)} conflicts` : 'no conflict');

/* accesspanel.js: the fields of an access, what it costs, and the swizzles that would cost less. */
import { findSwizzles, searchKey } from './access.js';
import { accessCard, edit, input, OPS, put } from './accesscard.js';
import { costNodes, swizzleNodes } from './accesscost.js';
import { h, icon, setText } from './dom.js';
import { blank, MAX_ACCESSES, step } from './state.js';

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
        this.add = h(
            'button',
            { type: 'button', class: 'quiet text', onclick: () => edit(addAccess) },
            icon('plus'),
            'Another access',
        );
        this.errors = {};
        this.cost = h('div', { class: 'cost', role: 'status' });
        this.search = h(
            'button',
            { type: 'button', class: 'primary', onclick: findSwizzles },
            'Find a swizzle',
        );
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
        const error = (this.errors[name] = h('p', {
            class: 'problem',
            id: `${control.id}-error`,
            hidden: true,
        }));
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
        for (const [name, control] of [
            ['type', this.type],
            ['layout', this.layout],
        ])
            control.setAttribute('aria-invalid', String(Boolean(problem) && field === name));
    }

    showCards(access) {
        const key = JSON.stringify([
            access.space,
            access.at,
            access.list.map(({ op }) => op),
            access.list.length,
        ]);
        if (key !== this.key) {
            for (const name of ['thr', 'val', 'bytes']) delete this.errors[name];
            this.controls = access.list.map((one, i) =>
                accessCard(access, i, (name, label, control) => this.field(name, label, control)),
            );
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
}

/* ---- edits --------------------------------------------------------------------------------------------- */

function addAccess(a) {
    a.list.push({ ...a.list[a.at] });
    Object.assign(a, { at: a.list.length - 1, warp: 0, step: 0 });
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

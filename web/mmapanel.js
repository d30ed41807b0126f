/* mmapanel.js: the fields of a tiled MMA, what a thread holds, and the button that sends it to the card. */
import { AtomPicker } from './atompicker.js';
import { h } from './dom.js';
import { Field, presetButtons } from './field.js';
import { mmaAtoms, specOf } from './mma.js';
import { OPERANDS } from './mmapicture.js';
import { RunBox } from './runbox.js';
import { blank, change, step } from './state.js';

const PRESETS = [
    ['One warp', {}],
    ['Four warps', { atom_layout: '(2,2,1)', permutation: '(32,32,16)' }],
    ['Volta quad pairs', { atom: 'SM70_8x8x4_F32F16F16F32_TN', atom_layout: '(2,2,1)' }],
    ['Hopper wgmma', { atom: 'SM90_64x64x16_F32F16F16_RS<GMMA::Major::K,GMMA::Major::K>' }],
];
const FIELDS = ['atom', 'atom_layout', 'permutation', 'problem'];
const REGISTER_BITS = 32;
const ROWS = 64; /* values of a thread that are listed; more are counted */

const put = (name) => (text) =>
    change(({ doc }) => {
        doc.mma[name] = text;
        if (name !== 'problem') doc.held = null;
    });
const use = (edit) =>
    step(({ doc }) => {
        doc.mma = { ...blank().mma, ...edit };
        doc.held = null;
    });
const many = (n) => n.toLocaleString('en');

export class MmaPanel {
    constructor() {
        this.fields = [
            new AtomPicker('mma-atom', 'MMA atom', 'atom', put('atom'), mmaAtoms),
            new Field('mma-atom_layout', 'Atoms along M, N, K', 'atom_layout', put('atom_layout')),
            new Field('mma-permutation', 'Permutation', 'permutation', put('permutation')),
            new Field('mma-problem', 'Whole product, (M,N,K) or nothing', 'problem', put('problem')),
        ];
        this.run = new RunBox(specOf, FIELDS, ['tile', 'stages']);
        this.facts = h('section', { class: 'predicted', 'aria-label': 'A thread holds' });
        this.held = h('section', { class: 'predicted held', 'aria-label': 'Lit up', role: 'status' });
        this.el = h(
            'form',
            { class: 'partition', 'aria-label': 'MMA', onsubmit: (event) => this.run.submit(event) },
            presetButtons('MMAs to start from', PRESETS, use),
            this.fields.map(({ el }) => el),
            this.run.el,
            this.facts,
            this.held,
        );
    }

    show(s) {
        const { doc, mma } = s;
        const refused = this.run.show(s);
        const asked = mma?.problem ? { field: fieldOf(mma.problem), problem: mma.problem } : null;
        for (const field of this.fields) {
            const { name } = field.input;
            const wrong = [asked, refused].find((one) => one?.field === name);
            field.show(doc.mma[name], wrong?.problem ?? null);
        }
        if (mma?.answer !== this.answer) this.facts.replaceChildren(...(mma?.answer ? factNodes(mma) : []));
        this.answer = mma?.answer;
        const told = `${doc.by} ${doc.held}`;
        if (told === this.told && mma?.picture === this.picture) return;
        this.held.replaceChildren(...heldNodes(mma?.picture, doc));
        this.told = told;
        this.picture = mma?.picture;
    }
}

const fieldOf = (problem) => (FIELDS.includes(problem.in) ? problem.in : 'atom');

/* ---- what every thread holds --------------------------------------------------------------------------- */

function factNodes({ answer, picture }) {
    const facts = [
        ['threads', many(answer.threads)],
        ['tile (m,n,k)', `(${answer.tile_mnk})`],
        ['instructions', many(picture.count('instruction'))],
    ];
    const registers = OPERANDS.map((name) => registersOf(answer[name]));
    const total = registers.reduce((sum, n) => sum + n, 0);
    return [
        h(
            'dl',
            { class: 'facts' },
            facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
        ),
        tableNode(
            'A thread holds',
            ['', 'type', 'values', 'registers'],
            OPERANDS.map((name, i) => operandRow(name, answer[name], registers[i])).concat([
                ['in all', '', '', many(total)],
            ]),
        ),
    ];
}

const registersOf = ({ bits, descriptor }) => (descriptor ? 0 : Math.ceil(bits / REGISTER_BITS));

const operandRow = (name, { type, values, tile, descriptor }, registers) => [
    `${name} ${tile.join('×')}`,
    type,
    descriptor ? 'a descriptor' : many(values),
    many(registers),
];

function tableNode(caption, head, rows) {
    return h(
        'table',
        { class: 'counted' },
        h('caption', {}, caption),
        h(
            'thead',
            {},
            h(
                'tr',
                {},
                head.map((words) => h('th', { scope: 'col' }, words)),
            ),
        ),
        h(
            'tbody',
            {},
            rows.map(([first, ...cells]) =>
                h(
                    'tr',
                    {},
                    h('th', { scope: 'row' }, first),
                    cells.map((text) => h('td', {}, text)),
                ),
            ),
        ),
    );
}

/* ---- what is lit --------------------------------------------------------------------------------------- */

function heldNodes(picture, { by, held }) {
    if (!picture || held === null || held >= picture.count(by)) return [];
    return by === 'thread' ? [valuesNode(picture, held)] : [extentNode(picture, by, held)];
}

/* Value by value, the elements of one thread. */
function valuesNode(picture, thread) {
    const columns = OPERANDS.map((name) => {
        const list = [];
        picture.eachHeld(name, 'thread', thread, (t, value, index) =>
            list.push(coordOf(picture, name, index)),
        );
        return list;
    });
    const n = Math.max(...columns.map(({ length }) => length));
    const rows = Array.from({ length: Math.min(n, ROWS) }, (_, v) => [
        `V${v}`,
        ...columns.map((list) => list[v] ?? ''),
    ]);
    const more = n > ROWS ? ` ${n} values, the first ${ROWS}` : '';
    return tableNode(`Thread ${thread} holds${more}`, ['', 'A (m,k)', 'B (n,k)', 'C (m,n)'], rows);
}

/* How much of each operand, and from where to where. */
function extentNode(picture, by, nth) {
    const rows = OPERANDS.map((name) => {
        const seen = new Set();
        const low = [Infinity, Infinity];
        const high = [0, 0];
        picture.eachHeld(name, by, nth, (thread, value, index) => {
            seen.add(index);
            coordsOf(picture, name, index).forEach((at, i) => {
                low[i] = Math.min(low[i], at);
                high[i] = Math.max(high[i], at);
            });
        });
        const part = seen.size ? `(${low}) to (${high})` : '–';
        return [name, many(seen.size), part];
    });
    return tableNode(`${by} ${nth} holds`, ['', 'elements', 'within'], rows);
}

function coordsOf({ extent }, name, index) {
    const first = name === 'B' ? extent.n : extent.m;
    return [index % first, Math.floor(index / first)];
}

const coordOf = (picture, name, index) => `(${coordsOf(picture, name, index)})`;

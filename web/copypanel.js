/* copypanel.js: a copy partition: its fields, the picture of who owns what, and the button that sends it to
 * the card.
 *
 * The picture is raked_product(thr, val), as make_tiled_copy makes it: in each place of the tile stands
 * thread + threads * value. The daemon multiplies; here it is only read apart. */
import { isAbort, post } from './api.js';
import { h } from './dom.js';
import { drawing } from './evaluate.js';
import { Field, presetButtons } from './field.js';
import { predictionNodes, syncPrediction } from './prediction.js';
import { RunBox } from './runbox.js';
import { blank, change, step } from './state.js';
import { unitAt } from './text.js';

const FIELDS = [
    [
        'type',
        'Element',
        [
            'half_t',
            'bfloat16_t',
            'float',
            'double',
            'int8_t',
            'int32_t',
            'uint8_t',
            'float_e4m3_t',
            'float_e5m2_t',
            'complex<float>',
        ],
    ],
    [
        'atom',
        'Copy atom',
        [
            'UniversalCopy<uint128_t>',
            'UniversalCopy<uint64_t>',
            'UniversalCopy<uint32_t>',
            'UniversalCopy<uint16_t>',
            'UniversalCopy<uint8_t>',
        ],
    ],
    ['thr', 'Threads'],
    ['val', 'Values of a thread'],
    ['src', 'Source'],
    ['dst', 'Destination'],
];

/* Copies to start from: what differs from the default document. */
const PRESETS = [
    ['Row-major, 128 bits', {}],
    ['Transpose, 16 bits', { atom: 'UniversalCopy<uint16_t>', dst: '(4096,4096):(1,4096)' }],
    [
        'Column-major float',
        {
            type: 'float',
            thr: '(32,8):(1,32)',
            val: '(4,1):(1,0)',
            src: '(4096,4096):(1,4096)',
            dst: '(4096,4096):(1,4096)',
        },
    ],
    ['Refused: values not contiguous', { src: '(4096,4096):(1,4096)' }],
];

export const specOf = (doc) => ({ kind: 'copy', ...doc.copy });
const use = (edit) => step((s) => (s.doc.copy = { ...blank().copy, ...edit }));
const put = (name) => (text) => change((s) => (s.doc.copy[name] = text));

export class CopyPanel {
    constructor() {
        this.fields = FIELDS.map(
            ([name, label, options]) => new Field(`copy-${name}`, label, name, put(name), options),
        );
        this.run = new RunBox(
            specOf,
            FIELDS.map(([name]) => name),
            ['smem', 'stages', 'unroll'],
        );
        this.predicted = h('section', { class: 'predicted', 'aria-label': 'Predicted' });
        this.el = h(
            'form',
            { class: 'partition', 'aria-label': 'Copy', onsubmit: (event) => this.run.submit(event) },
            presetButtons('Copies to start from', PRESETS, use),
            this.fields.map(({ el }) => el),
            this.run.el,
            this.predicted,
        );
    }

    show(s) {
        const { doc, tile, predicted } = s;
        const refused = this.run.show(s);
        for (const field of this.fields) {
            const { name } = field.input;
            const wrong = tile?.problem?.field === name ? tile.problem : null;
            field.show(doc.copy[name], wrong ?? (refused?.field === name ? refused.problem : null));
        }
        if (predicted?.answer !== this.shownAnswer)
            this.predicted.replaceChildren(...predictionNodes(predicted?.answer, doc.copy));
        this.shownAnswer = predicted?.answer;
    }
}

/* ---- the picture --------------------------------------------------------------------------------------- */

const DEBOUNCE_MS = 80;
let timer = 0;

/* state.tile = {key, picture, threads, values, thr, val, problem: {field, message}} for doc.copy's thr and val; these
 * as CuTe spells them. */
export function syncTile(now) {
    if (now.doc.view !== 'copy') return;
    syncPrediction(now, specOf(now.doc));
    const { thr, val } = now.doc.copy;
    const key = `${thr}\n${val}`;
    if (now.tile?.key === key) return;
    const wait = now.tile ? DEBOUNCE_MS : 0;
    now.tile = { ...now.tile, key, stale: true };
    clearTimeout(timer);
    timer = setTimeout(() => evaluateTile(key, thr, val), wait);
}

async function evaluateTile(key, thr, val) {
    const put = (tile) =>
        change((s) => {
            if (s.tile.key === key) Object.assign(s.tile, { problem: null, stale: false }, tile);
        });
    const head = 'thr = ';
    const middle = '\n; val = ';
    const program = `${head}${thr}${middle}${val}\n; raked_product(thr, val)`;
    try {
        const answer = await post('/eval', { expr: program });
        const sizeOf = (name) => answer.names[name].value.size ?? answer.names[name].value;
        put({
            ...(await drawing(answer)),
            threads: Number(sizeOf('thr')),
            values: Number(sizeOf('val')),
            thr: answer.names.thr.cute,
            val: answer.names.val.cute,
        });
    } catch (problem) {
        if (isAbort(problem)) return;
        const at = problem.position ? unitAt(program, problem.position.start) : 0;
        const field = at < head.length + thr.length + middle.length ? 'thr' : 'val';
        put({ problem: { field, message: problem.message }, stale: true });
    }
}

/* The place in the tile, and who holds it. */
export function tileWords(picture, { row, col }, { n: threads }) {
    const code = Number(picture.at(row, col));
    return [
        h('span', { class: 'coordinate' }, `thread ${code % threads}`),
        h('span', { class: 'coordinate' }, `value ${Math.floor(code / threads)}`),
        h('span', { class: 'fact' }, 'holds ', h('b', {}, `(${row},${col})`), ' of the tile'),
        h(
            'span',
            { class: 'fact' },
            `${threads}·${Math.floor(code / threads)} + ${code % threads} = ${code}`,
        ),
    ];
}

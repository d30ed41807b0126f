/* partition.js: a copy partition: its fields, the picture of who owns what, and the button that sends it to
 * the card.
 *
 * The picture is raked_product(thr, val), as make_tiled_copy makes it: in each place of the tile stands
 * thread + threads * value. The daemon multiplies; here it is only read apart. */
import { isAbort, post } from './api.js';
import { h, setText } from './dom.js';
import { drawing } from './evaluate.js';
import { predictionNodes, syncPrediction } from './prediction.js';
import { isFinal, runJob } from './jobs.js';
import { deviceNodes, jobNodes } from './jobview.js';
import { blank, change, state, step } from './state.js';
import { unitAt } from './text.js';

const FIELDS = [
    [
        'type',
        'Element type',
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

/* Partitions to start from: what differs from the default document. */
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
const fieldOf = (problem) => problem?.in ?? problem?.field;

function presets() {
    const use = (edit) => step((s) => (s.doc.copy = { ...blank().copy, ...edit }));
    const button = ([title, edit]) =>
        h('button', { type: 'button', class: 'quiet text', onclick: () => use(edit) }, title);
    return h(
        'div',
        { class: 'presets', role: 'group', 'aria-label': 'Partitions to start from' },
        PRESETS.map(button),
    );
}

export class PartitionPanel {
    constructor() {
        this.inputs = {};
        this.errors = {};
        const fields = FIELDS.map(([name, label, options]) => this.field(name, label, options));
        this.run = h('button', { type: 'submit', class: 'primary' }, 'Run on the card');
        this.devices = h('p', { class: 'devices' });
        this.job = h('div', { class: 'job', role: 'status' });
        this.predicted = h('section', { class: 'predicted', 'aria-label': 'Predicted' });
        const submit = (event) => {
            event.preventDefault();
            runJob(specOf(state.doc));
        };
        this.el = h(
            'form',
            { class: 'partition', 'aria-label': 'Copy partition', onsubmit: submit },
            presets(),
            fields,
            h('div', { class: 'run' }, this.run, this.devices),
            this.job,
            this.predicted,
        );
    }

    field(name, label, options) {
        const id = `copy-${name}`;
        const input = h('input', {
            id,
            name,
            spellcheck: 'false',
            autocomplete: 'off',
            autocapitalize: 'off',
            list: options && `${id}-options`,
            'aria-describedby': `${id}-error`,
            oninput: () =>
                change((s) => {
                    s.doc.copy[name] = input.value;
                }),
        });
        this.inputs[name] = input;
        this.errors[name] = h('p', { class: 'problem', id: `${id}-error`, hidden: true });
        return h(
            'div',
            { class: `field ${name}` },
            h('label', { for: id }, label, h('code', {}, name)),
            input,
            options &&
                h(
                    'datalist',
                    { id: `${id}-options` },
                    options.map((value) => h('option', { value })),
                ),
            this.errors[name],
        );
    }

    show({ doc, tile, job, devices, predicted }) {
        const same = job && JSON.stringify(job.sent) === JSON.stringify(specOf(doc));
        const refused = (same && (job.problem ?? job.failure)) || null;
        for (const [name, input] of Object.entries(this.inputs)) {
            if (input.value !== doc.copy[name]) input.value = doc.copy[name];
            const wrong = tile?.problem?.field === name ? tile.problem : null;
            this.fault(name, wrong ?? (fieldOf(refused) === name ? refused : null));
        }
        this.run.disabled = Boolean(job && !isFinal(job));
        if (job !== this.shownJob) this.job.replaceChildren(...jobNodes(job));
        this.shownJob = job;
        if (predicted?.answer !== this.shownAnswer)
            this.predicted.replaceChildren(...predictionNodes(predicted?.answer, doc.copy));
        this.shownAnswer = predicted?.answer;
        this.showDevices(devices);
    }

    /* Asked for again and again, and mostly the same. */
    showDevices(answer) {
        const told = JSON.stringify([
            answer?.devices?.map(({ device, state: now }) => [device?.name, now]),
            answer?.queue,
            answer?.problem?.message,
        ]);
        if (told !== this.told) this.devices.replaceChildren(...deviceNodes(answer));
        this.told = told;
    }

    fault(name, problem) {
        const error = this.errors[name];
        error.hidden = !problem;
        setText(error, problem?.message ?? '');
        this.inputs[name].setAttribute('aria-invalid', String(Boolean(problem)));
        if (problem?.position && document.activeElement !== this.inputs[name]) {
            const { value } = this.inputs[name];
            this.inputs[name].setSelectionRange(
                unitAt(value, problem.position.start),
                unitAt(value, problem.position.end),
            );
        }
    }
}

/* ---- the picture --------------------------------------------------------------------------------------- */

const DEBOUNCE_MS = 80;
let timer = 0;

/* state.tile = {key, picture, threads, values, problem: {field, message}} for doc.copy's thr and val. */
export function syncTile(now) {
    if (now.doc.view !== 'partition') return;
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
            text: answer.text,
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

/* All that the thread of a cell owns lights up with it. */
export function ownedByThread(picture, { row, col }, { n: threads }) {
    const thread = Number(picture.at(row, col)) % threads;
    const cells = [];
    for (let code = thread; code <= picture.max; code += threads) cells.push(...picture.memory.cellsAt(code));
    return cells;
}

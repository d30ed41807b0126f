/* prediction.js: what a partition will do to memory, before it runs: /copy, asked as one types.
 *
 * state.predicted {key, answer, problem}. A refusal is not told here: the field that is wrong tells it, or the
 * daemon when the job is sent. */
import { isAbort, post } from './api.js';
import { h, icon } from './dom.js';
import { change, step } from './state.js';

const DEBOUNCE_MS = 120;
const NAMES = {
    src: 'Source',
    dst: 'Destination',
    smem_store: 'Into shared memory',
    smem_load: 'From shared memory',
};
let timer = 0;
let controller = null;

export function syncPrediction(now, spec) {
    const key = JSON.stringify(spec);
    if (now.doc.view !== 'copy' || now.predicted?.key === key) return;
    now.predicted = { ...now.predicted, key };
    clearTimeout(timer);
    controller?.abort();
    timer = setTimeout(() => ask(key, spec), DEBOUNCE_MS);
}

async function ask(key, spec) {
    controller = new AbortController();
    const { signal } = controller;
    const put = (edit) => change((s) => s.predicted.key === key && Object.assign(s.predicted, edit));
    try {
        put({ answer: await post('/copy', spec, { signal }), problem: null });
    } catch (problem) {
        if (!isAbort(problem)) put({ answer: null, problem });
    }
}

const many = (n) => n.toLocaleString('en');

export function predictionNodes(answer, copy) {
    if (!answer) return [];
    return [
        h('h3', {}, 'Predicted'),
        h(
            'ul',
            { class: 'sides' },
            Object.entries(answer.sides).map(([name, side]) => sideNode(name, side, copy)),
        ),
        answer.warnings.length
            ? h('ul', { class: 'warnings', 'aria-label': 'Warnings' }, answer.warnings.map(warningNode))
            : null,
    ].filter(Boolean);
}

function sideNode(name, side, copy) {
    const unit = side.space === 'shared' ? 'wavefronts' : 'sectors';
    const good = side[unit] <= side.ideal;
    const times = (side[unit] / side.ideal).toFixed(1);
    const lanes = () => step((s) => showLanes(s, name, side, copy));
    const widest = side.vectors.bits > side.bytes * 8 ? `; ${side.vectors.bits} bits would do` : '';
    return h(
        'li',
        { class: good ? 'good' : 'warn' },
        icon(good ? 'check' : 'warn'),
        h(
            'span',
            {},
            h('b', {}, NAMES[name] ?? name),
            `: ${many(side[unit])} ${unit}${good ? ', as few as can be' : `, ${times} times the ideal`}`,
            h('small', {}, `${side.bytes * 8} bits an access${widest}`),
        ),
        h('button', { type: 'button', class: 'quiet text', onclick: lanes }, icon('lanes'), 'Lanes'),
    );
}

const warningNode = ({ code, in: field, detail }) =>
    h('li', {}, h('code', {}, field), ' ', detail, h('span', { class: 'offscreen' }, ` (${code})`));

/* The side as an access of one warp. */
function showLanes(s, name, side, { type, thr, val, src, dst, smem }) {
    const layout = { src, dst }[name] ?? smem;
    const list = [{ op: side.op, width: side.bytes, thr, val }];
    s.doc.access = { space: side.space, type, layout, list, at: 0, warp: 0, step: 0 };
    s.doc.view = 'access';
    s.cursor = null;
}

/* prediction.js: what a partition will do to memory, before it runs: /copy, asked as one types.
 *
 * state.predicted {key, answer, problem}. A refusal is not told here: the field that is wrong tells it, or the
 * daemon when the job is sent. */
import { isAbort, post } from './api.js';
import { asking } from './asking.js';
import { h, icon } from './dom.js';
import { step } from './state.js';

const NAMES = {
    src: 'Source',
    dst: 'Destination',
    smem_store: 'Into shared memory',
    smem_load: 'From shared memory',
};
const sync = asking('predicted', async (spec, signal) => {
    try {
        return { answer: await post('/copy', spec, { signal }) };
    } catch (problem) {
        if (isAbort(problem)) throw problem;
        return { answer: null, problem }; /* what was foretold of another partition is not left standing */
    }
});

export function syncPrediction(now, spec) {
    if (now.doc.view === 'copy') sync(now, spec);
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

/* jobview.js: a job and the devices as elements. */
import { countersNode } from './counters.js';
import { copyButton, h, icon } from './dom.js';
import { factsNode } from './jobfacts.js';
import { cancelJob, isFinal, runJob } from './jobs.js';
import { ceilingBar, figure, samplesPlot } from './plot.js';
import { step } from './state.js';

/* fields: names of those under which a problem stands already; null: the job is the whole page */
export function jobNodes(job, { fields = null } = {}) {
    if (!job) return [];
    const whole = !fields;
    const problem = job.problem ?? job.failure;
    const result = job.result ?? job.partial;
    return [
        headNode(job, whole),
        problem && (whole || !fields.includes(problem.in ?? problem.field)) ? problemNode(problem) : null,
        ...(result ? resultNodes(result) : []),
        isFinal(job) && (job.result ?? job.spec) ? specNode(job) : null,
    ].filter(Boolean);
}

/* Its state, and why it failed, of a job whose result is told otherwise. */
export const headNodes = (job) =>
    [headNode(job, true), job.failure ? problemNode(job.failure) : null].filter(Boolean);

function headNode(job, whole) {
    const again = () => runJob(job.sent ?? job.spec, { fresh: true });
    const open = () => step((s) => Object.assign(s.doc, { view: 'jobs', job: job.id, versus: null }));
    const button = (label, run) =>
        h('button', { type: 'button', class: 'quiet text', 'data-key': label, onclick: run }, label);
    return h(
        'header',
        { class: `job-head ${job.state}` },
        h('span', { class: 'state' }, job.state),
        job.position ? h('span', {}, `number ${job.position} in the queue`) : null,
        job.cached ? h('span', {}, `answered ${age(job.age_s)} ago`) : null,
        job.id && !isFinal(job) ? button('Cancel', () => cancelJob(job.id)) : null,
        job.cached ? button('Run again', again) : null,
        job.id && !whole ? button(`Job ${shortId(job.id)}`, open) : null,
    );
}

/* The beginning of an id is the time, which neighbours have in common. */
export const shortId = (id) => id.slice(-6);
export const age = (s) =>
    s < 120 ? `${s} s` : s < 7200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`;

/* The size of a product, in the order in which it is written; null for another value. */
export const productText = (size) => (size?.m === undefined ? null : `${size.m} × ${size.n} × ${size.k}`);

function problemNode(problem) {
    const code = problem.reason ?? problem.code ?? problem.kind ?? 'failed';
    return h(
        'div',
        { class: 'problem' },
        h('code', { class: 'code' }, String(code).replaceAll('_', ' ')),
        h('p', {}, problem.message ?? problem.detail ?? ''),
    );
}

function resultNodes(result) {
    return [
        result.verified === undefined ? null : verdict(result),
        result.mismatch ? mismatchNode(result.mismatch) : null,
        result.stray_write
            ? h(
                  'p',
                  { class: 'mismatch' },
                  `A byte was written ${result.stray_write.where}, at ${result.stray_write.offset}.`,
              )
            : null,
        result.gbps === undefined
            ? null
            : ceilingBar('the card’s memcpy', result.gbps, result.ceiling?.memcpy_gbps, 'GB/s'),
        result.tflops === undefined
            ? null
            : ceilingBar('cuBLAS', result.tflops, result.ceiling?.cublas_tflops, 'TFLOP/s'),
        result.ceiling?.why ? h('p', { class: 'hint' }, `No cuBLAS beside it: ${result.ceiling.why}.`) : null,
        result.implausible ? h('p', { class: 'mismatch' }, 'Implausible: more than the card can do.') : null,
        result.samples?.length
            ? samplesPlot(result.samples, result.unit === 'us' ? 'µs' : result.unit)
            : null,
        result.counters ? countersNode(result.counters) : null,
        factsNode(result),
    ];
}

function verdict({ verified, executor, device, checked }) {
    const where = ` on ${device?.name ?? executor}`;
    const what = checked?.elements ? `, ${checked.elements.toLocaleString('en')} elements` : '';
    const how = executor === 'cpu' ? ', one by one; no times of a card' : '';
    return h(
        'p',
        { class: verified ? 'verdict good' : 'verdict bad' },
        icon(verified ? 'check' : 'close'),
        verified ? 'Verified' : 'Wrong',
        h('span', {}, where + what + how),
    );
}

/* Where it went wrong first, and whose value it is. */
function mismatchNode({ coordinate, offset, expected, got, bound, tile, thread, value }) {
    const place = [
        `at ${coordinate}`,
        offset === undefined ? null : `offset ${offset}`,
        tile === undefined ? null : `tile ${tile}`,
    ].filter(Boolean);
    const within = bound === undefined ? '' : ` within ${figure(bound)}`;
    const whose = thread === undefined ? '' : ` (thread ${thread}, value ${value})`;
    return h(
        'p',
        { class: 'mismatch' },
        `First ${place.join(', ')}: expected ${expected}${within}, got ${got}${whose}.`,
    );
}

/* The resolved spec; sources are the job's own page. */
function specNode({ result, spec }) {
    const text = JSON.stringify(result?.spec ?? spec, null, 1);
    return h(
        'details',
        { class: 'more' },
        h('summary', {}, 'Resolved spec'),
        h(
            'div',
            { class: 'spec' },
            h('pre', { tabindex: '0' }, text),
            copyButton('Copy the resolved spec', () => text),
        ),
    );
}

export function deviceNodes(answer) {
    if (!answer) return [];
    if (answer.problem) return [answer.problem.message];
    const { devices, queue } = answer;
    const waiting = (queue?.queued ?? 0) + (queue?.compiling ?? 0) + (queue?.running ?? 0);
    const node = ({ device, worker, state, reason }) =>
        h('span', { class: `device ${state}`, title: reason }, device?.name ?? worker, h('small', {}, state));
    return [
        ...(devices?.length ? devices.map(node) : ['No worker is here: a job would wait.']),
        waiting ? h('small', {}, `${waiting} in the queue`) : null,
    ].filter(Boolean);
}

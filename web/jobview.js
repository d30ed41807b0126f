/* jobview.js: a job and the devices as elements. */
import { countersNode } from './counters.js';
import { copyButton, h, icon } from './dom.js';
import { cancelJob, isFinal, runJob } from './jobs.js';
import { ceilingBar, figure, samplesPlot } from './plot.js';

/* What is wrong with one of these stands under it. */
const FIELDS = new Set(['type', 'atom', 'thr', 'val', 'src', 'dst']);

/* whole: nowhere else on the page is there a field under which a problem could stand */
export function jobNodes(job, { whole = false } = {}) {
    if (!job) return [];
    const problem = job.problem ?? job.failure;
    const result = job.result ?? job.partial;
    return [
        headNode(job, whole),
        problem && (whole || !FIELDS.has(problem.in ?? problem.field)) ? problemNode(problem) : null,
        ...(result ? resultNodes(result) : []),
        ...(job.links && isFinal(job) ? [linksNode(job)] : []),
    ].filter(Boolean);
}

function headNode(job, whole) {
    const again = () => runJob(job.sent ?? job.spec, { fresh: true });
    return h(
        'header',
        { class: `job-head ${job.state}` },
        h('span', { class: 'state' }, job.state),
        job.id
            ? h('a', { href: `/jobs/${job.id}`, title: job.id }, whole ? 'as JSON' : `job ${shortId(job.id)}`)
            : null,
        job.position ? h('span', {}, `number ${job.position} in the queue`) : null,
        job.cached ? h('span', {}, `answered ${age(job.age_s)} ago`) : null,
        job.id && !isFinal(job)
            ? h('button', { type: 'button', class: 'quiet text', onclick: () => cancelJob(job.id) }, 'Cancel')
            : null,
        job.cached ? h('button', { type: 'button', class: 'quiet text', onclick: again }, 'Run again') : null,
    );
}

/* The beginning of an id is the time, which neighbours have in common. */
export const shortId = (id) => id.slice(-6);
export const age = (s) =>
    s < 120 ? `${s} s` : s < 7200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`;

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
        result.implausible
            ? h('p', { class: 'mismatch' }, 'Implausible: more than the card’s own memcpy can do.')
            : null,
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
    const how = executor === 'cpu' ? ', each written once; no times of a card' : '';
    return h(
        'p',
        { class: verified ? 'verdict good' : 'verdict bad' },
        icon(verified ? 'check' : 'close'),
        verified ? 'Verified' : 'Wrong',
        h('span', {}, where + what + how),
    );
}

const mismatchNode = (m) =>
    h(
        'p',
        { class: 'mismatch' },
        `First at ${m.coordinate}, offset ${m.offset}: expected ${m.expected}, got ${m.got}`,
        ` (thread ${m.thread}, value ${m.value}).`,
    );

const percent = (part) => `${(100 * part).toFixed(0)} %`;

function factsNode({ plan, spec, registers, occupancy, p95, stable, unit, timings_ms: timings }) {
    const facts = {
        'grid × block': plan && spec?.grid !== undefined ? `${spec.grid} × ${plan.block}` : undefined,
        tile: plan?.tiler,
        tiles: plan?.tiles,
        'values an access': plan?.values_per_access,
        'accesses in flight': plan?.accesses_in_flight,
        registers,
        occupancy: occupancy && percent(occupancy.fraction),
        p95: p95 === undefined ? undefined : `${figure(p95)} ${unit === 'us' ? 'µs' : unit}`,
        stable: stable === undefined ? undefined : stable ? 'yes' : 'no',
        ...Object.fromEntries(Object.entries(timings ?? {}).map(([name, ms]) => [name, `${figure(ms)} ms`])),
    };
    const given = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
    return given.length
        ? h(
              'dl',
              { class: 'facts' },
              given.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value)))),
          )
        : null;
}

/* The resolved spec, and what else the daemon keeps of a job. */
function linksNode({ links, result, spec }) {
    const text = JSON.stringify(result?.spec ?? spec, null, 1);
    const others = Object.entries(links).filter(([name]) => name !== 'self' && name !== 'events');
    return h(
        'details',
        { class: 'more' },
        h('summary', {}, 'Resolved spec and sources'),
        h(
            'p',
            { class: 'links' },
            others.map(([name, href]) => h('a', { href }, name)),
        ),
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

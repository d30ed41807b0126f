/* joblist.js: the jobs, the newest first, with the queue and the devices above them. One is looked at, a second
 * may stand beside it. */
import { h, icon, replaceKeeping, setText } from './dom.js';
import { age, deviceNodes, shortId } from './jobview.js';
import { filterJobs, isFinal, olderJobs } from './jobs.js';
import { figure } from './plot.js';

const STATES = ['queued', 'compiling', 'running', 'done', 'failed', 'cancelled'];

export class JobList {
    /* on: {open(id), versus(id or null)} */
    constructor(on) {
        this.on = on;
        this.devices = h('p', { class: 'devices' });
        this.state = h(
            'select',
            { id: 'job-state', onchange: () => filterJobs({ state: this.state.value }) },
            h('option', { value: '' }, 'all'),
            STATES.map((state) => h('option', { value: state }, state)),
        );
        this.user = h(
            'select',
            { id: 'job-user', onchange: () => filterJobs({ user: this.user.value }) },
            h('option', { value: '' }, 'everybody’s'),
            h('option', { value: '@me' }, 'mine'),
        );
        this.problem = h('p', { class: 'problem', hidden: true });
        this.list = h('ul', { class: 'jobs', 'aria-label': 'Jobs' });
        this.older = h('button', { type: 'button', hidden: true, onclick: () => olderJobs() }, 'Older jobs');
        this.el = h(
            'div',
            { class: 'job-side' },
            this.devices,
            h(
                'div',
                { class: 'job-filter' },
                h('label', { class: 'choice' }, h('span', {}, 'State'), this.state),
                h('label', { class: 'choice' }, h('span', {}, 'Jobs'), this.user),
            ),
            this.problem,
            this.list,
            this.older,
        );
    }

    show({ board, devices, doc }) {
        this.state.value = board.filter.state;
        this.user.value = board.filter.user;
        this.problem.hidden = !board.problem;
        setText(this.problem, board.problem?.message ?? '');
        this.older.hidden = !board.next;
        const told = JSON.stringify(devices);
        if (told !== this.told) this.devices.replaceChildren(...deviceNodes(devices));
        this.told = told;
        const key = JSON.stringify([board, doc.job, doc.versus, Math.floor(Date.now() / 10000)]);
        if (key !== this.key) this.fill(board, doc);
        this.key = key;
    }

    fill({ jobs, next, filter }, doc) {
        const nothing =
            next === undefined
                ? 'Asking the daemon.'
                : Object.values(filter).some(Boolean)
                  ? 'No such jobs.'
                  : 'No jobs yet: send one from Copy or MMA.';
        const rows = jobs.length
            ? jobs.map((job) => this.row(job, doc))
            : [h('li', { class: 'hint' }, nothing)];
        replaceKeeping(this.list, ...rows);
    }

    row(job, doc) {
        const { id, state, kind, spec, result } = job;
        const beside = id === doc.versus;
        const compare = h(
            'button',
            {
                type: 'button',
                class: 'quiet beside',
                'data-key': `versus ${id}`,
                'aria-label': `Compare with job ${shortId(id)}`,
                'aria-pressed': String(beside),
                title: 'Compare with the job that is shown',
                disabled: !doc.job || id === doc.job,
                onclick: () => this.on.versus(beside ? null : id),
            },
            icon('compare'),
        );
        const open = h(
            'button',
            {
                type: 'button',
                class: 'job-row',
                'data-key': `open ${id}`,
                'aria-pressed': String(id === doc.job),
                onclick: () => this.on.open(id),
            },
            h(
                'span',
                { class: 'job-line' },
                h('span', { class: `state ${state}` }, state),
                h('span', { class: 'job-id' }, shortId(id)),
                outcome(result),
                h('span', { class: 'job-age' }, isFinal(job) ? `${age(secondsSince(job.finished))} ago` : ''),
            ),
            specLines(kind, spec ?? {}).map((words) => h('code', {}, words)),
        );
        return h('li', {}, open, compare);
    }
}

/* What tells one job from the next, in a line or two. */
function specLines(kind, { base, vary, list, type, atom, thr, val, atom_layout: atoms, problem }) {
    if (base) return [`sweep of ${list ? `${list.length} jobs` : Object.keys(vary ?? {}).join(', ')}`];
    const size = problem ? `${problem.m} × ${problem.n} × ${problem.k}` : null;
    if (kind === 'mma') return [atom, [atoms, size].filter(Boolean).join('  ')].filter(Boolean);
    return [type ? `${type}  ${atom ?? ''}` : kind, thr && `${thr}  ${val}`].filter(Boolean);
}

const secondsSince = (time) => Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));

function outcome(result) {
    if (result?.verified === undefined || result.verified === null) return null;
    const speed = result.gbps
        ? `${figure(result.gbps)} GB/s`
        : result.tflops
          ? `${figure(result.tflops)} TFLOP/s`
          : '';
    return h(
        'span',
        { class: result.verified ? 'outcome good' : 'outcome bad' },
        icon(result.verified ? 'check' : 'close'),
        h('span', { class: 'offscreen' }, result.verified ? 'verified' : 'wrong'),
        speed,
    );
}

/* jobsview.js: the jobs on the left, one of them on the right, or two side by side. */
import { byId, h } from './dom.js';
import { jobNodes, shortId } from './jobview.js';
import { refreshJobs, submit } from './jobs.js';
import { compareNodes } from './jobcompare.js';
import { JobList } from './joblist.js';
import { blank, step } from './state.js';

const NARROW =
    matchMedia('(max-width: 820px)'); /* as in the style sheet: there the job stands under the list */

function open(id) {
    step((s) => {
        s.doc.job = id;
        if (s.doc.versus === id) s.doc.versus = null;
    });
    if (NARROW.matches) byId('job').scrollIntoView();
}

const beside = (id) => step((s) => (s.doc.versus = id));

export class JobsView {
    constructor() {
        this.list = new JobList({ open, versus: beside });
        this.page = h('div', { class: 'job-page', role: 'status' });
        byId('side-jobs').append(this.list.el);
        byId('job').append(this.page);
    }

    show(s) {
        this.list.show(s);
        const { job: id, versus } = s.doc;
        const [one, other] = [s.seen.get(id), s.seen.get(versus)];
        const told = [id, versus, one, other];
        if (this.told && told.every((part, i) => part === this.told[i])) return;
        this.told = told;
        this.page.replaceChildren(...this.nodes(id, one, versus, other));
    }

    nodes(id, one, versus, other) {
        if (!id)
            return [h('p', { class: 'hint' }, 'Choose a job on the left; a second one can stand beside it.')];
        if (one?.problem && !one.job) return [h('p', { class: 'problem' }, one.problem.message)];
        if (!one?.job) return [h('p', { class: 'hint' }, 'Asking the daemon.')];
        if (!versus)
            return [
                actions(one.job),
                specNode(one.job),
                ...jobNodes(one.job, { whole: true }),
                timeline(one.events),
            ];
        const close = h('button', { type: 'button', onclick: () => beside(null) }, 'Close the comparison');
        const head = h('h2', {}, `Job ${shortId(id)} beside ${shortId(versus)}`);
        return [
            h('header', { class: 'job-actions' }, head, close),
            ...(other?.job
                ? compareNodes(one.job, other.job)
                : [h('p', { class: 'hint' }, other?.problem?.message ?? 'Asking the daemon.')]),
        ];
    }

    shareable({ doc, seen }) {
        const spec = seen.get(doc.job)?.job?.spec;
        return { doc, figures: [], cute: '', expr: '', integers: 'auto', spec };
    }
}

/* What can be done with a job that is there. */
function actions({ id, spec, kind }) {
    const button = (label, run) => h('button', { type: 'button', onclick: run }, label);
    const again = async () => {
        const { job } = await submit(spec, { fresh: true }).catch((problem) => ({ job: null, problem }));
        if (job?.id) open(job.id);
        refreshJobs();
    };
    const edit = () =>
        step((s) => {
            const known = Object.entries(spec).filter(([key]) => key in s.doc.copy);
            s.doc.copy = { ...blank().copy, ...Object.fromEntries(known) };
            s.doc.view = 'partition';
        });
    return h(
        'header',
        { class: 'job-actions' },
        h('h2', {}, `Job ${shortId(id)}`),
        kind === 'copy' ? button('Open in Partition', edit) : null,
        button('Run again', again),
    );
}

const ORDER = ['kind', 'type', 'atom', 'thr', 'val', 'src', 'dst', 'smem'];

/* What was asked for; what became of it stands further down. */
function specNode({ spec, links }) {
    const known = ORDER.filter((name) => name in (spec ?? {}));
    const names = [...known, ...Object.keys(spec ?? {}).filter((name) => !known.includes(name))];
    const value = (one) => (typeof one === 'object' ? JSON.stringify(one) : String(one));
    const sources = Object.entries(links ?? {}).filter(([name]) => name !== 'self' && name !== 'events');
    return h(
        'dl',
        { class: 'facts spec-facts' },
        names.map((name) => h('div', {}, h('dt', {}, name), h('dd', {}, value(spec[name])))),
        sources.map(([name, href]) => h('div', {}, h('dt', {}, ''), h('dd', {}, h('a', { href }, name)))),
    );
}

/* queued 0 ms, leased 2 ms, ...: what happened to it, and when. */
function timeline(events) {
    if (!events?.length) return h('ol', { class: 'timeline' });
    const start = Date.parse(events[0].at);
    return h(
        'ol',
        { class: 'timeline', 'aria-label': 'What happened' },
        events.map(({ at, type, data }) =>
            h(
                'li',
                {},
                h('b', {}, type),
                h('span', {}, `${Date.parse(at) - start} ms`),
                data?.worker ? h('small', {}, data.worker) : null,
            ),
        ),
    );
}

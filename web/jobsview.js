/* jobsview.js: the jobs on the left, one of them on the right, or two side by side. */
import { byId, h, replaceKeeping } from './dom.js';
import { partNode, partOf, partText, resultPart, tabNodes } from './jobtexts.js';
import { headNodes, jobNodes, productText, shortId } from './jobview.js';
import { refreshJobs, submit } from './jobs.js';
import { compareNodes } from './jobcompare.js';
import { JobList } from './joblist.js';
import { askJob } from './share.js';
import { step } from './state.js';
import { sweepNodes } from './sweepview.js';
import { FORMS, showSpec } from './tiled.js';

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
        const { part, sort, axis, arch } = s.doc;
        const shown = one?.job && partOf(one.job, part);
        const text = !shown || shown === 'result' ? '' : partText(one.job, shown, arch);
        const told = [id, versus, one, other, part, sort, axis, arch, text];
        if (this.told && told.every((part, i) => part === this.told[i])) return;
        this.told = told;
        replaceKeeping(this.page, ...this.nodes(s.doc, one, other));
    }

    nodes(doc, one, other) {
        const { job: id, versus } = doc;
        if (!id)
            return [h('p', { class: 'hint' }, 'Choose a job on the left; a second one can stand beside it.')];
        if (one?.problem && !one.job) return [h('p', { class: 'problem' }, one.problem.message)];
        if (!one?.job) return [h('p', { class: 'hint' }, 'Asking the daemon.')];
        if (!versus) return this.one(doc, one);
        const close = h('button', { type: 'button', onclick: () => beside(null) }, 'Close the comparison');
        const head = h('h2', {}, `Job ${shortId(id)} beside ${shortId(versus)}`);
        return [
            h('header', { class: 'job-actions' }, head, close),
            ...(other?.job
                ? compareNodes(one.job, other.job)
                : [h('p', { class: 'hint' }, other?.problem?.message ?? 'Asking the daemon.')]),
        ];
    }

    one(doc, { job, events }) {
        const part = partOf(job, doc.part);
        const result = () => [
            ...(job.kind === 'sweep' ? [...headNodes(job), ...sweepNodes(job, doc, open)] : jobNodes(job)),
            timeline(job.kind === 'sweep' ? events?.filter(({ type }) => type !== 'child') : events),
        ];
        return [
            actions(job),
            specNode(job),
            tabNodes(job, doc.part),
            part === 'result' ? resultPart(result()) : partNode(job, part, doc.arch),
        ];
    }

    shareable({ doc, seen }) {
        const spec = seen.get(doc.job)?.job?.spec;
        return { doc, figures: [], ask: askJob(spec) };
    }
}

/* What can be done with a job that is there. */
function actions({ id, spec, kind, parent, result }) {
    const button = (label, run) => h('button', { type: 'button', 'data-key': label, onclick: run }, label);
    const again = async () => {
        const { job } = await submit(spec, { fresh: true }).catch((problem) => ({ job: null, problem }));
        if (job?.id) open(job.id);
        refreshJobs();
    };
    const edit = () => showSpec(kind, formFields(spec), result?.mismatch?.thread);
    return h(
        'header',
        { class: 'job-actions' },
        h('h2', {}, `Job ${shortId(id)}`),
        parent ? button('Its sweep', () => open(parent)) : null,
        kind in FORMS ? button(`Open in ${FORMS[kind]}`, edit) : null,
        button('Run again', again),
    );
}

/* A spec as the forms have it: in them a problem is one text. */
function formFields(spec) {
    const { m, n, k } = spec.problem ?? {};
    return { ...spec, problem: m === undefined ? '' : `(${m},${n},${k})` };
}

const ORDER = ['kind', 'type', 'atom', 'thr', 'val', 'src', 'dst', 'smem'];

/* What was asked for; what became of it stands further down. Of a sweep, its base, and how many values there are. */
function specNode({ spec = {} }) {
    const { base, vary, list, ...own } = spec;
    const varied = Object.entries(vary ?? {}).map(([name, values]) => [name, `${values.length} values`]);
    const all = {
        ...base,
        ...own,
        ...Object.fromEntries(varied),
        ...(list ? { list: `${list.length} jobs` } : {}),
    };
    const known = ORDER.filter((name) => name in all);
    const names = [...known, ...Object.keys(all).filter((name) => !known.includes(name))];
    const value = (one) =>
        typeof one === 'object' ? (productText(one) ?? JSON.stringify(one)) : String(one);
    return h(
        'dl',
        { class: 'facts spec-facts' },
        names.map((name) => h('div', {}, h('dt', {}, name), h('dd', {}, value(all[name])))),
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

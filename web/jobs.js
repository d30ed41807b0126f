/* jobs.js: what was sent to the cards: submitted, followed to its last word, listed, cancelled.
 *
 * state.job    the partition that was sent last from this page: what GET /jobs/ID gives, with `sent`, the spec;
 *              or {sent, state: 'refused', problem}
 * state.board  {jobs, next, filter: {state, user}, problem}: the list, the newest first; user "@me": who asks
 * state.seen   id -> {job, events, problem}: the jobs that are looked at, doc.job and doc.versus */
import { events, get, isAbort, request } from './api.js';
import { change, state } from './state.js';

/* Without a stream of events: an answer as soon as the job ends, and its state every second until then. */
const WAIT = { Prefer: 'wait=1' };
const LEAST_MS = 250; /* between two questions, should it answer without waiting */
const FINAL = new Set(['done', 'failed', 'cancelled', 'refused']);

export const isFinal = (job) => FINAL.has(job?.state);
const pathOf = (id) => `/jobs/${encodeURIComponent(id)}`;

/* ---- one job ------------------------------------------------------------------------------------------- */

/* The job as it is now, and again whenever something may have happened to it. A stream that breaks off, or that
 * this daemon does not have, is no loss: then it is asked for. */
async function* changes(path, signal) {
    yield await get(path, { signal });
    for await (const event of events(`${path}/events`, { signal }))
        if (event) yield await get(path, { signal });
    for (;;) {
        const asked = performance.now();
        yield await get(path, { headers: WAIT, signal });
        await rest(asked + LEAST_MS - performance.now());
    }
}

const rest = (ms) => new Promise((done) => setTimeout(done, Math.max(0, ms)));

async function follow(path, signal, show) {
    for await (const job of changes(path, signal)) {
        show(job);
        if (isFinal(job)) return;
    }
}

/* Send a spec; gives {path, job}. */
export async function submit(spec, { fresh = false, signal } = {}) {
    const body = fresh ? { ...spec, fresh } : spec;
    const answer = await request('/jobs', { body, headers: WAIT, signal });
    return { path: answer.headers.get('Location') ?? pathOf(answer.body.id), job: answer.body };
}

let watching = null;

export async function runJob(spec, options) {
    watching?.abort();
    const controller = (watching = new AbortController());
    const { signal } = controller;
    const show = (job) =>
        watching === controller &&
        change((s) => {
            s.job = { sent: spec, ...job };
        });
    show({ state: 'sending' });
    try {
        const { path, job } = await submit(spec, { ...options, signal });
        show(job);
        if (!isFinal(job)) await follow(path, signal, show);
    } catch (problem) {
        if (!isAbort(problem)) show({ ...state.job, state: 'refused', problem });
    }
    if (watching === controller) watching = null;
}

/* It may have ended in the meantime. */
export const cancelJob = (id) => request(pathOf(id), { method: 'DELETE' }).catch(() => null);

/* ---- the jobs that are looked at ----------------------------------------------------------------------- */

const followed = new Map();

/* Keep state.seen in step with the document: what is shown is followed, what is not is let go. */
export function syncSeen({ doc, seen }) {
    const wanted = doc.view === 'jobs' ? [doc.job, doc.versus].filter(Boolean) : [];
    for (const [id, controller] of followed)
        if (!wanted.includes(id)) {
            controller.abort();
            followed.delete(id);
        }
    for (const id of wanted) if (!followed.has(id)) look(id, seen);
}

async function look(id, seen) {
    const controller = new AbortController();
    const { signal } = controller;
    followed.set(id, controller);
    const put = (edit) => change(() => seen.set(id, { ...seen.get(id), ...edit }));
    try {
        let told = '';
        await follow(pathOf(id), signal, async (job) => {
            const text = JSON.stringify(job, (key, value) =>
                typeof value === 'bigint' ? String(value) : value,
            );
            if (text === told) return; /* so that what is looked at, and pressed, stays */
            told = text;
            put({ job, problem: null });
            const log = await get(`${pathOf(id)}/events`, { signal }).catch(() => null);
            if (log?.events) put({ events: log.events });
        });
    } catch (problem) {
        if (!isAbort(problem)) put({ problem });
    }
}

/* ---- the list, and who runs it ------------------------------------------------------------------------- */

const DEVICES_MS = 5000;
const LIST_MS = 2000;

/* Newer ones in front, known ones as they are now, older ones stay. */
const merge = (fresh, known) => {
    const ids = new Set(fresh.map(({ id }) => id));
    return [...fresh, ...known.filter(({ id }) => !ids.has(id))];
};

export async function refreshJobs() {
    const { filter } = state.board;
    const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
    const answer = await get(`/jobs${query && `?${query}`}`).catch((problem) => ({ problem }));
    change(({ board }) => {
        if (board.filter !== filter) return;
        board.problem = answer.problem ?? null;
        if (answer.problem) return;
        /* of one state the known ones may have left it */
        board.jobs = merge(answer.jobs, filter.state ? [] : board.jobs);
        if (board.next === undefined || filter.state) board.next = answer.next ?? null;
    });
}

export async function olderJobs() {
    const { filter, next } = state.board;
    const answer = await get(next).catch((problem) => ({ problem }));
    change(({ board }) => {
        if (board.filter !== filter) return;
        board.problem = answer.problem ?? null;
        if (answer.problem) return;
        board.jobs = merge(board.jobs, answer.jobs);
        board.next = answer.next ?? null;
    });
}

/* part: {state} or {user}; '' for all */
export function filterJobs(part) {
    change((s) => {
        s.board = { jobs: [], next: undefined, filter: { ...s.board.filter, ...part }, problem: null };
    });
    refreshJobs();
}

async function refreshDevices() {
    const answer = await get('/devices').catch((problem) => ({ problem }));
    change((s) => {
        s.devices = answer;
    });
}

/* Ask while somebody looks; the returned function asks at once. */
export function watchDaemon() {
    const every = (ms, views, ask) => {
        const soon = () => !document.hidden && views.includes(state.doc.view) && ask();
        setInterval(soon, ms);
        return soon;
    };
    const asks = [
        every(DEVICES_MS, ['copy', 'mma', 'jobs'], refreshDevices),
        every(LIST_MS, ['jobs'], refreshJobs),
    ];
    return () => asks.forEach((ask) => ask());
}

/* jobs.js: the partition that was sent to the card, from the first 202 to its last word.
 *
 * state.job = what GET /jobs/ID gives, with `sent`, the spec; or {sent, state: 'refused', problem}. */
import { get, isAbort, request } from './api.js';
import { change, state } from './state.js';

const WAIT = {
    Prefer: 'wait=1',
}; /* an answer as soon as the job ends, and its state every second until then */
const FINAL = new Set(['done', 'failed', 'cancelled', 'refused']);

export const isFinal = (job) => FINAL.has(job?.state);

let watching = null;

export async function runJob(spec, { fresh = false } = {}) {
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
        const first = await request('/jobs', {
            body: fresh ? { ...spec, fresh } : spec,
            headers: WAIT,
            signal,
        });
        const path = first.headers.get('Location') ?? `/jobs/${first.body.id}`;
        let job = first.body;
        for (show(job); !isFinal(job); show(job)) job = await get(path, { headers: WAIT, signal });
    } catch (problem) {
        if (!isAbort(problem)) show({ ...state.job, state: 'refused', problem });
    }
    if (watching === controller) watching = null;
}

export async function cancelJob() {
    const { id } = state.job ?? {};
    if (id)
        await request(`/jobs/${id}`, { method: 'DELETE' }).catch(() => null); /* it ended in the meantime */
}

/* ---- who would run it ---------------------------------------------------------------------------------- */

const REFRESH_MS = 5000;

export function watchDevices() {
    const ask = async () => {
        if (document.hidden || state.doc.view !== 'partition') return;
        const answer = await get('/devices').catch((problem) => ({ problem }));
        change((s) => {
            s.devices = answer;
        });
    };
    setInterval(ask, REFRESH_MS);
    return ask;
}

/* evaluate.js: keeps state.panes in step with state.doc.panes. Each change of a text is sent a moment after
 * the last key; an answer to an older text is dropped. While a text is refused, the last good picture stays,
 * pale.
 *
 * state.panes[i] = {key, busy, answer, problem, picture, note, stale} */
import { isAbort, post, tableOf } from './api.js';
import { Picture } from './picture.js';
import { change, state } from './state.js';

const DEBOUNCE_MS = 80;
const PATIENCE_MS = 350; /* a text that is being typed is wrong most of the time: say so only after a pause */

const timers = [];
const requests = [];

export function syncPanes(now) {
    const { panes, integers } = now.doc;
    now.panes.length = panes.length;
    panes.forEach(({ expr }, i) => {
        const key = `${integers} ${expr}`;
        if (now.panes[i]?.key === key) return;
        const first = !now.panes[i];
        now.panes[i] = { ...now.panes[i], key, busy: true };
        clearTimeout(timers[i]);
        requests[i]?.abort();
        timers[i] = setTimeout(() => evaluate(i, key, expr, integers), first ? 0 : DEBOUNCE_MS);
    });
    panes.forEach((pane, i) => syncPick(now.panes[i], pane.pick));
}

async function evaluate(i, key, expr, integers) {
    const controller = new AbortController();
    requests[i] = controller;
    const settle = (edit) =>
        change(() => {
            const pane = state.panes[i];
            if (pane?.key === key) Object.assign(pane, { busy: false }, edit);
        });
    try {
        const answer = expr.trim()
            ? await post('/eval', { expr, integers }, { signal: controller.signal })
            : null;
        settle({ answer, problem: null, stale: false, picked: undefined, ...(await drawing(answer)) });
    } catch (problem) {
        if (isAbort(problem)) return;
        timers[i] = setTimeout(() => settle({ problem, stale: true }), PATIENCE_MS);
    }
}

/* ---- named values -------------------------------------------------------------------------------------- */

/* The values that a pane can show besides its result: [{id, label, value}]. */
export function namedValues(answer) {
    return [
        ...Object.entries(answer?.names ?? {}).map(([name, value]) => ({ id: name, label: name, value })),
        ...(answer?.prints ?? []).map((value, i) => ({
            id: `print:${i}`,
            label: value.expr,
            value,
            print: true,
        })),
    ];
}

export const drawable = (value) => value?.type === 'layout' || value?.type === 'composed';

const withArticle = (type) => `${/^[aeiou]/.test(type) ? 'An' : 'A'} ${type.replaceAll('_', ' ')}`;
const hint = (value) =>
    namedValues(value).some((named) => drawable(named.value)) ? '; pick a layout among the names' : '';
const pictures = new WeakMap();

/* {picture, note} of a value: `note` says why nothing is drawn. */
export async function drawing(value) {
    if (!value) return { picture: null, note: 'Type an expression.' };
    if (!drawable(value))
        return { picture: null, note: `${withArticle(value.type)} has no picture${hint(value)}.` };
    try {
        const table = await tableOf(value.cute);
        if (!pictures.has(table)) pictures.set(table, new Picture(value, table));
        return { picture: pictures.get(table), note: null };
    } catch (problem) {
        return { picture: null, note: problem.message };
    }
}

function syncPick(pane, pick) {
    if (!pane?.answer || pane.busy) return;
    const chosen = pick === null ? null : namedValues(pane.answer).find(({ id }) => id === pick);
    const value = drawable(chosen?.value) ? chosen.value : null;
    if (pane.picked && pane.picked.cute === value?.cute) return;
    const picked = (pane.picked = { cute: value?.cute, picture: null, note: null });
    if (value) drawing(value).then((drawn) => change(() => Object.assign(picked, drawn)));
}

/* What a pane shows: {picture, note}. */
export function shownOf(pane) {
    const { picture = null, note = null } = (pane?.picked?.cute ? pane.picked : pane) ?? {};
    return { picture, note };
}

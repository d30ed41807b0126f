/* evaluate.js: keeps state.panes in step with state.doc.panes. A change of a text after a rest is sent at once,
 * while somebody types a moment after the last key; an answer to an older text is dropped. While a text is
 * refused, the last good picture stays, pale.
 *
 * state.panes[i] = {key, busy, answer, problem, picture, note, stale} */
import { isAbort, post, tableOf, valueOf } from './api.js';
import { arrangedProgram, arrangementOf } from './modes.js';
import { Picture } from './picture.js';
import { change, state } from './state.js';

const DEBOUNCE_MS = 80;
const REST_MS = 300; /* longer than between the keys of somebody who types */
const PATIENCE_MS = 350; /* a text that is being typed is wrong most of the time: say so only after a pause */

let changed = 0; /* when a text was changed last */
const timers = [];
const requests = [];

export function syncPanes(now) {
    const { panes, integers, trace } = now.doc;
    now.panes.length = panes.length;
    panes.forEach(({ expr }, i) => {
        const traced = trace === i;
        const key = `${integers} ${traced} ${expr}`;
        if (now.panes[i]?.key === key) return;
        const rested = performance.now() - changed > REST_MS;
        const wait = rested || !now.panes[i] ? 0 : DEBOUNCE_MS;
        const question = { expr, integers, checks: true, trace: traced };
        changed = performance.now();
        now.panes[i] = { ...now.panes[i], key, busy: true };
        clearTimeout(timers[i]);
        requests[i]?.abort();
        timers[i] = setTimeout(() => evaluate(i, key, question), wait);
    });
    panes.forEach(({ pick, modes }, i) => {
        syncPick(now.panes[i], pick);
        syncModes(now.panes[i], modes);
    });
}

async function evaluate(i, key, question) {
    const controller = new AbortController();
    requests[i] = controller;
    const settle = (edit) =>
        change(() => {
            const pane = state.panes[i];
            if (pane?.key === key) Object.assign(pane, { busy: false }, edit);
        });
    try {
        const answer = question.expr.trim()
            ? await post('/eval', question, { signal: controller.signal })
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

/* The values of a derivation, likewise; of an operand only CuTe's spelling is known. */
export const resultId = (step) => `step:${step}`;
export const operandId = (step, operand) => `step:${step}.${operand}`;

const tracedValues = (answer) =>
    (answer?.trace ?? []).flatMap(({ operands, result }, i) => [
        { id: resultId(i), value: result },
        ...operands.map((value, k) => ({ id: operandId(i, k), value })),
    ]);

/* Whether a text is that of a layout: a colon outside of all brackets. */
export function spellsLayout(cute) {
    let depth = 0;
    for (const char of cute.split(' o ').at(-1)) {
        if (char === '(' || char === '<') depth++;
        if (char === ')' || char === '>') depth--;
        if (char === ':' && depth === 0) return true;
    }
    return false;
}

export const drawable = (value) =>
    value?.type === 'layout' ||
    value?.type === 'composed' ||
    Boolean(value && !value.type && spellsLayout(value.cute));

const withArticle = (type) => `${/^[aeiou]/.test(type) ? 'An' : 'A'} ${type.replaceAll('_', ' ')}`;
const ELSEWHERE = {
    tiled_mma: '; MMA shows who holds what of A, B and C',
    tiled_copy: '; Copy shows who holds what of the tile of its threads and values',
};
const hint = (value) =>
    namedValues(value).some((named) => drawable(named.value))
        ? '; pick a layout among the names'
        : (ELSEWHERE[value.type] ?? '');
const pictures = new WeakMap();

/* {picture, note} of a value: `note` says why nothing is drawn. */
export async function drawing(value) {
    if (!value) return { picture: null, note: 'Type an expression.' };
    if (!drawable(value))
        return { picture: null, note: `${withArticle(value.type)} has no picture${hint(value)}.` };
    try {
        const [table, whole] = await Promise.all([
            tableOf(value.cute),
            value.type ? value : valueOf(value.cute),
        ]);
        if (!pictures.has(table)) pictures.set(table, new Picture(whole, table));
        return { picture: pictures.get(table), note: null };
    } catch (problem) {
        return { picture: null, note: problem.message };
    }
}

function syncPick(pane, pick) {
    if (!pane?.answer || pane.busy) return;
    const { answer } = pane;
    const chosen =
        pick === null
            ? null
            : [...namedValues(answer), ...tracedValues(answer)].find(({ id }) => id === pick);
    const value = drawable(chosen?.value) ? chosen.value : null;
    if (pane.picked && pane.picked.cute === value?.cute) return;
    const picked = (pane.picked = { cute: value?.cute, picture: null, note: null });
    if (value) drawing(value).then((drawn) => change(() => Object.assign(picked, drawn)));
}

/* The picture of a pane's value as it comes, mode 0 down and the others across. */
const plainOf = (pane) => (pane?.picked?.cute ? pane.picked : pane) ?? {};

/* pane.arranged = {plain, key, picture}: the same with other modes down and across. */
function syncModes(pane, text) {
    const plain = plainOf(pane).picture;
    const arrangement = plain ? arrangementOf(text, plain.shape) : null;
    if (!arrangement) {
        if (plain) pane.arranged = null;
        return;
    }
    const { arranged } = pane;
    if (arranged?.plain === plain && arranged.key === arrangement.key) return;
    pane.arranged = { plain, key: arrangement.key, picture: arranged?.picture ?? null };
    const mine = pane.arranged;
    const program = arrangedProgram(plain.cute, arrangement);
    if (program)
        tableOf(program).then(
            (table) => change(() => (mine.picture = new Picture(plain, table, arrangement))),
            () => null /* what cannot be arranged stays as it comes */,
        );
}

/* What a pane shows: {picture, note}. */
export function shownOf(pane) {
    const { picture = null, note = null } = plainOf(pane);
    return { picture: (picture && pane.arranged?.picture) || picture, note };
}

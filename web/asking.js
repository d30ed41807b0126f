/* asking.js: a question that changes as one types: asked when typing pauses, and of the answers only the last one's.
 *
 * state[slot]   {key, answer fields ..., problem, stale}: stale while an answer of an earlier question is shown
 * `answerOf(question, signal)` gives the fields, or null where there is nothing to show. */
import { isAbort } from './api.js';
import { change } from './state.js';

const DEBOUNCE_MS = 80;

export function asking(slot, answerOf) {
    let timer = 0;
    let controller = null;
    const put = (key, edit) =>
        change((s) => {
            if (s[slot]?.key === key) Object.assign(s[slot], { problem: null, stale: false }, edit);
        });
    const ask = async (key, question) => {
        controller = new AbortController();
        try {
            const fields = await answerOf(question, controller.signal);
            if (fields) put(key, fields);
        } catch (problem) {
            if (!isAbort(problem)) put(key, { problem, stale: true });
        }
    };
    return (now, question) => {
        const key = JSON.stringify(question);
        if (now[slot]?.key === key) return;
        const wait = now[slot] ? DEBOUNCE_MS : 0;
        now[slot] = { ...now[slot], key, stale: Boolean(now[slot]?.answer) };
        clearTimeout(timer);
        controller?.abort();
        timer = setTimeout(() => ask(key, question), wait);
    };
}

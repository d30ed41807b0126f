/* recent.js: the programs that were looked at for a while, the newest first, kept in this browser. */
import { state } from './state.js';

const KEY = 'layoutd-recent';
const KEPT = 12;
const LOOKED_MS = 1500; /* a text that stood for so long, and was accepted, was meant */

const text = (expressions) => expressions.join('\0');
let list = read();
let timer = 0;
let seen = '';

function read() {
    try {
        const kept = JSON.parse(localStorage.getItem(KEY)) ?? [];
        return kept.filter((one) => Array.isArray(one) && one.every((expr) => typeof expr === 'string'));
    } catch {
        return []; /* another hand, or a browser that keeps nothing */
    }
}

/* [[expression, ...]]; the same list as long as it is the same. */
export const recent = () => list;

/* After a render: begin to wait when what is shown is another program than before. */
export function watchRecent({ doc, panes }) {
    const expressions = doc.panes.map(({ expr }) => expr);
    const good = panes.every(({ busy, problem, answer }) => !busy && !problem && answer);
    const now = good ? text(expressions) : '';
    if (now === seen) return;
    seen = now;
    clearTimeout(timer);
    if (now) timer = setTimeout(() => remember(expressions), LOOKED_MS);
}

function remember(expressions) {
    if (text(state.doc.panes.map(({ expr }) => expr)) !== text(expressions)) return;
    list = [expressions, ...list.filter((one) => text(one) !== text(expressions))].slice(0, KEPT);
    try {
        localStorage.setItem(KEY, JSON.stringify(list));
    } catch {
        /* then it is kept until the page is closed */
    }
}

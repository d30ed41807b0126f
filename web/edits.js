/* edits.js: what a click does to the expressions of the document. */
import { pictureOf } from './cursor.js';
import { blank, MAX_PANES, paneOf, state, step } from './state.js';
import { wrapLast } from './text.js';

export function showExpressions(s, panes) {
    s.doc.panes = panes;
    s.doc.view = 'layout';
    s.doc.at = null;
    s.cursor = null;
}

/* An example is a piece of a document; what it leaves out is as at first. */
export function showExample(s, example) {
    const first = blank();
    const pick = (i) => (i ? null : (example.pick ?? null));
    showExpressions(
        s,
        example.e.map((expr, i) => paneOf(expr, pick(i))),
    );
    for (const key of ['labels', 'colors', 'link', 'n', 'at', 'integers'])
        s.doc[key] = example[key] ?? first[key];
}

export function addPane(expr = state.doc.panes.at(-1).expr) {
    step((s) => s.doc.panes.length < MAX_PANES && s.doc.panes.push(paneOf(expr)));
}

export function removePane(i) {
    step((s) => {
        s.doc.panes.splice(i, 1);
        s.panes.splice(i, 1);
        s.cursor = null;
        const { trace } = s.doc;
        if (trace !== null && trace >= i) s.doc.trace = trace === i ? null : trace - 1;
    });
}

/* A swizzled layout, and beside it what it was: the inner layout, with the banks that both meet. */
export function showBefore(i) {
    step((s) => {
        if (s.doc.panes.length >= MAX_PANES) return;
        const { expr, pick, modes } = s.doc.panes[i];
        const before = (pick === null && wrapLast(expr, 'layout_b')) || `layout_b(${pictureOf(s, i).cute})`;
        s.doc.panes.splice(i, 0, { ...paneOf(before), modes });
        s.panes.splice(i, 0, undefined);
        Object.assign(s.doc, { colors: 'bank', link: 'coord' });
        if (s.doc.trace !== null && s.doc.trace >= i) s.doc.trace++;
        s.cursor = null;
    });
}

/* The layout of a pane as the memory that a warp accesses. */
export function showAccess(i) {
    step((s) => {
        const { expr, pick } = s.doc.panes[i];
        s.doc.access.layout = pick === null && !expr.includes('\n') ? expr.trim() : pictureOf(s, i).cute;
        s.doc.view = 'access';
        s.cursor = null;
    });
}

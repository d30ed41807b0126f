/* layoutview.js: expressions on the left, a picture of each on the right, and the derivation of one. */
import { Axes } from './axes.js';
import { cellOf, indexOfPin, linkedCursor, pictureOf } from './cursor.js';
import { byId, h, icon, setText } from './dom.js';
import { addPane, removePane, showAccess, showBefore } from './edits.js';
import { shownOf } from './evaluate.js';
import { Figure } from './figure.js';
import { differing } from './link.js';
import { memo } from './memo.js';
import { LETTERS, modeNodes, Pane } from './pane.js';
import { askEval } from './share.js';
import { change, MAX_PANES, step } from './state.js';
import { TracePanel } from './trace.js';

const WIDE = 2.5; /* columns a row */

function pick(s, i, id) {
    s.doc.panes[i].pick = id;
    s.cursor = null;
}

export class LayoutView {
    constructor() {
        this.panes = [];
        this.figures = [];
        this.trace = new TracePanel({
            pick: (id) => change((s) => pick(s, s.doc.trace, id)),
            pane: (i) => change((s) => (s.doc.trace = i)),
            close: () => change((s) => (s.doc.trace = null)),
        });
        this.lookOf = memo((labels, colors, n, bytes) => ({ labels, colors, n, bytes }));
        this.integers = byId('integers');
        this.integers.addEventListener('change', () => change((s) => (s.doc.integers = this.integers.value)));
        byId('trace').append(this.trace.el);
        byId('add').prepend(icon('compare'));
        byId('add').addEventListener('click', () => addPane());
    }

    newPane(i) {
        return new Pane(i, {
            input: (text) => change((s) => (s.doc.panes[i].expr = text)),
            pick: (id) => change((s) => pick(s, i, id)),
            remove: () => removePane(i),
            show: (index) => change((s) => this.showCell(s, i, index)),
            compare: (expr) => addPane(expr),
            integers: (how) => step((s) => (s.doc.integers = how)),
        });
    }

    newFigure(i) {
        const modes = (text) =>
            change((s) => {
                s.doc.panes[i].modes = text;
                s.cursor = null;
            });
        const on = { ...linkedCursor(i), before: () => showBefore(i), access: () => showAccess(i) };
        const figure = new Figure(`Picture ${LETTERS[i]}`, on, { axes: new Axes({ modes }) });
        figure.titleOf = memo((picture, many, picked) => [
            ...(many ? [h('span', { class: 'chip' }, LETTERS[i])] : []),
            ...(picture
                ? [
                      h('span', { class: 'figure-text' }, ...modeNodes(picture, picture.text, picture)),
                      h('span', { class: 'dims' }, `${picture.rows} × ${picture.cols}`),
                      picked ? h('span', { class: 'picked' }, pickedName(picked)) : '',
                  ]
                : []),
        ]);
        figure.differ = memo((from, to, how) =>
            from && to && from !== to ? differing(from, to, how) : null,
        );
        return figure;
    }

    /* Pin a cell of a pane's result and bring it on the screen. */
    showCell(s, i, index) {
        pick(s, i, null);
        const picture = pictureOf(s, i);
        const cell = picture && index < picture.total ? picture.cellOfIndex(index) : null;
        if (!cell) return;
        s.doc.at = indexOfPin(s, i, cell);
        s.cursor = { figure: i, ...cell, by: 'pin' };
        this.figures[i].grid.reveal(cell);
    }

    show(s) {
        const { doc } = s;
        const many = doc.panes.length > 1;
        fitCount(this.panes, doc.panes.length, (i) => this.newPane(i), byId('panes'));
        fitCount(this.figures, doc.panes.length, (i) => this.newFigure(i), byId('figures'));
        const look = this.lookOf(doc.labels, doc.colors, doc.n, doc.bytes);
        doc.panes.forEach((pane, i) => {
            const { expr: text, pick: picked } = pane;
            this.panes[i].show({ text, pick: picked, pane: s.panes[i], ops: s.ops, many, dark: s.dark });
            this.showFigure(s, i, look, many);
        });
        const stacked = doc.panes.length === 2 && doc.panes.every((_, i) => isWide(pictureOf(s, i)));
        byId('figures').classList.toggle('stacked', stacked);
        byId('add').disabled = doc.panes.length >= MAX_PANES;
        this.integers.value = doc.integers;
        setText(this.integers.options[0], readAs(s));
        this.showTrace(s);
    }

    showFigure(s, i, look, many) {
        const figure = this.figures[i];
        const { picture, note } = shownOf(s.panes[i]);
        const { doc, dark } = s;
        figure.axes.show(picture, doc.panes[i].modes);
        figure.show({
            picture,
            note: note ?? (s.panes[i]?.problem ? 'Nothing is drawn: the expression is refused.' : null),
            look,
            dark,
            table: doc.table,
            cursor: stable(figure, cellOf(s, i)),
            stale: s.panes[i]?.stale,
            alone: !many,
            title: figure.titleOf(picture, many, doc.panes[i].pick),
            differ: figure.differ(i ? pictureOf(s, 0) : null, picture, doc.link),
        });
    }

    showTrace({ doc, panes, dark }) {
        const at = doc.trace;
        byId('trace').hidden = at === null;
        if (at === null) return;
        const letters = LETTERS.slice(0, doc.panes.length);
        this.trace.show({ answer: panes[at]?.answer, pick: doc.panes[at].pick, dark, letters, at });
    }

    /* The figure under the cursor, and its picked value when there is one. */
    shareable(s) {
        const i = Math.min(Number.isInteger(s.cursor?.figure) ? s.cursor.figure : 0, this.figures.length - 1);
        const { picture } = shownOf(s.panes[i]);
        const picked = s.doc.panes[i].pick !== null && picture;
        return {
            doc: s.doc,
            figures: this.figures.map(({ grid }, k) => ({
                grid,
                name: nameOf(pictureOf(s, k), k, this.figures),
            })),
            layout: { stacked: byId('figures').classList.contains('stacked') },
            modes: s.doc.panes[i].modes,
            cute: picture?.cute ?? s.panes[i]?.answer?.cute ?? '',
            ask: picked ? askEval(picture.cute, 'cute') : askEval(s.doc.panes[i].expr, s.doc.integers),
        };
    }
}

/* "step:2.0" is a value of the third step of the derivation, "print:0" what the first print shows. */
function pickedName(id) {
    const [, kind, n] = /^(step|print):(\d+)/.exec(id) ?? [];
    return kind ? `${kind} ${Number(n) + 1}` : id;
}

const nameOf = (picture, k, { length }) => `${length > 1 ? `${LETTERS[k]} ` : ''}${picture?.text ?? ''}`;

function fitCount(list, n, make, host) {
    while (list.length < n) host.append(list[list.push(make(list.length)) - 1].el);
    while (list.length > n) list.pop().el.remove();
}

/* Two wide pictures are larger one above the other. */
const isWide = (picture) => !picture || picture.cols > WIDE * picture.rows;

/* A linked cell is made anew in every render; as long as it is the same place it is the same object. */
function stable(figure, cell) {
    const last = figure.lastCell;
    if (!(last && cell && last.row === cell.row && last.col === cell.col && last.by === cell.by))
        figure.lastCell = cell;
    return figure.lastCell;
}

/* What "auto" came to, in the words of the select itself. */
function readAs({ panes, doc }) {
    const used = new Set(panes.map((pane) => pane?.answer?.integers).filter(Boolean));
    return used.size && doc.integers === 'auto' ? `auto: read as ${[...used].join(', ')}` : 'auto';
}

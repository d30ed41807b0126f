/* main.js: puts the views on the page. Everything that is shown follows from the one state of state.js. */
import { byId, h, icon, setText } from './dom.js';
import { shownOf, syncPanes } from './evaluate.js';
import { Figure } from './figure.js';
import { Guide } from './guide.js';
import { watchDevices } from './jobs.js';
import { differing, linkedCell } from './link.js';
import { loadOps, Reference } from './ops.js';
import { LETTERS, modeNodes, Pane } from './pane.js';
import { ownedByThread, PartitionPanel, specOf, syncTile, tileWords } from './partition.js';
import { ShareMenu } from './share.js';
import { blank, change, MAX_PANES, onRender, startHistory, state, step } from './state.js';
import { startTheme } from './theme_switch.js';
import { Toolbar } from './toolbar.js';

const panes = [];
const figures = [];
const toolbar = new Toolbar();
const partition = new PartitionPanel();
const tile = new Figure('Tile of the partition', cursorOf('tile'), {
    kin: ownedByThread,
    words: tileWords,
    memory: false,
});
const reference = new Reference((example) => step((s) => show(s, [{ expr: example, pick: null }])));
const guide = new Guide((example) => step((s) => open(s, example)));
const share = new ShareMenu(() => shareable());
const integers = byId('integers');

/* ---- edits of the document ----------------------------------------------------------------------------- */

function show(s, list) {
    s.doc.panes = list;
    s.doc.view = 'layout';
    s.doc.at = null;
    s.cursor = null;
}

/* An example is a piece of a document; what it leaves out is as at first. */
function open(s, example) {
    const first = blank();
    show(
        s,
        example.e.map((expr, i) => ({ expr, pick: i ? null : (example.pick ?? null) })),
    );
    for (const key of ['labels', 'colors', 'link', 'n', 'at', 'integers'])
        s.doc[key] = example[key] ?? first[key];
}

function addPane() {
    step((s) => s.doc.panes.push({ expr: s.doc.panes.at(-1).expr, pick: null }));
}

/* A cursor belongs to a figure; a pinned cell belongs to the document, as an index of its first figure. */
function cursorOf(figure) {
    return {
        cursor: (cell) =>
            change((s) => {
                if (cell) s.cursor = { figure, ...cell };
                else if (s.cursor?.figure === figure && s.cursor.by === 'pointer') s.cursor = null;
            }),
        pin: (cell) =>
            change((s) => {
                const index = cell && figure !== 'tile' ? pinIndex(s, figure, cell) : null;
                s.doc.at = index === s.doc.at ? null : index;
                s.cursor = cell && { figure, ...cell, by: s.cursor?.by ?? 'pointer' };
            }),
    };
}

function pinIndex(s, figure, cell) {
    const [first, own] = [pictureOf(s, 0), pictureOf(s, figure)];
    const there = figure === 0 ? cell : first && linkedCell(own, cell, first, s.doc.link);
    return there && first ? first.indexAt(there.row, there.col) : s.doc.at;
}

/* ---- render -------------------------------------------------------------------------------------------- */

const pictureOf = (s, i) => shownOf(s.panes[i]).picture;

/* The cell that a figure lights: its own, the one linked to another figure's, or the pinned one. */
function cellOf(s, i) {
    const picture = pictureOf(s, i);
    if (!picture) return null;
    const from = s.cursor && s.cursor.figure !== 'tile' ? s.cursor : pinned(s);
    if (!from) return null;
    if (from.figure === i) return picture.has(from.row, from.col) ? from : null;
    const source = pictureOf(s, from.figure);
    return source?.has(from.row, from.col) ? linkedCell(source, from, picture, s.doc.link) : null;
}

let lastPin = null;

function pinned(s) {
    const picture = pictureOf(s, 0);
    if (s.doc.at === null || !picture || s.doc.at >= picture.size) return null;
    if (lastPin?.at !== s.doc.at || lastPin.picture !== picture)
        lastPin = { at: s.doc.at, picture, cell: { figure: 0, ...picture.cellOfIndex(s.doc.at), by: 'pin' } };
    return lastPin.cell;
}

/* Views compare by identity, so what is made from the state is made once a state. */
function memo(make) {
    let args = [];
    let made;
    return (...next) => {
        if (next.length !== args.length || next.some((arg, i) => arg !== args[i])) made = make(...next);
        args = next;
        return made;
    };
}

const lookOf = memo((labels, colors, n, bytes) => ({ labels, colors, n, bytes }));
const tileLook = memo((labels, colors, n, bytes) => ({ labels, colors, n, bytes }));

function fitCount(list, n, make, host) {
    while (list.length < n) host.append(list[list.push(make(list.length)) - 1].el);
    while (list.length > n) list.pop().el.remove();
}

const newPane = (i) =>
    new Pane(i, {
        input: (text) =>
            change((s) => {
                s.doc.panes[i].expr = text;
            }),
        pick: (id) =>
            change((s) => {
                s.doc.panes[i].pick = id;
                s.cursor = null;
            }),
        remove: () =>
            step((s) => {
                s.doc.panes.splice(i, 1);
                s.panes.splice(i, 1);
                s.cursor = null;
            }),
    });

function newFigure(i) {
    const figure = new Figure(`Picture ${LETTERS[i]}`, cursorOf(i));
    figure.cellOf = memo((cell) => cell);
    figure.titleOf = memo((picture, many) => [
        ...(many ? [h('span', { class: 'chip' }, LETTERS[i])] : []),
        ...(picture
            ? [
                  h('span', { class: 'figure-text' }, ...modeNodes(picture)),
                  h('span', { class: 'dims' }, `${picture.rows} × ${picture.cols}`),
              ]
            : []),
    ]);
    figure.differ = memo((from, to, how) => (from && to && from !== to ? differing(from, to, how) : null));
    return figure;
}

/* What "auto" came to, in the words of the select itself. */
function readAs(s) {
    const used = new Set(s.panes.map((pane) => pane?.answer?.integers).filter(Boolean));
    return used.size && s.doc.integers === 'auto' ? `auto: read as ${[...used].join(', ')}` : 'auto';
}

function renderLayout(s) {
    const { doc } = s;
    const many = doc.panes.length > 1;
    fitCount(panes, doc.panes.length, newPane, byId('panes'));
    fitCount(figures, doc.panes.length, newFigure, byId('figures'));
    const look = lookOf(doc.labels, doc.colors, doc.n, doc.bytes);
    doc.panes.forEach(({ expr, pick }, i) => {
        panes[i].show({ text: expr, pick, pane: s.panes[i], ops: s.ops, many, dark: s.dark });
        const { picture, note } = shownOf(s.panes[i]);
        figures[i].show({
            picture,
            note: note ?? (s.panes[i]?.problem ? 'Nothing is drawn: the expression is refused.' : null),
            look,
            dark: s.dark,
            table: doc.table,
            cursor: stable(figures[i], cellOf(s, i)),
            stale: s.panes[i]?.stale,
            title: figures[i].titleOf(picture, many),
            differ: figures[i].differ(i ? pictureOf(s, 0) : null, picture, doc.link),
        });
    });
    byId('add').disabled = doc.panes.length >= MAX_PANES;
}

/* A linked cell is made anew in every render; as long as it is the same place it is the same object. */
function stable(figure, cell) {
    const last = figure.lastCell;
    if (!(last && cell && last.row === cell.row && last.col === cell.col && last.by === cell.by))
        figure.lastCell = cell;
    return figure.lastCell;
}

const tileTitle = memo((t) =>
    t?.picture
        ? [
              h('span', { class: 'figure-text' }, `${t.threads} threads × ${t.values} values`),
              h('span', { class: 'dims' }, `tile ${t.picture.rows} × ${t.picture.cols}`),
          ]
        : [],
);

function renderPartition(s) {
    partition.show(s);
    const cursor = s.cursor?.figure === 'tile' ? s.cursor : null;
    tile.show({
        picture: s.tile?.picture ?? null,
        note: s.tile?.problem?.message,
        stale: s.tile?.stale,
        dark: s.dark,
        table: s.doc.table,
        cursor,
        title: tileTitle(s.tile?.picture ? s.tile : null),
        look: tileLook('tv', 'mod', s.tile?.threads ?? 1, 1),
        differ: null,
    });
}

function render(s) {
    const isPartition = s.doc.view === 'partition';
    document.body.dataset.view = s.doc.view;
    for (const name of ['layout', 'partition']) {
        byId(`tab-${name}`).setAttribute('aria-selected', String(s.doc.view === name));
        byId(`tab-${name}`).tabIndex = s.doc.view === name ? 0 : -1;
        byId(`side-${name}`).hidden = s.doc.view !== name;
    }
    byId('figures').hidden = isPartition;
    tile.el.hidden = !isPartition;
    integers.value = s.doc.integers;
    setText(integers.options[0], readAs(s));
    toolbar.show(s);
    guide.show(s.doc);
    if (isPartition) renderPartition(s);
    else renderLayout(s);
}

/* ---- what leaves the page ------------------------------------------------------------------------------ */

/* {doc, canvas, cute} and either a job's spec or an expression. */
function shareable() {
    return state.doc.view === 'partition' ? shareableTile(state) : shareablePane(state);
}

function shareableTile({ doc, tile: shown }) {
    const cute = shown?.picture?.cute ?? '';
    return { doc, canvas: tile.grid.base, cute, expr: cute, integers: 'cute', spec: specOf(doc) };
}

/* The figure under the cursor, and its picked value when there is one. */
function shareablePane(s) {
    const i = Math.min(s.cursor?.figure ?? 0, figures.length - 1);
    const { picture } = shownOf(s.panes[i]);
    const picked = s.doc.panes[i].pick !== null && picture;
    return {
        doc: s.doc,
        canvas: figures[i].grid.base,
        cute: picture?.cute ?? s.panes[i]?.answer?.cute ?? '',
        expr: picked ? picture.cute : s.doc.panes[i].expr,
        integers: picked ? 'cute' : s.doc.integers,
    };
}

/* ---- start --------------------------------------------------------------------------------------------- */

function tabs() {
    const names = ['layout', 'partition'];
    const select = (name) =>
        step((s) => {
            s.doc.view = name;
            s.cursor = null;
        });
    names.forEach((name, i) => {
        byId(`tab-${name}`).addEventListener('click', () => select(name));
        byId(`tab-${name}`).addEventListener('keydown', (event) => {
            if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
            select(names[1 - i]);
            byId(`tab-${names[1 - i]}`).focus();
        });
    });
}

function start() {
    byId('toolbar').append(toolbar.el);
    byId('tile').append(tile.el);
    byId('side-partition').append(partition.el);
    byId('share').append(share.el);
    byId('guide').append(guide.el);
    document.body.append(reference.el);
    byId('open-guide').addEventListener('click', () => guide.toggle());
    byId('open-ops').addEventListener('click', () => reference.open(state.ops));
    byId('add').prepend(icon('compare'));
    byId('add').addEventListener('click', addPane);
    integers.addEventListener('change', () =>
        change((s) => {
            s.doc.integers = integers.value;
        }),
    );
    tabs();
    startTheme(byId('theme'));
    startHistory();
    const askDevices = watchDevices();
    byId('tab-partition').addEventListener('click', askDevices);
    onRender(syncPanes);
    onRender(syncTile);
    onRender(render);
    change();
    askDevices();
    loadOps().catch(() => null); /* without it there is no completion; the editor says what else is wrong */
}

start();

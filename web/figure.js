/* figure.js: a picture with all its views: grid, read-out, memory strip, table. They share one cursor. */
import { announce, h, icon } from './dom.js';
import { Grid } from './grid.js';
import { Strip } from './strip.js';
import { describe } from './readout.js';
import { tableOf } from './table.js';

const ZOOM = 1.35;
const PAN = 60;
const PAGE = 8; /* cells of a page key */
const SMALL = 64; /* cells: such a table is whole, wherever the cursor is */
const WINDOW_STEP = 4; /* the table of a large picture follows in steps of 16 cells */

export class Figure {
    /* on: {cursor({row, col, by} or null), pin({row, col} or null), and, where there is such a thing,
     * before(), the layout without its swizzle, and access(), what a warp meets in it}
     * how: {kin(picture, cell, look): the cells that light up with one; words(picture, cell, look): the
     * read-out; memory: whether the offsets are places in memory, so that there is a strip of them; axes: which
     * modes are drawn, or null} */
    constructor(name, on, { kin = sameOffset, words = describe, memory = true, axes = null } = {}) {
        Object.assign(this, { on, kin, words, memory, axes });
        this.grid = new Grid(name, {
            hover: (cell) => on.cursor(cell && { ...cell, by: 'pointer' }),
            tap: (cell) => on.pin(cell),
            key: (event) => this.key(event),
        });
        const cellOf = (index) => (index === null ? null : this.cell(index));
        this.strip = new Strip({
            hover: (index) => on.cursor(index === null ? null : { ...cellOf(index), by: 'pointer' }),
            tap: (index) => on.pin(cellOf(index)),
        });
        this.title = h('h2', { class: 'figure-title' });
        this.access = h(
            'button',
            { type: 'button', class: 'quiet text', hidden: true, onclick: () => on.access() },
            icon('lanes'),
            'Access',
        );
        this.before = h(
            'button',
            { type: 'button', class: 'quiet text', hidden: true, onclick: () => on.before() },
            icon('compare'),
            'Before and after',
        );
        this.readout = h('p', { class: 'readout' });
        this.table = h('div', {
            class: 'table-view',
            tabindex: '0',
            role: 'region',
            'aria-label': `${name}, as a table`,
        });
        this.note = h('p', { class: 'figure-note', hidden: true });
        this.el = h(
            'section',
            { class: 'figure', 'aria-label': name },
            h('header', { class: 'figure-head' }, this.title, this.buttons()),
            ...(axes ? [axes.el] : []),
            this.grid.el,
            this.note,
            this.table,
            this.readout,
            ...(memory ? [this.strip.el] : []),
        );
    }

    buttons() {
        const button = (label, name, run) =>
            h(
                'button',
                { type: 'button', class: 'quiet', 'aria-label': label, title: label, onclick: run },
                icon(name),
            );
        return h(
            'div',
            { class: 'figure-buttons' },
            this.before,
            this.access,
            button('Zoom out (-)', 'minus', () => this.grid.zoom(1 / ZOOM)),
            button('Zoom in (+)', 'plus', () => this.grid.zoom(ZOOM)),
            button('Fit (0)', 'fit', () => this.grid.fit()),
        );
    }

    cell(index) {
        const { cols } = this.shown.picture;
        return { row: Math.floor(index / cols), col: index % cols };
    }

    /* title: nodes; alone: no other picture beside it; cursor: {row, col, by} or null; note: why there is no
     * picture */
    show(next) {
        const { picture, look, dark, cursor, table, stale, note, differ, title, focus } = next;
        const last = this.shown ?? {};
        this.shown = next;
        if (title !== last.title) this.title.replaceChildren(...(title ?? []));
        this.el.classList.toggle('stale', Boolean(stale));
        this.el.classList.toggle('empty', !picture);
        this.before.hidden = !(this.on.before && next.alone && picture?.type === 'composed');
        this.access.hidden = !(this.on.access && next.alone && picture);
        this.note.hidden = Boolean(picture);
        this.note.textContent = picture ? '' : (note ?? '');
        const lit = this.lit(picture, cursor, look);
        this.grid.show({ picture, look, dark, lit, differ, focus });
        if (this.memory)
            this.strip.show({
                picture,
                scheme: this.grid.scheme,
                bytes: look.bytes,
                dark,
                lit: lit?.cursor ? picture.at(lit.cursor.row, lit.cursor.col) : null,
            });
        this.say(picture, cursor, look, last);
        this.showTable(picture, look, cursor, table, last);
    }

    /* One object a cell, so that views can tell by identity that nothing moved. */
    lit(picture, cursor, look) {
        if (!picture || !cursor || !picture.has(cursor.row, cursor.col)) return null;
        const key = `${cursor.row} ${cursor.col} ${look.n} ${look.by} ${cursor.holder}`;
        if (this.last?.picture !== picture || this.last.key !== key)
            this.last = { picture, key, lit: { cursor, cells: this.kin(picture, cursor, look) } };
        return this.last.lit;
    }

    say(picture, cursor, look, last) {
        if (picture === last.picture && cursor === last.cursor && look === last.look) return;
        const here = picture && cursor && picture.has(cursor.row, cursor.col);
        const words = here
            ? this.words(picture, cursor, look)
            : [
                  h(
                      'span',
                      { class: 'hint' },
                      picture ? 'Point at a cell, or focus the grid and use the arrow keys.' : '',
                  ),
              ];
        this.readout.replaceChildren(...words);
        if (here && cursor.by === 'keys') announce(words.map((node) => node.textContent).join(', '));
    }

    showTable(picture, look, cursor, table, last) {
        const on = Boolean(table && picture);
        this.table.hidden = !on;
        const part = picture && cursor ? `${cursor.row >> WINDOW_STEP} ${cursor.col >> WINDOW_STEP}` : '';
        const moved = picture?.size > SMALL && part !== this.part;
        const same = last.picture === picture && last.look === look && last.table === table && !moved;
        this.part = part;
        if (on && !(same && this.table.firstChild))
            this.table.replaceChildren(tableOf(picture, look, cursor));
        if (!on) this.table.replaceChildren();
    }

    /* Arrows move the cursor (with shift the grid), Home End Page jump, n goes on to the next cell of this
     * offset, [ and ] step through a mode. */
    key(event) {
        const { picture } = this.shown ?? {};
        if (!picture || event.altKey || event.metaKey) return;
        const at = this.shown.cursor ?? { row: 0, col: 0 };
        const started = Boolean(this.shown.cursor);
        const move = (row, col) => this.move(started ? { row, col } : { row: 0, col: 0 });
        const keys = {
            ArrowUp: () => move(at.row - 1, at.col),
            ArrowDown: () => move(at.row + 1, at.col),
            ArrowLeft: () => move(at.row, at.col - 1),
            ArrowRight: () => move(at.row, at.col + 1),
            Home: () => move(event.ctrlKey ? 0 : at.row, 0),
            End: () => move(event.ctrlKey ? picture.rows - 1 : at.row, picture.cols - 1),
            PageUp: () => move(at.row - PAGE, at.col),
            PageDown: () => move(at.row + PAGE, at.col),
            n: () => this.move(this.next(at)),
            Enter: () => this.on.pin(at),
            ' ': () => this.on.pin(at),
            Escape: () => this.on.pin(null),
            '+': () => this.grid.zoom(ZOOM),
            '=': () => this.grid.zoom(ZOOM),
            '-': () => this.grid.zoom(1 / ZOOM),
            0: () => this.grid.fit(),
            '[': () => this.axes?.step(null, -1),
            ']': () => this.axes?.step(null, 1),
        };
        const pans = { ArrowUp: [0, PAN], ArrowDown: [0, -PAN], ArrowLeft: [PAN, 0], ArrowRight: [-PAN, 0] };
        if (event.shiftKey && pans[event.key]) {
            this.grid.camera.pan(...pans[event.key]);
            this.grid.paint();
        } else if (keys[event.key] && !(event.ctrlKey && !['Home', 'End'].includes(event.key)))
            keys[event.key]();
        else return;
        event.preventDefault();
    }

    move({ row, col }) {
        const { picture } = this.shown;
        const clip = (i, n) => Math.min(n - 1, Math.max(0, i));
        const cell = { row: clip(row, picture.rows), col: clip(col, picture.cols) };
        this.grid.reveal(cell);
        this.shown = {
            ...this.shown,
            cursor: { ...cell, by: 'keys' },
        }; /* keys may come faster than frames */
        this.on.cursor(this.shown.cursor);
    }

    next(at) {
        const { picture } = this.shown;
        const cells = picture.memory.cellsAt(picture.at(at.row, at.col));
        return this.cell(cells[(cells.indexOf(at.row * picture.cols + at.col) + 1) % cells.length]);
    }
}

function sameOffset(picture, { row, col }) {
    const cells = picture.memory.cellsAt(picture.at(row, col));
    return cells.length > 1 ? cells : [];
}

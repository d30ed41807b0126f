/* accessview.js: a memory and a warp's access to it on the left; on the right who touches what: the lanes in the
 * layout, and the lanes against banks or sectors. */
import { boxOf, compareSwizzle, lanesOfCells, questionOf } from './access.js';
import { AccessPanel } from './accesspanel.js';
import { BANKS, css, heatSteps, mod } from './color.js';
import { ownCursor } from './cursor.js';
import { byId, h } from './dom.js';
import { Figure } from './figure.js';
import { kinOfLane, laneWords, ranges, SECTOR_BYTES } from './lanes.js';
import { memo } from './memo.js';
import { modeNodes } from './pane.js';
import { describe } from './readout.js';

export class AccessView {
    constructor() {
        this.panel = new AccessPanel();
        this.memory = new Figure(
            'Memory',
            { ...ownCursor('memory'), before: compareSwizzle },
            {
                kin: (picture, cell, look) => cellsOfLanes(look, lanesAt(picture, cell, look)),
                words: memoryWords,
                memory: false,
            },
        );
        this.lanes = new Figure('Lanes', ownCursor('lanes'), {
            kin: kinOfLane,
            words: laneWords,
            memory: false,
        });
        this.lookOf = memo((lanes) => ({ labels: 'lane', colors: 'lane', n: 1, bytes: 1, lanes }));
        this.laneLook = { labels: 'unit', colors: 'heat', n: 1, bytes: 1 };
        this.lanesOf = memo(lanesOfCells);
        this.boxOf = memo((picture, lanes) => (picture ? boxOf(picture, lanes.keys()) : null));
        this.memoryTitle = memo((picture) =>
            picture ? [h('span', { class: 'figure-text' }, ...modeNodes(picture))] : [],
        );
        this.laneTitle = memo((lanes) => (lanes ? [h('span', { class: 'figure-text' }, lanes.text)] : []));
        this.legendOf = memo(legend);
        byId('side-access').append(this.panel.el);
        byId('access').append(this.memory.el, this.lanes.el);
    }

    show(s) {
        this.panel.show(s);
        const { answer, lanes, picture, note, bits, problem, stale } = s.access ?? {};
        const touched = this.lanesOf(picture ?? null, answer ?? null, bits ?? 8);
        const key = this.legendOf(lanes?.shared ?? true, s.dark);
        if (byId('legend').firstChild !== key) byId('legend').replaceChildren(key);
        const cursor = this.cursors(s.cursor, picture, lanes, touched);
        const common = { dark: s.dark, table: s.doc.table, stale, differ: null };
        this.memory.show({
            ...common,
            picture: picture ?? null,
            note: note ?? problem?.message,
            cursor: cursor.memory,
            title: this.memoryTitle(picture),
            alone: true,
            look: this.lookOf(touched),
            focus: this.boxOf(picture ?? null, touched),
        });
        this.lanes.show({
            ...common,
            picture: lanes ?? null,
            note: problem?.message,
            cursor: cursor.lanes,
            title: this.laneTitle(lanes),
            look: this.laneLook,
        });
    }

    /* Where the cursor of one picture is in the other: a lane's first place in memory, a place's first lane. */
    cursors(cursor, picture, lanes, touched) {
        const key = JSON.stringify(cursor);
        if (this.linked?.key === key && this.linked.picture === picture && this.linked.lanes === lanes)
            return this.linked.cells;
        const cells = { memory: null, lanes: null };
        if (cursor?.figure === 'memory' && picture?.has(cursor.row, cursor.col)) {
            cells.memory = cursor;
            const [lane] = touched.get(cursor.row * picture.cols + cursor.col) ?? [];
            if (lanes && lane !== undefined)
                cells.lanes = { row: lane, col: firstUnit(lanes, lane), by: 'link' };
        }
        if (cursor?.figure === 'lanes' && lanes?.has(cursor.row, cursor.col)) {
            cells.lanes = cursor;
            const [cell] = cellsOfLanes({ lanes: touched }, [cursor.row]);
            if (picture && cell !== undefined)
                cells.memory = { row: Math.floor(cell / picture.cols), col: cell % picture.cols, by: 'link' };
        }
        this.linked = { key, picture, lanes, cells };
        return cells;
    }

    shareable({ doc, access }) {
        const { picture, lanes, bits } = access ?? {};
        const figures = [
            { grid: this.memory.grid, name: picture?.text ?? '' },
            { grid: this.lanes.grid, name: lanes?.text ?? '' },
        ];
        const render = { view: 'banks', bytes: Math.max(1, (bits ?? 8) / 8) };
        const ask = { path: '/access', body: questionOf(doc.access, doc.integers) };
        return { doc, figures, cute: picture?.cute ?? '', ask, render };
    }
}

/* What a colour says: words of a bank that wait for each other, or bytes of a sector that are used. */
function legend(shared, dark) {
    const swatch = ([heat, color]) => {
        const el = h('span', { class: 'swatch' });
        el.style.background = css(color);
        return h('span', {}, el, String(shared ? heat : SECTOR_BYTES / heat));
    };
    const title = shared ? 'words of one bank that take turns' : 'bytes of a sector that are used';
    return h('span', { class: 'legend' }, heatSteps(dark).map(swatch), h('span', {}, title));
}

const lanesAt = (picture, { row, col }, { lanes }) => lanes.get(row * picture.cols + col) ?? [];

function cellsOfLanes({ lanes }, wanted) {
    const cells = [];
    if (wanted.length)
        for (const [cell, list] of lanes) if (wanted.some((lane) => list.includes(lane))) cells.push(cell);
    return cells;
}

function firstUnit(lanes, lane) {
    for (let col = 0; col < lanes.cols; col++) if (lanes.at(lane, col) >= 0) return col;
    return 0;
}

function memoryWords(picture, cell, look) {
    const lanes = lanesAt(picture, cell, look);
    const unit = look.lanes.unitOf(picture.at(cell.row, cell.col));
    const place = look.lanes.shared ? `bank ${mod(unit, BANKS)}` : `sector ${unit}`;
    return [
        h('span', { class: 'coordinate' }, lanes.length ? `lane ${ranges(lanes)}` : 'no lane'),
        ...describe(picture, cell, look),
        h('span', { class: 'fact' }, place),
    ];
}

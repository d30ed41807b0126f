/* lanes.js: one instruction of a warp as a picture: a row a lane, a column a bank of shared memory, or a column a
 * sector of global memory that is touched.
 *
 * Hot is what costs. In shared memory: how many different words of the bank the lanes of a phase want, which
 * take turns. In global memory: how little of its 32 bytes a sector is moved for. Which lanes clash is the
 * daemon's answer; here it is laid out. */
import { BANKS, NOTHING } from './color.js';
import { h } from './dom.js';
import { axis } from './shape.js';

const BANK_BYTES = 4;
export const SECTOR_BYTES = 32;
const LINE_BYTES = 128;

export class LanePicture {
    /* answer: of /access */
    constructor(answer) {
        const { lanes, bytes, space } = answer;
        Object.assign(this, { answer, shared: space === 'shared', rows: lanes.length });
        this.phase = answer.phase_lanes ?? this.rows;
        this.units = this.shared ? null : sectorsOf(lanes, bytes);
        this.cols = this.shared ? BANKS : Math.max(1, this.units.length);
        this.offsets = new Float64Array(this.rows * this.cols).fill(NOTHING);
        this.heat = new Float64Array(this.rows * this.cols);
        lanes.forEach((at, lane) => at !== null && this.put(lane, at, bytes));
        if (this.shared) this.markClashes(answer.banks);
        else this.markWaste();
        const phases = this.rows / this.phase;
        this.rowShape = phases > 1 ? [this.phase, phases] : this.rows;
        this.colShape = this.cols;
        this.rowAxis = axis(this.rowShape);
        this.colAxis = axis(this.colShape);
        this.text = `${answer.op}: lanes to ${this.shared ? 'banks' : 'sectors'}`;
        this.type = 'lanes';
        this.max = this.offsets.reduce((most, n) => Math.max(most, n), 0);
        this.min = 0;
    }

    /* The words, or the sectors, that a lane's bytes lie in. */
    put(lane, at, bytes) {
        const unit = this.shared ? BANK_BYTES : SECTOR_BYTES;
        for (let n = Math.floor(at / unit); n * unit < at + bytes; n++) {
            const col = this.shared ? ((n % BANKS) + BANKS) % BANKS : this.units.indexOf(n);
            this.offsets[lane * this.cols + col] = n;
            this.heat[lane * this.cols + col] = 1;
        }
    }

    markClashes(banks) {
        this.clashes = new Map();
        for (const clash of banks) {
            this.clashes.set(`${clash.phase} ${clash.bank}`, clash);
            for (const lane of clash.lanes.flat())
                this.heat[lane * this.cols + clash.bank] = clash.words.length;
        }
    }

    /* Of a sector of which all is used the heat is 1, of one of which an eighth is, 8. */
    markWaste() {
        const { lanes, bytes } = this.answer;
        this.used = this.units.map((sector) => {
            const seen = new Set();
            for (const at of lanes)
                for (let byte = at ?? 0; at !== null && byte < at + bytes; byte++)
                    if (Math.floor(byte / SECTOR_BYTES) === sector) seen.add(byte);
            return seen.size;
        });
        this.heat.forEach((hot, cell) => {
            if (hot) this.heat[cell] = SECTOR_BYTES / this.used[cell % this.cols];
        });
    }

    get size() {
        return this.rows * this.cols;
    }
    at(row, col) {
        return this.offsets[row * this.cols + col];
    }
    heatAt(row, col) {
        return this.heat[row * this.cols + col];
    }
    has(row, col) {
        return row >= 0 && col >= 0 && row < this.rows && col < this.cols;
    }
    indexAt(row, col) {
        return row * this.cols + col;
    }
    headOf(side, i) {
        return String(side === 'row' ? i : this.shared ? i : (this.units[i] ?? '–'));
    }
    /* For the key n: those that meet here, one after the other. */
    get memory() {
        return { cellsAt: () => kinOfLane(this, this.last) };
    }

    /* {phase, bank, words, lanes} of a clash, or undefined. */
    clashAt(row, col) {
        return this.clashes?.get(`${Math.floor(row / this.phase)} ${col}`);
    }
}

function sectorsOf(lanes, bytes) {
    const all = new Set();
    for (const at of lanes)
        if (at !== null)
            for (let n = Math.floor(at / SECTOR_BYTES); n * SECTOR_BYTES < at + bytes; n++) all.add(n);
    return [...all].sort((a, b) => a - b);
}

/* All lanes that meet in a bank, in one phase, or in a sector. */
export function kinOfLane(picture, { row, col }) {
    picture.last = { row, col };
    const from = picture.shared ? row - (row % picture.phase) : 0;
    const to = picture.shared ? from + picture.phase : picture.rows;
    const cells = [];
    for (let lane = from; lane < to; lane++)
        if (picture.at(lane, col) !== NOTHING) cells.push(picture.indexAt(lane, col));
    return cells;
}

/* 0, 1, 2, 3, 8 as "0 to 3, 8". */
export function ranges(list) {
    const out = [];
    for (const n of list) {
        const last = out.at(-1);
        if (last && last[1] === n - 1) last[1] = n;
        else out.push([n, n]);
    }
    return out.map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a} to ${b}`)).join(', ');
}

/* The read-out of a cell. */
export function laneWords(picture, { row, col }) {
    const fact = (...nodes) => h('span', { class: 'fact' }, ...nodes);
    const n = picture.at(row, col);
    const place = picture.shared ? `bank ${col}` : `sector ${picture.units[col] ?? '–'}`;
    const head = [
        h('span', { class: 'coordinate' }, h('span', { class: 'row' }, `lane ${row}`)),
        h('span', { class: 'coordinate' }, h('span', { class: 'col' }, place)),
    ];
    if (n === NOTHING) return [...head, fact('not touched by this lane')];
    if (!picture.shared) {
        const line = Math.floor((n * SECTOR_BYTES) / LINE_BYTES);
        return [
            ...head,
            fact('line ', h('b', {}, String(line))),
            fact(`${picture.used[col]} of its 32 bytes are used`),
        ];
    }
    const clash = picture.clashAt(row, col);
    return [
        ...head,
        fact('word ', h('b', {}, String(n))),
        picture.phase < picture.rows ? fact(`phase ${Math.floor(row / picture.phase)}`) : null,
        clash ? h('span', { class: 'also' }, turns(clash)) : fact('no clash'),
    ].filter(Boolean);
}

function turns({ words, lanes }) {
    const names = ranges(lanes.flat().sort((a, b) => a - b));
    return `${words.length} words of this bank: lanes ${names} take turns`;
}

/* strip.js: the offsets of a picture in the order of memory. Gaps are empty places, long ones are folded to
 * one mark; an offset that several cells share says so (×3). Below run the 32-byte sectors that the memory
 * moves at once.
 *
 *   (2,3):(5,1)     0 1 2 _ _ 5 6 7 */
import { h } from './dom.js';
import { Camera } from './camera.js';
import { CHROME } from './color.js';
import { Gestures } from './gestures.js';
import { FONT, GLYPH } from './labels.js';

const HEIGHT = 64;
const CELLS = 28; /* height of the cells; under them the counts, then the sectors */
const COUNT_Y = 37;
const SECTOR_Y = 45;
const OPEN_GAP = 12; /* a longer gap is folded ... */
const FOLDED = 2.4; /* ... to this many places */
const SECTOR_BYTES = 32;
const LINE_BYTES = 128;
const LEGIBLE = 30;
const LARGE = 1 << 16;
const AFTER_MS = 50; /* two frames or three */
const MAX_FONT = 12.5;
const DIGIT = MAX_FONT * GLYPH;
const MIN_FONT = 6.5;

/* A camera that only moves sideways. */
class Lane extends Camera {
    legible = LEGIBLE;
    get cellW() {
        return this.scale;
    }
    get cellH() {
        return CELLS;
    }
    fit() {
        const fit = (this.w - 8) / this.cols;
        this.scale = fit > 4 ? Math.min(this.legible, fit) : this.legible;
        this.x = 4;
        this.y = 1;
        this.fitted = true;
    }
    clamp() {
        this.y = 1;
        this.x = Math.min(this.w / 2, Math.max(this.w / 2 - this.cols * this.cellW, this.x));
    }
    pan(dx, dy) {
        super.pan(dx || dy, 0);
    }
    cellAt(px, py) {
        return py <= SECTOR_Y && px >= this.x ? { slot: (px - this.x) / this.cellW } : null;
    }
}

/* Where each offset is drawn: places[k] for memory.keys[k]. */
function placesOf(memory) {
    const places = new Float64Array(memory.keys.length);
    let at = 0;
    for (let k = 0; k < places.length; k++) {
        const gap = k ? Number(memory.keys[k] - memory.keys[k - 1]) - 1 : 0;
        at += gap > OPEN_GAP ? FOLDED : gap;
        places[k] = at++;
    }
    return { places, length: at };
}

/* The last k with places[k] <= slot, or -1. */
function keyBefore(places, slot) {
    let low = 0;
    let high = places.length;
    while (low < high) {
        const mid = (low + high) >> 1;
        if (places[mid] <= slot) low = mid + 1;
        else high = mid;
    }
    return low - 1;
}

export class Strip {
    /* on: {hover(cell index or null), tap(cell index or null)} */
    constructor(on) {
        this.canvas = h('canvas', { class: 'layer', 'aria-hidden': 'true' });
        this.el = h('div', { class: 'strip' }, this.canvas);
        this.lane = new Lane();
        this.shown = {};
        const cellOf = (place) => {
            const k = place && this.places ? this.keyAt(place.slot) : -1;
            return k < 0 ? null : this.shown.picture.memory.cells[this.shown.picture.memory.start[k]];
        };
        this.gestures = new Gestures(this.canvas, this.lane, {
            hover: (place) => on.hover(cellOf(place)),
            tap: (place) => on.tap(cellOf(place)),
            moved: () => this.paint(),
        });
        new ResizeObserver(() => this.resize()).observe(this.el);
    }

    resize() {
        const w = this.el.clientWidth;
        if (!w) return;
        this.dpr = devicePixelRatio || 1;
        this.canvas.width = Math.round(w * this.dpr);
        this.canvas.height = Math.round(HEIGHT * this.dpr);
        this.lane.set({ w, h: HEIGHT });
        this.paint();
    }

    /* scheme: color.js's; lit: offset or null */
    show({ picture, scheme, bytes, dark, lit }) {
        const last = this.shown;
        if (
            last.picture === picture &&
            last.scheme === scheme &&
            last.bytes === bytes &&
            last.lit === lit &&
            last.dark === dark
        )
            return;
        this.shown = { picture, scheme, bytes, dark, lit };
        if (picture && last.picture !== picture) return this.prepare(picture);
        if (picture && lit !== null && lit !== last.lit) this.reveal(lit);
        return this.paint();
    }

    /* The order of a large picture's memory takes longer than its cells: they are shown first. */
    prepare(picture) {
        this.places = null;
        this.paint();
        const order = () => {
            if (this.shown.picture !== picture) return;
            Object.assign(this, placesOf(picture.memory));
            this.lane.set({
                rows: 1,
                cols: this.length,
                legible: Math.max(LEGIBLE, digitsOf(picture) * DIGIT + 6),
            });
            if (this.shown.lit !== null) this.reveal(this.shown.lit);
            this.paint();
        };
        if (picture.size > LARGE) setTimeout(order, AFTER_MS);
        else order();
    }

    keyAt(slot) {
        const k = keyBefore(this.places, slot);
        return k >= 0 && slot < this.places[k] + 1 ? k : -1;
    }

    /* Bring the lit offset in, unless the pointer is on the strip: then it is there already. */
    reveal(offset) {
        const k = this.shown.picture.memory.find(offset);
        if (k < 0 || !this.places || this.canvas.matches(':hover')) return;
        const x = this.lane.x + this.places[k] * this.lane.cellW;
        if (x < 0 || x + this.lane.cellW > this.lane.w) this.lane.pan(this.lane.w / 2 - x, 0);
    }

    paint() {
        const { picture, scheme, dark } = this.shown;
        if (!this.dpr) return;
        const ctx = this.canvas.getContext('2d');
        ctx.setTransform(1, 0, 0, 1, 0, 0);
        ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
        if (!picture || !this.places) return;
        const { lane, dpr } = this;
        const f = {
            ctx,
            dpr,
            chrome: CHROME[dark ? 'dark' : 'light'],
            picture,
            memory: picture.memory,
            scheme,
            pitch: lane.cellW,
            X: (slot) => Math.round((lane.x + slot * lane.cellW) * dpr),
            px: (css) => Math.round(css * dpr),
        };
        f.k0 = Math.max(0, keyBefore(this.places, -lane.x / lane.cellW - 1));
        f.k1 = keyBefore(this.places, (lane.w - lane.x) / lane.cellW) + 1;
        if (lane.cellW < 2) this.paintFar(f);
        else this.paintNear(f);
        if (this.shown.lit !== null) this.paintLit(f);
    }

    /* Nearer than two pixels a place: one look a pixel. */
    paintFar(f) {
        const { ctx, dpr, chrome } = f;
        for (let x = 0; x < this.canvas.width; x++) {
            const slot = (x / dpr - this.lane.x) / this.lane.cellW;
            if (slot < 0 || slot >= this.length) continue;
            const k = keyBefore(this.places, slot);
            ctx.fillStyle = slot < this.places[k] + 1 ? f.scheme.fills[classOfKey(f, k)] : chrome.gap;
            ctx.fillRect(x, f.px(1), 1, f.px(CELLS));
        }
    }

    paintNear(f) {
        const { ctx, px, X, chrome, memory } = f;
        const size = Math.min(MAX_FONT, (f.pitch - 4) / (digitsOf(f.picture) * GLYPH));
        ctx.textAlign = 'center';
        ctx.textBaseline = 'middle';
        for (let k = f.k0; k < f.k1; k++) {
            const place = this.places[k];
            if (k > 0)
                paintGap(f, this.places[k - 1] + 1, place, Number(memory.keys[k] - memory.keys[k - 1]) - 1);
            const cls = classOfKey(f, k);
            ctx.fillStyle = f.scheme.fills[cls];
            ctx.fillRect(X(place), px(1), X(place + 1) - X(place), px(CELLS));
            ctx.fillStyle = chrome.line;
            if (f.pitch > 5) ctx.fillRect(X(place + 1) - px(0.6), px(1), Math.max(1, px(0.6)), px(CELLS));
            if (size >= MIN_FONT)
                text(f, String(memory.keys[k]), place + 0.5, CELLS / 2 + 1.5, size, f.scheme.inks[cls]);
            if (memory.touches(k) > 1 && f.pitch >= 15)
                text(f, `×${memory.touches(k)}`, place + 0.5, COUNT_Y, 10, chrome.same);
            this.paintSector(f, k);
        }
    }

    /* The bar of the sector that an offset lies in; sectors and 128-byte lines are told apart by the bar's
     * gap and height. */
    paintSector(f, k) {
        const { ctx, px, X, chrome, memory } = f;
        const byte = Number(memory.keys[k]) * this.shown.bytes;
        const sector = Math.floor(byte / SECTOR_BYTES);
        const begins =
            k === 0 || Math.floor((Number(memory.keys[k - 1]) * this.shown.bytes) / SECTOR_BYTES) !== sector;
        const place = this.places[k];
        const inset = begins ? px(2) : 0;
        ctx.fillStyle = Math.floor(byte / LINE_BYTES) % 2 === 0 ? chrome.text : chrome.nest;
        ctx.fillRect(X(place) + inset, px(SECTOR_Y), X(place + 1) - X(place) - inset, px(2));
        if (begins && f.pitch * (SECTOR_BYTES / this.shown.bytes) > 26) {
            ctx.textAlign = 'left';
            text(
                f,
                f.pitch * (SECTOR_BYTES / this.shown.bytes) > 62 ? `sector ${sector}` : `${sector}`,
                place + 3 / f.pitch,
                SECTOR_Y + 9,
                9.5,
                chrome.text,
            );
            ctx.textAlign = 'center';
        }
    }

    paintLit(f) {
        const k = f.memory.find(this.shown.lit);
        if (k < 0) return;
        const { ctx, X, px, dpr, chrome } = f;
        const x = X(this.places[k]);
        const w = Math.max(X(this.places[k] + 1) - x, 3 * dpr);
        for (const [width, color] of [
            [4, chrome.halo],
            [2, f.memory.touches(k) > 1 ? chrome.same : chrome.cursor],
        ]) {
            ctx.lineWidth = width * dpr;
            ctx.strokeStyle = color;
            ctx.strokeRect(x, px(1), w, px(CELLS));
        }
    }
}

const digitsOf = ({ min, max }) => Math.max(String(min).length, String(max).length);

function classOfKey({ picture, memory, scheme }, k) {
    const cell = memory.cells[memory.start[k]];
    return scheme.classOf(memory.keys[k], Math.floor(cell / picture.cols), cell % picture.cols);
}

function text({ ctx, X, px, dpr }, string, place, y, size, color) {
    ctx.font = `${size * dpr}px ${FONT}`;
    ctx.fillStyle = color;
    ctx.fillText(string, X(place), px(y));
}

function paintGap(f, from, to, count) {
    if (count <= 0) return;
    const { ctx, px, X, chrome } = f;
    ctx.strokeStyle = chrome.gap;
    ctx.lineWidth = px(1);
    if (count > OPEN_GAP) {
        ctx.fillStyle = chrome.gap;
        ctx.fillRect(X(from), px(CELLS / 2), X(to) - X(from), px(1.5));
        if (f.pitch > 12)
            text(
                f,
                `+${count}`,
                (from + to) / 2,
                CELLS / 2 - 6,
                Math.min(10, (2.2 * f.pitch) / (String(count).length + 1) / GLYPH),
                chrome.text,
            );
        return;
    }
    if (f.pitch < 5) return;
    for (let i = 0; i < count; i++)
        ctx.strokeRect(X(from + i) + px(2.5), px(3.5), X(from + i + 1) - X(from + i) - px(5), px(CELLS - 5));
}

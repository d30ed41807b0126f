/* camera.js: where the cells of a grid are on the screen.
 *
 * Invariant: cell (row, col) covers x + col*cellW .. , y + row*cellH .. in CSS pixels. The headers, `left`
 * wide and `top` high, stick to the grid while it is on the screen and to the canvas's edge when it is not. */

const MAX_CELL = 70; /* a grid of six cells need not fill the screen */
const MAX_FOCUS = 28; /* of a cell that is focused on: its surroundings shall be seen, too */
const THIN_CELL = 30; /* a long thin grid starts legible at its beginning, instead of fitted and blank */
const MIN_CELL = 1 / 64;
const MAX_ZOOM = 160;
const MARGIN = 14;

export class Camera {
    constructor() {
        Object.assign(this, {
            w: 0,
            h: 0,
            rows: 1,
            cols: 1,
            left: 0,
            top: 0,
            aspect: 1,
            scale: 32,
            x: 0,
            y: 0,
            fitted: true,
            box: null /* what to show when all would be too small: {r0, r1, c0, c1}, or null */,
        });
    }

    get cellW() {
        return this.scale * this.aspect;
    }
    get cellH() {
        return this.scale;
    }
    get headX() {
        return Math.max(0, this.x - this.left);
    }
    get headY() {
        return Math.max(0, this.y - this.top);
    }

    /* Fit until somebody moves the grid, and again when another one comes. */
    set(frame) {
        const keys = Object.keys(frame);
        if (keys.every((key) => this[key] === frame[key])) return;
        const other = ['rows', 'cols', 'box'].some((key) => key in frame && frame[key] !== this[key]);
        Object.assign(this, frame);
        if (other || this.fitted) this.fit();
        else this.clamp();
    }

    fit() {
        const w = Math.max(1, this.w - this.left - 2 * MARGIN);
        const h = Math.max(1, this.h - this.top - 2 * MARGIN);
        const fitW = w / (this.cols * this.aspect);
        const fitH = h / this.rows;
        const thin = Math.min(MAX_CELL, Math.max(fitW, fitH), THIN_CELL);
        const scale = Math.min(fitW, fitH, MAX_CELL);
        this.scale = Math.max(MIN_CELL, scale < 3 && thin === THIN_CELL ? thin : scale);
        this.x = this.left + MARGIN + Math.max(0, (w - this.cols * this.cellW) / 2);
        this.y = this.top + MARGIN + Math.max(0, (h - this.rows * this.cellH) / 2.4); /* optical centre */
        this.fitted = true;
        if (this.box) this.focus(this.box);
    }

    /* Show some rows and columns as large as they can be, in place of all; see fit. */
    focus({ r0, r1, c0, c1 }) {
        const w = Math.max(1, this.w - this.left - 2 * MARGIN);
        const h = Math.max(1, this.h - this.top - 2 * MARGIN);
        const scale = Math.min(w / ((c1 - c0) * this.aspect), h / (r1 - r0), MAX_FOCUS);
        if (scale <= this.scale) return;
        this.scale = scale;
        this.x = this.left + MARGIN - c0 * this.cellW;
        this.y = this.top + MARGIN - r0 * this.cellH;
    }

    /* Some of the grid stays on the screen. */
    clamp() {
        const keep = Math.min(60, this.w / 3, this.h / 3);
        this.x = Math.min(this.w - keep, Math.max(this.left + keep - this.cols * this.cellW, this.x));
        this.y = Math.min(this.h - keep, Math.max(this.top + keep - this.rows * this.cellH, this.y));
    }

    pan(dx, dy) {
        this.fitted = false;
        this.x += dx;
        this.y += dy;
        this.clamp();
    }

    /* Scale about a point of the screen, which stays where it is. */
    zoom(factor, px = this.w / 2, py = this.h / 2) {
        const scale = Math.min(MAX_ZOOM, Math.max(MIN_CELL, this.scale * factor));
        const f = scale / this.scale;
        this.scale = scale;
        this.x = px + (this.x - px) * f;
        this.y = py + (this.y - py) * f;
        this.fitted = false;
        this.clamp();
    }

    cellAt(px, py) {
        if (px < this.headX + this.left || py < this.headY + this.top) return null;
        const row = Math.floor((py - this.y) / this.cellH);
        const col = Math.floor((px - this.x) / this.cellW);
        return row >= 0 && col >= 0 && row < this.rows && col < this.cols ? { row, col } : null;
    }

    /* Cells that can be seen: [r0, r1) x [c0, c1). */
    visible() {
        const clip = (n, limit) => Math.min(limit, Math.max(0, n));
        return {
            r0: clip(Math.floor((this.headY + this.top - this.y) / this.cellH), this.rows),
            r1: clip(Math.ceil((this.h - this.y) / this.cellH), this.rows),
            c0: clip(Math.floor((this.headX + this.left - this.x) / this.cellW), this.cols),
            c1: clip(Math.ceil((this.w - this.x) / this.cellW), this.cols),
        };
    }

    /* The part of the screen that the grid covers with its headers, and a line's breadth around it. */
    covered() {
        const x = Math.floor(this.headX) - 2;
        const y = Math.floor(this.headY) - 2;
        const right = Math.min(this.w, this.x + this.cols * this.cellW);
        const bottom = Math.min(this.h, this.y + this.rows * this.cellH);
        return { x, y, w: Math.ceil(right) + 2 - x, h: Math.ceil(bottom) + 2 - y };
    }

    /* Pan as little as brings a cell on the screen. */
    reveal(row, col) {
        const by = (from, to, low, high) => (from < low ? low - from : to > high ? high - to : 0);
        const px = this.x + col * this.cellW;
        const py = this.y + row * this.cellH;
        const dx = by(px, px + this.cellW, this.headX + this.left, this.w);
        const dy = by(py, py + this.cellH, this.headY + this.top, this.h);
        if (dx || dy) this.pan(dx, dy);
    }
}

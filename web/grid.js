/* grid.js: the cells of a picture on a canvas. Two layers: the cells, and above them what the cursor lights
 * up, so that hovering over a million cells repaints a handful.
 *
 * Only what is visible is drawn, and detail appears with zoom: far away the cells are pixels of a texture,
 * nearer they have lines, then labels. Bounds between tiles are drawn at every distance at which they are
 * further apart than a few pixels, the outer the thicker: so the hierarchy of a mode can be seen. */
import { h } from './dom.js';
import { Camera } from './camera.js';
import { CHROME, scheme } from './color.js';
import { Gestures } from './gestures.js';
import { FONT, GLYPH, linesOf, room } from './labels.js';
import { lightCells } from './lit.js';
import { Texture } from './texture.js';
import { bandsOf, drawHeads, headSize, lightHeads } from './heads.js';

const NEAR = 11; /* pixels of a cell from which on it is drawn as a rectangle of its own */
const LINE_GAP = 5; /* nearer than this, lines would be all there is */
const SPARSE = 56; /* bounds of tiles nearer than this are paler, so that they do not cover what they bound */
const MIN_FONT = 6.5;
const MAX_FONT = 15;
const MAX_STRETCH = 2.4;
const WIDE = 1.7; /* cells in which thread and value stand side by side */

export class Grid {
    /* on: {hover(cell), tap(cell), key(event)} */
    constructor(label, on) {
        this.base = h('canvas', { class: 'layer', 'aria-hidden': 'true' });
        this.over = h('canvas', {
            class: 'layer',
            tabindex: '0',
            role: 'application',
            'aria-roledescription': 'grid of offsets',
            'aria-label': label,
        });
        this.el = h('div', { class: 'grid' }, this.base, this.over);
        this.camera = new Camera();
        this.shown = {};
        this.gestures = new Gestures(this.over, this.camera, { ...on, moved: () => this.paint() });
        this.over.addEventListener('keydown', on.key);
        new ResizeObserver(() => this.resize()).observe(this.el);
    }

    resize() {
        const { clientWidth, clientHeight } = this.el;
        const dpr = devicePixelRatio || 1;
        if (!clientWidth || !clientHeight) return;
        for (const canvas of [this.base, this.over]) {
            canvas.width = Math.round(clientWidth * dpr);
            canvas.height = Math.round(clientHeight * dpr);
        }
        this.dpr = dpr;
        this.camera.set({ w: clientWidth, h: clientHeight });
        if (this.shown.picture && this.shown.look.by) this.prepare();
        this.paint();
    }

    /* look: {labels, colors, n, bytes}; focus: rows and columns to begin with, or null; lit: {cursor, cells} or
     * null; differ: cell -> bool, or null */
    show({ picture, look, dark, lit, differ, focus = null }) {
        const last = this.shown;
        const key = JSON.stringify([look.labels, look.colors, look.n, look.bytes, dark]);
        const same =
            last.picture === picture &&
            last.key === key &&
            last.differ === differ &&
            last.focus === focus &&
            last.look.lanes === look.lanes;
        this.shown = { picture, look, dark, lit, differ, focus, key };
        if (!picture) return this.clear();
        if (!same) this.prepare();
        if (!same) this.paint();
        else if (last.lit !== lit) this.light();
        return undefined;
    }

    clear() {
        for (const canvas of [this.base, this.over])
            canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height);
    }

    prepare() {
        const { picture, look, dark } = this.shown;
        this.scheme = scheme(picture, look, dark);
        this.chrome = CHROME[dark ? 'dark' : 'light'];
        this.texture = new Texture(picture, this.scheme);
        this.wide = this.stretch() >= WIDE;
        this.room = room(picture, look, this.wide);
        this.bands = { row: bandsOf(picture.rowAxis), col: bandsOf(picture.colAxis) };
        const { chars, lines } = this.room;
        const roomy = lines && chars > 4 ? Math.min(2.6, 1 + 0.16 * (chars - 4)) : 1;
        const aspect = look.by ? this.stretch() : roomy;
        const { rows, cols } = picture;
        this.camera.set({ rows, cols, aspect, box: this.shown.focus, ...headSize(this.bands) });
    }

    /* How much wider than high cells are: of who holds what, as wide as fills the screen, so that labels have room. */
    stretch() {
        const { picture, look } = this.shown;
        const { w, h } = this.camera;
        return look.by && h ? Math.min(MAX_STRETCH, Math.max(1, (w * picture.rows) / (h * picture.cols))) : 1;
    }

    fit() {
        this.camera.fit();
        this.paint();
    }

    zoom(factor) {
        this.camera.zoom(factor);
        this.paint();
    }

    reveal(cell) {
        this.camera.reveal(cell.row, cell.col);
        this.paint();
    }

    /* What the drawing functions share: a context in device pixels, and the edges of cells rounded to them. */
    frame(ctx, dpr) {
        const { camera } = this;
        return {
            ctx,
            camera,
            dpr,
            chrome: this.chrome,
            bands: this.bands,
            picture: this.shown.picture,
            ...camera.visible(),
            px: (css) => Math.round(css * dpr),
            X: (col) => Math.round((camera.x + col * camera.cellW) * dpr),
            Y: (row) => Math.round((camera.y + row * camera.cellH) * dpr),
        };
    }

    cleared(canvas) {
        const ctx = canvas.getContext('2d');
        ctx.clearRect(0, 0, canvas.width, canvas.height);
        return this.frame(ctx, this.dpr);
    }

    paint() {
        if (!this.shown.picture || !this.dpr) return;
        this.over.classList.toggle(
            'fitted',
            this.camera.fitted,
        ); /* then a finger's drag may scroll the page */
        this.drawCells(this.cleared(this.base));
        this.light();
    }

    /* All that is seen, into another context; export.js. */
    drawTo(ctx, dpr) {
        const f = this.frame(ctx, dpr);
        this.drawCells(f);
        this.drawLit(f);
    }

    drawCells(f) {
        f.ctx.save();
        clipToCells(f);
        if (f.camera.cellH < NEAR || f.camera.cellW < NEAR) this.texture.draw(f);
        else fillCells(f, this.scheme);
        drawLines(f);
        this.write(f);
        f.picture.drawNames?.(f);
        if (this.shown.differ) markDiffering(f, this.shown.differ);
        f.ctx.restore();
        drawHeads(f);
    }

    write(f) {
        const { ctx, camera, dpr, picture } = f;
        const { lines, chars } = this.room;
        const size = Math.min(
            MAX_FONT,
            camera.cellH * (lines > 1 ? 0.36 : 0.44),
            (camera.cellW - 5) / (chars * GLYPH),
        );
        if (!lines || size < MIN_FONT) return;
        ctx.font = `${size * dpr}px ${FONT}`;
        ctx.textAlign = 'center';
        ctx.textBaseline = 'middle';
        for (let row = f.r0; row < f.r1; row++)
            for (let col = f.c0; col < f.c1; col++) {
                const text = linesOf(picture, this.shown.look, row, col, this.wide);
                const offset = picture.at(row, col);
                ctx.fillStyle = this.scheme.inks[this.scheme.classOf(offset, row, col)];
                const x = (f.X(col) + f.X(col + 1)) / 2;
                const y = (f.Y(row) + f.Y(row + 1)) / 2 + 0.06 * size * dpr;
                text.forEach((line, i) =>
                    ctx.fillText(line, x, y + (i - (text.length - 1) / 2) * 1.18 * size * dpr),
                );
            }
    }

    /* The upper layer: cells of the same offset, the cursor, its row and column in the headers. */
    light() {
        if (this.shown.picture && this.dpr) this.drawLit(this.cleared(this.over));
    }

    drawLit(f) {
        const { lit, look } = this.shown;
        if (!lit) return;
        f.ctx.save();
        clipToCells(f);
        lightCells(f, lit, Boolean(look.by));
        f.ctx.restore();
        if (lit.cursor) lightHeads(f, lit.cursor);
    }
}

function clipToCells({ ctx, camera, px }) {
    ctx.beginPath();
    ctx.rect(px(camera.headX + camera.left), px(camera.headY + camera.top), px(camera.w), px(camera.h));
    ctx.clip();
}

function fillCells({ ctx, picture, X, Y, r0, r1, c0, c1 }, { classOf, fills }) {
    for (let row = r0; row < r1; row++)
        for (let col = c0; col < c1; col++) {
            ctx.fillStyle = fills[classOf(picture.at(row, col), row, col)];
            ctx.fillRect(X(col), Y(row), X(col + 1) - X(col), Y(row + 1) - Y(row));
        }
}

/* A picture may be of several blocks, {row, col, rows, cols, rowAxis, colAxis, name}, with nothing between. */
const blocksOf = (picture) => picture.blocks ?? [{ row: 0, col: 0, ...picture }];

function drawLines(f) {
    for (const block of blocksOf(f.picture)) drawBlockLines(f, block);
}

/* Lines between cells, and thicker ones where an outer coordinate steps; each level only where it is not too
 * dense. */
function drawBlockLines(f, block) {
    const { ctx, camera, chrome, px } = f;
    const X = (col) => f.X(block.col + col);
    const Y = (row) => f.Y(block.row + row);
    const box = { x: X(0), y: Y(0), w: X(block.cols) - X(0), h: Y(block.rows) - Y(0) };
    const level = (axis, pitch, place) => {
        axis.levels
            .filter(({ n }) => n > 1)
            .forEach(({ step }, depth) => {
                const gap = step * pitch;
                if (gap < LINE_GAP) return;
                ctx.fillStyle = depth ? chrome.nest : chrome.line;
                ctx.globalAlpha = depth ? Math.min(1, gap / SPARSE) : 1;
                place(step, Math.max(1, px(depth ? Math.min(1 + 0.75 * depth, 0.05 * gap) : 0.6)));
            });
        ctx.globalAlpha = 1;
    };
    const each = (from, to, n, step, draw) => {
        for (let i = Math.max(1, Math.ceil(from / step)) * step; i < Math.min(to + 1, n); i += step) draw(i);
    };
    level(block.colAxis, camera.cellW, (step, t) =>
        each(f.c0 - block.col, f.c1 - block.col, block.cols, step, (c) =>
            ctx.fillRect(X(c) - (t >> 1), box.y, t, box.h),
        ),
    );
    level(block.rowAxis, camera.cellH, (step, t) =>
        each(f.r0 - block.row, f.r1 - block.row, block.rows, step, (r) =>
            ctx.fillRect(box.x, Y(r) - (t >> 1), box.w, t),
        ),
    );
    ctx.strokeStyle = chrome.nest;
    ctx.lineWidth = px(1.25);
    ctx.strokeRect(box.x, box.y, box.w, box.h);
}

/* A corner folded over the cells whose offset is another one in the first figure. */
function markDiffering({ ctx, picture, camera, chrome, X, Y, r0, r1, c0, c1 }, differ) {
    if (camera.cellH < NEAR) return;
    ctx.fillStyle = chrome.differ;
    for (let row = r0; row < r1; row++)
        for (let col = c0; col < c1; col++) {
            if (!differ(row * picture.cols + col)) continue;
            const side = Math.max(4, 0.2 * (Y(row + 1) - Y(row)));
            ctx.beginPath();
            ctx.moveTo(X(col + 1), Y(row));
            ctx.lineTo(X(col + 1) - side, Y(row));
            ctx.lineTo(X(col + 1), Y(row) + side);
            ctx.fill();
        }
}

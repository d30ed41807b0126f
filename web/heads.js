/* heads.js: the headers of a grid, a band a leaf of the shape, the innermost nearest to the cells:
 *
 *        q          0     |     1         the columns of ((2,2),(3,2)): n steps with each column, q with every third
 *        n      0   1   2 | 0   1   2
 *        index  0   1   2   3   4   5     shown where there is more than one leaf: the mode as one integer */
import { digit } from './shape.js';
import { FONT, GLYPH } from './labels.js';

const COL_BAND = 19; /* height of a band above the columns */
const SIZE = 11.5;
const DIGIT = SIZE * GLYPH;
const GAP = 4;

/* [{n, step, chars, index, alone, numberOf}], from the cells outward. */
export function bandsOf(axis) {
    const levels = axis.levels.filter((level) => level.n > 1);
    const bands = (levels.length ? levels : axis.levels.slice(0, 1)).map((level) => ({
        ...level,
        chars: String(level.n - 1).length,
    }));
    if (bands.length > 1)
        bands.unshift({ n: axis.n, step: 1, chars: String(axis.n - 1).length, index: true });
    else Object.assign(bands[0], { alone: true, numberOf: axis.numberOf });
    return bands;
}

const thickness = (side, band) => (side === 'col' ? COL_BAND : Math.max(COL_BAND, band.chars * DIGIT + 9));

export const headSize = (bands) => ({
    top: GAP + bands.col.length * COL_BAND,
    left: GAP + bands.row.reduce((sum, band) => sum + thickness('row', band), 0),
});

export function drawHeads(f) {
    eachBand(f, (side, band, place) => {
        const [from, to] = side === 'col' ? [f.c0, f.c1] : [f.r0, f.r1];
        const pitch = band.step * (side === 'col' ? f.camera.cellW : f.camera.cellH);
        const need = side === 'col' ? band.chars * DIGIT + 4 : SIZE + 1;
        const every = niceStep(need / pitch);
        if (!band.index && !band.alone && every > 1)
            return; /* digits of a nested mode repeat: every tenth would mislead */
        const first = Math.floor(from / band.step);
        const last = Math.ceil(to / band.step);
        if (band.numberOf) for (let k = first; k < last; k++) number(f, side, band, place, k, every);
        else
            for (let k = first - (first % every); k < last; k += every) label(f, side, band, place, k, false);
        if (band.step > 1 && pitch > 8) ticks(f, side, band, place, first, last);
    });
}

/* Of an axis that counts its parts anew, each from 0; the end of one gives way to the beginning of the next. */
function number(f, side, band, place, k, every) {
    const n = band.numberOf(k);
    if (n === null || n % every) return;
    for (let next = k + 1; n && next < k + every; next++) if (band.numberOf(next) === 0) return;
    label(f, side, band, place, k, false);
}

/* The cursor's row and column, in every band. */
export function lightHeads(f, cursor) {
    eachBand(f, (side, band, place) => {
        const i = side === 'col' ? cursor.col : cursor.row;
        label(f, side, band, place, Math.floor(i / band.step), true);
    });
}

/* 1, 2, 5, 10, 20 ...: the least that leaves room. */
function niceStep(least) {
    for (let unit = 1; ; unit *= 10) for (const n of [1, 2, 5]) if (n * unit >= least) return n * unit;
}

/* visit(side, band, {at, size, from, to}): at and size across the axis, from and to along it, in device
 * pixels. */
function eachBand(f, visit) {
    const { camera, bands, px } = f;
    for (const side of ['col', 'row']) {
        const along =
            side === 'col' ? [camera.headX + camera.left, camera.w] : [camera.headY + camera.top, camera.h];
        let edge = (side === 'col' ? camera.headY + camera.top : camera.headX + camera.left) - GAP;
        for (const band of bands[side]) {
            const size = thickness(side, band);
            edge -= size;
            visit(side, band, { at: px(edge), size: px(size), from: px(along[0]), to: px(along[1]) });
        }
    }
}

/* The stretch of the k-th step of a band, cut to what is visible. */
function stretch(f, side, band, place, k) {
    const edge = side === 'col' ? f.X : f.Y;
    const limit = side === 'col' ? f.picture.cols : f.picture.rows;
    return [
        Math.max(place.from, edge(k * band.step)),
        Math.min(place.to, edge(Math.min(limit, (k + 1) * band.step))),
    ];
}

function label(f, side, band, place, k, lit) {
    const { ctx, chrome, dpr } = f;
    const [a, b] = stretch(f, side, band, place, k);
    if (b < a) return; /* not on the screen; a cell of less than a pixel is */
    const text = String(
        band.numberOf ? (band.numberOf(k) ?? '') : band.index ? k : digit(band, k * band.step),
    );
    if (text === '') return; /* between the parts of an axis */
    const [x, y, w, h] = side === 'col' ? [a, place.at, b - a, place.size] : [place.at, a, place.size, b - a];
    const strong = lit && (band.index || band.alone);
    if (lit) mark(f, [x, y, w, h], text, side, strong);
    ctx.fillStyle = strong ? chrome.paper : band.index && !lit ? chrome.text : chrome[side];
    ctx.font = `${lit || !band.index ? 600 : 400} ${SIZE * dpr}px ${FONT}`;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    ctx.fillText(text, x + w / 2, y + h / 2 + dpr * 0.5);
}

/* The ground of a lit label: strong where the whole coordinate stands, a tint at its parts. At least as large
 * as the text, which may be larger than its cell, and covering what is written there. */
function mark({ ctx, chrome, dpr }, [x, y, w, h], text, side, strong) {
    const width = Math.max(w, (text.length * DIGIT + 6) * dpr);
    const height = Math.max(h - 2 * dpr, 15 * dpr);
    const box = [x + (w - width) / 2, y + (h - height) / 2, width, height];
    ctx.beginPath();
    ctx.roundRect(...box, 3 * dpr);
    ctx.fillStyle = chrome.paper;
    ctx.fill();
    ctx.globalAlpha = strong ? 1 : 0.16;
    ctx.fillStyle = chrome[side];
    ctx.fill();
    ctx.globalAlpha = 1;
}

/* Short lines between the steps of an outer band. */
function ticks(f, side, band, place, first, last) {
    const { ctx, chrome, px } = f;
    ctx.fillStyle = chrome.gap;
    for (let k = first + 1; k < last; k++) {
        const [a] = stretch(f, side, band, place, k);
        if (side === 'col') ctx.fillRect(a, place.at + px(3), px(1), place.size - px(6));
        else ctx.fillRect(place.at + px(3), a, place.size - px(6), px(1));
    }
}

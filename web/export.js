/* export.js: the pictures of a view as one file, with what is seen of them: zoom, labels, colours, cursor, theme.
 *
 * Each picture is cut to what it covers of its canvas and has its title above it; they stand as on the screen,
 * side by side or one above the other. */
import { CHROME } from './color.js';
import { FONT } from './labels.js';
import { PdfContext } from './pdfcontext.js';
import { SvgContext } from './svgcontext.js';
import { TikzContext } from './tikzcontext.js';

const MARGIN = 12;
const TITLE = 26; /* height of the line above a picture */
const SCALE = 2; /* of a PNG: sharp on a good screen and in print */

/* figures: [{grid, name}]; gives {width, height, places: [{grid, name, x, y, box}]} */
function arrange(figures, stacked) {
    const shown = figures.filter(({ grid }) => grid.shown.picture);
    let [x, y, width, height] = [MARGIN, MARGIN, 0, 0];
    const places = shown.map(({ grid, name }) => {
        const box = grid.camera.covered();
        const place = { grid, name, x, y, box };
        width = Math.max(width, x + box.w + MARGIN);
        height = Math.max(height, y + TITLE + box.h + MARGIN);
        if (stacked) y += TITLE + box.h + 2 * MARGIN;
        else x += box.w + 2 * MARGIN;
        return place;
    });
    return { width: Math.ceil(width), height: Math.ceil(height), places };
}

const FILES = { svg: SvgContext, pdf: PdfContext, tex: TikzContext };
export const VECTORS = Object.keys(FILES);

/* A promise of the file; type: one of VECTORS. */
export async function vectorOf(type, figures, { stacked, dark }) {
    const { width, height, places } = arrange(figures, stacked);
    const chrome = CHROME[dark ? 'dark' : 'light'];
    const ctx = new FILES[type]();
    ctx.fillStyle = chrome.paper;
    ctx.fillRect(0, 0, width, height);
    for (const { grid, name, x, y, box } of places) {
        ctx.origin = { x: 0, y: 0 };
        writeTitle(ctx, name, x, y, chrome, 1);
        ctx.save();
        ctx.beginPath();
        ctx.rect(x, y + TITLE, box.w, box.h);
        ctx.clip();
        ctx.origin = { x: x - box.x, y: y + TITLE - box.y };
        grid.drawTo(ctx, 1);
        ctx.restore();
    }
    return ctx.fileOf(width, height);
}

export function pngOf(figures, { stacked, dark }) {
    const { width, height, places } = arrange(figures, stacked);
    const chrome = CHROME[dark ? 'dark' : 'light'];
    const canvas = canvasOf(width * SCALE, height * SCALE);
    const ctx = canvas.getContext('2d');
    ctx.fillStyle = chrome.paper;
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    for (const { grid, name, x, y, box } of places) {
        const { w, h } = grid.camera;
        const whole = canvasOf(Math.ceil(w * SCALE), Math.ceil(h * SCALE));
        grid.drawTo(whole.getContext('2d'), SCALE);
        const from = [box.x, box.y, box.w, box.h].map((n) => n * SCALE);
        const to = [x, y + TITLE, box.w, box.h].map((n) => n * SCALE);
        ctx.drawImage(whole, ...from, ...to);
        writeTitle(ctx, name, x, y, chrome, SCALE);
    }
    return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

function canvasOf(width, height) {
    const canvas = document.createElement('canvas');
    return Object.assign(canvas, { width, height });
}

function writeTitle(ctx, name, x, y, chrome, scale) {
    ctx.font = `600 ${13 * scale}px ${FONT}`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    ctx.fillStyle = chrome.strong;
    ctx.fillText(name, x * scale, (y + TITLE / 2 - 2) * scale);
}

/* export.js: the pictures of a view as one file, with what is seen of them: zoom, labels, colours, cursor, theme.
 *
 * Each picture is cut to what it covers of its canvas and has its title above it; they stand as on the screen,
 * side by side or one above the other. */
import { CHROME } from './color.js';
import { FONT } from './labels.js';
import { SvgContext } from './svgcontext.js';

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

export function svgOf(figures, { stacked, dark }) {
    const { width, height, places } = arrange(figures, stacked);
    const chrome = CHROME[dark ? 'dark' : 'light'];
    const parts = places.map(({ grid, name, x, y, box }) => {
        const [title, cells] = [new SvgContext(), new SvgContext()];
        writeTitle(title, name, x, y, chrome, 1);
        grid.drawTo(cells, 1);
        const seen = `viewBox="${box.x} ${box.y} ${box.w} ${box.h}"`;
        return `${title}<svg x="${x}" y="${y + TITLE}" width="${box.w}" height="${box.h}" ${seen}>${cells}</svg>`;
    });
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
        `viewBox="0 0 ${width} ${height}"><rect width="${width}" height="${height}" fill="${chrome.paper}"/>` +
        `${parts.join('')}</svg>\n`
    );
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

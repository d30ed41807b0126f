/* vectorcontext.js: a canvas context that writes a file: as much of one as grid.js and heads.js use. With it an
 * exported picture is drawn by the same code as the one on the screen, and cannot differ from it.
 *
 * A kind of file is a subclass that writes, in CSS pixels, y downwards:
 *     box({x, y, w, h, r}, paint)  polygon(points, paint)  words(text, place, font, paint)  image(canvas, box, smooth)
 *     openClip(box)  closeClip()
 * with paint = {fill or stroke: [r, g, b], alpha, width}, place = {x, y, anchor}: the foot of the line.
 *
 * Not here: transforms other than `origin`, curves, gradients; a clip is one rectangle. */

const FONT = /^(?:(\d+) )?([\d.]+)px (.*)$/;
const MIDDLE = 0.355; /* of the font's size, from the middle of a line to its foot */
const STYLES = ['fillStyle', 'strokeStyle', 'lineWidth', 'globalAlpha', 'font', 'textAlign', 'textBaseline'];

/* "#12ab3f", "rgb(1 2 3)", "rgb(20 30 45 / .13)" as {rgb, alpha}. */
function colorOf(style) {
    if (style.startsWith('#')) {
        const short = style.length === 4;
        const part = (i) => (short ? style[i + 1].repeat(2) : style.slice(2 * i + 1, 2 * i + 3));
        return { rgb: [0, 1, 2].map((i) => parseInt(part(i), 16)), alpha: 1 };
    }
    const [r, g, b, alpha = 1] = style.match(/[\d.]+/g).map(Number);
    return { rgb: [r, g, b], alpha };
}

export const round = (n) => Math.round(n * 100) / 100;

export class VectorContext {
    constructor() {
        this.out = [];
        this.saved = [];
        this.clips = 0; /* open ones since the last save() */
        this.origin = { x: 0, y: 0 }; /* of what is drawn, on the page */
        Object.assign(this, { fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1 });
        Object.assign(this, { font: '10px monospace', textAlign: 'left', textBaseline: 'alphabetic' });
    }

    save() {
        this.saved.push({ clips: this.clips, style: STYLES.map((name) => this[name]) });
        this.clips = 0;
    }

    restore() {
        for (; this.clips; this.clips--) this.closeClip();
        const { clips, style } = this.saved.pop();
        this.clips = clips;
        STYLES.forEach((name, i) => (this[name] = style[i]));
    }

    clip() {
        this.openClip(this.rectangle);
        this.clips++;
    }

    beginPath() {
        this.points = [];
        this.rectangle = null;
    }
    moveTo(x, y) {
        this.points.push([this.origin.x + x, this.origin.y + y]);
    }
    lineTo(x, y) {
        this.moveTo(x, y);
    }
    rect(x, y, w, h) {
        this.rectangle = this.placed(x, y, w, h);
    }
    roundRect(x, y, w, h, r) {
        this.rectangle = { ...this.placed(x, y, w, h), r };
    }

    fill() {
        if (this.rectangle) this.box(this.rectangle, this.filled());
        else this.polygon(this.points, this.filled());
    }
    fillRect(x, y, w, h) {
        this.box(this.placed(x, y, w, h), this.filled());
    }
    strokeRect(x, y, w, h) {
        const { rgb, alpha } = colorOf(this.strokeStyle);
        this.box(this.placed(x, y, w, h), {
            stroke: rgb,
            alpha: alpha * this.globalAlpha,
            width: this.lineWidth,
        });
    }

    fillText(text, x, y) {
        if (text === '') return;
        const [, weight = '400', size, family] = FONT.exec(this.font);
        const foot = this.textBaseline === 'middle' ? y + MIDDLE * size : y;
        const place = { x: this.origin.x + x, y: this.origin.y + foot, anchor: this.textAlign };
        this.words(
            String(text),
            place,
            { weight: Number(weight), size: Number(size), family },
            this.filled(),
        );
    }

    drawImage(canvas, x, y, w, h) {
        this.image(canvas, this.placed(x, y, w, h), this.imageSmoothingEnabled);
    }

    placed(x, y, w, h) {
        return { x: this.origin.x + x, y: this.origin.y + y, w, h };
    }

    filled() {
        const { rgb, alpha } = colorOf(this.fillStyle);
        return { fill: rgb, alpha: alpha * this.globalAlpha };
    }
}

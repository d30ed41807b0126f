/* svgcontext.js: a canvas context that writes SVG: as much of one as grid.js and heads.js use. With it an exported
 * picture is drawn by the same code as the one on the screen, and cannot differ from it.
 *
 * Not here: transforms, curves, gradients. What is drawn is in CSS pixels. */

const escape = (text) =>
    String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const round = (n) => Math.round(n * 100) / 100;
const ANCHOR = { left: 'start', center: 'middle', right: 'end' };
const FONT = /^(?:(\d+) )?([\d.]+)px (.*)$/;
const MIDDLE = 0.355; /* of the font's size, from the middle of a line to its foot */

export class SvgContext {
    constructor() {
        this.out = [];
        this.saved = [];
        this.path = [];
        this.state = { groups: 0 };
        this.clips = 0;
        Object.assign(this, { fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1 });
        Object.assign(this, { font: '10px sans-serif', textAlign: 'left', textBaseline: 'alphabetic' });
    }

    save() {
        const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline } = this;
        this.saved.push({
            groups: this.state.groups,
            style: { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline },
        });
        this.state.groups = 0;
    }

    restore() {
        this.out.push('</g>'.repeat(this.state.groups));
        const { groups, style } = this.saved.pop();
        this.state.groups = groups;
        Object.assign(this, style);
    }

    /* The path is one rectangle. Clips have names of their own in a document of several pictures. */
    clip() {
        const id = `clip${SvgContext.named++}`;
        this.out.push(
            `<clipPath id="${id}"><path d="${this.path.join('')}"/></clipPath><g clip-path="url(#${id})">`,
        );
        this.state.groups++;
    }

    beginPath() {
        this.path = [];
        this.rounded = null;
    }
    moveTo(x, y) {
        this.path.push(`M${round(x)} ${round(y)}`);
    }
    lineTo(x, y) {
        this.path.push(`L${round(x)} ${round(y)}`);
    }
    rect(x, y, w, h) {
        this.path.push(`M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`);
    }
    roundRect(x, y, w, h, r) {
        this.rounded = { x, y, w, h, r };
    }

    fill() {
        const { rounded } = this;
        if (rounded) this.box(rounded, `rx="${round(rounded.r)}" ${this.paint()}`);
        else this.out.push(`<path d="${this.path.join('')}z" ${this.paint()}/>`);
    }

    fillRect(x, y, w, h) {
        this.box({ x, y, w, h }, this.paint());
    }

    strokeRect(x, y, w, h) {
        const opacity = this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : '';
        const line = `fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"${opacity}`;
        this.box({ x, y, w, h }, line);
    }

    fillText(text, x, y) {
        if (text === '') return;
        const [, weight = '400', size, family] = FONT.exec(this.font);
        const foot = this.textBaseline === 'middle' ? y + MIDDLE * size : y;
        this.out.push(
            `<text x="${round(x)}" y="${round(foot)}" font-family="${escape(family)}" font-size="${round(size)}"`,
            weight === '400' ? '' : ` font-weight="${weight}"`,
            ` text-anchor="${ANCHOR[this.textAlign]}" ${this.paint()}>${escape(text)}</text>`,
        );
    }

    drawImage(canvas, x, y, w, h) {
        const place = `x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}"`;
        const sharp = this.imageSmoothingEnabled ? '' : ' style="image-rendering:pixelated"';
        this.out.push(
            `<image ${place} preserveAspectRatio="none"${sharp} href="${canvas.toDataURL('image/png')}"/>`,
        );
    }

    box({ x, y, w, h }, rest) {
        this.out.push(
            `<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" ${rest}/>`,
        );
    }

    paint() {
        return `fill="${this.fillStyle}"${this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : ''}`;
    }

    toString() {
        return this.out.join('');
    }
}

SvgContext.named = 0;

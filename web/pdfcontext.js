/* pdfcontext.js: a picture as PDF of one page; see vectorcontext.js. Texts are texts, in Courier, which every reader
 * has and whose digits are as wide as those on the screen; pixels are an image; a colour's alpha is a graphics state.
 *
 * Objects: 1 catalog, 2 pages, 3 page, 4 content, 5 resources, 6 and 7 fonts, from 8 on images. */
import { round, VectorContext } from './vectorcontext.js';

const POINTS = 0.75; /* a CSS pixel */
const WIDTH = 0.6; /* of a character of Courier, in ems */
const LATIN = 0xff; /* the last character of the fonts' encoding */
const FIRST_IMAGE = 8;
const SHIFT = { left: 0, center: 0.5, right: 1 };

const latin = (text) => Uint8Array.from(text, (char) => char.charCodeAt(0));
const escape = (text) =>
    [...text].map((char) => (char.charCodeAt(0) > LATIN ? '?' : char.replace(/[\\()]/, '\\$&'))).join('');
const color = (rgb) => rgb.map((n) => round(n / 255)).join(' ');

async function deflated(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class PdfContext extends VectorContext {
    constructor() {
        super();
        this.alphas = new Map();
        this.images = [];
    }

    /* The alpha from here on, as the name of a graphics state. */
    alpha(value) {
        const key = round(value);
        if (!this.alphas.has(key)) this.alphas.set(key, `a${this.alphas.size}`);
        if (this.lastAlpha !== key) this.out.push(`/${this.alphas.get(key)} gs`);
        this.lastAlpha = key;
    }

    box({ x, y, w, h }, { fill, stroke, alpha, width }) {
        this.alpha(alpha);
        const path = `${[x, y, w, h].map(round).join(' ')} re`;
        this.out.push(
            fill ? `${color(fill)} rg ${path} f` : `${color(stroke)} RG ${round(width)} w ${path} S`,
        );
    }

    polygon(points, { fill, alpha }) {
        this.alpha(alpha);
        const path = points.map(([x, y], i) => `${round(x)} ${round(y)} ${i ? 'l' : 'm'}`).join(' ');
        this.out.push(`${color(fill)} rg ${path} f`);
    }

    words(text, { x, y, anchor }, { weight, size }, { fill, alpha }) {
        this.alpha(alpha);
        const left = x - SHIFT[anchor] * WIDTH * size * [...text].length;
        const font = `/${weight > 500 ? 'bold' : 'plain'} ${round(size)} Tf`;
        this.out.push(
            `BT ${color(fill)} rg ${font} 1 0 0 -1 ${round(left)} ${round(y)} Tm (${escape(text)}) Tj ET`,
        );
    }

    image(canvas, { x, y, w, h }, smooth) {
        const { width, height } = canvas;
        const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
        const rgb = new Uint8Array(3 * width * height);
        for (let i = 0; i < width * height; i++) rgb.set(data.subarray(4 * i, 4 * i + 3), 3 * i);
        this.images.push({ rgb, width, height, smooth });
        const place = [w, 0, 0, -h, x, y + h].map(round).join(' ');
        this.out.push(`q ${place} cm /i${this.images.length - 1} Do Q`);
    }

    openClip({ x, y, w, h }) {
        this.out.push(`q ${[x, y, w, h].map(round).join(' ')} re W n`);
    }
    closeClip() {
        this.out.push('Q');
        this.lastAlpha = null; /* it is what it was before the clip */
    }

    async fileOf(width, height) {
        const page = [width, height].map((n) => round(n * POINTS));
        const content = `${POINTS} 0 0 ${-POINTS} 0 ${page[1]} cm\n${this.out.join('\n')}`;
        const states = [...this.alphas].map(([alpha, name]) => `/${name} <</ca ${alpha} /CA ${alpha}>>`);
        const names = this.images.map((image, i) => `/i${i} ${FIRST_IMAGE + i} 0 R`);
        const font = (name) => ({
            head: `/Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding`,
        });
        const resources =
            `/Font <</plain 6 0 R /bold 7 0 R>> /ExtGState <<${states.join(' ')}>> ` +
            `/XObject <<${names.join(' ')}>>`;
        const objects = [
            { head: '/Type /Catalog /Pages 2 0 R' },
            { head: '/Type /Pages /Kids [3 0 R] /Count 1' },
            {
                head: `/Type /Page /Parent 2 0 R /MediaBox [0 0 ${page.join(' ')}] /Contents 4 0 R /Resources 5 0 R`,
            },
            { head: '', bytes: latin(content) },
            { head: resources },
            font('Courier'),
            font('Courier-Bold'),
            ...this.images.map(imageObject),
        ];
        return assemble(objects);
    }
}

const imageObject = ({ rgb, width, height, smooth }) => ({
    head:
        `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB ` +
        `/BitsPerComponent 8${smooth ? ' /Interpolate true' : ''}`,
    bytes: rgb,
});

/* Numbered from 1; at the end where each begins. */
async function assemble(objects) {
    const parts = [];
    const starts = [];
    let at = 0;
    const put = (part) => {
        parts.push(part);
        at += part.length;
    };
    put(latin('%PDF-1.4\n'));
    for (const [i, { head, bytes }] of objects.entries()) {
        starts.push(at);
        const packed = bytes && (await deflated(bytes));
        put(
            latin(
                `${i + 1} 0 obj\n<<${head}${packed ? ` /Filter /FlateDecode /Length ${packed.length}` : ''}>>\n`,
            ),
        );
        if (packed) for (const part of [latin('stream\n'), packed, latin('\nendstream\n')]) put(part);
        put(latin('endobj\n'));
    }
    const table = starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('');
    const size = objects.length + 1;
    const xref = `xref\n0 ${size}\n0000000000 65535 f \n${table}`;
    put(latin(`${xref}trailer\n<</Size ${size} /Root 1 0 R>>\nstartxref\n${at}\n%%EOF\n`));
    return new Blob(parts, { type: 'application/pdf' });
}

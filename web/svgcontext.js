/* svgcontext.js: a picture as SVG; see vectorcontext.js. */
import { round, VectorContext } from './vectorcontext.js';

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const ANCHOR = { left: 'start', center: 'middle', right: 'end' };
const css = (rgb) => `rgb(${rgb.join(' ')})`;

function paintOf({ fill, stroke, alpha, width }) {
    const opacity = alpha < 1 ? ` opacity="${round(alpha)}"` : '';
    return stroke
        ? `fill="none" stroke="${css(stroke)}" stroke-width="${round(width)}"${opacity}`
        : `fill="${css(fill)}"${opacity}`;
}

const sides = ({ x, y, w, h }) => `x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}"`;

export class SvgContext extends VectorContext {
    box(box, paint) {
        this.out.push(`<rect ${sides(box)}${box.r ? ` rx="${round(box.r)}"` : ''} ${paintOf(paint)}/>`);
    }

    polygon(points, paint) {
        const list = points.map((point) => point.map(round).join(',')).join(' ');
        this.out.push(`<polygon points="${list}" ${paintOf(paint)}/>`);
    }

    words(text, { x, y, anchor }, { weight, size, family }, paint) {
        this.out.push(
            `<text x="${round(x)}" y="${round(y)}" font-family="${escape(family)}" font-size="${round(size)}"`,
            weight === 400 ? '' : ` font-weight="${weight}"`,
            ` text-anchor="${ANCHOR[anchor]}" ${paintOf(paint)}>${escape(text)}</text>`,
        );
    }

    image(canvas, box, smooth) {
        const sharp = smooth ? '' : ' style="image-rendering:pixelated"';
        this.out.push(
            `<image ${sides(box)} preserveAspectRatio="none"${sharp} href="${canvas.toDataURL('image/png')}"/>`,
        );
    }

    openClip(box) {
        this.named = (this.named ?? 0) + 1;
        const id = `clip${this.named}`;
        this.out.push(`<clipPath id="${id}"><rect ${sides(box)}/></clipPath><g clip-path="url(#${id})">`);
    }
    closeClip() {
        this.out.push('</g>');
    }

    fileOf(width, height) {
        const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
        const text = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${this.out.join('')}</svg>\n`;
        return new Blob([text], { type: 'image/svg+xml' });
    }
}

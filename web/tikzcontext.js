/* tikzcontext.js: a picture as a LaTeX document with TikZ; see vectorcontext.js. A document holds no pixels: what is
 * so far away that its cells are some is refused. */
import { round, VectorContext } from './vectorcontext.js';

const ANCHOR = { left: 'base west', center: 'base', right: 'base east' };
const SYMBOLS = { '×': '$\\times$', '·': '$\\cdot$', '…': '\\dots{}' };
/* The typewriter font has all of ASCII at its place. */
const escape = (text) =>
    text.replaceAll(/[\\{}$&#_%~^]|[^ -~]/g, (char) =>
        /[ -~]/.test(char) ? `\\char${char.charCodeAt(0)}{}` : (SYMBOLS[char] ?? '?'),
    );
const at = (x, y) => `(${round(x)},${round(y)})`;

export class TikzContext extends VectorContext {
    constructor() {
        super();
        this.colors = new Map();
    }

    color(rgb) {
        const key = rgb.map(Math.round).join(',');
        if (!this.colors.has(key)) this.colors.set(key, `c${this.colors.size}`);
        return this.colors.get(key);
    }

    box({ x, y, w, h, r }, { fill, stroke, alpha, width }) {
        const how = [
            fill
                ? `fill=${this.color(fill)}`
                : `draw=${this.color(stroke)},line width=${round(0.75 * width)}bp`,
            ...(alpha < 1 ? [`opacity=${round(alpha)}`] : []),
            ...(r ? [`rounded corners=${round(0.75 * r)}bp`] : []),
        ];
        this.out.push(`\\path[${how}] ${at(x, y)} rectangle ${at(x + w, y + h)};`);
    }

    polygon(points, { fill, alpha }) {
        const path = points.map((point) => at(...point)).join(' -- ');
        this.out.push(`\\path[fill=${this.color(fill)},opacity=${round(alpha)}] ${path} -- cycle;`);
    }

    words(text, { x, y, anchor }, { weight, size }, { fill, alpha }) {
        const points = round(0.75 * size);
        const font = `\\fontsize{${points}}{${points}}\\ttfamily${weight > 500 ? '\\bfseries' : ''}\\selectfont`;
        const how = `anchor=${ANCHOR[anchor]},inner sep=0,text=${this.color(fill)},opacity=${round(alpha)},font=${font}`;
        this.out.push(`\\node[${how}] at ${at(x, y)} {${escape(text)}};`);
    }

    image() {
        throw new Error('Zoom in first');
    }

    openClip({ x, y, w, h }) {
        this.out.push(`\\begin{scope}\\clip ${at(x, y)} rectangle ${at(x + w, y + h)};`);
    }
    closeClip() {
        this.out.push('\\end{scope}');
    }

    fileOf() {
        const colors = [...this.colors].map(([rgb, name]) => `\\definecolor{${name}}{RGB}{${rgb}}`);
        const text = [
            '\\RequirePackage{fix-cm} % type of any size',
            '\\documentclass[tikz]{standalone}',
            '\\begin{document}',
            ...colors,
            '\\begin{tikzpicture}[x=0.75bp,y=-0.75bp]',
            ...this.out,
            '\\end{tikzpicture}',
            '\\end{document}',
            '',
        ];
        return new Blob([text.join('\n')], { type: 'application/x-tex' });
    }
}

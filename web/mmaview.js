/* mmaview.js: a tiled MMA on the left; on the right A, B and C, and who holds what of them. */
import { heldCursor } from './cursor.js';
import { byId, h } from './dom.js';
import { Figure } from './figure.js';
import { Holder } from './holder.js';
import { memo } from './memo.js';
import { questionOf } from './mma.js';
import { MmaPanel } from './mmapanel.js';
import { mmaWords } from './mmapicture.js';
import { tvLook } from './tvlook.js';
import { heldWith, pinnedCell } from './tvtile.js';

export class MmaView {
    constructor() {
        this.panel = new MmaPanel();
        this.holder = new Holder('instruction');
        this.figure = new Figure(
            'A, B and C',
            heldCursor('mma', (s) => s.mma?.picture),
            {
                kin: (picture, cell, { by }) => heldWith(picture, cell, by),
                words: mmaWords,
                memory: false,
                axes: this.holder,
            },
        );
        this.lookOf = memo(tvLook);
        this.title = memo((picture) =>
            picture
                ? [
                      h('span', { class: 'figure-text' }, picture.text),
                      h('span', { class: 'dims' }, `${picture.threads} threads`),
                  ]
                : [],
        );
        this.pinned = memo(pinnedCell);
        byId('side-mma').append(this.panel.el);
        byId('mma').append(this.figure.el);
    }

    show(s) {
        const { doc, mma, dark, cursor } = s;
        const picture = mma?.picture ?? null;
        this.panel.show(s);
        this.holder.show(doc, picture);
        this.figure.show({
            picture,
            note: mma?.problem?.message,
            stale: mma?.stale,
            dark,
            table: doc.table,
            cursor: cursor?.figure === 'mma' ? cursor : this.pinned(picture, picture, doc.by, doc.held),
            title: this.title(picture),
            look: this.lookOf(doc.tvlabels, doc.tvcolors, picture?.threads ?? 1, doc.by),
            differ: null,
        });
    }

    /* /render draws what the C++ says, as print_latex does. */
    shareable({ doc, mma }) {
        const picture = mma?.picture;
        const figures = [{ grid: this.figure.grid, name: picture ? `${doc.mma.atom}  ${picture.text}` : '' }];
        const cpp = cppOf(doc.mma);
        return { doc, figures, ask: { path: '/mma', body: questionOf(doc) }, cpp, cute: cpp, render: {} };
    }
}

/* (2,2,1) as Layout<Shape<Int<2>,Int<2>,Int<1>>>, a layout likewise with its stride; null for what is more. */
const INTS = /^\(?[\d_,\s()]*\)?$/;
const cppInts = (text, name) =>
    text
        .replaceAll(/\s/g, '')
        .replaceAll(/_?(\d+)/g, 'Int<$1>')
        .replaceAll('(', `${name}<`)
        .replaceAll(')', '>');

function cppOf({ atom, atom_layout: atoms, permutation }) {
    const [shape, stride = null, more] = atoms.split(':');
    if (more !== undefined || !INTS.test(shape) || !INTS.test(stride ?? '') || !INTS.test(permutation))
        return null;
    const layout = `Layout<${cppInts(shape, 'Shape')}${stride ? `,${cppInts(stride, 'Stride')}` : ''}>`;
    const plain = /^\s*(\(?\s*_\s*(,\s*_\s*){0,2}\)?)\s*$/.test(permutation);
    const tile = plain ? '' : `, ${cppInts(permutation, 'Tile').replaceAll(/_(?=[,>])/g, 'Underscore')}{}`;
    return `make_tiled_mma(${atom}{}, ${layout}{}${tile})`;
}

/* toolbar.js: how the pictures are looked at: labels, colours, what links them. */
import { h, icon } from './dom.js';
import { change, MAX_N, toCount } from './state.js';

/* Fields of the document, each with its label and what it may be. */
const CHOICES = {
    labels: [
        'Labels',
        {
            offset: 'offset',
            index: 'index',
            coord: 'coordinate',
            tv: 'thread, value',
            bank: 'bank',
            none: 'no labels',
        },
    ],
    colors: [
        'Colours',
        {
            offset: 'by offset',
            tile: 'by tile',
            div: 'by offset ÷ N',
            mod: 'by offset mod N',
            mode0: 'by mode 0',
            mode1: 'by mode 1',
            bank: 'by bank',
            grays: 'CuTe, 8 greys',
            hues: 'CuTe, 8 hues',
        },
    ],
    bytes: ['Element', { 1: '1 byte', 2: '2 bytes', 4: '4 bytes', 8: '8 bytes', 16: '16 bytes' }],
    tvlabels: ['Labels', { tv: 'thread, value', thread: 'thread', value: 'value', none: 'no labels' }],
    tvcolors: ['Colours', { thread: 'by thread', value: 'by value', warp: 'by warp', cute: 'CuTe, 8 hues' }],
    link: ['Cursor by', { coord: 'coordinate', index: 'index', offset: 'offset' }],
};

function choice(key, [label, options]) {
    const read = key === 'bytes' ? Number : String;
    const edit = () => change((s) => (s.doc[key] = read(input.value)));
    const input = h(
        'select',
        { name: key, onchange: edit },
        Object.entries(options).map(([value, words]) => h('option', { value }, words)),
    );
    return { el: h('label', { class: 'choice' }, h('span', {}, label), input), input };
}

function number(key, label) {
    const edit = () => change((s) => (s.doc[key] = toCount(input.value, s.doc[key])));
    const input = h('input', { name: key, type: 'number', min: '1', max: String(MAX_N), oninput: edit });
    return { el: h('label', { class: 'choice' }, h('span', {}, label), input), input };
}

function toggle(name, label, edit) {
    const onclick = () => change((s) => edit(s.doc));
    return h(
        'button',
        { type: 'button', class: 'quiet text', 'aria-pressed': 'false', title: label, onclick },
        icon(name),
        h('span', {}, label),
    );
}

export class Toolbar {
    constructor() {
        this.fields = Object.fromEntries(
            Object.entries(CHOICES).map(([key, row]) => [key, choice(key, row)]),
        );
        this.fields.n = number('n', 'N');
        this.trace = toggle('steps', 'Steps', (doc) => (doc.trace = doc.trace === null ? 0 : null));
        this.table = toggle('table', 'Table', (doc) => (doc.table = !doc.table));
        const { labels, colors, n, bytes, link, tvlabels, tvcolors } = this.fields;
        const order = [labels, colors, n, bytes, link, tvlabels, tvcolors].map(({ el }) => el);
        const toggles = h('div', { class: 'toggles' }, this.trace, this.table);
        this.legend = h('div', { id: 'legend' }); /* of a view that has one */
        const parts = [order, this.legend, toggles].flat();
        this.el = h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Picture' }, parts);
    }

    show({ doc }) {
        for (const [key, { input }] of Object.entries(this.fields))
            if (document.activeElement !== input || input.tagName === 'SELECT')
                input.value = String(doc[key]);
        const layout = doc.view === 'layout';
        const { labels, colors, n, bytes, link, tvlabels, tvcolors } = this.fields;
        tvlabels.el.hidden = tvcolors.el.hidden = !(doc.view === 'copy' || doc.view === 'mma');
        labels.el.hidden = colors.el.hidden = bytes.el.hidden = !layout;
        n.el.hidden = !layout || !(doc.labels === 'tv' || doc.colors === 'div' || doc.colors === 'mod');
        link.el.hidden = !layout || doc.panes.length < 2;
        this.table.setAttribute('aria-pressed', String(doc.table));
        this.trace.setAttribute('aria-pressed', String(doc.trace !== null));
        this.trace.hidden = !layout;
        this.el.classList.toggle('crowded', layout && doc.panes.length > 1);
        this.legend.hidden = doc.view !== 'access';
        this.el.hidden = doc.view === 'jobs';
    }
}

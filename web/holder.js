/* holder.js: whose elements are lit: a thread's, a warp's, one value of all threads, or one
 * instruction's; with a stepper that goes from one to the next, through time by instructions. */
import { h, setText } from './dom.js';
import { change } from './state.js';

const BY = { thread: 'thread', warp: 'warp', value: 'value of each thread' };

export class Holder {
    /* instruction: what one is */
    constructor(instruction) {
        const choose = () =>
            change(({ doc }) => Object.assign(doc, { by: this.by.value, held: doc.held && 0 }));
        this.by = h(
            'select',
            { name: 'by', onchange: choose },
            Object.entries({ ...BY, instruction }).map(([value, words]) => h('option', { value }, words)),
        );
        this.at = h('input', {
            name: 'held',
            type: 'number',
            min: '0',
            placeholder: '–',
            'aria-label': 'Which',
            oninput: () => this.put(this.at.value === '' ? null : Number(this.at.value)),
        });
        this.of = h('output', {});
        const button = (label, text, run) =>
            h('button', { type: 'button', class: 'quiet', 'aria-label': label, onclick: run }, text);
        this.clear = h(
            'button',
            { type: 'button', class: 'quiet text', title: 'Light nothing', onclick: () => this.put(null) },
            'Clear',
        );
        this.el = h(
            'div',
            { class: 'axes holder', role: 'group', 'aria-label': 'Who holds it' },
            h('label', { class: 'choice' }, h('span', {}, 'Light up'), this.by),
            h(
                'span',
                { class: 'stepper' },
                button('One back ([)', '‹', () => this.step(null, -1)),
                this.at,
                button('One on (])', '›', () => this.step(null, 1)),
            ),
            this.of,
            this.clear,
        );
    }

    /* holders: {count(by), instructionWords(nth)}, or null while there are none */
    show(doc, holders) {
        this.n = holders?.count(doc.by) ?? 0;
        this.now = doc.held;
        this.by.value = doc.by;
        const text = doc.held === null ? '' : String(doc.held);
        if (this.at.value !== text) this.at.value = text;
        this.at.max = String(Math.max(0, this.n - 1));
        const more = doc.by === 'instruction' && doc.held < this.n && doc.held !== null;
        setText(this.of, holders ? `of ${this.n}${more ? holders.instructionWords(doc.held) : ''}` : '');
        this.clear.hidden = doc.held === null;
    }

    put(at) {
        this.now = at === null || at < 0 || at >= this.n ? null : Math.floor(at);
        change(({ doc }) => (doc.held = this.now));
    }

    /* Round and round; clicks may come faster than frames. */
    step(mode, by) {
        if (!this.n) return;
        this.put(this.now === null ? (by > 0 ? 0 : this.n - 1) : (this.now + by + this.n) % this.n);
    }
}

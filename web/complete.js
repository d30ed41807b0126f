/* complete.js: the list of names under the caret. It opens by itself after two letters, and on Ctrl+Space. */
import { announce, h } from './dom.js';
import { signature } from './ops.js';
import { wordBefore } from './text.js';

const LETTERS = 2;
const SHOWN = 7; /* without scrolling */

/* Better first: a prefix, a part at the start of a word of the name (prod in blocked_product), letters in
 * order. */
function score(name, typed) {
    const low = name.toLowerCase();
    const want = typed.toLowerCase();
    if (low.startsWith(want)) return 3;
    if (low.includes(`_${want}`)) return 2;
    let at = -1;
    for (const char of want) if ((at = low.indexOf(char, at + 1)) < 0) return 0;
    return want.length > 2 ? 1 : 0;
}

export class Completion {
    constructor(editor) {
        this.editor = editor;
        this.list = h('ul', {
            class: 'completion',
            role: 'listbox',
            id: `${editor.area.id}-completion`,
            'aria-label': 'Completions',
            hidden: true,
        });
        editor.area.setAttribute('aria-controls', this.list.id);
        editor.box.append(this.list);
        this.items = [];
        this.list.addEventListener('pointerdown', (event) => {
            event.preventDefault(); /* the textarea keeps the focus */
            const at = [...this.list.children].indexOf(event.target.closest('li'));
            if (at >= 0) this.accept(at);
        });
    }

    get open() {
        return !this.list.hidden;
    }

    update(asked = false) {
        const { area, shown } = this.editor;
        const word =
            wordBefore(area.value, area.selectionStart) ??
            (asked ? { text: '', at: area.selectionStart, end: area.selectionStart } : null);
        if (!word || !shown || (!asked && word.text.length < LETTERS)) return this.close();
        this.word = word;
        this.items = this.matches(word.text, shown);
        if (!this.items.length || (!asked && this.items.length === 1 && this.items[0].name === word.text))
            return this.close();
        return this.show();
    }

    matches(typed, { ops, names }) {
        const known = [...names.map((name) => ({ name, doc: 'a name of this program' })), ...ops.values()];
        return known
            .map((op) => ({ ...op, score: typed ? score(op.name, typed) : 1 }))
            .filter((op) => op.score)
            .sort((a, b) => b.score - a.score || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
            .slice(0, SHOWN);
    }

    show() {
        const id = this.list.id;
        this.list.replaceChildren(
            ...this.items.map((op, i) =>
                h(
                    'li',
                    { role: 'option', id: `${id}-${i}` },
                    h('code', {}, op.params ? signature(op) : op.name),
                    h('span', { class: 'doc' }, op.doc ?? ''),
                ),
            ),
        );
        this.list.hidden = false;
        const { x, y } = this.editor.placeOf(this.word.at);
        this.list.style.top = `${y + 4}px`;
        const room = this.editor.box.clientWidth - this.list.offsetWidth;
        this.list.style.left = `${Math.max(0, Math.min(x, room))}px`;
        this.select(0);
        announce(`${this.items.length} completions, ${this.items[0].name} first`);
    }

    select(at) {
        this.at = (at + this.items.length) % this.items.length;
        [...this.list.children].forEach((li, i) => li.setAttribute('aria-selected', String(i === this.at)));
        this.editor.area.setAttribute('aria-activedescendant', `${this.list.id}-${this.at}`);
    }

    close() {
        this.list.hidden = true;
        this.editor.area.removeAttribute('aria-activedescendant');
    }

    accept(at) {
        const op = this.items[at];
        const { area } = this.editor;
        const call = op.params && area.value[this.word.end] !== '(';
        this.editor.replace(this.word.at, this.word.end, call ? `${op.name}()` : op.name);
        if (call) area.setSelectionRange(area.selectionStart - 1, area.selectionStart - 1);
        this.close();
        this.editor.help();
    }

    /* True when the key was for the list. */
    key(event) {
        if (event.key === ' ' && event.ctrlKey) {
            this.update(true);
            return true;
        }
        if (!this.open) return false;
        const run = {
            ArrowDown: () => this.select(this.at + 1),
            ArrowUp: () => this.select(this.at - 1),
            Enter: () => this.accept(this.at),
            Tab: () => this.accept(this.at),
            Escape: () => this.close(),
        }[event.altKey || event.shiftKey ? '' : event.key];
        if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) this.close();
        run?.();
        return Boolean(run);
    }
}

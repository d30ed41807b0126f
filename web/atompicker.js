/* atompicker.js: a field for the name of an atom, with the atoms whose names hold all the words that are typed:
 *
 *     sm80 f16 16x8x16     finds SM80_16x8x16_F32F16F16F32_TN among two and a half thousand */
import { h } from './dom.js';
import { Field } from './field.js';

const SHOWN = 60;

export class AtomPicker extends Field {
    /* names(): a promise of all of them */
    constructor(id, label, name, input, names) {
        super(id, label, name, input);
        this.names = names;
        this.put = input;
        this.count = h('p', { class: 'hint picker-count' });
        this.options = h('ul', { class: 'options', role: 'listbox', id: `${id}-list`, 'aria-label': label });
        this.list = h('div', { class: 'picker', hidden: true }, this.count, this.options);
        const more = { role: 'combobox', 'aria-expanded': 'false', 'aria-controls': this.options.id };
        for (const [key, value] of Object.entries(more)) this.input.setAttribute(key, value);
        this.input.setAttribute('aria-autocomplete', 'list');
        this.input.after(this.list);
        this.input.addEventListener('focus', () => this.open(''));
        this.input.addEventListener('input', () => this.open(this.input.value));
        this.input.addEventListener('blur', () => this.close());
        this.input.addEventListener('keydown', (event) => this.key(event));
        this.list.addEventListener('pointerdown', (event) => {
            event.preventDefault(); /* the field keeps the focus */
            const option = event.target.closest('li');
            if (option) this.choose(option.textContent);
        });
    }

    async open(text) {
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        const all = await this.names();
        if (document.activeElement !== this.input) return;
        const found = all.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
        const seen = this.around(found);
        this.count.textContent = `${found.length.toLocaleString('en')} of ${all.length.toLocaleString('en')} atoms`;
        this.options.replaceChildren(
            ...seen.map((name, i) => h('li', { role: 'option', id: `${this.options.id}-${i}` }, name)),
        );
        this.list.hidden = false;
        this.input.setAttribute('aria-expanded', 'true');
        this.select(Math.max(0, seen.indexOf(this.input.value)));
    }

    /* The first of them, or those about the one that is chosen. */
    around(found) {
        const at = Math.max(0, found.indexOf(this.input.value) - SHOWN / 4);
        return found.slice(at, at + SHOWN);
    }

    close() {
        this.list.hidden = true;
        this.input.setAttribute('aria-expanded', 'false');
        this.input.removeAttribute('aria-activedescendant');
    }

    choose(name) {
        this.input.value = name;
        this.put(name);
        this.close();
    }

    select(at) {
        const options = [...this.options.children];
        if (!options.length) return;
        this.at = (at + options.length) % options.length;
        options.forEach((option, i) => option.setAttribute('aria-selected', String(i === this.at)));
        options[this.at].scrollIntoView({ block: 'nearest' });
        this.input.setAttribute('aria-activedescendant', options[this.at].id);
    }

    key(event) {
        if (this.list.hidden) return;
        const run = {
            ArrowDown: () => this.select(this.at + 1),
            ArrowUp: () => this.select(this.at - 1),
            Enter: () =>
                this.options.children.length && this.choose(this.options.children[this.at].textContent),
            Escape: () => this.close(),
        }[event.key];
        if (!run) return;
        event.preventDefault();
        run();
    }
}

/* field.js: a labelled line of text in a form, with what is wrong with it beneath.
 *
 *   const thr = new Field('copy-thr', 'Threads', 'thr', (text) => edit(text));   thr.show('(4,2):(2,1)', problem)
 */
import { h, setText } from './dom.js';
import { unitAt } from './text.js';

export class Field {
    /* name: of the field in the spec, shown beside the label; options: texts to choose from */
    constructor(id, label, name, input, options = null) {
        const list = options && `${id}-options`;
        this.input = h('input', {
            id,
            name,
            list,
            spellcheck: 'false',
            autocomplete: 'off',
            autocapitalize: 'off',
            'aria-describedby': `${id}-error`,
            oninput: () => input(this.input.value),
        });
        this.error = h('p', { class: 'problem', id: `${id}-error`, hidden: true });
        this.el = h(
            'div',
            { class: 'field', 'data-field': name },
            h('label', { for: id }, label, h('code', {}, name)),
            this.input,
            options &&
                h(
                    'datalist',
                    { id: list },
                    options.map((value) => h('option', { value })),
                ),
            this.error,
        );
    }

    /* problem: {message, position} or null; where it has a place in the text, that is selected */
    show(value, problem) {
        const { input, error } = this;
        if (input.value !== value) input.value = value;
        error.hidden = !problem;
        setText(error, problem?.message ?? '');
        input.setAttribute('aria-invalid', String(Boolean(problem)));
        if (problem?.position && document.activeElement !== input) {
            const { start, end } = problem.position;
            input.setSelectionRange(unitAt(value, start), unitAt(value, end));
        }
    }
}

/* Buttons that fill a form: [[title, edit]], use(edit). */
export function presetButtons(label, list, use) {
    const button = ([title, edit]) =>
        h('button', { type: 'button', class: 'quiet text', onclick: () => use(edit) }, title);
    return h('div', { class: 'presets', role: 'group', 'aria-label': label }, list.map(button));
}

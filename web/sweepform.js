/* sweepform.js: the same partition many times, with one field varied: its values, one a line. */
import { h, setText } from './dom.js';
import { submit } from './jobs.js';
import { state, step } from './state.js';

export class SweepForm {
    /* specOf(doc): the base; fields: names of what may vary */
    constructor(specOf, fields) {
        this.specOf = specOf;
        const id = `sweep-${fields.join('')}`;
        this.field = h(
            'select',
            { 'aria-label': 'Varied field' },
            fields.map((name) => h('option', { value: name }, name)),
        );
        this.values = h('textarea', { id, rows: '4', spellcheck: 'false', placeholder: 'one value a line' });
        this.problem = h('p', { class: 'problem', role: 'status', hidden: true });
        this.el = h(
            'details',
            { class: 'more sweep-form' },
            h('summary', {}, 'Run many: a sweep'),
            h('div', { class: 'choice' }, h('label', { for: id }, 'Vary'), this.field),
            this.values,
            this.problem,
            h('button', { type: 'button', onclick: () => this.send() }, 'Run the sweep'),
        );
        this.field.addEventListener('change', () => this.suggest());
        this.el.addEventListener('toggle', () => this.values.value === '' && this.suggest());
    }

    /* The value that stands in the form, to be followed by others. */
    suggest() {
        const value = this.specOf(state.doc)[this.field.value] ?? '';
        this.values.value = typeof value === 'string' ? `${value}\n` : '';
    }

    async send() {
        const lines = this.values.value.split('\n').map((line) => line.trim());
        const values = lines.filter(Boolean).map((text) => (/^-?\d{1,9}$/.test(text) ? Number(text) : text));
        const vary = { [this.field.value]: values };
        try {
            const { job } = await submit({ kind: 'sweep', base: this.specOf(state.doc), vary });
            this.problem.hidden = true;
            step(({ doc }) => Object.assign(doc, { view: 'jobs', job: job.id, versus: null, part: null }));
        } catch (problem) {
            this.problem.hidden = false;
            setText(this.problem, problem.message);
        }
    }
}

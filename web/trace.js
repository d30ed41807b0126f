/* trace.js: how an answer comes about: the daemon's derivation, a step a line, what a step needs above it.
 *
 *     1   complement        the gaps, and what follows ...     (2,3):(3,1)  24  ->  4:6
 *   2   blocked_product     A(i) + complement(A)(B(j))         ...
 *
 * Every layout of a step is a button that puts it into the picture. */
import { h, icon } from './dom.js';
import { drawable, operandId, resultId } from './evaluate.js';
import { modeNodes } from './pane.js';
import { thumbOf } from './thumb.js';

const FIRST_STEPS = 60; /* each has its small pictures; more are one click away */

export class TracePanel {
    /* on: {pick(id), pane(index), close()} */
    constructor(on) {
        this.on = on;
        this.panes = h('div', { class: 'chips', role: 'group', 'aria-label': 'Derivation of' });
        this.steps = h('ol', { class: 'steps' });
        this.more = h('button', { type: 'button', class: 'more-steps', hidden: true });
        this.more.addEventListener('click', () => this.fill(Infinity));
        this.el = h(
            'section',
            { class: 'trace', 'aria-label': 'Derivation' },
            h(
                'header',
                {},
                h('h2', {}, 'How it comes about'),
                this.panes,
                h(
                    'button',
                    {
                        type: 'button',
                        class: 'quiet',
                        'aria-label': 'Close the derivation',
                        onclick: on.close,
                    },
                    icon('close'),
                ),
            ),
            h('div', { class: 'trace-body' }, this.steps, this.more),
        );
    }

    /* letters: of the panes there are; at: whose derivation it is */
    show({ answer, pick, dark, letters, at }) {
        const key = `${letters} ${at}`;
        if (key !== this.key) this.panes.replaceChildren(...this.chips(letters, at));
        this.key = key;
        const last = this.shown;
        this.shown = { trace: answer?.trace, pick, dark };
        const other = !last || last.trace !== answer?.trace || last.dark !== dark;
        if (other) this.fill(FIRST_STEPS);
        for (const button of this.steps.querySelectorAll('button'))
            button.setAttribute('aria-pressed', String(button.dataset.id === pick));
    }

    chips(letters, at) {
        if (letters.length < 2) return [];
        return [...letters].map((letter, i) =>
            h(
                'button',
                {
                    type: 'button',
                    class: 'chip',
                    'aria-label': `Expression ${letter}`,
                    'aria-pressed': String(i === at),
                    onclick: () => this.on.pane(i),
                },
                letter,
            ),
        );
    }

    fill(limit) {
        const { trace, pick } = this.shown;
        const shown = (trace ?? []).slice(0, limit);
        const left = (trace?.length ?? 0) - shown.length;
        this.steps.replaceChildren(
            ...(trace?.length
                ? shown.map((step, i) => this.step(step, i, pick))
                : [h('li', { class: 'hint' }, trace ? 'There is nothing to derive.' : 'No answer yet.')]),
        );
        this.more.hidden = left <= 0;
        this.more.textContent = `${left} more steps`;
    }

    step({ rule, text, depth, operands, result }, i, pick) {
        const part = (name, node) => h('div', { class: 'part' }, h('span', { class: 'operand' }, name), node);
        const parts = operands.map((operand, k) =>
            part(operand.name ?? '', this.value(operand, operandId(i, k), pick)),
        );
        const li = h(
            'li',
            { class: 'step' },
            h('p', { class: 'step-rule' }, h('code', {}, rule), h('span', {}, text)),
            h('div', { class: 'step-values' }, parts, part('gives', this.value(result, resultId(i), pick))),
        );
        li.style.setProperty('--depth', String(Math.min(depth, 8)));
        return li;
    }

    value(value, id, pick) {
        if (!drawable(value)) return h('code', { class: 'plain' }, value.text ?? value.cute);
        return h(
            'button',
            {
                type: 'button',
                'aria-pressed': String(id === pick),
                'data-id': id,
                title: 'Show this in the picture',
                onclick: () => this.on.pick(id === this.shown.pick ? null : id),
            },
            thumbOf(value, this.shown.dark),
            h('code', {}, modeNodes(value, value.cute)),
        );
    }
}

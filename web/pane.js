/* pane.js: one expression on the left side: its editor, the refusal or the result, and every value that it
 * names. */
import { Checks } from './checks.js';
import { copyButton, h, icon } from './dom.js';
import { Editor } from './editor.js';
import { drawable, namedValues } from './evaluate.js';
import { modePieces, unitAt } from './text.js';
import { thumbOf } from './thumb.js';
import { formButtons } from './tiled.js';

export const LETTERS = 'ABCD';

export class Pane {
    /* on: {input(text), pick(id or null), remove(), show(index), compare(expr), integers(how)} */
    constructor(index, on) {
        this.on = on;
        this.letter = LETTERS[index];
        this.editor = new Editor(`Expression ${this.letter}`, `expr-${this.letter}`, on);
        this.chip = h('span', { class: 'chip', 'aria-hidden': 'true' }, this.letter);
        this.remove = h(
            'button',
            {
                type: 'button',
                class: 'quiet',
                title: 'Remove',
                'aria-label': `Remove expression ${this.letter}`,
                onclick: () => on.remove(),
            },
            icon('close'),
        );
        this.head = h('header', { class: 'pane-head' }, this.chip, this.remove);
        this.problem = h('div', {
            class: 'problem',
            role: 'status',
            id: `expr-${this.letter}-problem`,
            hidden: true,
        });
        this.result = h('div', { class: 'result' });
        this.forms = h('p', { class: 'forms', hidden: true });
        this.checks = new Checks(on);
        this.names = h('ul', { class: 'names', 'aria-label': 'Named values', hidden: true });
        this.el = h(
            'section',
            { class: 'pane', 'aria-label': `Expression ${this.letter}` },
            this.head,
            this.editor.el,
            this.problem,
            this.forms,
            this.result,
            this.checks.el,
            this.names,
        );
    }

    show({ text, pick, pane = {}, ops, many, dark }) {
        const last = this.shown ?? {};
        const { answer, problem, stale, busy } = pane;
        this.shown = { answer, problem, pick, dark };
        this.head.hidden = !many;
        this.el.classList.toggle('busy', Boolean(busy));
        this.result.classList.toggle('stale', Boolean(stale));
        const named = namedValues(answer);
        const names = named.filter(({ print }) => !print).map(({ id }) => id);
        this.editor.show({
            text,
            problem: problem?.position ? problem : null,
            refused: Boolean(problem),
            ops,
            names,
        });
        if (problem !== last.problem) this.showProblem(problem, text);
        if (answer !== last.answer) this.showAnswer(answer);
        this.checks.show({ answer, stale });
        if (['answer', 'pick', 'dark'].some((key) => this.shown[key] !== last[key]))
            this.showNames(named, pick, answer, dark);
    }

    showAnswer(answer) {
        const forms = formButtons(answer);
        this.result.replaceChildren(...resultNodes(answer));
        this.forms.replaceChildren(...forms);
        this.forms.hidden = !forms.length;
    }

    showProblem(problem, text) {
        this.problem.hidden = !problem;
        if (!problem) return this.problem.replaceChildren();
        const meant = /did you mean '([^']+)'/.exec(problem.message)?.[1];
        const fix =
            meant &&
            problem.position &&
            h(
                'button',
                {
                    type: 'button',
                    class: 'fix',
                    onclick: () => {
                        const { start, end } = problem.position;
                        this.editor.replace(unitAt(text, start), unitAt(text, end), meant);
                    },
                },
                `Use ${meant}`,
            );
        return this.problem.replaceChildren(
            h('code', { class: 'code' }, problem.code.replaceAll('_', ' ')),
            h('p', {}, problem.message),
            ...(fix ? [fix] : []),
        );
    }

    showNames(named, pick, answer, dark) {
        this.names.hidden = !named.length;
        const row = (id, label, value, title) =>
            h(
                'li',
                {},
                h(
                    'button',
                    {
                        type: 'button',
                        'aria-pressed': String(pick === id),
                        disabled: !drawable(value),
                        title,
                        onclick: () => this.on.pick(id),
                    },
                    thumbOf(value, dark),
                    h('code', { class: 'name' }, label),
                    h('code', { class: 'value' }, value.text),
                ),
            );
        this.names.replaceChildren(
            ...(named.length ? [row(null, 'result', answer, 'The value of the program')] : []),
            ...named.map(({ id, label, value, print }) =>
                row(id, print ? `print(${label})` : label, value, value.cute),
            ),
        );
    }
}

/* Text with its modes coloured as rows and columns are in the picture, or would be in the usual one. */
export function modeNodes(value, text = value.text, picture = null) {
    if (!drawable(value)) return [text];
    const pieces = modePieces(text);
    const single = pieces.every(({ mode }) => !mode);
    const sideOf = (mode) => picture?.sideOf(mode) ?? (mode === 0 && !single ? 'row' : 'col');
    return pieces.map((piece) =>
        piece.mode === null ? piece.text : h('span', { class: sideOf(piece.mode) }, piece.text),
    );
}

function resultNodes(answer) {
    if (!answer) return [];
    const value = answer.value ?? {};
    const facts = ['size', 'cosize', 'rank', 'depth'].filter(
        (key) => value[key] !== undefined && value[key] !== null,
    );
    const line = (label, name, nodes, text) =>
        h(
            'div',
            { class: `line ${name}` },
            h('span', { class: 'label' }, label),
            h('output', {}, ...nodes),
            copyButton(`Copy as ${label}`, () => text),
        );
    return [
        line(answer.type.replaceAll('_', ' '), 'text', modeNodes(answer), answer.text),
        line('CuTe', 'cute', [answer.cute], answer.cute),
        facts.length
            ? h(
                  'dl',
                  { class: 'facts' },
                  facts.map((key) => h('div', {}, h('dt', {}, key), h('dd', {}, String(value[key])))),
              )
            : null,
    ].filter(Boolean);
}

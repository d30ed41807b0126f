/* ops.js: the daemon's table of operations, for completion, signatures and the reference. */
import { get } from './api.js';
import { h } from './dom.js';
import { change } from './state.js';

export async function loadOps() {
    const { ops } = await get('/ops');
    change((s) => {
        s.ops = new Map(ops.map((op) => [op.name, op]));
    });
}

const parameter = (param) => `${param.name}${param.optional ? '?' : ''}${param.variadic ? '...' : ''}`;

export const signature = (op) =>
    `${op.name}${op.template_params ?? ''}(${op.params.map(parameter).join(', ')})`;

/* The signature with one argument marked, and what the operation does. */
export function signatureNodes(op, argument) {
    const at = Math.min(argument, op.params.length - 1);
    const params = op.params.flatMap((param, i) => [
        i ? ', ' : '',
        i === at && (i === argument || param.variadic) ? h('b', {}, parameter(param)) : parameter(param),
    ]);
    return [
        h('code', {}, `${op.name}${op.template_params ?? ''}(`, ...params, ')'),
        h('span', {}, ` ${op.doc ?? ''}`),
    ];
}

/* ---- the reference, a dialog --------------------------------------------------------------------------- */

function entry(op, use) {
    return h(
        'li',
        {},
        h('h3', {}, h('code', {}, signature(op))),
        h('p', {}, op.doc ?? ''),
        op.law ? h('p', { class: 'law' }, op.law) : null,
        op.example
            ? h(
                  'button',
                  {
                      type: 'button',
                      class: 'example',
                      title: 'Put this into the editor',
                      onclick: () => use(op.example),
                  },
                  h('code', {}, op.example),
                  h('span', {}, ' = '),
                  h('code', {}, op.result ?? ''),
              )
            : null,
    );
}

/* A dialog that lists what contains the words that are typed; use(example) closes it. */
export class Reference {
    constructor(use) {
        this.search = h('input', {
            type: 'search',
            placeholder: 'Search operations',
            'aria-label': 'Search operations',
            autofocus: true,
        });
        this.list = h('ul', { class: 'reference' });
        this.el = h(
            'dialog',
            { class: 'dialog', 'aria-label': 'Operations' },
            h(
                'header',
                {},
                this.search,
                h('button', { type: 'button', class: 'quiet text', onclick: () => this.el.close() }, 'Close'),
            ),
            this.list,
        );
        this.use = (example) => {
            this.el.close();
            use(example);
        };
        this.search.addEventListener('input', () => this.fill());
        this.el.addEventListener('click', (event) => event.target === this.el && this.el.close());
    }

    open(ops) {
        this.ops = ops;
        this.fill();
        this.el.showModal();
    }

    fill() {
        const words = this.search.value.toLowerCase().split(/\s+/);
        const hit = (op) =>
            words.every((word) => `${op.name} ${op.doc} ${op.law ?? ''}`.toLowerCase().includes(word));
        const found = [...this.ops.values()].filter(hit);
        this.list.replaceChildren(
            ...(found.length
                ? found.map((op) => entry(op, this.use))
                : [h('li', {}, 'No operation has these words.')]),
        );
    }
}

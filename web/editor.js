/* editor.js: a textarea with its own text, coloured, lying under it. The textarea keeps what browsers and
 * screen readers do well (undo, selection, input methods); its letters are transparent, and the ink below
 * wraps exactly as it does.
 *
 * The ink ends with one more space than the text, so that there is something to underline where text is
 * missing. */
import { h } from './dom.js';
import { Completion } from './complete.js';
import { callAround, tokens, unitAt } from './text.js';
import { signatureNodes } from './ops.js';

export class Editor {
    /* on: {input(text)}; label names it for screen readers */
    constructor(label, id, on) {
        this.on = on;
        this.ink = h('pre', { class: 'ink', 'aria-hidden': 'true' });
        this.area = h('textarea', {
            id,
            class: 'area',
            rows: '1',
            spellcheck: 'false',
            autocapitalize: 'off',
            autocomplete: 'off',
            autocorrect: 'off',
            'aria-label': label,
            'aria-describedby': `${id}-problem`,
            'aria-autocomplete': 'list',
            'aria-haspopup': 'listbox',
        });
        this.signature = h('p', { class: 'signature' });
        this.box = h('div', { class: 'editor' }, this.ink, this.area);
        this.completion = new Completion(this);
        this.el = h('div', { class: 'editor-block' }, this.box, this.signature);
        this.area.addEventListener('input', () => this.typed());
        this.area.addEventListener('keydown', (event) => this.key(event));
        this.area.addEventListener('blur', () => this.completion.close());
        for (const event of ['keyup', 'click', 'focus']) this.area.addEventListener(event, () => this.help());
    }

    /* problem: {position} in bytes of the text, or null; refused: with a position or without; names: the
     * program's own */
    show({ text, problem, refused, ops, names }) {
        const last = this.shown ?? {};
        this.shown = { text, problem, ops, names };
        if (this.area.value !== text) this.area.value = text;
        this.area.setAttribute('aria-invalid', String(refused));
        if (last.text === text && last.problem === problem && last.ops === ops) return;
        this.ink.replaceChildren(...inkOf(text, ops, errorSpan(text, problem)));
        if (last.ops !== ops) this.help();
    }

    typed() {
        this.on.input(this.area.value);
        this.completion.update();
        this.help();
    }

    /* Replace [from, to) as if it had been typed, so that undo knows it. */
    replace(from, to, text) {
        this.area.focus();
        this.area.setSelectionRange(from, to);
        if (!document.execCommand('insertText', false, text)) {
            this.area.setRangeText(text, from, to, 'end');
            this.typed();
        }
    }

    key(event) {
        if (this.completion.key(event)) return event.preventDefault();
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (event.altKey && by && this.nudge(by)) event.preventDefault();
        return undefined;
    }

    /* Alt and an arrow count the number at the caret up or down: the picture follows. */
    nudge(by) {
        const { value, selectionStart: caret } = this.area;
        for (const match of value.matchAll(/-?\d+/g)) {
            const from = match.index;
            const to = from + match[0].length;
            if (caret < from || caret > to) continue;
            const next = String(BigInt(match[0]) + BigInt(by));
            this.replace(from, to, next);
            this.area.setSelectionRange(from, from + next.length);
            this.completion.close();
            return true;
        }
        return false;
    }

    /* The signature of the call that the caret is in. */
    help() {
        const call = callAround(this.area.value, this.area.selectionStart);
        const op = call && this.shown?.ops.get(call.name);
        const key = op ? `${op.name} ${call.argument}` : '';
        if (key === this.helped) return;
        this.helped = key;
        this.signature.replaceChildren(...(op ? signatureNodes(op, call.argument) : []));
    }

    /* Where the ink has the unit at `at`, relative to the box: for the popup. */
    placeOf(at) {
        const walker = document.createTreeWalker(this.ink, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; at -= node.length, node = walker.nextNode()) {
            if (at >= node.length) continue;
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at);
            const box = this.box.getBoundingClientRect();
            const rect = range.getBoundingClientRect();
            return { x: rect.left - box.left, y: rect.bottom - box.top };
        }
        return { x: 0, y: this.box.clientHeight };
    }
}

/* The units that an error underlines: at least one, the space after the text when it misses something. */
function errorSpan(text, problem) {
    if (!problem?.position) return null;
    const from = Math.min(text.length, unitAt(text, problem.position.start));
    return { from, to: Math.max(from + 1, unitAt(text, problem.position.end)) };
}

const DEPTHS = 4;

function inkOf(text, ops, error) {
    let depth = 0;
    const pieces = [...tokens(text, (name) => ops.has(name)), { kind: 'space', text: ' ', at: text.length }];
    return pieces.flatMap((token) => {
        if (token.kind === 'close') depth = Math.max(0, depth - 1);
        const kind =
            token.kind === 'open' || token.kind === 'close' ? `bracket depth${depth % DEPTHS}` : token.kind;
        if (token.kind === 'open') depth++;
        return cut(token, error).map(({ part, wrong }) =>
            h('span', { class: wrong ? `${kind} wrong` : kind }, part),
        );
    });
}

/* A token in pieces that are wholly inside or wholly outside the error. */
function cut({ text, at }, error) {
    const from = error ? Math.min(text.length, Math.max(0, error.from - at)) : text.length;
    const to = error ? Math.min(text.length, Math.max(from, error.to - at)) : text.length;
    return [
        { part: text.slice(0, from) },
        { part: text.slice(from, to), wrong: true },
        { part: text.slice(to) },
    ].filter(({ part }) => part);
}

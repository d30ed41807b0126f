/* checks.js: is it right? What the daemon found when it looked at the law of an answer, point by point.
 *
 * A calm line when all is well, a warning with the first counterexample when it is not: CuTe accepts
 * compositions whose result is another function. Nothing is judged here; the words are the daemon's. */
import { h, icon } from './dom.js';
import { sizeOf } from './shape.js';
import { lastStatement } from './text.js';

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
const many = (n) => n.toLocaleString('en');

export class Checks {
    /* on: {show(index of a cell of the answer), compare(expr), integers(how)} */
    constructor(on) {
        this.on = on;
        this.el = h('div', { class: 'checks', role: 'status', hidden: true });
    }

    show({ answer, text, stale }) {
        this.el.classList.toggle('stale', Boolean(stale));
        if (answer === this.answer) return;
        this.answer = answer;
        const nodes = answer?.checks ? this.nodes(answer, text) : [];
        this.el.hidden = !nodes.length;
        this.el.replaceChildren(...nodes);
    }

    nodes(answer, text) {
        const { laws, static_reading: reading } = answer.checks;
        const broken = laws.filter(({ holds }) => !holds);
        const kept = laws.length ? heldNode(laws, broken.length) : null;
        return [
            ...(broken.length ? [this.warning(broken, answer, text)] : [kept]),
            reading && !broken.length ? this.reading(reading) : null,
        ].filter(Boolean);
    }

    warning(broken, answer, text) {
        const { advice, true_function: truth, static_reading: reading } = answer.checks;
        const layout = truth && truth !== 'none' ? truth.replace(/^(mode \d+: )+/, '') : null;
        const action = (label, run) => h('button', { type: 'button', onclick: run }, label);
        return h(
            'div',
            { class: 'check bad' },
            h(
                'p',
                { class: 'check-title' },
                icon('warn'),
                'Look twice: CuTe accepts this, but its law fails',
            ),
            broken.map((check) => this.counterexample(check, answer, text)),
            advice ? h('p', { class: 'advice' }, sentence(advice)) : null,
            layout ? h('p', {}, 'The layout with the true values is ', h('code', {}, truth)) : null,
            reading ? this.reading(reading, advice) : null,
            layout ? action('Compare with it', () => this.on.compare(layout)) : null,
        );
    }

    counterexample({ law, counterexample: { at, gives, should } }, answer, text) {
        const index = placeOf(law, at, answer, text);
        const place = h('code', {}, `at ${at}`);
        const show = () => this.on.show(index);
        return h(
            'div',
            { class: 'counterexample' },
            h('p', { class: 'law' }, law),
            h(
                'p',
                {},
                index === null
                    ? place
                    : h(
                          'button',
                          { type: 'button', class: 'link', title: 'Show this cell', onclick: show },
                          place,
                      ),
                ' it gives ',
                h('b', {}, gives),
                ', and should give ',
                h('b', {}, should),
            ),
        );
    }

    /* What other integers would make of the same text; told once. */
    reading(reading, advice = '') {
        const refused = reading.startsWith('refused');
        const read = () => this.on.integers('static');
        return h(
            'p',
            { class: 'reading' },
            ...(advice?.includes(reading)
                ? []
                : [
                      'With static integers it is ',
                      refused ? reading : h('code', {}, reading),
                      refused ? '. ' : ' ',
                  ]),
            h('button', { type: 'button', class: 'link', onclick: read }, 'Read it so'),
        );
    }
}

/* The points that were looked at, of all the laws. */
function heldNode(laws) {
    const looked = Math.min(...laws.map(({ looked_at: n }) => n));
    const all = laws.every(({ looked_at: n, total }) => n === total);
    const points = (n, total) =>
        n === total ? `all ${many(n)} points` : `${many(n)} of ${many(total)} points`;
    const [{ law, total }] = laws;
    const one = laws.length === 1;
    const words = one
        ? `Holds on ${points(looked, total)}`
        : `${laws.length} laws hold${all ? ' on all points' : ''}`;
    const each = (check) => h('li', {}, `${check.law}: ${points(check.looked_at, check.total)}`);
    return one
        ? h(
              'p',
              { class: 'check good' },
              icon('check'),
              h('span', {}, words, ' ', h('span', { class: 'law' }, law)),
          )
        : h(
              'details',
              { class: 'check good' },
              h('summary', {}, icon('check'), words),
              h('ul', { class: 'law' }, laws.map(each)),
          );
}

/* ---- where a counterexample is in the picture ---------------------------------------------------------- */

/* "2 = (0,1)", "mode 1: 6 = (2,1)", "2 = (0,1) and 4 = (0,2)": prefix, index, its coordinate. */
const PLACE = /^(?:mode (\d+): )?(\d+)(?: = \((.*?)\))?(?: and \d+.*)?$/;
/* Of these laws a point is one of A, which is not what is drawn. */
const OF_THE_OPERAND = /^every element of A|^L\(A|^A is injective/;

/* The index of the cell, or null when the picture has no such cell. */
function placeOf(law, at, answer, text) {
    const [, mode, index, coord] = PLACE.exec(at) ?? [];
    if (index === undefined || OF_THE_OPERAND.test(law) || !answer.value?.shape) return null;
    const { shape } = answer.value;
    const before = (sizes, m) => sizes.slice(0, m).reduce((product, n) => product * n, 1);
    if (mode === undefined) return Number(index);
    if (!Array.isArray(shape)) return null;
    const op = calledLast(text);
    if (op === 'composition' || op === 'compose' || op === 'logical_divide')
        return Number(index) * before(shape.map(sizeOf), mode);
    /* the other divides have all tiles first, then all that is around them */
    const flat =
        op === 'flat_divide' ? [shape.slice(0, shape.length / 2), shape.slice(shape.length / 2)] : null;
    const [tiles, rest] = flat ?? [shape[0], op === 'tiled_divide' ? shape.slice(1) : shape[1]];
    const [tile, around, ...deeper] = (coord ?? '').split(',').map(Number);
    if (!/_divide$/.test(op ?? '') || deeper.length || !Array.isArray(tiles) || !Array.isArray(rest))
        return null;
    return tile * before(tiles.map(sizeOf), mode) + sizeOf(tiles) * around * before(rest.map(sizeOf), mode);
}

/* The outermost call of the last statement, where that is plain. */
function calledLast(text) {
    const [name, bracket] = lastStatement(text);
    return bracket?.text === '(' || bracket?.text === '<' ? name.text : null;
}

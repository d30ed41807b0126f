/* checks.js: is it right? What the daemon found when it looked at the law of an answer, point by point.
 *
 * A calm line when all is well, a warning with the first counterexample when it is not: CuTe accepts
 * compositions whose result is another function. Nothing is judged here; the words are the daemon's. */
import { h, icon } from './dom.js';

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
const many = (n) => n.toLocaleString('en');

export class Checks {
    /* on: {show(index of a cell of the answer), compare(expr), integers(how)} */
    constructor(on) {
        this.on = on;
        this.el = h('div', { class: 'checks', role: 'status', hidden: true });
    }

    show({ answer, stale }) {
        this.el.classList.toggle('stale', Boolean(stale));
        if (answer === this.answer) return;
        this.answer = answer;
        const nodes = answer?.checks ? this.nodes(answer) : [];
        this.el.hidden = !nodes.length;
        this.el.replaceChildren(...nodes);
    }

    nodes(answer) {
        const { laws, static_reading: reading } = answer.checks;
        const broken = laws.filter(({ holds }) => !holds);
        const kept = laws.length ? heldNode(laws, broken.length) : null;
        return [
            ...(broken.length ? [this.warning(broken, answer)] : [kept]),
            reading && !broken.length ? this.reading(reading) : null,
        ].filter(Boolean);
    }

    warning(broken, answer) {
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
            broken.map((check) => this.counterexample(check)),
            advice ? h('p', { class: 'advice' }, sentence(advice)) : null,
            layout ? h('p', {}, 'The layout with the true values is ', h('code', {}, truth)) : null,
            reading ? this.reading(reading, advice) : null,
            layout ? action('Compare with it', () => this.on.compare(layout)) : null,
        );
    }

    /* index: of the answer's own element; null where the counterexample is none of them */
    counterexample({ law, counterexample: { at, gives, should, index } }) {
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

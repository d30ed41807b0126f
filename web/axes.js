/* axes.js: the line above a picture of rank 3 and more, in which each mode is put to rows, to columns, or to be
 * stepped through. */
import { h, setText } from './dom.js';
import { arrangementOf, usual } from './modes.js';
import { format, modes, sizeOf } from './shape.js';

const WORDS = { r: 'rows', c: 'columns', s: 'step' };

export class Axes {
    /* on: {modes(text or null)} */
    constructor(on) {
        this.on = on;
        this.el = h('div', { class: 'axes', role: 'group', 'aria-label': 'Modes', hidden: true });
    }

    /* picture: of rank 3 and more it has modes to choose; text: modes.js's, or null */
    show(picture, text) {
        const all = picture ? modes(picture.shape) : [];
        this.el.hidden = all.length < 3;
        if (this.el.hidden) return;
        const shape = format(picture.shape);
        this.parts = (arrangementOf(text, picture.shape) ? text : usual(all.length)).split(',');
        if (shape !== this.shape) this.rebuild(all);
        this.shape = shape;
        this.fields.forEach((field, mode) => this.field(field, this.parts[mode]));
    }

    rebuild(all) {
        this.fields = all.map((shape, mode) => {
            const choice = h(
                'select',
                { 'aria-label': `Mode ${mode}` },
                Object.entries(WORDS).map(([value, words]) => h('option', { value }, words)),
            );
            choice.addEventListener('change', () =>
                this.put(mode, choice.value === 's' ? '0' : choice.value),
            );
            const at = h('output', {});
            const button = (label, text, by) =>
                h(
                    'button',
                    {
                        type: 'button',
                        class: 'quiet',
                        'aria-label': label,
                        onclick: () => this.step(mode, by),
                    },
                    text,
                );
            const stepper = h(
                'span',
                { class: 'stepper', hidden: true },
                button(`Mode ${mode}, one back`, '‹', -1),
                at,
                button(`Mode ${mode}, one on`, '›', 1),
            );
            const name = h('span', { class: 'axis-name' }, `mode ${mode}`, h('code', {}, format(shape)));
            return {
                el: h('div', { class: 'axis' }, name, choice, stepper),
                name,
                choice,
                stepper,
                at,
                shape,
            };
        });
        this.el.replaceChildren(...this.fields.map(({ el }) => el));
    }

    field({ name, choice, stepper, at, shape }, part) {
        const side = { r: 'row', c: 'col' }[part] ?? 'still';
        const still = side === 'still';
        name.className = `axis-name ${side}`;
        choice.value = still ? 's' : part;
        stepper.hidden = !still;
        if (still) setText(at, `${part} of 0…${sizeOf(shape) - 1}`);
    }

    /* Clicks may come faster than frames: what is chosen holds at once. */
    put(mode, part) {
        this.parts = this.parts.with(mode, part);
        const text = this.parts.join(',');
        this.on.modes(text === usual(this.parts.length) ? null : text);
    }

    /* Round and round; without a mode, the last that is stepped through. */
    step(mode, by) {
        const which = mode ?? this.parts.findLastIndex((part) => /^\d+$/.test(part));
        if (which < 0) return false;
        const n = sizeOf(this.fields[which].shape);
        this.put(which, String((Number(this.parts[which]) + by + n) % n));
        return true;
    }
}

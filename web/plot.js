/* plot.js: two small drawings of a measured run: its samples, and its speed against the card's ceiling. */
import { h, svg } from './dom.js';

const W = 360;
const H = 84;
const PAD = { left: 8, right: 8, top: 10, bottom: 18 };

/* Every sample as a dot in the order of time, the median as a line. `range` is for plots that are compared. */
export function samplesPlot(samples, unit, range = null) {
    const sorted = [...samples].sort((a, b) => a - b);
    const [min, max] = [sorted[0], sorted.at(-1)];
    const [low, high] = range ?? [min, max];
    const span = high - low || 1;
    const x = (i) => PAD.left + ((W - PAD.left - PAD.right) * (i + 0.5)) / samples.length;
    const y = (v) => H - PAD.bottom - ((H - PAD.top - PAD.bottom) * (v - low)) / span;
    const median = sorted[Math.floor((sorted.length - 1) / 2)];
    const text = (at, anchor, words) => svg('text', { x: at, y: H - 5, 'text-anchor': anchor }, words);
    return svg(
        'svg',
        {
            class: 'plot',
            viewBox: `0 0 ${W} ${H}`,
            role: 'img',
            'aria-label': `${samples.length} samples, ${figure(min)} to ${figure(max)} ${unit}`,
        },
        svg('line', {
            class: 'axis',
            x1: PAD.left,
            x2: W - PAD.right,
            y1: H - PAD.bottom,
            y2: H - PAD.bottom,
        }),
        svg('line', { class: 'median', x1: PAD.left, x2: W - PAD.right, y1: y(median), y2: y(median) }),
        samples.map((v, i) => svg('circle', { cx: x(i), cy: y(v), r: 2 })),
        text(PAD.left, 'start', `min ${figure(min)} ${unit}`),
        text(W / 2, 'middle', `median ${figure(median)} ${unit}`),
        text(W - PAD.right, 'end', `max ${figure(max)} ${unit}`),
    );
}

const bar = (part) =>
    svg(
        'svg',
        { class: 'bar-svg', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        svg('rect', { class: 'whole', width: 100, height: 6 }),
        svg('rect', { class: 'part', width: 100 * Math.min(1, part), height: 6 }),
    );

/* A bar of value against ceiling, both in the same unit. */
export function ceilingBar(label, value, ceiling, unit) {
    const of = ceiling && `${((100 * value) / ceiling).toFixed(1)} % of ${label}, ${figure(ceiling)} ${unit}`;
    return h(
        'div',
        { class: 'ceiling' },
        h(
            'div',
            { class: 'ceiling-words' },
            h('b', {}, `${figure(value)} ${unit}`),
            of ? h('span', {}, of) : null,
        ),
        ceiling ? bar(value / ceiling) : null,
    );
}

/* Bars of [name, value] on one scale: up to the ceiling where one is known, else to the longest. */
export function bars(list, ceiling, unit) {
    const whole = ceiling ?? Math.max(...list.map(([, value]) => value));
    return h(
        'div',
        { class: 'bars' },
        list.map(([name, value]) =>
            h(
                'div',
                { class: 'bars-row' },
                h('span', {}, name),
                bar(value / whole),
                h('b', {}, `${figure(value)} ${unit}`),
            ),
        ),
        ceiling ? h('small', {}, `The whole bar is the card’s memcpy, ${figure(ceiling)} ${unit}.`) : null,
    );
}

/* Four figures that mean something. */
export function figure(value) {
    if (!Number.isFinite(value)) return '–';
    const digits = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
    return value.toLocaleString('en', { maximumFractionDigits: Math.min(digits, 4) });
}

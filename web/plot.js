/* plot.js: small drawings of measured runs: samples, a speed against the card's ceiling, the speeds of a sweep. */
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

const ROW = 22;
const LABEL = 190;
const LABEL_CHARS = 30;

/* Speeds as dots, a row a value of what varies: points are [value, speed]. The best of all is marked. */
export function sweepPlot(points, unit, axis) {
    const rows = [...new Set(points.map(([name]) => name))];
    const most = Math.max(...points.map(([, speed]) => speed));
    const wide = 2 * W;
    const height = rows.length * ROW + PAD.bottom + 4;
    const x = (speed) => LABEL + ((wide - LABEL - 14) * speed) / (most || 1);
    const y = (i) => 4 + (i + 0.5) * ROW;
    const short = (name) => (name.length > LABEL_CHARS ? `${name.slice(0, LABEL_CHARS - 1)}…` : name);
    const text = (at, line, anchor, words) => svg('text', { x: at, y: line, 'text-anchor': anchor }, words);
    const said = points.map(([name, speed]) => `${name}: ${figure(speed)}`).join('; ');
    return svg(
        'svg',
        {
            class: 'plot sweep-plot',
            viewBox: `0 0 ${wide} ${height}`,
            role: 'img',
            'aria-label': `${unit} by ${axis}: ${said}`,
        },
        rows.flatMap((name, i) => [
            svg('line', { class: 'axis', x1: LABEL, x2: wide - 14, y1: y(i), y2: y(i) }),
            text(LABEL - 10, y(i) + 4, 'end', short(name)),
        ]),
        points.map(([name, speed]) =>
            svg(
                'circle',
                { cx: x(speed), cy: y(rows.indexOf(name)), r: 4.5, class: speed === most ? 'best' : '' },
                svg('title', {}, `${name}: ${figure(speed)} ${unit}`),
            ),
        ),
        text(LABEL, height - 5, 'start', '0'),
        text(wide - 14, height - 5, 'end', `best ${figure(most)} ${unit}`),
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
export function bars(list, ceiling, unit, label = 'the card’s memcpy') {
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
        ceiling ? h('small', {}, `The whole bar is ${label}, ${figure(ceiling)} ${unit}.`) : null,
    );
}

const LEAST = 1e-3; /* smaller numbers are told by their power of ten */

/* Four figures that mean something. */
export function figure(value) {
    if (!Number.isFinite(value)) return '–';
    if (value !== 0 && Math.abs(value) < LEAST) return value.toExponential(2);
    const digits = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
    return value.toLocaleString('en', { maximumFractionDigits: Math.min(digits, 4) });
}

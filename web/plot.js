/* plot.js: two small drawings of a measured run: its samples, and its speed against the card's ceiling. */
import { h, svg } from './dom.js';

const W = 360;
const H = 84;
const PAD = { left: 8, right: 8, top: 10, bottom: 18 };

/* Every sample as a dot in the order of time, the median as a line. */
export function samplesPlot(samples, unit) {
    const sorted = [...samples].sort((a, b) => a - b);
    const low = sorted[0];
    const high = sorted.at(-1);
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
            'aria-label': `${samples.length} samples, ${figure(low)} to ${figure(high)} ${unit}`,
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
        text(PAD.left, 'start', `min ${figure(low)} ${unit}`),
        text(W / 2, 'middle', `median ${figure(median)} ${unit}`),
        text(W - PAD.right, 'end', `max ${figure(high)} ${unit}`),
    );
}

/* A bar of value against ceiling, both in the same unit. */
export function ceilingBar(label, value, ceiling, unit) {
    const part = ceiling ? Math.min(1, value / ceiling) : 0;
    return h(
        'div',
        { class: 'ceiling' },
        h(
            'div',
            { class: 'ceiling-words' },
            h('b', {}, `${figure(value)} ${unit}`),
            ceiling
                ? h(
                      'span',
                      {},
                      `${((100 * value) / ceiling).toFixed(1)} % of ${label}, ${figure(ceiling)} ${unit}`,
                  )
                : null,
        ),
        ceiling
            ? svg(
                  'svg',
                  {
                      class: 'bar-svg',
                      viewBox: '0 0 100 6',
                      preserveAspectRatio: 'none',
                      'aria-hidden': 'true',
                  },
                  svg('rect', { class: 'whole', width: 100, height: 6 }),
                  svg('rect', { class: 'part', width: 100 * part, height: 6 }),
              )
            : null,
    );
}

/* Four figures that mean something. */
export function figure(value) {
    if (!Number.isFinite(value)) return '–';
    const digits = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
    return value.toLocaleString('en', { maximumFractionDigits: Math.min(digits, 4) });
}

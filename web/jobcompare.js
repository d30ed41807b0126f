/* jobcompare.js: two jobs side by side: what was asked for, what was planned, what was measured, and in which of
 * it they differ. Speeds and samples share one scale. */
import { h } from './dom.js';
import { productText, shortId } from './jobview.js';
import { bars, figure, samplesPlot } from './plot.js';

/* Of a result what is one number or word; more is better, less is better, or neither. */
const MEASURED = [
    ['GB/s', ({ gbps }) => gbps, 'more'],
    ['TFLOP/s', ({ tflops }) => tflops, 'more'],
    ['median', ({ median }) => median, 'less'],
    ['p95', ({ p95 }) => p95, 'less'],
    [
        'part of memcpy',
        ({ gbps, ceiling }) => gbps && ceiling?.memcpy_gbps && gbps / ceiling.memcpy_gbps,
        'more',
    ],
    [
        'part of cuBLAS',
        ({ tflops, ceiling }) => tflops && ceiling?.cublas_tflops && tflops / ceiling.cublas_tflops,
        'more',
    ],
    ['registers', ({ registers }) => registers, 'less'],
    ['occupancy', ({ occupancy }) => occupancy?.fraction, 'more'],
    ['verified', ({ verified }) => verified],
    ['stable', ({ stable }) => stable],
    ['device', ({ device }) => device?.name],
];
const PLANNED = ['tiler', 'tiles', 'threads', 'values', 'values_per_access', 'accesses_in_flight', 'block'];

/* one, other: jobs as GET /jobs/ID gives them */
export function compareNodes(one, other) {
    const both = [one, other];
    const results = both.map((job) => job.result ?? job.partial ?? {});
    const rows = [
        ...specRows(both.map((job, i) => results[i].spec ?? job.spec ?? {})),
        ...PLANNED.map((name) => [name.replaceAll('_', ' '), results.map(({ plan }) => plan?.[name])]),
        ...MEASURED.map(([name, read, better]) => [name, results.map(read), better]),
    ].filter(([, values]) => values.some((value) => value !== undefined && value !== null));
    return [...plots(both, results), table(both, rows)];
}

function specRows(specs) {
    const names = [...new Set(specs.flatMap((spec) => Object.keys(spec)))];
    return names.map((name) => [name, specs.map((spec) => spec[name])]);
}

function plots(jobs, results) {
    const speeds = results.map(({ gbps, tflops }) => gbps ?? tflops);
    const products = results.every(({ tflops }) => Number.isFinite(tflops));
    const samples = results.map((result) => result.samples ?? []);
    const all = samples.flat();
    const range = [Math.min(...all), Math.max(...all)];
    return [
        speeds.every(Number.isFinite) && results.every(({ tflops }) => Number.isFinite(tflops) === products)
            ? bars(
                  jobs.map((job, i) => [shortId(job.id), speeds[i]]),
                  ceilingOf(results, products ? 'cublas_tflops' : 'memcpy_gbps'),
                  ...(products ? ['TFLOP/s', 'cuBLAS'] : ['GB/s']),
              )
            : null,
        all.length
            ? h(
                  'div',
                  { class: 'two-plots' },
                  samples.map((list, i) =>
                      h(
                          'figure',
                          {},
                          h('figcaption', {}, shortId(jobs[i].id)),
                          list.length ? samplesPlot(list, 'µs', range) : 'no samples',
                      ),
                  ),
              )
            : null,
    ].filter(Boolean);
}

const ceilingOf = (results, name) => Math.max(...results.map(({ ceiling }) => ceiling?.[name] ?? 0)) || null;

function table(jobs, rows) {
    const head = h(
        'tr',
        {},
        h('th', { scope: 'col' }, ''),
        jobs.map((job) => h('th', { scope: 'col' }, shortId(job.id))),
    );
    return h(
        'table',
        { class: 'versus' },
        h('caption', { class: 'offscreen' }, 'Two jobs compared'),
        h('thead', {}, head),
        h('tbody', {}, rows.map(row)),
    );
}

function row([name, values, better]) {
    const texts = values.map(text);
    const differ = texts[0] !== texts[1];
    const [a, b] = values.map(Number);
    const best =
        better && differ && Number.isFinite(a) && Number.isFinite(b) ? (better === 'more') === a > b : null;
    const wins = (i) => best !== null && best === (i === 0);
    return h(
        'tr',
        { class: differ ? 'differ' : '' },
        h('th', { scope: 'row' }, name, differ ? h('span', { class: 'offscreen' }, ' differs') : null),
        texts.map((words, i) => h('td', { class: wins(i) ? 'better' : '' }, words)),
    );
}

function text(value) {
    if (value === undefined || value === null) return '–';
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (typeof value === 'number' && !Number.isInteger(value)) return figure(value);
    return typeof value === 'object' ? (productText(value) ?? JSON.stringify(value)) : String(value);
}

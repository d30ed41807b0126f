/* sweepview.js: a sweep: how far it is, what varies against how fast it is, and a table of its jobs that sorts.
 *
 * doc.sort: the column, with "-" before it for the other way round; doc.axis: the field that is plotted. */
import { h, icon } from './dom.js';
import { shortId } from './jobview.js';
import { figure, sweepPlot } from './plot.js';
import { change } from './state.js';

const STATES = ['done', 'failed', 'cancelled', 'running', 'compiling', 'queued'];

/* children: of a sweep's result; open(id) shows one of them */
export function sweepNodes({ result }, { sort, axis }, open) {
    const { counts = {}, ranked = [] } = result ?? {};
    const fields = [...new Set(ranked.flatMap(({ vary }) => Object.keys(vary ?? {})))];
    return [
        progress(counts),
        ...plotNodes(ranked, fields, axis),
        ranked.length ? tableNode(ranked, fields, sort, open) : null,
    ].filter(Boolean);
}

function progress(counts) {
    const all = STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    const parts = STATES.filter((state) => counts[state]);
    return h(
        'p',
        { class: 'progress', 'aria-label': 'Progress' },
        `${all} jobs: `,
        parts.map((state) => h('span', { class: `state ${state}` }, `${counts[state]} ${state}`)),
    );
}

/* ---- speed ---------------------------------------------------------------------------------------------- */

export const speedOf = (child) => child.gbps ?? child.tflops ?? null;
const unitOf = (ranked) => (ranked.some(({ tflops }) => Number.isFinite(tflops)) ? 'TFLOP/s' : 'GB/s');
const words = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value ?? '–'));

function plotNodes(ranked, fields, wanted) {
    const timed = ranked.filter((child) => Number.isFinite(speedOf(child)));
    if (!timed.length)
        return [h('p', { class: 'hint' }, 'No speeds: the CPU executor verifies, and measures no card.')];
    const axis = fields.includes(wanted) ? wanted : fields[0];
    const choice = h(
        'select',
        { 'data-key': 'axis', id: 'sweep-axis', onchange: () => change((s) => (s.doc.axis = choice.value)) },
        fields.map((name) => h('option', { value: name, selected: name === axis }, name)),
    );
    const points = timed.map((child) => [words(child.vary?.[axis]), speedOf(child)]);
    return [
        h('label', { class: 'choice' }, h('span', {}, `${unitOf(ranked)} against`), choice),
        sweepPlot(points, unitOf(ranked), axis),
    ];
}

/* ---- the table ------------------------------------------------------------------------------------------ */

/* [key, head, read(child), how it is shown] */
const columnsOf = (ranked, fields) => [
    ['rank', 'rank', ({ rank }) => rank],
    ...fields.map((name) => [name, name, ({ vary }) => vary?.[name]]),
    ['state', 'state', ({ state }) => state],
    ['verified', 'verified', ({ verified }) => (verified === undefined ? null : verified ? 'yes' : 'no')],
    ['speed', unitOf(ranked), speedOf, (value) => figure(value)],
    ['median', 'median, µs', ({ median_us: median }) => median, (value) => figure(value)],
];

/* Numbers as numbers, what is missing last. */
function order(read, down) {
    const missing = (value) => value === null || value === undefined;
    return (a, b) => {
        const [x, y] = [read(a), read(b)];
        if (missing(x) || missing(y)) return missing(x) - missing(y);
        const by =
            typeof x === 'number' && typeof y === 'number'
                ? x - y
                : words(x).localeCompare(words(y), 'en', { numeric: true });
        return down ? -by : by;
    };
}

function tableNode(ranked, fields, sort, open) {
    const columns = columnsOf(ranked, fields);
    const down = sort.startsWith('-');
    const [key, , read] = columns.find(([name]) => name === sort.replace('-', '')) ?? columns[0];
    const rows = [...ranked].sort(order(read, down));
    const head = ([name, label]) => {
        const here = name === key;
        const press = () => change((s) => (s.doc.sort = here && !down ? `-${name}` : name));
        return h(
            'th',
            { scope: 'col', 'aria-sort': here ? (down ? 'descending' : 'ascending') : 'none' },
            h(
                'button',
                { type: 'button', class: 'quiet', 'data-key': `sort ${name}`, onclick: press },
                label,
                here ? icon(down ? 'down' : 'up') : null,
            ),
        );
    };
    return h(
        'div',
        { class: 'sweep' },
        h(
            'table',
            { class: 'sweep-table' },
            h('caption', { class: 'offscreen' }, 'Jobs of the sweep'),
            h('thead', {}, h('tr', {}, columns.map(head), h('th', { scope: 'col' }, 'job'))),
            h(
                'tbody',
                {},
                rows.map((child) => rowNode(child, columns, open)),
            ),
        ),
    );
}

function rowNode(child, columns, open) {
    const { job, failure } = child;
    const show = (read, how) => {
        const value = read(child);
        return value === null || value === undefined ? '–' : how ? how(value) : words(value);
    };
    return h(
        'tr',
        { title: failure?.message },
        columns.map(([, , read, how]) => h('td', {}, show(read, how))),
        h(
            'td',
            {},
            h(
                'button',
                { type: 'button', class: 'link', 'data-key': `open ${job}`, onclick: () => open(job) },
                shortId(job),
            ),
        ),
    );
}

/* counters.js: what was predicted of a run beside what the hardware counted, as a table.
 *
 *   {"predicted": {"src": {"sectors": 4096}, "not_compared": {"smem_store": "..."}},
 *    "measured": {"src": {"sectors": 4096}}, "equal": {"src": true}}
 * Where nothing was counted, "measured" is null and "why" says the reason. */
import { h, icon } from './dom.js';

const SIDES = {
    src: 'source',
    dst: 'destination',
    smem_store: 'into shared memory',
    smem_load: 'from shared memory',
};
const many = (n) => (typeof n === 'number' ? n.toLocaleString('en') : '–');
const isGroup = (value) => value !== null && typeof value === 'object';

export function countersNode(counters) {
    const { predicted = {}, measured, equal = {}, why, arbitration } = counters;
    const groups = Object.entries(predicted).filter(
        ([name, group]) => isGroup(group) && name !== 'not_compared',
    );
    const rows = groups.flatMap(([name, group]) => rowsOf(name, group, measured?.[name], equal[name]));
    const others = Object.entries(measured ?? {}).filter(([, value]) => !isGroup(value));
    const row = ([side, name, foretold, counted, verdict]) =>
        h(
            'tr',
            {},
            h('th', { scope: 'row' }, side, ' ', name.replaceAll('_', ' ')),
            h('td', {}, many(foretold)),
            h('td', {}, many(counted)),
            h('td', {}, verdict === undefined ? '' : mark(verdict)),
        );
    const table = () =>
        h(
            'table',
            { class: 'counted' },
            h('caption', {}, 'Predicted, and counted by the hardware'),
            h(
                'thead',
                {},
                h(
                    'tr',
                    {},
                    ['', 'predicted', 'counted', ''].map((words) => h('th', { scope: 'col' }, words)),
                ),
            ),
            h(
                'tbody',
                {},
                rows.map(row),
                others.map(([name, value]) => row(['', name, undefined, value])),
            ),
        );
    return h(
        'div',
        { class: 'counters' },
        rows.length || others.length ? table() : null,
        why ? h('p', { class: 'hint' }, `Nothing was counted: ${why}.`) : null,
        arbitration?.why ? h('p', { class: 'hint' }, arbitration.why) : null,
        Object.entries(measured ? (predicted.not_compared ?? {}) : {}).map(([name, reason]) =>
            h('p', { class: 'hint' }, `Not compared, ${SIDES[name] ?? name}: ${reason}.`),
        ),
    );
}

/* A verdict is of the group; it stands in its first row. */
function rowsOf(name, group, measured, equal) {
    const keys = [...new Set([...Object.keys(group), ...Object.keys(measured ?? {})])];
    return keys.map((key, i) => [
        SIDES[name] ?? name,
        key,
        group[key],
        measured?.[key],
        i ? undefined : equal,
    ]);
}

const mark = (same) =>
    h(
        'span',
        { class: same ? 'outcome good' : 'outcome bad' },
        icon(same ? 'check' : 'close'),
        same ? 'equal' : 'not equal',
    );

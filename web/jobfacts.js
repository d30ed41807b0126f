/* jobfacts.js: what else there is to say of a run: its plan, its resources, and what the card said of itself before and
 * after. */
import { h } from './dom.js';
import { figure } from './plot.js';

const percent = (part) => `${figure(100 * part)} %`;
const truth = (value) => (value === undefined || value === null ? undefined : value ? 'yes' : 'no');
const given = (value, text) => (value === undefined || value === null ? undefined : text(value));
const unitName = (unit) => (unit === 'us' ? 'µs' : unit);

export function factsNode(result) {
    const facts = Object.entries({
        ...planFacts(result.plan ?? {}, result.spec ?? {}),
        'part of the error bound': given(result.checked?.of_bound, percent),
        registers: result.registers,
        occupancy: given(result.occupancy, ({ fraction }) => percent(fraction)),
        p95: given(result.p95, (value) => `${figure(value)} ${unitName(result.unit)}`),
        stable: truth(result.stable),
        ...cardFacts(result),
        ...Object.fromEntries(
            Object.entries(result.timings_ms ?? {}).map(([name, ms]) => [name, `${figure(ms)} ms`]),
        ),
    }).filter(([, value]) => value !== undefined && value !== null);
    if (!facts.length) return null;
    const fact = ([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value)));
    return h('dl', { class: 'facts' }, facts.map(fact));
}

const planFacts = (plan, spec) => ({
    'grid × block': given(spec.grid, (grid) => `${grid} × ${plan.block}`),
    tile: plan.tiler ?? plan.tile,
    tiles: plan.tiles,
    'tile (m,n,k)': given(plan.tile_size_mnk, (mnk) => `(${mnk})`),
    instruction: plan.instruction,
    'values an access': plan.values_per_access,
    'accesses in flight': plan.accesses_in_flight,
    'shared memory': given(plan.shared_bytes || null, (bytes) => `${bytes.toLocaleString('en')} bytes`),
});

/* Pairs: before and after. */
const pair = ([before, after], unit) => `${figure(before)} → ${figure(after)} ${unit}`;

const cardFacts = ({ exclusive, readings = {} }) => ({
    'alone on the card': truth(exclusive),
    'SM clock': given(readings.sm_mhz, (mhz) => pair(mhz, 'MHz')),
    temperature: given(readings.celsius, (celsius) => pair(celsius, '°C')),
    power: given(readings.watts, (watts) => pair(watts, 'W')),
    throttled: given(readings.throttle, (why) => why.join(', ').replaceAll('_', ' ') || 'no'),
});

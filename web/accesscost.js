/* accesscost.js: what an access costs, in words: how much more than the ideal, which lanes clash, what else could be
 * done about it. */
import { useLayout, useSwizzle } from './access.js';
import { edit } from './accesscard.js';
import { h, icon } from './dom.js';
import { ranges } from './lanes.js';
import { bars } from './plot.js';

const many = (n) => n.toLocaleString('en');
const NAMED = 8; /* clashes that are named; more are counted */

export function costNodes(answer) {
    const shared = answer.space === 'shared';
    const [unit, count] = shared ? ['wavefronts', answer.wavefronts] : ['sectors', answer.sectors];
    const good = count <= answer.ideal;
    return [
        h(
            'p',
            { class: good ? 'verdict good' : 'verdict warn' },
            icon(good ? 'check' : 'warn'),
            `${many(count)} ${count === 1 ? unit.slice(0, -1) : unit}`,
            h(
                'span',
                {},
                good
                    ? 'as few as can be'
                    : `the ideal is ${many(answer.ideal)}${shared ? `: ${answer.ways} words of one bank` : ''}`,
            ),
        ),
        bars(
            [
                ['this', count],
                ['ideal', answer.ideal],
            ],
            null,
            unit,
        ),
        chooser(answer),
        ...(shared && answer.banks.length ? [clashes(answer)] : []),
        h('p', { class: 'hint' }, totals(answer, unit)),
    ];
}

function totals({ all }, unit) {
    if (!all) return '';
    const { instructions, tiles, ideal } = all;
    const what = `All ${many(instructions)} instructions of ${many(tiles)} tiles`;
    return `${what}: ${many(all[unit])} ${unit}, the ideal is ${many(ideal)}.`;
}

/* Which warp, and which of its instructions in the tile. */
function chooser({ all, warp, step: nth }) {
    if (!all) return null;
    const { warps, steps } = all.per_instruction;
    const go = (to) => edit((a) => Object.assign(a, to));
    const stepper = (name, at, n, key) =>
        h(
            'span',
            { class: 'stepper' },
            h(
                'button',
                {
                    type: 'button',
                    class: 'quiet',
                    'aria-label': `${name}, one back`,
                    onclick: () => go({ [key]: (at + n - 1) % n }),
                },
                '‹',
            ),
            h('output', {}, `${name} ${at} of 0…${n - 1}`),
            h(
                'button',
                {
                    type: 'button',
                    class: 'quiet',
                    'aria-label': `${name}, one on`,
                    onclick: () => go({ [key]: (at + 1) % n }),
                },
                '›',
            ),
        );
    const worst = all.worst.warp !== warp || all.worst.step !== nth;
    return h(
        'div',
        { class: 'chooser' },
        warps > 1 ? stepper('warp', warp, warps, 'warp') : null,
        steps > 1 ? stepper('instruction', nth, steps, 'step') : null,
        worst && warps * steps > 1
            ? h(
                  'button',
                  {
                      type: 'button',
                      class: 'link',
                      onclick: () => go({ warp: all.worst.warp, step: all.worst.step }),
                  },
                  'the worst',
              )
            : null,
    );
}

/* The lanes that take turns, named; banks where it is the same lanes are told together. */
function clashes({ banks, phase_lanes: phase, lanes }) {
    const groups = new Map();
    for (const { bank, phase: at, words, lanes: who } of banks) {
        const names = ranges(who.flat().sort((a, b) => a - b));
        const key = `${at} ${names} ${words.length}`;
        if (!groups.has(key)) groups.set(key, { at, names, words: words.length, banks: [] });
        groups.get(key).banks.push(bank);
    }
    const line = ({ at, names, words, banks: list }) =>
        h(
            'li',
            {},
            h('b', {}, `bank${list.length > 1 ? 's' : ''} ${ranges(list)}`),
            phase < lanes.length ? `, phase ${at}` : '',
            `: ${words} words${list.length > 1 ? ' each' : ''}, lanes ${names}`,
        );
    const all = [...groups.values()];
    return h(
        'ul',
        { class: 'clashes', 'aria-label': 'Lanes that clash' },
        all.slice(0, NAMED).map(line),
        all.length > NAMED ? h('li', { class: 'hint' }, `and ${all.length - NAMED} more`) : null,
    );
}

/* ---- swizzles ------------------------------------------------------------------------------------------ */

const BEST = 5;

export function swizzleNodes({ busy, problem, answer, plain }, { layout }) {
    if (busy) return [h('p', { class: 'hint' }, 'Searching.')];
    if (problem) return [h('p', { class: 'problem' }, problem.message)];
    const { none, swizzles, padding, ideal, accesses } = answer;
    const row = (name, cost, more, run, used) =>
        h(
            'li',
            { class: used ? 'used' : '' },
            h('code', {}, name),
            h('span', { class: cost.conflicts ? 'outcome bad' : 'outcome good' }, conflicts(cost.conflicts)),
            h(
                'small',
                {},
                [
                    `${many(cost.wavefronts)} wavefronts`,
                    accesses.length > 1 ? `(${cost.each.join(' + ')})` : '',
                    more,
                ].join(' '),
            ),
            h(
                'button',
                {
                    type: 'button',
                    disabled: used,
                    onclick: run,
                    'aria-label': `${used ? 'Applied' : 'Apply'} ${name}`,
                },
                used ? 'Applied' : 'Apply',
            ),
        );
    const text = (swizzle) => `composition(${swizzle}{}, ${plain})`;
    return [
        h('p', { class: 'hint' }, `For all accesses together; the ideal is ${many(ideal)} wavefronts.`),
        h(
            'ul',
            { class: 'found', 'aria-label': 'Swizzles, the best first' },
            row(plain, none, 'as it is', () => useLayout(plain), layout === plain),
            swizzles
                .slice(0, BEST)
                .map((one) =>
                    row(
                        one.swizzle,
                        one,
                        one.hardware ? `the card’s ${one.hardware}` : '',
                        () => useSwizzle(one.swizzle, plain),
                        layout === text(one.swizzle),
                    ),
                ),
            padding
                ? row(
                      padding.layout,
                      padding,
                      `padded by ${padding.elements}`,
                      () => useLayout(padding.layout),
                      layout === padding.layout,
                  )
                : null,
        ),
    ];
}

const conflicts = (n) => (n ? `${many(n)} conflicts` : 'no conflict');

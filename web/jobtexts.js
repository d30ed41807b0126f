/* jobtexts.js: what the daemon keeps of a job besides its result, a tab each: the CUDA that was generated, its PTX and
 * SASS, what the compiler said, and the job itself as JSON. Only what this job has is a tab. */
import { text } from './api.js';
import { copyButton, h } from './dom.js';
import { change } from './state.js';

const NAMES = { result: 'Result', source: 'Source', ptx: 'PTX', sass: 'SASS', log: 'Log', json: 'JSON' };

/* What the daemon makes of the source when it is asked to; of what ran on no card, for a card that one names. */
const MADE = ['ptx', 'sass'];
const ARCHES = ['sm_80', 'sm_90a', 'sm_100a', 'sm_120a'];
const NO_CARD = 'sm_90a';

const has = ({ links }, name) => Boolean(links?.[name] || (MADE.includes(name) && links?.source));
const partsOf = (job) => ['result', ...Object.keys(NAMES).filter((name) => has(job, name)), 'json'];
const archOf = ({ links }, part, arch) => (MADE.includes(part) ? arch || (links[part] ? '' : NO_CARD) : '');

function pathOf(job, part, wanted) {
    const arch = archOf(job, part, wanted);
    const path = job.links[part] ?? job.links.source.replace(/source$/, part);
    return arch ? `${path}?${new URLSearchParams({ arch })}` : path;
}

/* A link may name a part that this job does not have. */
export const partOf = (job, wanted) => (partsOf(job).includes(wanted) ? wanted : 'result');

export function tabNodes(job, wanted) {
    const part = partOf(job, wanted);
    const choose = (name) => change((s) => (s.doc.part = name));
    const parts = partsOf(job);
    const key = (event, i) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by) return;
        const next = parts.at((i + by) % parts.length);
        event.currentTarget.parentElement.querySelector(`[data-key="part ${next}"]`).focus();
        choose(next);
    };
    return h(
        'div',
        { class: 'tabs parts', role: 'tablist', 'aria-label': 'Parts of the job' },
        parts.map((name, i) =>
            h(
                'button',
                {
                    type: 'button',
                    role: 'tab',
                    'data-key': `part ${name}`,
                    'aria-selected': String(name === part),
                    'aria-controls': 'job-part',
                    tabindex: name === part ? '0' : '-1',
                    onclick: () => choose(name),
                    onkeydown: (event) => key(event, i),
                },
                NAMES[name],
            ),
        ),
    );
}

/* path -> {text}: what was asked for, or why it is not to be had. */
const known = new Map();
const KNOWN_TEXTS = 32;

function read(path) {
    if (!known.has(path)) {
        if (known.size >= KNOWN_TEXTS) known.delete(known.keys().next().value);
        const entry = { text: null };
        known.set(path, entry);
        const put = (body) => change(() => (entry.text = body || 'It is empty.'));
        text(path).then(put, (problem) => put(problem.message));
    }
    return known.get(path).text;
}

/* Null until it has come. */
export const partText = (job, part, arch) =>
    part === 'json' ? JSON.stringify(job, null, 1) : read(pathOf(job, part, arch));

export function partNode(job, part, arch) {
    const all = partText(job, part, arch);
    return h(
        'div',
        { id: 'job-part', role: 'tabpanel', 'aria-label': NAMES[part] },
        MADE.includes(part) ? archNode(job, part, arch) : null,
        h(
            'div',
            { class: 'spec' },
            h('pre', { tabindex: '0', 'data-key': 'text' }, all ?? 'Asking the daemon.'),
            copyButton(`Copy ${NAMES[part]}`, () => all ?? ''),
        ),
    );
}

/* For which card; first the one that it ran on. */
function archNode(job, part, arch) {
    const now = archOf(job, part, arch);
    const own = job.links[part] ? [['', 'the card it ran on']] : [];
    const choice = h(
        'select',
        { 'data-key': 'arch', onchange: () => change((s) => (s.doc.arch = choice.value)) },
        [...own, ...ARCHES.map((name) => [name, name])].map(([value, words]) =>
            h('option', { value, selected: value === now }, words),
        ),
    );
    return h('label', { class: 'choice arch' }, h('span', {}, 'For'), choice);
}

export const resultPart = (nodes) =>
    h('div', { class: 'job-result', id: 'job-part', role: 'tabpanel', 'aria-label': NAMES.result }, nodes);

/* share.js: what is on the screen, taken elsewhere: as a link, as code, as a picture.
 *
 * now = {doc, figures, ask, cpp, cute, render, modes}: figures: [{grid, name}]; ask: {path, body, show}, the question
 * that the page asked, and what of its answer is printed; cpp: C++ that makes the same; cute, render, modes: the value
 * that /render draws, and what else it is to know. */
import { hasToken } from './api.js';
import { copyText, download, h } from './dom.js';
import { pngOf, vectorOf, VECTORS } from './export.js';
import { state, toHash } from './state.js';
import { cppOf } from './text.js';

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`; /* for a POSIX shell */

/* An expression is asked for as a form, which can be read; all else is JSON. */
export const askEval = (expr, integers) => ({
    path: '/eval',
    body: { expr, ...(integers === 'auto' ? {} : { integers }) },
    show: '["cute"]',
});
export const askJob = (spec) => spec && { path: '/jobs', body: spec, show: '' };

export const asLink = ({ doc }) => `${location.origin}${location.pathname}#${toHash(doc)}`;
const urlOf = ({ path }) => `${location.origin}${path}`;
const headersOf = ({ path }) => ({
    'Content-Type': 'application/json',
    ...(path === '/jobs' ? { Prefer: 'wait=30' } : {}),
});

/* A token never leaves the page: who runs what was copied has one in the environment. */
const TOKEN = 'LAYOUTD_TOKEN';

export function asCurl({ ask }) {
    if (!ask) return null;
    const token = hasToken() ? ` -H "Authorization: Bearer $${TOKEN}"` : '';
    if (ask.path === '/eval') {
        const fields = Object.entries(ask.body).map(([name, value]) => quote(`${name}=${value}`));
        const form = fields.map((field) => `--data-urlencode ${field}`).join(' ');
        return `curl -G ${quote(urlOf(ask))}${token} ${form}`;
    }
    const headers = Object.entries(headersOf(ask)).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
    return `curl ${quote(urlOf(ask))}${token} ${headers.join(' ')} -d ${quote(JSON.stringify(ask.body))}`;
}

/* JSON's texts and numbers are Python's too; its true, false and null are not, so the body is read as JSON. */
export function asPython({ ask }) {
    if (!ask) return null;
    const token = hasToken() ? `\n    | {"Authorization": "Bearer " + os.environ["${TOKEN}"]}` : '';
    return `import json, ${token ? 'os, ' : ''}urllib.request
request = urllib.request.Request(
    ${JSON.stringify(urlOf(ask))},
    json.dumps(json.loads(${JSON.stringify(JSON.stringify(ask.body))})).encode(),
    ${JSON.stringify(headersOf(ask))}${token},
)
answer = json.load(urllib.request.urlopen(request))
print(${ask.show ? `answer${ask.show}` : 'json.dumps(answer, indent=1)'})
`;
}

const layoutOf = ({ layout }) => ({ stacked: Boolean(layout?.stacked), dark: state.dark });
const shown = ({ figures }) => (figures ?? []).filter(({ grid }) => grid.shown.picture);

/* What is on the screen, by the code that drew it. */
async function save(now, type) {
    if (!shown(now).length) return 'No picture';
    try {
        const make = VECTORS.includes(type)
            ? vectorOf(type, shown(now), layoutOf(now))
            : pngOf(shown(now), layoutOf(now));
        download(`layout.${type}`, await make);
        return null;
    } catch (error) {
        return error.message;
    }
}
const saveAs = (type) => (now) => save(now, type);

/* The same looks, drawn by the daemon, whole. */
function renderPath(now, format) {
    const { doc, modes } = now;
    const { labels, colors, n, bytes } = doc;
    const looks = now.render ?? { labels, colors, n, bytes, ...(modes ? { modes } : {}) };
    const theme = state.dark ? { theme: 'dark' } : {};
    const what = { expr: now.cute, integers: 'cute' };
    return `/render?${new URLSearchParams({ ...what, format, ...looks, ...theme })}`;
}

const asPicture = (now) => now.cute && `${location.origin}${renderPath(now, 'svg')}`;
const copied = (make) => async (now) => {
    const text = make(now);
    if (!text) return 'Not a layout';
    return (await copyText(text)) ? 'Copied' : 'Not allowed to copy';
};

/* [what, more about it, run(now)]; what run gives is said for a moment. */
const ITEMS = [
    ['Copy link', 'the whole page, as you see it', copied(asLink)],
    ['Copy as curl', 'the same question for a shell', copied(asCurl)],
    ['Copy as Python', 'standard library only', copied(asPython)],
    ['Copy as C++', 'CuTe code that makes it', copied(({ cpp, cute }) => cpp ?? cppOf(cute ?? ''))],
    ['Copy picture link', 'an SVG of the whole layout, from /render', copied(asPicture)],
    ['Save SVG', 'what is on the screen', saveAs('svg')],
    ['Save PNG', 'what is on the screen', saveAs('png')],
    ['Save PDF', 'what is on the screen', saveAs('pdf')],
    ['Save LaTeX', 'what is on the screen, as TikZ', saveAs('tex')],
];
const SAID_MS = 900;

export class ShareMenu {
    /* what(): the `now` of this moment */
    constructor(what) {
        this.what = what;
        this.button = h(
            'button',
            {
                type: 'button',
                class: 'text',
                'aria-haspopup': 'menu',
                'aria-expanded': 'false',
                onclick: () => this.toggle(),
            },
            'Share',
        );
        this.menu = h(
            'div',
            { class: 'menu', role: 'menu', 'aria-label': 'Share', hidden: true },
            ITEMS.map((item) => this.item(item)),
        );
        this.el = h('div', { class: 'share' }, this.button, this.menu);
        this.el.addEventListener('keydown', (event) => this.key(event));
        addEventListener('pointerdown', (event) => this.el.contains(event.target) || this.toggle(false));
    }

    item([label, hint, run]) {
        const button = h(
            'button',
            { type: 'button', role: 'menuitem' },
            h('span', {}, label),
            h('small', {}, hint),
        );
        button.addEventListener('click', async () => {
            const said = await run(this.what());
            if (said) button.dataset.said = said;
            setTimeout(
                () => {
                    delete button.dataset.said;
                    this.toggle(false);
                },
                said ? SAID_MS : 0,
            );
        });
        return button;
    }

    toggle(on = this.menu.hidden) {
        this.menu.hidden = !on;
        this.button.setAttribute('aria-expanded', String(on));
        if (on) this.menu.firstChild.focus();
    }

    key(event) {
        if (this.menu.hidden) return;
        const items = [...this.menu.children];
        const at = items.indexOf(document.activeElement);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
        if (event.key === 'Escape') {
            this.toggle(false);
            this.button.focus();
        } else if (to !== undefined) {
            items.at(to % items.length).focus();
            event.preventDefault();
        }
    }
}

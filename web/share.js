/* share.js: what is on the screen, taken elsewhere: as a link, as code, as a picture.
 *
 * now = {doc, cute, figures} with {expr, integers}, a question to /eval, and {spec}, a job, where there is one;
 * figures: [{grid, name}]; modes, render: what else /render is to know. */
import { copyText, download, h } from './dom.js';
import { pngOf, svgOf } from './export.js';
import { state, toHash } from './state.js';
import { cppOf } from './text.js';

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`; /* for a POSIX shell */
const fieldsOf = ({ expr, integers }) => ({ expr, ...(integers === 'auto' ? {} : { integers }) });

export const asLink = ({ doc }) => `${location.origin}${location.pathname}#${toHash(doc)}`;

const evalUrl = () => `${location.origin}/eval`;
const jobsUrl = () => `${location.origin}/jobs`;

export function asCurl(now) {
    if (now.spec) {
        const headers = "-H 'Content-Type: application/json' -H 'Prefer: wait=30'";
        return `curl ${quote(jobsUrl())} ${headers} -d ${quote(JSON.stringify(now.spec))}`;
    }
    const fields = Object.entries(fieldsOf(now)).map(([name, value]) => quote(`${name}=${value}`));
    return `curl -G ${quote(evalUrl())} ${fields.map((field) => `--data-urlencode ${field}`).join(' ')}`;
}

/* JSON's texts and numbers are Python's too. */
export function asPython(now) {
    const [url, body, show] = now.spec ? [jobsUrl(), now.spec, ''] : [evalUrl(), fieldsOf(now), '["cute"]'];
    return `import json, urllib.request
request = urllib.request.Request(
    ${JSON.stringify(url)},
    json.dumps(${JSON.stringify(body)}).encode(),
    {"Content-Type": "application/json", "Prefer": "wait=30"},
)
print(json.load(urllib.request.urlopen(request))${show})
`;
}

const layoutOf = ({ layout }) => ({ stacked: Boolean(layout?.stacked), dark: state.dark });
const shown = ({ figures }) => (figures ?? []).filter(({ grid }) => grid.shown.picture);

/* What is on the screen, by the code that drew it. */
async function saveAs(now, type, make) {
    if (!shown(now).length) return 'No picture';
    download(`layout.${type}`, await make(shown(now), layoutOf(now)));
    return null;
}

const saveSvg = (now) =>
    saveAs(now, 'svg', (figures, how) => new Blob([svgOf(figures, how)], { type: 'image/svg+xml' }));
const savePng = (now) => saveAs(now, 'png', pngOf);

/* The same looks, drawn by the daemon. */
function renderPath(now, format) {
    const { doc, modes } = now;
    const { labels, colors, n, bytes } = doc;
    const looks = now.render ?? { labels, colors, n, bytes, ...(modes ? { modes } : {}) };
    const theme = state.dark ? { theme: 'dark' } : {};
    return `/render?${new URLSearchParams({ ...fieldsOf(now), format, ...looks, ...theme })}`;
}

async function saveRendered(now, format) {
    if (!now.cute) return 'Not a layout';
    const response = await fetch(renderPath(now, format)).catch(() => null);
    if (!response?.ok) return response ? 'Refused' : 'No answer';
    download(`layout.${format}`, await response.blob());
    return null;
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
    ['Copy as C++', 'make_layout(make_shape(...), ...)', copied(({ cute }) => cppOf(cute))],
    ['Copy picture link', 'an SVG of the whole layout, from /render', copied(asPicture)],
    ['Save SVG', 'what is on the screen', saveSvg],
    ['Save PNG', 'what is on the screen', savePng],
    ['Save PDF', 'the whole layout, from /render', (now) => saveRendered(now, 'pdf')],
    ['Save LaTeX', 'the whole layout, from /render', (now) => saveRendered(now, 'tex')],
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

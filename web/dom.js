/* dom.js: the one way that this page makes elements. Text goes in as text nodes, never as markup.
 *
 *   h('button', { class: 'quiet', onclick: run, 'aria-label': 'Run' }, icon('play'))
 */
const SVG = 'http://www.w3.org/2000/svg';

function fill(el, props, children) {
    for (const [key, value] of Object.entries(props)) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith('on')) el.addEventListener(key.slice(2), value);
        else if (key === 'value') el.value = value;
        else el.setAttribute(key, value === true ? '' : value);
    }
    el.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return el;
}

export const h = (tag, props = {}, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props = {}, ...children) =>
    fill(document.createElementNS(SVG, tag), props, children);
export const icon = (name) =>
    svg('svg', { class: 'icon', 'aria-hidden': 'true' }, svg('use', { href: `icons.svg#${name}` }));
export const byId = (id) => document.getElementById(id);

export function setText(el, text) {
    if (el.textContent !== text) el.textContent = text;
}

/* New children; the focus stays on the one that has the same data-key. */
export function replaceKeeping(el, ...children) {
    const focus = el.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    el.replaceChildren(...children);
    if (focus) el.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
}

/* A button that copies what `text()` gives, and says so for a moment. */
export function copyButton(label, text) {
    const button = h(
        'button',
        { class: 'quiet', type: 'button', 'aria-label': label, title: label },
        icon('copy'),
    );
    button.addEventListener('click', async () => {
        const done = await copyText(text());
        button.replaceChildren(icon(done ? 'check' : 'close'));
        setTimeout(() => button.replaceChildren(icon('copy')), 1200);
    });
    return button;
}

/* The clipboard needs a secure context; a daemon on another host over plain HTTP is none, so there is the old
 * way too. */
export async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = h('textarea', { class: 'offscreen', 'aria-hidden': 'true', value: text });
        document.body.append(area);
        area.select();
        const done = document.execCommand('copy');
        area.remove();
        return done;
    }
}

export function download(name, blob) {
    const url = URL.createObjectURL(blob);
    const link = h('a', { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* Say something to a screen reader, without moving anything on the screen. */
export function announce(text) {
    setText(byId('live'), text);
}

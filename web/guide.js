/* guide.js: the examples as a column to read along with the articles; the one that is shown is marked. */
import { byId, h, icon } from './dom.js';
import { ARTICLES } from './examples.js';
import { recent } from './recent.js';

const key = (expressions) => expressions.join('\0');

export class Guide {
    /* open(example) */
    constructor(open) {
        this.open = open;
        this.buttons = new Map();
        this.recent = h('section', { hidden: true, 'aria-label': 'Recent' });
        this.el = h(
            'nav',
            { class: 'guide', 'aria-label': 'Examples' },
            h(
                'header',
                {},
                h('span', { class: 'guide-title' }, 'Examples'),
                this.button('Previous example', 'up', () => this.walk(-1)),
                this.button('Next example', 'down', () => this.walk(1)),
                this.button('Close examples', 'close', () => this.toggle(false)),
            ),
            h(
                'div',
                { class: 'guide-list' },
                this.recent,
                ARTICLES.flatMap((article) => this.article(article)),
            ),
        );
    }

    button(label, name, onclick) {
        return h(
            'button',
            { type: 'button', class: 'quiet', 'aria-label': label, title: label, onclick },
            icon(name),
        );
    }

    article({ title, sections }) {
        const section = (one) =>
            h(
                'li',
                {},
                h('h3', {}, one.title),
                h(
                    'ul',
                    {},
                    one.items.map((example) => this.item(example)),
                ),
            );
        return [h('h2', {}, title), h('ol', {}, sections.map(section))];
    }

    item(example) {
        const button = h('button', { type: 'button', onclick: () => this.open(example) }, example.title);
        this.buttons.set(button, example);
        return h('li', {}, button);
    }

    toggle(on = byId('guide').hidden) {
        this.showRecent(recent());
        byId('guide').hidden = !on;
        byId('open-guide').setAttribute('aria-expanded', String(on));
        document.body.classList.toggle('with-guide', on);
    }

    showRecent(list) {
        if (list === this.list) return;
        this.list = list;
        const item = (e) =>
            h(
                'li',
                {},
                h(
                    'button',
                    { type: 'button', class: 'recent', onclick: () => this.open({ e }) },
                    e.join('  |  '),
                ),
            );
        this.recent.hidden = !list.length;
        this.recent.replaceChildren(h('h2', {}, 'Recent'), h('ul', {}, list.map(item)));
    }

    show(doc) {
        this.showRecent(recent());
        const expressions = doc.panes.map(({ expr }) => expr);
        const now = key([...expressions, doc.labels, doc.colors, doc.link]);
        if (now === this.now) return;
        this.now = now;
        const same = [...this.buttons].filter(([, { e }]) => key(e) === key(expressions));
        const looks = ({ labels = 'offset', colors = 'offset', link = 'coord' }) =>
            labels === doc.labels && colors === doc.colors && link === doc.link;
        this.at = (same.find(([, example]) => looks(example)) ?? same[0])?.[0] ?? null;
        for (const button of this.buttons.keys()) {
            if (button === this.at) button.setAttribute('aria-current', 'true');
            else button.removeAttribute('aria-current');
        }
    }

    walk(by) {
        const all = [...this.buttons.keys()];
        const at = this.at ? all.indexOf(this.at) + by : 0;
        const next = all[Math.min(all.length - 1, Math.max(0, at))];
        next.click();
        next.scrollIntoView({ block: 'nearest' });
    }
}

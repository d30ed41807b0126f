/* main.js: puts the views on the page. Everything that is shown follows from the one state of state.js. */
import { syncAccess } from './access.js';
import { AccessView } from './accessview.js';
import { byId } from './dom.js';
import { showExample, showExpressions } from './edits.js';
import { syncPanes } from './evaluate.js';
import { Guide } from './guide.js';
import { syncSeen, watchDaemon } from './jobs.js';
import { JobsView } from './jobsview.js';
import { LayoutView } from './layoutview.js';
import { loadOps, Reference } from './ops.js';
import { syncTile } from './copypanel.js';
import { CopyView } from './copyview.js';
import { syncMma } from './mma.js';
import { MmaView } from './mmaview.js';
import { watchRecent } from './recent.js';
import { ShareMenu } from './share.js';
import { change, onRender, paneOf, startHistory, state, step, VIEWS } from './state.js';
import { startTheme } from './theme_switch.js';
import { startToken } from './token.js';
import { Toolbar } from './toolbar.js';

/* Each has show(state), and shareable(state) for the menu. Its elements are in #side-NAME and
 * .stage-NAME; which of these are seen, the style sheet knows by the body's data-view. */
const views = {
    layout: new LayoutView(),
    copy: new CopyView(),
    mma: new MmaView(),
    access: new AccessView(),
    jobs: new JobsView(),
};
const toolbar = new Toolbar();
const reference = new Reference((example) => step((s) => showExpressions(s, [paneOf(example)])));
const guide = new Guide((example) => step((s) => showExample(s, example)));
const share = new ShareMenu(() => views[state.doc.view].shareable(state));

function render(s) {
    const now = s.doc.view;
    document.body.dataset.view = now;
    for (const name of VIEWS) {
        const tab = byId(`tab-${name}`);
        tab.setAttribute('aria-selected', String(name === now));
        tab.tabIndex = name === now ? 0 : -1;
        byId(`side-${name}`).hidden = name !== now;
    }
    toolbar.show(s);
    guide.show(s.doc);
    views[now].show(s);
}

function startTabs(shown) {
    const select = (name) => {
        step((s) => {
            s.doc.view = name;
            s.cursor = null;
        });
        shown();
    };
    VIEWS.forEach((name, i) => {
        byId(`tab-${name}`).addEventListener('click', () => select(name));
        byId(`tab-${name}`).addEventListener('keydown', (event) => {
            const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (!by) return;
            const next = VIEWS.at((i + by) % VIEWS.length);
            select(next);
            byId(`tab-${next}`).focus();
        });
    });
}

function start() {
    byId('toolbar').append(toolbar.el);
    byId('share').append(share.el);
    byId('guide').append(guide.el);
    document.body.append(reference.el);
    byId('open-guide').addEventListener('click', () => guide.toggle());
    byId('open-ops').addEventListener('click', () => reference.open(state.ops));
    startTheme(byId('theme'));
    startToken(byId('token'));
    startHistory();
    const ask = watchDaemon();
    startTabs(ask);
    for (const view of [syncPanes, syncTile, syncMma, syncAccess, syncSeen, render, watchRecent])
        onRender(view);
    change();
    ask();
    loadOps().catch(() => null); /* without it there is no completion; the editor says what else is wrong */
}

start();

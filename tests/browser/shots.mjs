/* shots.mjs: what the page looks like, scene by scene, as docs/page-NAME.png. */
import { chromium } from 'playwright-core';
import { FLAGS, hashOf, URL_BASE } from './harness.mjs';

const DESK = { viewport: { width: 1280, height: 800 } };
const DARK = { ...DESK, colorScheme: 'dark' };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const TILE = 'composition(Swizzle<2,1,3>{}, (8,8):(8,1))';
const [BLOCKED, RAKED] = ['blocked', 'raked'].map((kind) => `${kind}_product((2,3):(3,1), (2,2):(1,2))`);
const SPEC = {
    kind: 'copy',
    type: 'half_t',
    atom: 'UniversalCopy<uint128_t>',
    thr: '(32,8):(8,1)',
    val: '(1,8):(0,1)',
    src: '(1024,1024):(1024,1)',
    dst: '(1024,1024):(1024,1)',
};

async function submit(spec) {
    const response = await fetch(`${URL_BASE}/jobs`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Prefer: 'wait=30' },
        body: JSON.stringify(spec),
    });
    return response.json();
}

/* [name, options of the browser, hash, act(page)] */
async function scenes() {
    await submit({ ...SPEC, type: 'float', atom: 'UniversalCopy<uint32_t>', val: '(1,1):(0,0)' });
    await submit({ ...SPEC, atom: 'UniversalCopy<uint16_t>', dst: '(1024,1024):(1,1024)' });
    await submit({ ...SPEC, atom: 'UniversalCopy<uint64_t>', val: '(1,4):(0,1)' });
    const job = await submit(SPEC);
    return [
        ['light', DESK, { e: BLOCKED, at: 9 }],
        [
            'dark',
            DARK,
            { e: `auto tile = ${TILE};\ntile`, colors: 'bank', bytes: 4 },
            (page) => page.getByRole('button', { name: 'Before and after' }).click(),
        ],
        ['phone', PHONE, { e: BLOCKED, at: 9, colors: 'div', n: 6 }],
        ['compare', DESK, { e: [BLOCKED, RAKED], link: 'offset', at: 9, colors: 'div', n: 6 }],
        ['trace', DESK, { e: 'composition((6,2):(8,2), (4,3):(3,1))', trace: 0, pick: 'step:2' }],
        [
            'copy',
            DESK,
            {
                view: 'copy',
                thr: '(8,4):(4,1)',
                val: '(2,4):(4,1)',
                atom: 'UniversalCopy<uint64_t>',
                held: 9,
            },
        ],
        ['mma', DESK, { view: 'mma', held: 5 }],
        [
            'mma-dark',
            DARK,
            {
                view: 'mma',
                atoms: '(2,2,1)',
                permutation: '(32,32,16)',
                tvcolors: 'warp',
                by: 'instruction',
                held: 1,
            },
        ],
        ['mma-phone', PHONE, { view: 'mma', held: 5, tvlabels: 'thread' }],
        [
            'access',
            DARK,
            { view: 'access' },
            async (page) => {
                await page.getByRole('button', { name: 'Find a swizzle' }).click();
                await page.locator('.found').waitFor();
                await page.mouse.move(470, 250);
            },
        ],
        ['jobs', DESK, { view: 'jobs', job: job.id }],
        [
            'error',
            DESK,
            { e: ['blocked_prodct((2,3):(3,1), (2,2))', 'auto a = (6,2):(8,2);\ncomposition(a, 4:4)'] },
        ],
    ];
}

const [folder] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
for (const [name, options, hash, act] of await scenes()) {
    const page = await (await browser.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
    await page.goto(`${URL_BASE}/#${hashOf(hash)}`);
    await page.waitForTimeout(900);
    await act?.(page);
    await page.waitForTimeout(900);
    await page.screenshot({ path: `${folder}/page-${name}.png` });
    await page.context().close();
    console.log(`${folder}/page-${name}.png`);
}
await browser.close();

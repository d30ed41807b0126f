/* access.mjs: screen readers, phones, themes, and a page that trusts nobody. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import {
    eventually,
    figure,
    hashOf,
    layerOf,
    placeOf,
    reads,
    showsOffsets,
    table,
    test,
    URL_BASE,
} from './harness.mjs';

const BLOCKED = 'blocked_product((2,3):(3,1), (2,2):(1,2))';
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function seriousFaults(page) {
    await page.evaluate(axe); /* the debugger's protocol: the page's own policy stays as it is */
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(
            ({ id, nodes }) =>
                `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
        );
}

const SCENES = {
    light: { hash: { e: BLOCKED, at: 9 } },
    dark: { hash: { e: BLOCKED, at: 9 }, options: { colorScheme: 'dark' } },
    compare: { hash: { e: [BLOCKED, '(2,3):(3,1)'], link: 'index', at: 3 } },
    names: {
        hash: {
            e: 'auto a = (2,3):(0,1);\nauto b = (_2,2);\nprint(a);\nprint(size(a));\na',
            table: 1,
            at: 2,
        },
    },
    'a refusal in the dark': {
        hash: { e: 'colesce(4:1)' },
        options: { colorScheme: 'dark' },
        act: (page) => page.locator('.fix').waitFor(),
    },
    'a law that fails, and steps': { hash: { e: 'composition((6,2):(8,2), 4:4)', trace: 0 } },
    'steps in the dark': { hash: { e: BLOCKED, trace: 0 }, options: { colorScheme: 'dark' } },
    'rank 3': { hash: { e: '(2,3,4):(12,4,1)', modes: 'r,c,1' } },
    swizzled: { hash: { e: 'composition(Swizzle<2,1,3>{}, (8,8):(8,1))', colors: 'bank' } },
    copy: { hash: { view: 'copy' } },
    mma: { hash: { view: 'mma', held: 5, table: 1 } },
    'an atom is searched in the dark': {
        hash: { view: 'mma', by: 'warp', held: 0 },
        options: { colorScheme: 'dark' },
        act: (page) =>
            page
                .locator('#mma-atom')
                .click()
                .then(() => page.locator('.options li').first().waitFor()),
    },
    'access and swizzles': {
        hash: { view: 'access' },
        act: (page) =>
            page
                .getByRole('button', { name: 'Find a swizzle' })
                .click()
                .then(() => page.locator('.found').waitFor()),
    },
    'access in the dark': {
        hash: { view: 'access', space: 'global' },
        options: { colorScheme: 'dark' },
    },
    jobs: {
        hash: { view: 'jobs' },
        act: (page) => page.locator('.job-row').first().click(),
    },
    'a sweep': {
        hash: { view: 'mma' },
        act: async (page) => {
            await page.locator('#side-mma summary', { hasText: 'Run many' }).click();
            await page.locator('#side-mma').getByRole('button', { name: 'Run the sweep' }).click();
            await page.locator('.sweep-table').waitFor();
        },
    },
    'the source of a job': {
        hash: { view: 'jobs', part: 'source' },
        act: (page) =>
            page
                .locator('.job-row', { hasText: 'Universal' })
                .first()
                .click()
                .then(() => page.locator('#job-part pre').waitFor()),
    },
    'jobs in the dark': {
        hash: { view: 'jobs' },
        options: { colorScheme: 'dark' },
        act: (page) => page.locator('.job-row').first().click(),
    },
    examples: { hash: { e: BLOCKED }, act: (page) => page.click('#open-guide') },
    reference: { hash: { e: BLOCKED }, act: (page) => page.click('#open-ops') },
    'share menu': {
        hash: { e: BLOCKED },
        act: (page) => page.getByRole('button', { name: 'Share' }).click(),
    },
    completion: {
        hash: { e: '' },
        act: async (page) => {
            await page.locator('#expr-A').pressSequentially('comp');
            await page.locator('#expr-A-completion').waitFor();
        },
    },
    phone: { hash: { e: BLOCKED, trace: 0 }, options: { viewport: { width: 390, height: 844 } } },
};

for (const [name, { hash, options, act }] of Object.entries(SCENES)) {
    test(`axe-core finds nothing serious: ${name}`, async ({ open }) => {
        const page = await open(hashOf(hash), { reducedMotion: 'reduce', ...options });
        await page.waitForTimeout(150); /* for the answers; what comes later is looked at all the same */
        await act?.(page);
        await page.waitForTimeout(100);
        assert.deepEqual(await seriousFaults(page), []);
    });
}

test('the table of cells says what the grid shows', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    const grid = await table(BLOCKED);
    await showsOffsets(page, grid);
    await page.getByRole('button', { name: 'Table' }).click();
    const cells = page.locator('.cells');
    await eventually(
        () => cells.locator('tbody td').allTextContents(),
        (texts) => assert.deepEqual(texts, grid.offsets.map(String)),
    );
    assert.deepEqual(await cells.locator('thead th').allTextContents(), [
        '(0,0)',
        '(1,0)',
        '(2,0)',
        '(0,1)',
        '(1,1)',
        '(2,1)',
    ]);
    assert.deepEqual(await cells.locator('tbody th').allTextContents(), ['(0,0)', '(1,0)', '(0,1)', '(1,1)']);
});

test('the tabs, menu and dialog work from the keyboard', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    await page.locator('#tab-layout').focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('#side-copy').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.locator('#side-layout').waitFor();
    await page.keyboard.press('ArrowLeft'); /* round and round */
    await page.locator('#side-jobs').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.locator('#side-layout').waitFor();
    await page.getByRole('button', { name: 'Share' }).press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.innerText.split('\n')[0]), 'Copy link');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => document.activeElement.innerText.split('\n')[0]), 'Copy as curl');
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Share');
    await page.locator('#open-ops').press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('dialog[open]').count(), 0);
});

test('the theme follows the system, can be chosen, and is kept', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }), { colorScheme: 'dark' });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await paper(), 'rgb(18, 22, 28)');
    await page.click('#theme');
    assert.equal(await paper(), 'rgb(255, 255, 255)');
    await page.reload();
    assert.equal(await paper(), 'rgb(255, 255, 255)');
    assert.equal(await page.locator('#theme').getAttribute('aria-label'), 'Theme: light');
});

test('on a phone nothing is wider than the screen, and a tap sets the cursor', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }), {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
    });
    const grid = await table(BLOCKED);
    await showsOffsets(page, grid);
    const width = () => page.evaluate(() => Math.max(document.documentElement.scrollWidth, innerWidth));
    assert.equal(await width(), 390);
    for (const name of ['Copy', 'MMA', 'Access', 'Jobs']) {
        await page.getByRole('tab', { name }).click();
        assert.equal(await width(), 390, name);
    }
    await page.getByRole('tab', { name: 'Layout' }).click();
    await layerOf(page).scrollIntoViewIfNeeded();
    const { x, y } = await placeOf(page, grid, { row: 1, col: 2 });
    await page.touchscreen.tap(x, y);
    await reads(page, /index 9 offset 5/);
    assert.ok((await figure(page).locator('.grid').boundingBox()).height > 300);
});

test('on a phone the picture comes before the form that it is of', async ({ open }) => {
    const views = { copy: '#tile', mma: '#mma', access: '#access' };
    for (const [view, picture] of Object.entries(views)) {
        const page = await open(hashOf({ view }), { viewport: { width: 390, height: 844 }, isMobile: true });
        const top = async (one) => (await page.locator(one).first().boundingBox()).y;
        await page.locator(`${picture} .figure`).first().waitFor();
        const [of, form] = [await top(`${picture} .figure`), await top(`#side-${view} input`)];
        assert.ok(of < form, `${view}: ${of} and ${form}`);
    }
});

test('the policy of the page is strict, and its markup holds no script and no style', async () => {
    const response = await fetch(URL_BASE);
    const policy = response.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const html = await response.text();
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|https?:\/\//);
});

test('what a program says is text, never markup', async ({ open }) => {
    const evil = '"<img src=x onerror=alert(1)>" <b>4</b>:1';
    const page = await open(hashOf({ e: evil }));
    await eventually(() => page.locator('.problem').first().isVisible(), assert.ok);
    assert.equal(await page.locator('.side img, .side b').count(), 0);
});

test('reduced motion is respected', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }), { reducedMotion: 'reduce' });
    assert.equal(
        await page
            .locator('.grid')
            .first()
            .evaluate((el) => getComputedStyle(el).transitionDuration),
        '0s',
    );
});

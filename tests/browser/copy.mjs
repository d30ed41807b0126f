/* copy.mjs: a partition is pictured, sent, verified, refused. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { api, cellsOf, eventually, figure, hashOf, reads, table, test } from './harness.mjs';

const SMALL = {
    view: 'copy',
    thr: '(4,2):(2,1)',
    val: '(1,4):(0,1)',
    src: '(64,64):(64,1)',
    dst: '(64,64):(64,1)',
    atom: 'UniversalCopy<uint64_t>',
};

test('the tile shows thread and value of every place', async ({ open }) => {
    const page = await open(hashOf(SMALL));
    const grid = await table('raked_product((4,2):(2,1), (1,4):(0,1))');
    const expected = grid.offsets.flatMap((code) => [`T${code % 8}`, `V${Math.floor(code / 8)}`]);
    await eventually(
        () => cellsOf(page, grid, 0, 2),
        (cells) =>
            assert.deepEqual(
                cells.map(({ text }) => text),
                expected,
            ),
    );
    assert.match(
        await figure(page).locator('.figure-title').innerText(),
        /8 threads × 4 values\s+tile 4 × 8/,
    );
    await figure(page).locator('.grid canvas').nth(1).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await reads(page, /^thread 2 value 2 holds \(1,2\) of the tile/);
});

test('a thread of a copy, and an instruction at a time, is stepped through', async ({ open }) => {
    const wide = { ...SMALL, val: '(1,8):(0,1)' }; /* two accesses of 64 bits */
    const page = await open(hashOf({ ...wide, by: 'instruction' }));
    const held = page.locator('#tile input[name=held]');
    const said = page.locator('#tile .holder output');
    const says = (text) =>
        eventually(
            () => said.innerText(),
            (now) => assert.equal(now, text),
        );
    await says('of 2');
    await page.locator('#tile').getByRole('button', { name: 'One on' }).click();
    await says('of 2: values 0 to 3');
    await page.locator('#tile').getByRole('button', { name: 'One on' }).click();
    await says('of 2: values 4 to 7');
    await reads(page, /^thread 0 value 4/);
    await page.fill('#copy-val', '(1,4):(0,1)');
    await says('of 1');
    assert.match(await figure(page).locator('.figure-title').innerText(), /8 threads × 4 values/);
    await page.locator('#tile select[name=by]').selectOption('thread');
    await held.fill('5');
    await reads(page, /^thread 5 value 0/);
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, /held=5/),
    );
});

const JOB_MS = 60000; /* 16 million elements, one by one, on whatever runs the tests */

const MOST_CLICKS = 4;

/* Somebody who has never seen the page: counted are all presses, timed is all from the address on. */
test('first time: from the opening to a verified copy', async ({ open }) => {
    const before = (page) =>
        page.addInitScript(() => {
            globalThis.presses = 0;
            addEventListener('click', ({ isTrusted }) => (globalThis.presses += isTrusted), true);
        });
    const start = performance.now();
    const page = await open('', { before });
    await page.getByRole('tab', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Run on the card' }).click();
    await eventually(
        () => page.locator('.job:visible').innerText(),
        (text) => assert.match(text, /done[^]*Verified/),
        JOB_MS,
    );
    const seconds = (performance.now() - start) / 1000;
    const presses = await page.evaluate(() => globalThis.presses);
    assert.ok(presses > 0 && presses <= MOST_CLICKS, `${presses} clicks`);
    const { devices } = await api('/devices');
    const [{ executor }] = devices;
    console.log(`        first time: ${presses} clicks, ${seconds.toFixed(1)} s on ${executor}`);
    assert.match(await page.locator('.devices:visible').innerText(), /CPU/);
});

test('a refusal stands under the field that is at fault', async ({ open }) => {
    const page = await open(
        hashOf({ ...SMALL, atom: 'UniversalCopy<uint128_t>', type: 'half_t', src: '(64,64):(1,64)' }),
    );
    await page.getByRole('button', { name: 'Run on the card' }).click();
    await eventually(
        () => page.locator('.job:visible').innerText(),
        (text) => assert.match(text, /refused|failed/),
    );
    const problem = await api('/jobs', {
        kind: 'copy',
        type: 'half_t',
        atom: 'UniversalCopy<uint128_t>',
        thr: SMALL.thr,
        val: SMALL.val,
        src: '(64,64):(1,64)',
        dst: SMALL.dst,
    });
    const shown = page.locator(`#copy-${problem.in}-error`);
    assert.equal(await shown.innerText(), problem.detail);
    await page.fill('#copy-thr', '(4,2):(2,');
    await eventually(
        () => page.locator('#copy-thr-error').innerText(),
        (text) => assert.ok(text.length > 10),
    );
    assert.equal(await page.getAttribute('#copy-thr', 'aria-invalid'), 'true');
});

/* What a card answers, so that its times are shown where there is no card. */
const MEASURED = {
    verified: true,
    executor: 'gpu',
    device: { executor: 'gpu', name: 'Card of a test' },
    checked: { elements: 4096 },
    unit: 'us',
    samples: [17, 16.5, 16.4, 16.5, 16.9],
    median: 16.5,
    p95: 17,
    stable: true,
    gbps: 3000,
    ceiling: { memcpy_gbps: 4000, vector_copy_gbps: 3900 },
};

test('speed stands as a bar against the ceiling, samples as a plot', async ({ open }) => {
    const page = await open(hashOf(SMALL));
    const job = { id: '0123456789', state: 'done', result: MEASURED, links: { self: '/jobs/0123456789' } };
    await page.route('**/jobs', (route) => route.fulfill({ status: 200, json: job }));
    await page.getByRole('button', { name: 'Run on the card' }).click();
    await eventually(
        () => page.locator('.job:visible').innerText(),
        (text) =>
            assert.match(text, /Verified[^]*Card of a test[^]*3,000 GB\/s[^]*75\.0 % of the card’s memcpy/),
    );
    assert.equal(await page.locator('.bar-svg .part').getAttribute('width'), '75');
    assert.equal(await page.locator('.plot circle').count(), MEASURED.samples.length);
    assert.match(await page.locator('.plot').getAttribute('aria-label'), /^5 samples, 16\.4 to 17 µs$/);
});

test('every state of a job is shown as it comes', async ({ open }) => {
    const page = await open(hashOf(SMALL));
    const states = ['queued', 'compiling', 'running'];
    const answer = (state) => ({ id: '0123456789', state, ...(state === 'queued' ? { position: 3 } : {}) });
    await page.route('**/jobs', (route) =>
        route.fulfill({ status: 202, headers: { Location: '/jobs/0123456789' }, json: answer('queued') }),
    );
    await page.route('**/jobs/0123456789/events', (route) => route.fulfill({ json: { events: [] } }));
    let release;
    await page.route('**/jobs/0123456789', async (route) => {
        await new Promise((done) => (release = done));
        states.shift();
        const failure = { kind: 'kernel_fault', message: 'an illegal address, thread 7' };
        await route.fulfill({ json: states.length ? answer(states[0]) : { ...answer('failed'), failure } });
    });
    await page.getByRole('button', { name: 'Run on the card' }).click();
    for (const [state, more] of [
        ['queued', /number 3 in the queue/],
        ['compiling', /./],
        ['running', /./],
    ]) {
        await eventually(
            () => page.locator('.job:visible').innerText(),
            (text) => assert.ok(text.startsWith(state) && more.test(text), text),
        );
        await eventually(() => release, assert.ok);
        release();
        release = null;
    }
    await eventually(
        () => page.locator('.job:visible').innerText(),
        (text) => assert.match(text, /^failed[^]*kernel fault[^]*thread 7/),
    );
});

test('share: the curl line of a partition runs it', async ({ open }) => {
    const page = await open(hashOf(SMALL));
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    const line = await eventually(
        () => page.evaluate(() => navigator.clipboard.readText()),
        (text) => {
            assert.match(text, /^curl .*jobs/);
            return text;
        },
    );
    const job = JSON.parse(execFileSync('sh', ['-c', `${line} -s`], { encoding: 'utf8' }));
    assert.equal(job.result.verified, true);
    assert.equal(job.spec.thr, SMALL.thr);
});

test('what a partition will do to memory is predicted, and its lanes are one click away', async ({
    open,
}) => {
    const transpose = { ...SMALL, atom: 'UniversalCopy<uint16_t>', dst: '(64,64):(1,64)' };
    const page = await open(hashOf(transpose));
    const { view, ...copy } = { ...transpose, type: 'half_t' };
    const { sides } = await api('/copy', copy);
    const said = ({ sectors, ideal }) =>
        `${sectors.toLocaleString('en')} sectors, ${sectors === ideal ? 'as few' : `${(sectors / ideal).toFixed(1)} times`}`;
    await eventually(
        () => page.locator('.sides li').allInnerTexts(),
        (texts) => {
            assert.ok(texts[0].includes(`Source: ${said(sides.src)}`), texts[0]);
            assert.ok(texts[1].includes(`Destination: ${said(sides.dst)}`), texts[1]);
        },
    );
    await page.getByRole('button', { name: 'Lanes' }).last().click();
    assert.equal(await page.inputValue('#access-layout'), transpose.dst);
    assert.equal(await page.inputValue('#access-0-instruction'), 'store');
    await eventually(
        () => page.locator('.cost').innerText(),
        (text) => assert.match(text, /sectors/),
    );
    await page.goBack();
    await page.fill('#copy-dst', '(64,60):(1,64)');
    await eventually(
        () => page.locator('.warnings').innerText(),
        (text) => assert.match(text, /dst/),
    );
});

/* jobs.mjs: the list of jobs, one of them followed, two compared, one cancelled. */
import assert from 'node:assert/strict';
import { api, eventually, hashOf, test, URL_BASE } from './harness.mjs';

const SPEC = {
    kind: 'copy',
    type: 'half_t',
    atom: 'UniversalCopy<uint64_t>',
    thr: '(4,2):(2,1)',
    val: '(1,4):(0,1)',
    src: '(64,64):(64,1)',
    dst: '(64,64):(64,1)',
};
const ENDLESS = { ...SPEC, plant: 'hang' }; /* until it is cancelled */

async function submit(spec, wait = 30) {
    const response = await fetch(`${URL_BASE}/jobs`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Prefer: `wait=${wait}` },
        body: JSON.stringify({ ...spec, fresh: true }),
    });
    return response.json();
}

const row = (page, { id }) => page.locator(`[data-key="open ${id}"]`);
const shows = (page, pattern) =>
    eventually(
        () => page.locator('.job-page').innerText(),
        (text) => assert.match(text, pattern),
    );

test('jobs: the list, one looked at, its source', async ({ open }) => {
    const job = await submit({ ...SPEC, type: 'bfloat16_t' });
    const page = await open(hashOf({ view: 'jobs' }));
    await eventually(
        () => row(page, job).innerText(),
        (text) => assert.match(text, /done[^]*verified[^]*bfloat16_t[^]*UniversalCopy<uint64_t>/),
    );
    assert.match(await page.locator('.devices:visible').innerText(), /CPU/);
    await row(page, job).click();
    await shows(page, /bfloat16_t[^]*Verified[^]*4,096 elements/);
    const { events } = await api(`/jobs/${job.id}/events`);
    assert.deepEqual(
        await page.locator('.timeline b').allTextContents(),
        events.map(({ type }) => type),
    );
    const source = await page.locator('.spec-facts a', { hasText: 'source' }).getAttribute('href');
    assert.match(await (await fetch(URL_BASE + source)).text(), /__global__/);
    assert.match(await page.evaluate(() => location.hash), new RegExp(`view=jobs&job=${job.id}`));
    await page.getByRole('button', { name: 'Open in Partition' }).click();
    assert.equal(await page.inputValue('#copy-type'), 'bfloat16_t');
    await page.goBack();
    await shows(page, /Verified/);
});

test('jobs: two side by side, and what differs is marked', async ({ open }) => {
    const one = await submit(SPEC);
    const other = await submit({ ...SPEC, thr: '(8,4):(4,1)' });
    const page = await open(hashOf({ view: 'jobs', job: one.id }));
    await shows(page, /Verified/);
    await page.locator(`[data-key="versus ${other.id}"]`).click();
    await eventually(
        () => page.locator('.versus .differ th').allInnerTexts(),
        (names) => {
            assert.ok(
                names.some((name) => name.startsWith('thr')),
                names.join(),
            );
            assert.ok(!names.some((name) => name.startsWith('val')));
        },
    );
    const cells = await page
        .locator('.versus .differ', { hasText: 'thr' })
        .first()
        .locator('td')
        .allTextContents();
    assert.deepEqual(cells, [SPEC.thr, '(8,4):(4,1)']);
    await page.reload();
    await shows(page, /beside/);
    await page.getByRole('button', { name: 'Close the comparison' }).click();
    await shows(page, /Verified/);
});

/* What a card answers, so that its times are compared where there is no card. */
test('jobs: speeds on one scale, the better one marked', async ({ open }) => {
    const measured = (id, gbps) => ({
        id,
        state: 'done',
        spec: SPEC,
        links: { self: `/jobs/${id}` },
        result: {
            verified: true,
            gbps,
            unit: 'us',
            samples: [10, 11, 10],
            median: 10,
            ceiling: { memcpy_gbps: 4000 },
        },
    });
    const before = async (page) => {
        for (const [id, gbps] of [
            ['aaaa1111', 3000],
            ['bbbb2222', 2000],
        ]) {
            await page.route(`**/jobs/${id}`, (route) => route.fulfill({ json: measured(id, gbps) }));
            await page.route(`**/jobs/${id}/events`, (route) => route.fulfill({ json: { events: [] } }));
        }
    };
    const page = await open(hashOf({ view: 'jobs', job: 'aaaa1111', versus: 'bbbb2222' }), { before });
    await shows(page, /3,000 GB\/s[^]*2,000 GB\/s/);
    const widths = page.locator('.bars .part');
    assert.deepEqual(
        [await widths.nth(0).getAttribute('width'), await widths.nth(1).getAttribute('width')],
        ['75', '50'],
    );
    assert.deepEqual(await page.locator('.versus .better').allTextContents(), ['3000', '0.75']);
    assert.equal(await page.locator('.two-plots .plot').count(), 2);
});

test('jobs: what was predicted stands beside what was counted', async ({ open }) => {
    const job = await submit(SPEC);
    const page = await open(hashOf({ view: 'jobs', job: job.id }));
    const { predicted, why } = job.result.counters; /* a CPU counts nothing, and says so */
    await shows(page, new RegExp(`source sectors\\s+${predicted.src.sectors.toLocaleString('en')}\\s+–`));
    await shows(page, new RegExp(why));
    const counters = {
        predicted: { src: { sectors: 4096 }, smem_load: { wavefronts: 64 }, exact: true },
        measured: { src: { sectors: 4096 }, smem_load: { wavefronts: 128 }, dram_read_bytes: 8192 },
        equal: { src: true, smem_load: false },
    };
    const id = 'dddd4444';
    await page.route(`**/jobs/${id}`, (route) =>
        route.fulfill({
            json: { id, state: 'done', spec: SPEC, links: {}, result: { verified: true, counters } },
        }),
    );
    await page.route(`**/jobs/${id}/events`, (route) => route.fulfill({ json: { events: [] } }));
    await page.evaluate((next) => (location.hash = next), hashOf({ view: 'jobs', job: id }));
    await shows(
        page,
        /source sectors\s+4,096\s+4,096\s+equal[^]*from shared memory wavefronts\s+64\s+128\s+not equal/,
    );
    await shows(page, /dram read bytes\s+–\s+8,192/);
});

test('jobs: a stream of events is followed where the daemon has one', async ({ open }) => {
    const id = 'cccc3333';
    const states = ['queued', 'running', 'done'];
    const asked = [];
    const before = async (page) => {
        await page.route(`**/jobs/${id}`, (route) => {
            asked.push(route.request().headers().prefer ?? 'at once');
            const state = states.shift() ?? 'done';
            return route.fulfill({ json: { id, state, spec: SPEC, links: {} } });
        });
        await page.route(`**/jobs/${id}/events`, (route) => {
            const wanted = route.request().headers().accept;
            if (wanted !== 'text/event-stream') return route.fulfill({ json: { events: [] } });
            const body = ': heartbeat\n\nid: 1\nevent: running\ndata: {}\n\nid: 2\nevent: done\ndata: {}\n\n';
            return route.fulfill({ contentType: 'text/event-stream', body });
        });
    };
    const page = await open(hashOf({ view: 'jobs', job: id }), { before });
    await shows(page, /^Job cc3333[^]*done/);
    assert.deepEqual(asked, ['at once', 'at once', 'at once']); /* never by waiting */
});

test('jobs: one that waits or runs is cancelled', async ({ open }) => {
    const jobs = [];
    for (let i = 0; i < 2; i++) jobs.push(await submit(ENDLESS, 0)); /* one runs, one waits */
    const last = jobs.at(-1);
    const page = await open(hashOf({ view: 'jobs', job: last.id }));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await shows(page, /cancelled/);
    await eventually(
        () => row(page, last).innerText(),
        (text) => assert.match(text, /^cancelled/),
    );
    await page.selectOption('#job-state', 'cancelled');
    await eventually(
        () => page.locator('.job-row .state').allTextContents(),
        (states) => assert.ok(states.length && states.every((state) => state === 'cancelled')),
    );
    for (const { id } of jobs) await fetch(`${URL_BASE}/jobs/${id}`, { method: 'DELETE' });
});

test('jobs: older ones come when they are asked for, newer ones by themselves', async ({ open }) => {
    const first = await submit(SPEC);
    await Promise.all(Array.from({ length: 55 }, () => submit(SPEC, 0)));
    const page = await open(hashOf({ view: 'jobs' }));
    const rows = page.locator('.job-row');
    await eventually(
        () => rows.count(),
        (n) => assert.equal(n, 50),
    );
    await page.getByRole('button', { name: 'Older jobs' }).click();
    await eventually(() => row(page, first).count(), assert.ok);
    const newest = await submit(SPEC);
    await eventually(() => row(page, newest).count(), assert.ok);
    assert.equal(await rows.first().getAttribute('data-key'), `open ${newest.id}`);
    assert.equal(await row(page, first).count(), 1);
});

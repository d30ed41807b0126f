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
    await page.getByRole('tab', { name: 'Source' }).click();
    const source = await (await fetch(URL_BASE + job.links.source)).text();
    assert.match(source, /__global__/);
    await eventually(
        () => page.locator('#job-part pre').textContent(),
        (text) => assert.equal(text, source),
    );
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Source');
    await page.keyboard.press('ArrowLeft');
    await shows(page, /Verified/);
    await page.keyboard.press('ArrowLeft'); /* round and round */
    await eventually(
        () => page.locator('#job-part pre').textContent(),
        (text) => assert.equal(text.includes(`"id": "${job.id}"`), true),
    );
    await page.getByRole('tab', { name: 'Result' }).click();
    await shows(page, /Verified/);
    assert.match(await page.evaluate(() => location.hash), new RegExp(`view=jobs&job=${job.id}`));
    await page.getByRole('button', { name: 'Open in Copy' }).click();
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

const PARTS = { source: '// CUDA', ptx: '.version 8.0', sass: 'LDG.E.128', log: '' };

test('jobs: source, PTX, SASS and log are tabs, and only those that there are', async ({ open }) => {
    const id = 'eeee5555';
    const links = Object.fromEntries(
        ['self', ...Object.keys(PARTS)].map((name) => [name, `/jobs/${id}/${name}`]),
    );
    const asked = [];
    const before = async (page) => {
        await page.route(`**/jobs/${id}`, (route) =>
            route.fulfill({
                json: { id, state: 'done', kind: 'copy', spec: SPEC, links, result: { verified: true } },
            }),
        );
        await page.route(`**/jobs/${id}/events`, (route) => route.fulfill({ json: { events: [] } }));
        for (const [name, body] of Object.entries(PARTS))
            await page.route(`**/jobs/${id}/${name}*`, (route) => {
                const { pathname, search } = new URL(route.request().url());
                asked.push(pathname.split('/').pop() + search);
                return route.fulfill({ contentType: 'text/plain', body: body + search });
            });
    };
    const page = await open(hashOf({ view: 'jobs', job: id, part: 'sass' }), { before });
    const names = () => page.locator('.parts [role=tab]').allInnerTexts();
    await eventually(names, (list) =>
        assert.deepEqual(list, ['Result', 'Source', 'PTX', 'SASS', 'Log', 'JSON']),
    );
    for (const [label, text] of [
        ['SASS', PARTS.sass],
        ['PTX', PARTS.ptx],
        ['Log', 'It is empty.'],
    ]) {
        await page.getByRole('tab', { name: label }).click();
        await eventually(
            () => page.locator('#job-part pre').textContent(),
            (shown) => assert.equal(shown, text),
        );
    }
    await page.getByRole('tab', { name: 'PTX' }).click();
    await page.locator('.arch select').selectOption('sm_100a');
    await eventually(
        () => page.locator('#job-part pre').textContent(),
        (shown) => assert.equal(shown, `${PARTS.ptx}?arch=sm_100a`),
    );
    assert.deepEqual(asked, [
        'sass',
        'ptx',
        'log',
        'ptx?arch=sm_100a',
    ]); /* what nobody looks at is not asked for */
});

test('jobs: an MMA stands against cuBLAS, and two of them side by side', async ({ open }) => {
    const spec = {
        kind: 'mma',
        atom: 'SM80_16x8x16_F32F16F16F32_TN',
        problem: { m: 4096, n: 4096, k: 4096 },
    };
    const job = (id, tflops) => ({
        id,
        state: 'done',
        kind: 'mma',
        spec: { ...spec, stages: tflops > 400 ? 4 : 2 },
        links: {},
        result: { verified: true, tflops, samples: [300, 310], unit: 'us', ceiling: { cublas_tflops: 700 } },
    });
    const before = async (page) => {
        for (const [id, tflops] of [
            ['ffff6666', 350],
            ['ffff7777', 420],
        ]) {
            await page.route(`**/jobs/${id}`, (route) => route.fulfill({ json: job(id, tflops) }));
            await page.route(`**/jobs/${id}/events`, (route) => route.fulfill({ json: { events: [] } }));
        }
    };
    const page = await open(hashOf({ view: 'jobs', job: 'ffff6666' }), { before });
    await shows(page, /350 TFLOP\/s[^]*50\.0 % of cuBLAS, 700 TFLOP\/s/);
    assert.equal(await page.locator('.bar-svg .part').getAttribute('width'), '50');
    await page.getByRole('button', { name: 'Open in MMA' }).click();
    assert.equal(await page.inputValue('#mma-problem'), '(4096,4096,4096)');
    await page.goBack();
    await page.evaluate(
        (next) => (location.hash = next),
        hashOf({ view: 'jobs', job: 'ffff6666', versus: 'ffff7777' }),
    );
    await shows(page, /The whole bar is cuBLAS, 700 TFLOP\/s/);
    assert.deepEqual(await page.locator('.versus .better').allTextContents(), ['420', '0.6']);
    const differ = await page.locator('.versus .differ th').allInnerTexts();
    assert.ok(
        differ.some((name) => name.startsWith('stages')),
        differ.join(),
    );
});

test('jobs: what the card said of itself, and why there is no ceiling', async ({ open }) => {
    const id = 'acac3434';
    const readings = {
        sm_mhz: [1980, 1755],
        celsius: [41, 52],
        watts: [120, 640],
        throttle: ['sw_power_cap'],
    };
    const result = { verified: true, tflops: 350, unit: 'us', samples: [1, 2], exclusive: false, readings };
    const ceiling = { cublas_tflops: null, why: 'libcublas.so is not installed' };
    const before = async (page) => {
        await page.route(`**/jobs/${id}`, (route) =>
            route.fulfill({
                json: { id, state: 'done', kind: 'mma', spec: {}, links: {}, result: { ...result, ceiling } },
            }),
        );
        await page.route(`**/jobs/${id}/events`, (route) => route.fulfill({ json: { events: [] } }));
    };
    const page = await open(hashOf({ view: 'jobs', job: id }), { before });
    await shows(page, /350 TFLOP\/s[^]*No cuBLAS beside it: libcublas\.so is not installed/);
    await shows(
        page,
        /alone on the card\s+no\s+SM clock\s+1,980 → 1,755 MHz\s+temperature\s+41 → 52 °C\s+power\s+120 → 640 W\s+throttled\s+sw power cap/,
    );
});

test('jobs: a wrong value is named, and its thread lit where it came from', async ({ open }) => {
    const planted = { kind: 'mma', atom: 'SM80_16x8x16_F32F16F16F32_TN', plant: 'wrong_value' };
    for (const spec of [{ ...SPEC, plant: 'wrong_value' }, planted]) {
        const job = await submit(spec);
        const { coordinate, expected, got, thread, value } = job.result.mismatch;
        const page = await open(hashOf({ view: 'jobs', job: job.id }));
        await eventually(
            () => page.locator('.job-page .mismatch').innerText(),
            (text) => {
                assert.ok(text.startsWith(`First at ${coordinate}`), text);
                assert.ok(
                    text.includes(`expected ${expected}, got ${got} (thread ${thread}, value ${value})`),
                );
            },
        );
        await shows(page, /Wrong/);
        await page.getByRole('button', { name: /^Open in/ }).click();
        await eventually(
            () => page.locator('.holder:visible input[name=held]').inputValue(),
            (held) => assert.equal(held, String(thread)),
        );
    }
});

test('jobs: a sweep is sent, its jobs are a table that sorts, and one click away', async ({ open }) => {
    const page = await open(
        hashOf({ view: 'copy', thr: SPEC.thr, val: SPEC.val, src: SPEC.src, dst: SPEC.dst, atom: SPEC.atom }),
    );
    await page.locator('#side-copy summary', { hasText: 'Run many' }).click();
    await page.locator('#side-copy .sweep-form select').selectOption('thr');
    const values = [SPEC.thr, '(2,4):(4,1)', '(16,2):(2,1)', '(3,3):(3,1)'];
    await page.locator('#side-copy .sweep-form textarea').fill(values.join('\n'));
    await page.getByRole('button', { name: 'Run the sweep' }).click();
    await shows(page, /4 jobs:/);
    const id = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('job'));
    const sweep = await eventually(
        () => api(`/jobs/${id}`),
        (job) => {
            assert.equal(job.state, 'done');
            return job;
        },
    );
    const column = (n) => page.locator(`.sweep-table tbody td:nth-child(${n})`).allTextContents();
    await eventually(
        () => column(2),
        (texts) =>
            assert.deepEqual(
                texts,
                sweep.result.ranked.map(({ vary }) => vary.thr),
            ),
    );
    assert.deepEqual(
        await column(3),
        sweep.result.ranked.map(({ state }) => state),
    );
    await page.getByRole('button', { name: 'thr' }).click();
    const numeric = (a, b) => a.localeCompare(b, 'en', { numeric: true });
    await eventually(
        () => column(2),
        (texts) => assert.deepEqual(texts, [...values].sort(numeric)),
    );
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'thr');
    await page.keyboard.press('Enter');
    await eventually(
        () => column(2),
        (texts) => assert.deepEqual(texts, [...values].sort(numeric).reverse()),
    );
    assert.equal(await page.locator('th[aria-sort=descending]').innerText(), 'thr');
    await page.locator('.sweep-table .link').last().click();
    await shows(page, /\(2,4\):\(4,1\)[^]*Verified/);
    await page.getByRole('button', { name: 'Its sweep' }).click();
    await shows(page, /4 jobs:/);
});

test('jobs: what a sweep varies is plotted against the speed', async ({ open }) => {
    const id = 'abab1212';
    const child = (rank, stages, unroll, gbps) => ({
        rank,
        job: `child${rank}`,
        state: 'done',
        vary: { stages, unroll },
        verified: true,
        gbps,
        median_us: 1000 / gbps,
    });
    const ranked = [
        child(1, 4, 1, 4000),
        child(2, 3, 2, 3000),
        child(3, 4, 2, 2000),
        { job: 'child4', state: 'queued', vary: { stages: 3, unroll: 1 } },
    ];
    const job = {
        id,
        state: 'running',
        kind: 'sweep',
        spec: { kind: 'sweep', base: SPEC, vary: {} },
        links: {},
    };
    const deleted = [];
    const before = async (page) => {
        await page.route(`**/jobs/${id}`, (route) => {
            if (route.request().method() === 'DELETE') deleted.push(id);
            return route.fulfill({ json: { ...job, result: { counts: { done: 3, queued: 1 }, ranked } } });
        });
        await page.route(`**/jobs/${id}/events`, (route) => route.fulfill({ json: { events: [] } }));
    };
    const page = await open(hashOf({ view: 'jobs', job: id, sort: '-speed' }), { before });
    const dots = () =>
        page
            .locator('.sweep-plot circle')
            .evaluateAll((all) =>
                all.map((one) => [Number(one.getAttribute('cx')), Number(one.getAttribute('cy'))]),
            );
    await eventually(dots, ([best, second, third]) => {
        assert.equal(best[1], third[1]); /* both of 4 stages */
        assert.notEqual(best[1], second[1]);
        const zero = 190;
        assert.ok(Math.abs((third[0] - zero) / (best[0] - zero) - 0.5) < 0.001);
    });
    const names = () => page.locator('.sweep-plot text').allTextContents();
    assert.deepEqual(await names(), ['4', '3', '0', 'best 4,000 GB/s']);
    await page.selectOption('#sweep-axis', 'unroll');
    await eventually(dots, ([best, second, third]) => {
        assert.equal(second[1], third[1]);
        assert.notEqual(best[1], second[1]);
    });
    const speeds = await page.locator('.sweep-table tbody td:nth-child(6)').allTextContents();
    assert.deepEqual(speeds, ['4,000', '3,000', '2,000', '–']);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await eventually(
        () => deleted.length,
        (n) => assert.equal(n, 1),
    );
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

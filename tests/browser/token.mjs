/* token.mjs: a daemon that asks for a token: the page asks its user, and keeps it to itself. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, hashOf, results, test } from './harness.mjs';

const START_MS = 10000;
const LAYOUTD = `${process.env.BUILD}/layoutd`;

/* run(base, token, other) against a daemon of its own, which knows two tokens. */
async function guarded(run) {
    const folder = await mkdtemp(join(tmpdir(), 'layoutd-token-'));
    const tokens = join(folder, 'tokens');
    const add = (name) => execFileSync(LAYOUTD, ['token', 'add', name, '--tokens', tokens], { encoding: 'utf8' });
    const [token, other] = ['ann', 'bob'].map((name) => add(name).trim());
    const flags = ['--listen', '127.0.0.1:0', '--web', 'web', '--workers', 'cpu', '--tokens', tokens];
    const daemon = spawn(LAYOUTD, [...flags, '--data', join(folder, 'data')], {
        stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    daemon.stderr.on('data', (piece) => (said += piece));
    try {
        const base = await eventually(
            () => /listening on (\S+)/.exec(said)?.[1],
            (url) => {
                assert.ok(url, said);
                return url;
            },
            START_MS,
        );
        await run(base, token, other);
    } finally {
        const ended = new Promise((done) => daemon.once('exit', done));
        daemon.kill();
        await ended;
        await rm(folder, { recursive: true });
    }
}

const REFUSED = /status of 401/; /* which is how the page learns of it */

test('token: asked for, kept for the tab, sent with everything, shown nowhere', ({ open }) =>
    guarded(async (base, token) => {
        const page = await open(hashOf({ e: '(4,8):(8,1)' }), { base, allow: REFUSED });
        const dialog = page.getByRole('dialog', { name: 'Token' });
        await dialog.waitFor();
        await page.fill('#token-text', 'lt_wrong');
        await page.keyboard.press('Enter');
        await eventually(
            () => dialog.innerText(),
            (text) => assert.match(text, /does not know this token/),
        );
        await page.fill('#token-text', token);
        await page.keyboard.press('Enter');
        await results(page, '(4,8):(8,1)');
        assert.equal(await dialog.isVisible(), false);
        assert.equal(await page.evaluate(() => localStorage.getItem('layoutd-token')), null);
        assert.equal(await page.evaluate(() => sessionStorage.getItem('layoutd-token')), token);

        const copy = {
            view: 'copy',
            thr: '(4,2):(2,1)',
            val: '(1,4):(0,1)',
            atom: 'UniversalCopy<uint64_t>',
        };
        await page.evaluate(
            (next) => (location.hash = next),
            hashOf({ ...copy, src: '(64,64):(64,1)', dst: '(64,64):(64,1)' }),
        );
        await page.getByRole('button', { name: 'Run on the card' }).click();
        await eventually(
            () => page.locator('.job:visible').innerText(),
            (text) => assert.match(text, /done[^]*Verified/),
            30000,
        );
        await page.getByRole('button', { name: 'Share' }).click();
        for (const [item, wanted] of [
            ['Copy link', /#/],
            ['Copy as curl', /Bearer \$LAYOUTD_TOKEN/],
            ['Copy as Python', /os\.environ\["LAYOUTD_TOKEN"\]/],
        ]) {
            await page.getByRole('menuitem', { name: item }).click();
            const text = await eventually(
                () => page.evaluate(() => navigator.clipboard.readText()),
                (now) => {
                    assert.match(now, wanted);
                    return now;
                },
            );
            assert.ok(!text.includes(token));
            await page.getByRole('menu').waitFor({ state: 'hidden' });
            await page.getByRole('button', { name: 'Share' }).click();
        }
        const program = await page.evaluate(() => navigator.clipboard.readText());
        const env = { ...process.env, LAYOUTD_TOKEN: token };
        const job = JSON.parse(execFileSync('python3', ['-c', program], { encoding: 'utf8', env }));
        assert.equal(job.result.verified, true);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Token' }).click();
        await page.getByRole('button', { name: 'Forget it' }).click();
        await dialog.waitFor();
        assert.equal(await page.evaluate(() => sessionStorage.getItem('layoutd-token')), null);
        await page.close(); /* before its daemon goes */
    }));

test('jobs: one may look at one’s own alone', ({ open }) =>
    guarded(async (base, token, other) => {
        const spec = {
            kind: 'copy',
            type: 'half_t',
            atom: 'UniversalCopy<uint64_t>',
            thr: '(4,2):(2,1)',
            val: '(1,4):(0,1)',
            src: '(64,64):(64,1)',
            dst: '(64,64):(64,1)',
            fresh: true,
        };
        const submit = async (one) => {
            const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${one}` };
            const body = JSON.stringify(spec);
            return (await fetch(`${base}/jobs`, { method: 'POST', headers, body })).json();
        };
        const mine = [await submit(token), await submit(token)];
        const theirs = await submit(other);
        const before = (page) =>
            page.addInitScript((text) => sessionStorage.setItem('layoutd-token', text), token);
        const page = await open(hashOf({ view: 'jobs' }), { base, before });
        const listed = () =>
            page
                .locator('[data-key^="open "]')
                .evaluateAll((rows) => rows.map((one) => one.dataset.key.replace('open ', '')));
        const ids = (...jobs) => jobs.map(({ id }) => id);
        await eventually(listed, (now) => assert.deepEqual(now, ids(theirs, mine[1], mine[0])));
        await page.selectOption('#job-user', 'mine');
        await eventually(listed, (now) => assert.deepEqual(now, ids(mine[1], mine[0])));
        await page.selectOption('#job-state', 'cancelled');
        await eventually(
            () => page.locator('.jobs').innerText(),
            (text) => assert.equal(text, 'No such jobs.'),
        );
        await page.selectOption('#job-state', 'all');
        await page.selectOption('#job-user', 'everybody’s');
        await eventually(listed, (now) => assert.deepEqual(now, ids(theirs, mine[1], mine[0])));
        await page.close(); /* before its daemon goes */
    }));

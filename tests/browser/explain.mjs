/* explain.mjs: whether an answer is right, and how it comes about. */
import assert from 'node:assert/strict';
import { api, eventually, figure, hashOf, reads, results, showsOffsets, table, test } from './harness.mjs';

const BLOCKED = 'blocked_product((2,3):(3,1), (2,2):(1,2))';
const WRONG = 'composition((6,2):(8,2), 4:4)'; /* CuTe accepts it */

const checks = (page) => page.locator('.checks').first();
const asked = (expr, more = {}) => api('/eval', { expr, checks: true, trace: true, ...more });
const words = (text) => text.replace(/\s+/g, ' ').trim();

test('a law that holds is one calm line', async ({ open }) => {
    const page = await open(hashOf({ e: 'coalesce((2,(3,4)):(1,(2,6)))' }));
    const { laws } = (await asked('coalesce((2,(3,4)):(1,(2,6)))')).checks;
    await eventually(
        () => checks(page).innerText(),
        (text) => assert.equal(words(text), `Holds on all ${laws[0].total} points ${laws[0].law}`),
    );
    await page.fill('#expr-A', '(2,3):(3,1)'); /* no operation, no law */
    await eventually(() => checks(page).isHidden(), assert.ok);
});

test('several laws fold into one line', async ({ open }) => {
    const page = await open(hashOf({ e: 'logical_divide((4,6):(6,1),(2,3))' }));
    const { laws } = (await asked('logical_divide((4,6):(6,1),(2,3))')).checks;
    await page.locator('.checks summary').click();
    await eventually(
        () => page.locator('.checks li').allTextContents(),
        (texts) =>
            assert.deepEqual(
                texts,
                laws.map((one) => `${one.law}: all ${one.total} points`),
            ),
    );
});

test('a law that fails is a warning, and its counterexample moves the cursor', async ({ open }) => {
    const page = await open(hashOf({ e: WRONG }));
    const { laws, advice } = (await asked(WRONG)).checks;
    const { at, gives, should } = laws[0].counterexample;
    await eventually(
        () => checks(page).innerText(),
        (text) => {
            assert.ok(words(text).includes(`at ${at} it gives ${gives}, and should give ${should}`), text);
            assert.ok(text.toLowerCase().includes(advice.toLowerCase()));
        },
    );
    await page.getByRole('button', { name: `at ${at}` }).click();
    await reads(page, new RegExp(`index ${at} offset ${gives} `));
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, new RegExp(`at=${at}`)),
    );
});

/* In the divide's law the element is (2,1) of mode 1; in the answer it is another, of the same offset, which A has not. */
test('a counterexample of one mode is the element of the answer that it is', async ({ open }) => {
    const page = await open(hashOf({ e: 'zipped_divide((4,6):(6,1),(2,4))' }));
    await page.getByRole('button', { name: 'at mode 1: 6 = (2,1)' }).click();
    await reads(page, /index 20 offset 6 /);
});

test('a counterexample is told where it is no element of the answer', async ({ open }) => {
    const expr = 'injective((2,2):(1,1))';
    const page = await open(hashOf({ e: expr }));
    const { at, gives, should } = (await asked(expr)).checks.laws[0].counterexample;
    await eventually(
        () => checks(page).innerText(),
        (text) =>
            assert.ok(words(text).includes(`at ${at} it gives ${gives}, and should give ${should}`), text),
    );
    assert.equal(await checks(page).getByRole('button', { name: /^at/ }).count(), 0);
});

test('another reading of the integers is told, and one click away', async ({ open }) => {
    const expr = 'composition((4,6):(6,1), (2,3):(3,1))';
    const page = await open(hashOf({ e: expr, integers: 'cute' }));
    const { static_reading: reading } = (await asked(expr, { integers: 'cute' })).checks;
    await eventually(
        () => checks(page).innerText(),
        (text) => assert.ok(text.includes(reading), text),
    );
    await page.getByRole('button', { name: 'Read it so' }).click();
    assert.equal(await page.inputValue('#integers'), 'static');
    await results(page, reading.replaceAll('_', ''));
});

test('the derivation: every step, its values, and each in the picture', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    await results(page, '((2,2),(3,2)):((3,6),(1,12))');
    await page.getByRole('button', { name: 'Steps' }).click();
    const { trace } = await asked(BLOCKED);
    const steps = page.locator('.step');
    await eventually(
        () => steps.locator('.step-rule code').allTextContents(),
        (rules) =>
            assert.deepEqual(
                rules,
                trace.map(({ rule }) => rule),
            ),
    );
    assert.deepEqual(
        await steps.locator('.step-rule span').allTextContents(),
        trace.map(({ text }) => text),
    );
    const spelled = trace.flatMap(({ operands, result }) => [
        ...operands.map(({ cute }) => cute),
        result.cute,
    ]);
    assert.deepEqual(await steps.locator('.part code').allTextContents(), spelled);
    const at = trace.findIndex(({ rule }) => rule === 'composition');
    await steps.nth(at).locator('button').last().click();
    await showsOffsets(page, await table(trace[at].result.cute));
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, /pick=step:\d/),
    );
    await page.reload();
    await showsOffsets(page, await table(trace[at].result.cute));
    await steps.nth(at).locator('button').first().click(); /* an operand, of which only the text is known */
    await showsOffsets(page, await table(trace[at].operands[0].cute));
    await steps.nth(at).locator('button').first().click();
    await showsOffsets(page, await table(BLOCKED));
    await page.getByRole('button', { name: 'Close the derivation' }).click();
    await eventually(() => page.locator('#trace').isHidden(), assert.ok);
});

test('a derivation of each of two expressions', async ({ open }) => {
    const page = await open(hashOf({ e: ['coalesce((2,3):(1,2))', '((4):(2))'], trace: 0 }));
    const rules = () => page.locator('.step-rule code').allTextContents();
    await eventually(rules, (now) => assert.ok(now.includes('coalesce')));
    await page.locator('.trace').getByRole('button', { name: 'Expression B' }).click();
    await eventually(rules, (now) => assert.deepEqual(now, ['value']));
    await page.getByRole('button', { name: 'Remove expression A' }).click();
    await eventually(rules, (now) => assert.deepEqual(now, ['value']));
    assert.equal(await figure(page).count(), 1);
});

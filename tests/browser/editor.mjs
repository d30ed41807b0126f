/* editor.mjs: typing, refusals, completion. */
import assert from 'node:assert/strict';
import { api, eventually, hashOf, results, showsOffsets, table, test } from './harness.mjs';

const underlined = (page) =>
    page
        .locator('.ink .wrong')
        .allTextContents()
        .then((parts) => parts.join(''));

test('typing evaluates', async ({ open }) => {
    const page = await open(hashOf({ e: '' }));
    await page.locator('#expr-A').pressSequentially('coalesce((2,3):(1,2))', { delay: 15 });
    await results(page, '6:1');
    await showsOffsets(page, await table('6:1'));
    assert.equal(await page.locator('.line.cute output').textContent(), '_6:_1');
    assert.equal(
        await page
            .locator('.facts')
            .innerText()
            .then((text) => text.replace(/\s+/g, ' ')),
        'size 6 cosize 6 rank 1 depth 0',
    );
});

test('a late answer is dropped', async ({ open }) => {
    const page = await open(hashOf({ e: '2:1' }));
    await results(page, '2:1');
    await page.route('**/eval', async (route) => {
        if (route.request().postDataJSON().expr === '7:1') await new Promise((done) => setTimeout(done, 600));
        await route.continue().catch(() => null); /* the page may have given it up */
    });
    await page.fill('#expr-A', '7:1');
    await page.waitForTimeout(150);
    await page.fill('#expr-A', '8:1');
    await results(page, '8:1');
    await page.waitForTimeout(700);
    await results(page, '8:1');
});

test('a refusal underlines exactly the text that is at fault', async ({ open }) => {
    const text = '/* µ→𝄞 */ coalesec((2,3):(1,2))';
    const page = await open(hashOf({ e: text }));
    await eventually(
        () => underlined(page),
        (wrong) => assert.equal(wrong, 'coalesec'),
    );
    const { position } = await api('/eval', { expr: text });
    assert.equal(Buffer.from(text).subarray(position.start, position.end).toString(), 'coalesec');
    assert.match(await page.locator('.problem').first().innerText(), /unknown name/);
    assert.equal(await page.locator('#expr-A').getAttribute('aria-invalid'), 'true');
    await page.getByRole('button', { name: 'Use coalesce' }).click();
    await results(page, '6:1');
    assert.equal(await page.inputValue('#expr-A'), '/* µ→𝄞 */ coalesce((2,3):(1,2))');
    assert.equal(await underlined(page), '');
});

test('the ink lies exactly under the letters of the textarea', async ({ open }) => {
    const page = await open(
        hashOf({
            e: 'coalesce((2,3):(1,2)); // long enough to wrap in the editor, twice at the very least, and so it does',
        }),
    );
    const boxes = await page.evaluate(() =>
        ['.ink', '.area'].map((selector) => {
            const el = document.querySelector(selector);
            const style = getComputedStyle(el);
            const box = el.getBoundingClientRect();
            return [
                box.x,
                box.y,
                box.width,
                box.height,
                style.font,
                style.letterSpacing,
                style.padding,
                style.whiteSpace,
                style.tabSize,
            ];
        }),
    );
    assert.deepEqual(boxes[0], boxes[1]);
    assert.ok(boxes[0][3] > 50, 'it wraps');
    const same = await page.evaluate(
        () => document.querySelector('.ink').textContent === `${document.querySelector('.area').value} `,
    );
    assert.ok(same);
    assert.ok(
        await page.evaluate(
            () => document.querySelector('.area').scrollHeight <= document.querySelector('.ink').scrollHeight,
        ),
    );
});

test('text that is missing is underlined after its end', async ({ open }) => {
    const page = await open(hashOf({ e: 'size((2,3)' }));
    await eventually(
        () => underlined(page),
        (wrong) => assert.equal(wrong, ' '),
    );
});

test('while a text is refused the last picture stays, pale', async ({ open }) => {
    const page = await open(hashOf({ e: '(2,3):(3,1)' }));
    const grid = await table('(2,3):(3,1)');
    await showsOffsets(page, grid);
    await page.fill('#expr-A', '(2,3):(3,');
    await page.locator('.figure.stale').waitFor();
    await showsOffsets(page, grid);
    await page.fill('#expr-A', '(2,3):(3,1)');
    await page.locator('.figure:not(.stale)').first().waitFor();
});

test('integers: which reading was used, and another chosen', async ({ open }) => {
    const page = await open(hashOf({ e: 'coalesce((2,(1,6)):(1,(6,2)))' }));
    await results(page, '12:1');
    assert.equal(await page.locator('#integers option').first().textContent(), 'auto: read as static');
    await page.selectOption('#integers', 'cute');
    await results(page, '(2,1,6):(1,6,2)');
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, /integers=cute/),
    );
    await page.selectOption('#integers', 'auto');
    await page.fill('#expr-A', '(_2,3):(_1,2)');
    await eventually(
        () => page.locator('#integers option').first().textContent(),
        (text) => assert.equal(text, 'auto: read as cute'),
    );
});

test('completion offers what /ops lists, with signatures', async ({ open }) => {
    const page = await open(hashOf({ e: '' }));
    const { ops } = await api('/ops');
    const area = page.locator('#expr-A');
    await area.focus();
    await area.pressSequentially('auto tile = (2,3):(3,1);\nrak');
    const list = page.locator('#expr-A-completion');
    await list.waitFor();
    const raked = ops.find(({ name }) => name === 'raked_product');
    assert.match(await list.locator('[aria-selected=true]').innerText(), /^raked_product\(.*\)/);
    assert.ok((await list.innerText()).includes(raked.doc));
    await page.keyboard.press('Tab');
    assert.match(await area.inputValue(), /raked_product\(\)$/);
    await area.pressSequentially(
        'til',
    ); /* names of the program come too, once it was understood without them */
    await page.keyboard.press('Escape');
    assert.ok(await list.isHidden());
    await area.pressSequentially('e, ');
    assert.equal(await page.locator('.signature b').textContent(), raked.params[1].name);
});

test('Alt and an arrow count a number up, and the picture follows', async ({ open }) => {
    const page = await open(hashOf({ e: '4:1' }));
    await results(page, '4:1');
    await page.locator('#expr-A').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Alt+ArrowUp');
    await results(page, '5:1');
    await page.keyboard.press('Alt+ArrowDown');
    await page.keyboard.press('Alt+ArrowDown');
    await results(page, '3:1');
    await page.keyboard.press('Control+z');
    await results(page, '4:1');
});

test('the reference lists every operation, and its examples run', async ({ open }) => {
    const page = await open(hashOf({ e: '4:1' }));
    const { ops } = await api('/ops');
    await eventually(
        () => page.click('#open-ops').then(() => page.locator('.reference li').count()),
        (n) => assert.equal(n, ops.length),
    );
    await page.fill('.dialog input', 'raked_product');
    await page.locator('.reference .example').first().click();
    const { example } = ops.find(({ name }) => name === 'raked_product');
    assert.equal(await page.inputValue('#expr-A'), example);
    await results(page, (await api('/eval', { expr: example })).text);
});

test('a daemon that does not answer is told', async ({ open }) => {
    const before = (p) => p.route('**/eval', (route) => route.abort());
    const page = await open(hashOf({ e: '4:1' }), { before, allow: /ERR_FAILED/ });
    await eventually(
        () => page.locator('.problem').first().textContent(),
        (text) => assert.match(text, /does not answer/),
    );
    await page.unroute('**/eval');
    await page.fill('#expr-A', '5:1');
    await results(page, '5:1');
});

test('what was looked at for a while is among the recent ones, refusals are not', async ({ open }) => {
    const page = await open(hashOf({ e: '(4,8):(8,1)' }));
    const kept = (list) =>
        eventually(
            () => page.evaluate(() => JSON.parse(localStorage.getItem('layoutd-recent'))),
            (now) => assert.deepEqual(now, list),
        );
    await kept([['(4,8):(8,1)']]);
    await page.fill('#expr-A', '(4,8):(8,');
    await page.locator('.pane .problem').waitFor();
    await page.fill('#expr-A', 'coalesce((2,4):(1,2))');
    await kept([['coalesce((2,4):(1,2))'], ['(4,8):(8,1)']]);
    await page.getByRole('button', { name: 'Examples' }).click();
    await page.locator('button.recent').last().click();
    await results(page, '(4,8):(8,1)');
    await kept([['(4,8):(8,1)'], ['coalesce((2,4):(1,2))']]);
});

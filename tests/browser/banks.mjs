/* banks.mjs: a warp's access: lanes against banks and sectors, what it costs, the swizzle that makes it cheap. */
import assert from 'node:assert/strict';
import {
    api,
    eventually,
    figure,
    hashOf,
    layerOf,
    reads,
    results,
    showsOffsets,
    table,
    test,
} from './harness.mjs';

const COLUMN = {
    view: 'access',
    element: 'float',
    memory: '(32,32):(32,1)',
    access: 'load|4|(32,1):(1,0)|(1,1):(0,0)',
};
const asked = (layout, more = {}) =>
    api('/access', {
        space: 'shared',
        type: 'float',
        layout,
        op: 'load',
        bytes: 4,
        thr: '(32,1):(1,0)',
        val: '(1,1):(0,0)',
        ...more,
    });
const LDMATRIX = { op: 'ldmatrix', matrices: 4, thr: '(16,2):(1,16)', val: '(1,8):(0,1)' };
const STORE = { op: 'store', bytes: 16, thr: '(16,8):(8,1)', val: '(1,8):(0,1)' };

const cost = (page, pattern) =>
    eventually(
        () => page.locator('.cost').innerText(),
        (text) => assert.match(text.replace(/\s+/g, ' '), pattern),
    );

/* The cells of a picture by its table, row by row. */
async function cells(page, i) {
    return figure(page, i).locator('.cells tbody td').allTextContents();
}

test('lanes against banks are the words that the daemon names', async ({ open }) => {
    const page = await open(hashOf({ ...COLUMN, memory: '(32,32):(33,1)', table: 1 }));
    const { lanes } = await asked('(32,32):(33,1)');
    await cost(page, /1 wavefront as few as can be/);
    const expected = lanes.flatMap((at) =>
        Array.from({ length: 32 }, (_, bank) => ((at / 4) % 32 === bank ? String(at / 4) : '')),
    );
    await eventually(
        () => cells(page, 1),
        (texts) => assert.deepEqual(texts, expected),
    );
    const memory = await cells(page, 0); /* lane 7 stands where its element is */
    assert.equal(memory.indexOf('7'), 7 * 32);
});

test('lanes that clash are named, in the list and under the cursor', async ({ open }) => {
    const page = await open(hashOf(COLUMN));
    const answer = await asked('(32,32):(32,1)');
    await cost(page, /32 wavefronts the ideal is 1: 32 words of one bank/);
    await cost(page, /bank 0: 32 words, lanes 0 to 31/);
    assert.equal(answer.banks[0].words.length, 32);
    await layerOf(page, 1, 1).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    await reads(page, /^lane 2 bank 0 word 64 32 words of this bank: lanes 0 to 31 take turns/, 1);
    await reads(page, /^lane 2 \(2,0\) index 2 offset 64 .* bank 0/, 0); /* one cursor in both pictures */
    await page.keyboard.press('n');
    await reads(page, /^lane 3 bank 0/, 1);
});

test('a swizzle is found and applied in two clicks, and undone by going back', async ({ open }) => {
    const page = await open(hashOf({ view: 'access' }));
    await cost(page, /32 wavefronts the ideal is 4/);
    const { swizzles, padding, none } = await api('/swizzle', {
        layout: '(64,64):(64,1)',
        type: 'half_t',
        accesses: [LDMATRIX, STORE],
    });
    await page.getByRole('button', { name: 'Find a swizzle' }).click();
    const rows = page.locator('.found li');
    await eventually(
        () => rows.locator('code').allTextContents(),
        (names) => {
            assert.equal(names[0], '(64,64):(64,1)');
            assert.equal(names[1], swizzles[0].swizzle);
            assert.equal(names.at(-1), padding.layout);
        },
    );
    assert.match(await rows.first().innerText(), new RegExp(`${none.conflicts} conflicts`));
    await page.getByRole('button', { name: `Apply ${swizzles[0].swizzle}` }).click();
    await cost(page, /4 wavefronts as few as can be/);
    assert.equal(
        await page.inputValue('#access-layout'),
        `composition(${swizzles[0].swizzle}{}, (64,64):(64,1))`,
    );
    await page.getByRole('button', { name: `Apply ${padding.layout}` }).click();
    await cost(page, /4 wavefronts as few as can be/);
    await page.goBack();
    await page.goBack();
    await cost(page, /32 wavefronts/);
    assert.equal(await page.inputValue('#access-layout'), '(64,64):(64,1)');
});

test('a swizzled memory is searched without its swizzle, and compared with it', async ({ open }) => {
    const memory = 'composition(Swizzle<1,3,3>{}, (64,64):(64,1))';
    const page = await open(hashOf({ view: 'access', memory }));
    await cost(page, /16 wavefronts/);
    await page.getByRole('button', { name: 'Find a swizzle' }).click();
    await eventually(
        () => page.locator('.found code').first().textContent(),
        (text) => assert.equal(text, '(64,64):(64,1)'),
    );
    await page.getByRole('button', { name: 'Before and after' }).click();
    await results(page, '(64,64):(64,1)', 0);
    assert.equal(await page.inputValue('#expr-B'), memory);
    assert.equal(await page.inputValue('select[name=bytes]'), '2');
});

test('lanes against sectors, and how much of each is used', async ({ open }) => {
    const page = await open(
        hashOf({
            view: 'access',
            space: 'global',
            element: 'float',
            memory: '(256,256):(256,1)',
            access: 'load|4|(32,4):(1,32)|(1,1):(0,0)',
            table: 1,
        }),
    );
    const answer = await asked('(256,256):(256,1)', { space: 'global', thr: '(32,4):(1,32)' });
    await cost(page, new RegExp(`${answer.sectors} sectors the ideal is ${answer.ideal}`));
    const expected = answer.lanes.flatMap((at, lane) =>
        answer.lanes.map((_, col) => (col === lane ? String(at / 32) : '')),
    );
    await eventually(
        () => cells(page, 1),
        (texts) => assert.deepEqual(texts, expected),
    );
    await layerOf(page, 1, 1).focus();
    await page.keyboard.press('ArrowRight');
    await reads(page, /^lane 0 sector 0 line 0 4 of its 32 bytes are used/, 1);
    await page.getByRole('button', { name: 'warp, one on' }).click();
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, /warp=1/),
    );
    await eventually(
        () => cells(page, 0),
        (texts) =>
            assert.deepEqual([texts[0], texts[1], texts[64 + 1]], ['', '0', '1']) /* a column further */,
    );
});

test('an access that is refused is told under its field', async ({ open }) => {
    const page = await open(hashOf({ view: 'access' }));
    await cost(page, /wavefronts/);
    await page.fill('#access-0-thr', '(16,2):(1,');
    await eventually(
        () => page.locator('#access-0-thr-error').innerText(),
        (text) => assert.ok(text.length > 10),
    );
    await page.fill('#access-0-thr', '(16,2):(1,16)');
    await page.fill('#access-type', 'hal_t');
    await eventually(
        () => page.locator('#access-type-error').innerText(),
        (text) => assert.match(text, /hal_t/),
    );
    await page.fill('#access-type', 'half_t');
    await page.fill('#access-layout', '(64,64):(1,64)'); /* a row of a matrix is not contiguous there */
    await eventually(
        () => page.locator('#access-layout-error').innerText(),
        (text) => assert.ok(text.length > 10),
    );
    assert.equal(await page.getAttribute('#access-layout', 'aria-invalid'), 'true');
});

test('a layout is taken to Access and there and back by its link', async ({ open }) => {
    const expr = 'composition(Swizzle<2,1,3>{}, (8,8):(8,1))';
    const page = await open(hashOf({ e: expr }));
    await showsOffsets(page, await table(expr));
    await page.getByRole('button', { name: 'Access', exact: true }).click();
    assert.equal(await page.inputValue('#access-layout'), expr);
    await page.selectOption('#access-space', 'global');
    await eventually(
        () => page.inputValue('#access-0-instruction') /* ldmatrix reads shared memory alone */,
        (op) => assert.equal(op, 'load'),
    );
    await page.getByRole('button', { name: 'Another access' }).click();
    await page.fill('#access-2-thr', '(8,4):(4,1)');
    const hash = await eventually(
        () => page.evaluate(() => location.hash.slice(1)),
        (now) => {
            assert.match(now, /space=global.*\(8,4\):\(4,1\).*shown=2/);
            return now;
        },
    );
    const other = await open(hash);
    assert.equal(await other.inputValue('#access-2-thr'), '(8,4):(4,1)');
    assert.equal(await other.inputValue('#access-layout'), expr);
    await other.waitForTimeout(400);
    assert.equal(await other.evaluate(() => location.hash.slice(1)), hash);
});

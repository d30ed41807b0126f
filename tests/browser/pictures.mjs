/* pictures.mjs: what is drawn is what the daemon answers; the cursor and what it lights. */
import assert from 'node:assert/strict';
import {
    api,
    cellsOf,
    drawnOn,
    eventually,
    figure,
    hashOf,
    layerOf,
    placeOf,
    pointAt,
    reads,
    showsOffsets,
    table,
    test,
} from './harness.mjs';

const BLOCKED = 'blocked_product((2,3):(3,1), (2,2):(1,2))';
const RAKED = 'raked_product((2,3):(3,1), (2,2):(1,2))';

for (const [name, expr, firstRow] of [
    ['blocked', BLOCKED, [0, 1, 2, 12, 13, 14]],
    ['raked', RAKED, [0, 12, 1, 13, 2, 14]],
]) {
    test(`the seeds' ${name} product is drawn as the daemon answers it`, async ({ open }) => {
        const page = await open(hashOf({ e: expr }));
        const grid = await table(expr);
        assert.deepEqual(grid.offsets.slice(0, 6), firstRow); /* the article's own picture */
        await showsOffsets(page, grid);
    });
}

test('labels of index, coordinate and bank', async ({ open }) => {
    const grid = await table(BLOCKED);
    const texts = async (labels, lines = 1) => {
        const page = await open(hashOf({ e: BLOCKED, labels }));
        await eventually(
            () => cellsOf(page, grid, 0, lines),
            (cells) => assert.equal(cells.length, 24 * lines),
        );
        return (await cellsOf(page, grid, 0, lines)).map(({ text }) => text);
    };
    assert.deepEqual((await texts('index')).slice(0, 7), ['0', '4', '8', '12', '16', '20', '1']);
    assert.deepEqual((await texts('coord', 2)).slice(0, 6), [
        '(0,0)',
        '(0,0)',
        '(0,0)',
        '(1,0)',
        '(0,0)',
        '(2,0)',
    ]);
    assert.deepEqual(
        await texts('bank'),
        grid.offsets.map((offset) => String(offset % 32)),
    );
});

test('headers show each coordinate of a nested mode', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    await showsOffsets(page, await table(BLOCKED));
    const heads = (await drawnOn(layerOf(page)))
        .slice(24)
        .map(({ text }) => text)
        .join(' ');
    /* columns: index, n, q; rows: index, m, p */
    assert.equal(heads, '0 1 2 3 4 5 0 1 2 0 1 2 0 1 0 1 2 3 0 1 0 1 0 1');
});

test('hover reads out coordinate, index, offset and the sum', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    const grid = await table(BLOCKED);
    await showsOffsets(page, grid);
    await pointAt(page, grid, { row: 1, col: 2 });
    await reads(page, /\(\(1,0\),\(2,0\)\) index 9 offset 5 = 1·3 \+ 0·6 \+ 2·1 \+ 0·12/);
    const asked = await api('/eval', { layout: '((2,2),(3,2)):((3,6),(1,12))', coord: '((1,0),(2,0))' });
    assert.equal(asked.text, '5');
    await page.mouse.move(5, 400);
    await reads(page, /^Point at a cell/);
});

test('cells of one offset light up together', async ({ open }) => {
    const expr = '(4,(2,3)):(0,(1,4))';
    const page = await open(hashOf({ e: expr }));
    const grid = await table(expr);
    await showsOffsets(page, grid);
    await pointAt(page, grid, { row: 3, col: 2 });
    await reads(page, /offset 4 = .* also at \(0,\(0,1\)\), \(1,\(0,1\)\), \(2,\(0,1\)\)$/);
    const lit = await layerOf(page, 0, 1).evaluate(
        (canvas, places) =>
            places.map(({ x, y }) => {
                const { data } = canvas
                    .getContext('2d')
                    .getImageData(x - 40, y, 40, 1); /* from the middle over the left edge */
                return data.some((value, i) => i % 4 === 3 && value > 0);
            }),
        await Promise.all([0, 1, 2].map((row) => canvasPlace(page, grid, { row, col: 2 }))),
    );
    assert.deepEqual(lit, [true, true, true]);
});

async function canvasPlace(page, grid, { row, col }) {
    const { x, y } = (await cellsOf(page, grid))[row * grid.cols + col];
    return { x: Math.round(x), y: Math.round(y) };
}

test('the memory strip shows offsets in order, gaps and doubles', async ({ open }) => {
    const page = await open(hashOf({ e: '(2,3):(5,1)' }));
    const strip = figure(page).locator('.strip canvas');
    await eventually(
        () => drawnOn(strip),
        (drawn) =>
            assert.deepEqual(
                drawn.map(({ text }) => text),
                ['0', 'sector 0', '1', '2', '5', '6', '7'],
            ),
    );
    const box = await strip.boundingBox();
    const six = (await drawnOn(strip)).find(({ text }) => text === '6');
    await page.mouse.move(box.x + six.x, box.y + 15);
    await reads(page, /^\(1,1\) index 3 offset 6/);
    await page.fill('#expr-A', '(2,3):(0,1000)');
    await eventually(
        () => drawnOn(strip),
        (drawn) => {
            const texts = drawn.map(({ text }) => text);
            assert.equal(texts.filter((text) => text === '×2').length, 3);
            assert.equal(texts.filter((text) => text === '+999').length, 2);
        },
    );
});

test('the arrow keys move the same cursor', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    await showsOffsets(page, await table(BLOCKED));
    await layerOf(page, 0, 1).focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    await reads(page, /^\(\(1,0\),\(2,0\)\) index 9 offset 5/);
    assert.match(await page.locator('#live').textContent(), /index 9, offset 5/);
    await page.keyboard.press('End');
    await reads(page, /offset 17/);
    await page.keyboard.press('Control+Home');
    await reads(page, /offset 0/);
    await page.keyboard.press('ArrowUp'); /* stays inside */
    await reads(page, /offset 0/);
    await page.keyboard.press('Enter');
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, /at=0/),
    );
    await page.keyboard.press('Escape');
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.doesNotMatch(hash, /at=/),
    );
});

test('n goes on to the next cell of the same offset', async ({ open }) => {
    const page = await open(hashOf({ e: '(2,3):(0,1)', at: 2 }));
    await reads(page, /^\(0,1\) index 2/);
    await layerOf(page, 0, 1).focus();
    await page.keyboard.press('n');
    await reads(page, /^\(1,1\) index 3/);
    await page.keyboard.press('n');
    await reads(page, /^\(0,1\) index 2/);
});

test('wheel zooms about the pointer, drag pans, 0 fits', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    const grid = await table(BLOCKED);
    await showsOffsets(page, grid);
    const before = await cellsOf(page, grid);
    const at = await placeOf(page, grid, { row: 2, col: 3 });
    await page.mouse.move(at.x, at.y);
    await page.mouse.wheel(0, -200);
    await reads(page, /offset 18/);
    const near = await eventually(
        () => drawnOn(layerOf(page)),
        (drawn) => {
            const same = drawn.find(({ text }) => text === '18');
            assert.ok(
                Math.abs(same.x - before[15].x) < 3 && Math.abs(same.y - before[15].y) < 3,
                'the pointed cell stays',
            );
            return drawn;
        },
    );
    await page.mouse.down();
    await page.mouse.move(at.x + 60, at.y + 30, { steps: 4 });
    await page.mouse.up();
    await eventually(
        () => drawnOn(layerOf(page)),
        (drawn) => {
            const [was, is] = [near, drawn].map((list) => list.find(({ text }) => text === '18'));
            assert.ok(Math.abs(is.x - was.x - 60) < 3 && Math.abs(is.y - was.y - 30) < 3);
        },
    );
    await layerOf(page, 0, 1).focus();
    await page.keyboard.press('0');
    await eventually(
        () => cellsOf(page, grid),
        (cells) => assert.deepEqual(cells, before),
    );
});

test('a million cells: only what is visible is drawn', async ({ open }) => {
    const page = await open(hashOf({ e: '4:1' }));
    const started = Date.now();
    await page.fill('#expr-A', '(1024,1024):(1,1024)');
    await eventually(
        () => figure(page).locator('.dims').textContent(),
        (dims) => assert.equal(dims, '1024 × 1024'),
    );
    assert.ok(
        Date.now() - started < 8000,
        'on the screen in time',
    ); /* `make bench` has the figure; this machine may be busy */
    assert.ok((await drawnOn(layerOf(page))).length < 200, 'no labels from far away');
    await layerOf(page, 0, 1).focus();
    for (let i = 0; i < 14; i++) await page.keyboard.press('+');
    const near = await drawnOn(layerOf(page));
    assert.ok(near.length > 20 && near.length < 3000, `${near.length} texts`);
    const box = await layerOf(page).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await reads(page, /^\(\d+,\d+\) index (\d+) offset \1/);
});

test('offsets beyond 2^53 are exact', async ({ open }) => {
    const expr = '(2,2):(9007199254740993,1)';
    const page = await open(hashOf({ e: expr }));
    await eventually(
        () => drawnOn(layerOf(page)),
        (drawn) =>
            assert.deepEqual(
                drawn.slice(0, 4).map(({ text }) => text),
                ['0', '1', '9007199254740993', '9007199254740994'],
            ),
    );
    await layerOf(page, 0, 1).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await reads(page, /offset 9007199254740994 = 1·9007199254740993 \+ 1·1/);
});

test('compare: one cursor by offset, index or coordinate', async ({ open }) => {
    const page = await open(hashOf({ e: [BLOCKED, RAKED], link: 'offset' }));
    const [a, b] = [await table(BLOCKED), await table(RAKED)];
    await showsOffsets(page, a, 0);
    await showsOffsets(page, b, 1);
    await pointAt(page, a, { row: 1, col: 2 });
    await reads(page, /^\(\(1,0\),\(2,0\)\) index 9 offset 5/, 0);
    await reads(page, /^\(\(0,1\),\(0,2\)\) index 18 offset 5/, 1); /* (M,N) is (1,2) there, (2,4) here */
    await page.selectOption('select[name=link]', 'coord');
    await reads(page, /^\(\(1,0\),\(0,1\)\) index 9 offset 7/, 1);
    await page.selectOption('select[name=link]', 'index');
    await pointAt(page, b, { row: 2, col: 4 }, 1);
    await reads(page, /index 18 offset 19/, 0);
});

test('compare: a second expression is added and removed', async ({ open }) => {
    const page = await open(hashOf({ e: '(2,3):(3,1)' }));
    await showsOffsets(page, await table('(2,3):(3,1)'));
    await page.click('#add');
    await page.fill('#expr-B', '(2,3):(1,2)');
    await showsOffsets(page, await table('(2,3):(1,2)'), 1);
    await page.getByRole('button', { name: 'Remove expression A' }).click();
    await showsOffsets(page, await table('(2,3):(1,2)'));
    assert.equal(await page.locator('.figure:visible').count(), 1);
});

test('every named value and print shows its own picture', async ({ open }) => {
    const page = await open(
        hashOf({ e: 'auto a = (2,3):(3,1);\nauto b = (2,2):(1,2);\nprint(size(a));\nblocked_product(a, b)' }),
    );
    await showsOffsets(page, await table(BLOCKED));
    const rows = page.locator('.names button');
    assert.deepEqual(await rows.locator('.name').allTextContents(), ['result', 'a', 'b', 'print(size(a))']);
    assert.ok(await rows.nth(3).isDisabled()); /* an integer has no picture */
    await rows.nth(2).click();
    await showsOffsets(page, await table('(2,2):(1,2)'));
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, /pick=b/),
    );
    await page.reload();
    await showsOffsets(page, await table('(2,2):(1,2)'));
});

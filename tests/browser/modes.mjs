/* modes.mjs: rank 3 and more, swizzled layouts: which modes are drawn, before and after. */
import assert from 'node:assert/strict';
import {
    api,
    eventually,
    figure,
    hashOf,
    layerOf,
    pointAt,
    reads,
    showsOffsets,
    table,
    test,
} from './harness.mjs';

const CUBE = '(2,3,4):(12,4,1)';
const mode = (page, m) => page.getByRole('combobox', { name: `Mode ${m}` });

/* The daemon's own numbers at coordinates, row by row. */
async function offsetsAt(layout, coords) {
    const { values } = await api('/eval', { layout, coords });
    return values;
}

test('rank 3: modes are put to rows and columns, and the others tile', async ({ open }) => {
    const page = await open(hashOf({ e: CUBE }));
    await showsOffsets(page, await table(CUBE)); /* mode 0 down, the others across */
    await mode(page, 0).selectOption('c');
    await mode(page, 2).selectOption('r');
    const coords = [0, 1, 2, 3].flatMap((k) => [0, 1, 2].flatMap((j) => [0, 1].map((i) => ({ i, j, k }))));
    const offsets = await offsetsAt(
        CUBE,
        coords.map(({ i, j, k }) => `(${i},${j},${k})`),
    );
    await showsOffsets(page, { rows: 4, cols: 6, offsets });
    await pointAt(page, { rows: 4, cols: 6 }, { row: 3, col: 4 });
    await reads(page, /^\(0,2,3\) index 22 offset 11 = 0·12 \+ 2·4 \+ 3·1/);
    assert.equal((await api('/eval', { layout: CUBE, coord: '22' })).text, '11');
    await mode(page, 0).selectOption('r');
    await mode(page, 2).selectOption('c'); /* as it was: nothing of it is in the link */
    await showsOffsets(page, await table(CUBE));
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.doesNotMatch(hash, /modes/),
    );
});

test('rank 3: a mode is stepped through, by buttons and keys', async ({ open }) => {
    const page = await open(hashOf({ e: CUBE, modes: 'r,c,1' }));
    const slice = async (k) => {
        const coords = [0, 1].flatMap((i) => [0, 1, 2].map((j) => `(${i},${j},${k})`));
        return { rows: 2, cols: 3, offsets: await offsetsAt(CUBE, coords) };
    };
    await showsOffsets(page, await slice(1));
    await page.getByRole('button', { name: 'Mode 2, one on' }).click();
    await showsOffsets(page, await slice(2));
    await layerOf(page, 0, 1).focus();
    await page.keyboard.press(']');
    await showsOffsets(page, await slice(3));
    await page.keyboard.press(']'); /* round and round */
    await showsOffsets(page, await slice(0));
    await page.keyboard.press('[');
    await showsOffsets(page, await slice(3));
    await page.keyboard.press('ArrowRight');
    await reads(page, /^\(0,0,3\) index 18 offset 3/);
    await eventually(
        () => page.evaluate(() => location.hash),
        (hash) => assert.match(hash, /modes=r,c,3/),
    );
});

test('rank 3: a swizzled layout is arranged by the daemon too', async ({ open }) => {
    const expr = 'composition(Swizzle<1,0,2>{}, (2,2,4):(1,2,4))';
    const page = await open(hashOf({ e: expr, modes: 'c,c,r' }));
    const coords = [0, 1, 2, 3].flatMap((k) => [0, 1].flatMap((j) => [0, 1].map((i) => `(${i},${j},${k})`)));
    await showsOffsets(page, { rows: 4, cols: 4, offsets: await offsetsAt(expr, coords) });
});

test('a link with modes that do not fit is taken as far as it makes sense', async ({ open }) => {
    for (const modes of ['r,c', 'x,y,z', '-1,r,c']) {
        const page = await open(hashOf({ e: CUBE, modes }));
        await showsOffsets(page, await table(CUBE));
    }
});

test('a swizzled layout: before and after in one click', async ({ open }) => {
    const expr = 'composition(Swizzle<2,1,3>{}, (8,8):(8,1))';
    const page = await open(hashOf({ e: `auto l = ${expr};\nl` }));
    await showsOffsets(page, await table(expr));
    await page.getByRole('button', { name: 'Before and after' }).click();
    const [before, after] = [await table('(8,8):(8,1)'), await table(expr)];
    await showsOffsets(page, before, 0);
    await showsOffsets(page, after, 1);
    assert.equal(await page.inputValue('#expr-A'), `auto l = ${expr};\nlayout_b(l)`);
    assert.equal(await page.inputValue('select[name=colors]'), 'bank');
    await page.selectOption('select[name=labels]', 'bank');
    await page.selectOption('select[name=bytes]', '8');
    for (const [i, { offsets }] of [before, after].entries())
        await showsOffsets(page, { ...before, offsets: offsets.map((offset) => (2 * offset) % 32) }, i);
    await pointAt(page, before, { row: 2, col: 5 });
    await reads(page, /^\(2,5\) index 42 offset 21 .* bank 10/, 0);
    const there = (await api('/eval', { layout: expr, coord: '(2,5)' })).text;
    await reads(page, new RegExp(`^\\(2,5\\) index 42 offset ${there} = Sw<2,1,3>\\(0 \\+ `), 1);
    assert.equal(await figure(page, 0).getByRole('button', { name: 'Before and after' }).isHidden(), true);
});

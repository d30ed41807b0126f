/* mma.mjs: A, B and C of a tiled MMA by thread and value, as /mma has them; who holds what; what is sent. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
    api,
    drawnOn,
    eventually,
    figure,
    hashOf,
    layerOf,
    pointAt,
    reads,
    table,
    test,
    URL_BASE,
} from './harness.mjs';

const ATOM = 'SM80_16x8x16_F32F16F16F32_TN';
const FOUR = { atom: ATOM, atom_layout: '(2,2,1)', permutation: '(32,32,16)' };
const hashed = ({ atom, atom_layout: atoms = '(1,1,1)', permutation = '(_,_,_)' }, more = {}) =>
    hashOf({ view: 'mma', mma: atom, atoms, permutation, ...more });

/* {A, B, C: rows of the element's index, one a thread} from the daemon, {m, n, k} of the tile. */
async function held(question) {
    const answer = await api('/mma', question);
    const [m, n, k] = answer.tile_mnk;
    const rows = {};
    for (const name of ['A', 'B', 'C']) {
        const { offsets, cols } = await table(answer[name].tv);
        rows[name] = Array.from({ length: answer.threads }, (_, t) =>
            offsets.slice(t * cols, (t + 1) * cols),
        );
    }
    return { answer, m, n, k, rows };
}

const GRID = ({ m, n, k }) => ({ rows: k + 1 + m, cols: k + 1 + n });

/* Where CuTe's print_latex has element i of an operand: A left of C, B above it, columns of B being those of C. */
function placeOf({ m, n, k }, name, i) {
    if (name === 'A') return [k + 1 + (i % m), Math.floor(i / m)];
    if (name === 'B') return [Math.floor(i / n), k + 1 + (i % n)];
    return [k + 1 + (i % m), k + 1 + Math.floor(i / m)];
}

/* The texts of the whole picture: of each element the first thread that holds it. */
function labelsOf(mma) {
    const { rows, cols } = GRID(mma);
    const texts = Array(rows * cols).fill('');
    for (const name of ['A', 'B', 'C'])
        mma.rows[name].forEach((values, thread) =>
            values.forEach((i, value) => {
                const [row, col] = placeOf(mma, name, i);
                texts[row * cols + col] ||= `T${thread} V${value}`;
            }),
        );
    return texts;
}

/* In wide cells thread and value stand side by side, in others one above the other. */
const shows = (page, expected) =>
    eventually(
        () => drawnOn(layerOf(page)),
        (drawn) => {
            const wide = drawn.some(({ text }) => /^T\d+ V/.test(text));
            const texts = wide ? expected : expected.flatMap((text) => text.split(' '));
            assert.deepEqual(
                drawn.slice(0, texts.length).map(({ text }) => text),
                texts,
            );
        },
    );

for (const atom of [ATOM, 'SM70_8x8x4_F32F16F16F32_TN', 'SM75_8x8x16_S32S8S8S32_TN'])
    test(`mma: thread and value of every element of A, B and C: ${atom}`, async ({ open }) => {
        const page = await open(hashed({ atom }));
        const mma = await held({ atom });
        await shows(page, labelsOf(mma));
        assert.match(
            await figure(page).locator('.figure-title').innerText(),
            new RegExp(`C ${mma.m}×${mma.n} = A ${mma.m}×${mma.k} · B ${mma.k}×${mma.n}`),
        );
    });

test('mma: warps of four, by colour and label, in a large window', async ({ open }) => {
    const viewport = { width: 1900, height: 1400 };
    const page = await open(hashed(FOUR, { tvlabels: 'thread', tvcolors: 'warp' }), { viewport });
    const mma = await held(FOUR);
    await shows(
        page,
        labelsOf(mma).map((text) => text.split(' ')[0]),
    );
    assert.equal(await page.locator('select[name=tvcolors]').inputValue(), 'warp');
});

/* The rows of the table of what is lit, without their heads. */
const heldRows = (page) =>
    page
        .locator('.held tbody tr')
        .evaluateAll((rows) =>
            rows.map((row) => [...row.querySelectorAll('td')].map((td) => td.textContent)),
        );

test('mma: a thread is chosen, stepped, pressed; its elements of A, B and C are listed', async ({ open }) => {
    const page = await open(hashed({ atom: ATOM }));
    const mma = await held({ atom: ATOM });
    const coord = (name, i) => {
        const first = name === 'B' ? mma.n : mma.m;
        return i === undefined ? '' : `(${i % first},${Math.floor(i / first)})`;
    };
    const expected = (t) =>
        Array.from({ length: Math.max(...['A', 'B', 'C'].map((x) => mma.rows[x][t].length)) }, (_, v) =>
            ['A', 'B', 'C'].map((name) => coord(name, mma.rows[name][t][v])),
        );
    const lists = (t) =>
        eventually(
            () => heldRows(page),
            (rows) => assert.deepEqual(rows, expected(t)),
        );
    await page.fill('#mma input[name=held]', '5');
    await lists(5);
    await page.locator('#mma').getByRole('button', { name: 'One on' }).click();
    await lists(6);
    await reads(page, /thread 6 value 0/);
    await figure(page).locator('.grid canvas').nth(1).focus();
    await page.keyboard.press('[');
    await page.keyboard.press('[');
    await lists(4);
    const linked = (part) =>
        eventually(
            () => page.evaluate(() => location.hash),
            (hash) => assert.ok(hash.endsWith(part), hash),
        );
    await linked('held=4');
    const [row, col] = placeOf(mma, 'B', mma.rows.B[9][2]);
    await pointAt(page, GRID(mma), { row, col });
    await reads(page, new RegExp(`^B\\(${coord('B', mma.rows.B[9][2]).slice(1, -1)}\\) thread 9 value 2`));
    await page.mouse.down();
    await page.mouse.up();
    await lists(9);
    await linked('held=9');
    await page.reload();
    await lists(9);
    await page.locator('#mma').getByRole('button', { name: 'Clear' }).click();
    await eventually(
        () => heldRows(page),
        (rows) => assert.equal(rows.length, 0),
    );
});

test('mma: by warp, by value and by instruction, as the TV layouts have it', async ({ open }) => {
    const page = await open(hashed(FOUR, { by: 'warp', held: 2 }));
    const mma = await held(FOUR);
    const extents = (pick) =>
        ['A', 'B', 'C'].map((name) => {
            const first = name === 'B' ? mma.n : mma.m;
            const all = new Set(
                mma.rows[name].flatMap((values, t) => values.filter((i, v) => pick(name, t, v))),
            );
            const at = [...all].map((i) => [i % first, Math.floor(i / first)]);
            const edge = (most) => [0, 1].map((mode) => most(...at.map((c) => c[mode])));
            return [String(all.size), `(${edge(Math.min)}) to (${edge(Math.max)})`];
        });
    const lists = (pick) =>
        eventually(
            () => heldRows(page),
            (rows) => assert.deepEqual(rows, extents(pick)),
        );
    await lists((name, t) => Math.floor(t / 32) === 2);
    await page.selectOption('#mma select[name=by]', 'value');
    await page.fill('#mma input[name=held]', '3');
    await lists((name, t, v) => v === 3);
    /* permuted to 32 along N, each warp issues two: the second has the upper halves of B's and C's values */
    await page.selectOption('#mma select[name=by]', 'instruction');
    await page.fill('#mma input[name=held]', '1');
    await lists((name, t, v) => name === 'A' || v >= mma.rows[name][t].length / 2);
    await eventually(
        () => page.locator('#mma .holder output').innerText(),
        (text) => assert.equal(text, 'of 2: (m,n,k) = (0,1,0)'),
    );
});

test('mma: what a descriptor reads is held by nobody; registers are counted', async ({ open }) => {
    const atom = 'SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>';
    const page = await open(hashed({ atom }));
    const { C } = await api('/mma', { atom });
    await eventually(
        () => page.locator('.predicted tbody tr').allInnerTexts(),
        (rows) => {
            assert.match(rows[0], /A 64×16\s+half_t\s+a descriptor\s+0/);
            assert.match(rows[2], new RegExp(`C 64×64\\s+float\\s+${C.values}\\s+${C.bits / 32}`));
            assert.match(rows[3], new RegExp(`in all\\s+${C.bits / 32}`));
        },
    );
    await figure(page).locator('.grid canvas').nth(1).focus();
    await page.keyboard.press('ArrowDown');
    for (let i = 0; i < 18; i++) await page.keyboard.press('ArrowDown');
    await reads(page, /^A\(\d+,0\) in shared memory: read through a descriptor/);
});

/* Half a million values of B, if each of 128 threads held what the descriptor reads. */
test('mma: the largest wgmma, too', async ({ open }) => {
    const atom = 'SM90_64x256x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>';
    const page = await open(hashed({ atom }, { held: 37 }));
    const { c } = await api(`/atoms/${encodeURIComponent(atom)}`);
    const { offsets, cols } = await table(c);
    const mine = offsets.slice(37 * cols, 38 * cols).map((i) => `(${i % 64},${Math.floor(i / 64)})`);
    await eventually(
        () => heldRows(page),
        (rows) => {
            const listed = rows.map((row) => row[2]);
            assert.equal(listed.length, 64);
            assert.deepEqual(listed, mine.slice(0, 64));
        },
    );
    await eventually(
        () => page.locator('.predicted tbody tr').allInnerTexts(),
        (rows) => {
            assert.match(rows[1], /B 256×16\s+half_t\s+a descriptor\s+0/);
            assert.match(rows[2], /C 64×256\s+float\s+128\s+128/);
        },
    );
});

test('mma: one of two and a half thousand atoms is found by parts of its name', async ({ open }) => {
    const page = await open(hashed({ atom: ATOM }));
    const { atoms } = await api('/atoms');
    await page.locator('#mma-atom').click();
    const listed = await page.evaluate(async () => (await import('./mma.js')).mmaAtoms());
    const mmas = atoms.filter(({ kind }) => kind === 'mma').map(({ name }) => name);
    assert.deepEqual(listed, mmas);
    await eventually(
        () => page.locator('.picker-count').innerText(),
        (text) => assert.match(text, new RegExp(`of ${listed.length.toLocaleString('en')} atoms`)),
    );
    await page.fill('#mma-atom', 'sm80 16x8x8');
    const wanted = listed.filter((name) => /sm80/i.test(name) && /16x8x8/i.test(name));
    await eventually(
        () => page.locator('.options li').allInnerTexts(),
        (names) => assert.deepEqual(names, wanted.slice(0, 60)),
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(await page.inputValue('#mma-atom'), wanted[1]);
    const mma = await held({ atom: wanted[1] });
    await shows(page, labelsOf(mma));
});

test('mma: a refusal stands under its field', async ({ open }) => {
    const page = await open(hashed({ atom: ATOM }));
    for (const [field, text] of [
        ['permutation', '(32,31'],
        ['atom_layout', '(2,2'],
        ['atom', 'SM80_16x8x16_F32F16F16F32_T'],
    ]) {
        const before = await page.inputValue(`#mma-${field}`);
        await page.fill(`#mma-${field}`, text);
        const problem = await api('/mma', { atom: ATOM, [field]: text });
        assert.equal(problem.in, field);
        await eventually(
            () => page.locator(`#mma-${field}-error`).innerText(),
            (shown) => assert.equal(shown, problem.detail),
        );
        await page.fill(`#mma-${field}`, before);
        await page.locator(`#mma-${field}-error`).waitFor({ state: 'hidden' });
    }
});

/* A daemon that runs MMAs verifies it; one that does not says so, and so does the page. */
test('mma: it is sent to the card', async ({ open }) => {
    const page = await open(hashed({ atom: ATOM }));
    const spec = { kind: 'mma', atom: ATOM, atom_layout: '(1,1,1)', permutation: '(_,_,_)' };
    const sent = page.waitForRequest(
        (request) => request.url().endsWith('/jobs') && request.method() === 'POST',
    );
    await page.getByRole('button', { name: 'Run on the card' }).click();
    assert.deepEqual((await sent).postDataJSON(), spec);
    const answer = await api('/jobs', spec);
    await eventually(
        () => page.locator('#side-mma').innerText(),
        (text) =>
            answer.status >= 400
                ? assert.ok(text.includes(answer.detail), answer.detail)
                : assert.match(text, /done[^]*Verified/),
        30000,
    );
});

async function shared(page, item) {
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    return page.evaluate(() => navigator.clipboard.readText());
}

test('mma: copied as C++, and as curl and Python that give what the page shows', async ({ open }) => {
    const page = await open(hashed(FOUR));
    await page.locator('.predicted tbody tr').first().waitFor();
    assert.equal(
        await shared(page, 'Copy as C++'),
        `make_tiled_mma(${ATOM}{}, Layout<Shape<Int<2>,Int<2>,Int<1>>>{}, Tile<Int<32>,Int<32>,Int<16>>{})`,
    );
    const expected = await api('/mma', FOUR);
    const same = await api('/eval', {
        expr: await shared(page, 'Copy as C++'),
    }); /* the daemon reads C++, too */
    assert.ok(same.text.includes(`ThrLayoutVMNK:  ${expected.thr_layout_vmnk}`), same.text);
    assert.ok(same.text.includes('PermutationMNK: (32,32,16)'));
    const picture = await fetch(await shared(page, 'Copy picture link'));
    assert.equal(picture.headers.get('content-type'), 'image/svg+xml');
    const line = await shared(page, 'Copy as curl');
    assert.ok(line.startsWith(`curl '${URL_BASE}/mma'`), line);
    assert.deepEqual(JSON.parse(execFileSync('sh', ['-c', `${line} -s`], { encoding: 'utf8' })), expected);
    const program = await shared(page, 'Copy as Python');
    assert.deepEqual(JSON.parse(execFileSync('python3', ['-c', program], { encoding: 'utf8' })), expected);
});

test('a tiled MMA of a pasted program is opened in MMA, one of its own name too', async ({ open }) => {
    const program = [
        `auto mma = make_tiled_mma(${ATOM}{}, Layout<Shape<_2,_2>>{}, Tile<_32,_32,_16>{});`,
        'auto copy = make_tiled_copy(Copy_Atom<UniversalCopy<uint64_t>, half_t>{},',
        '    Layout<Shape<_16,_8>, Stride<_8,_1>>{}, Layout<Shape<_1,_4>>{});',
        'auto of_a = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, mma);',
        'mma',
    ].join('\n');
    const page = await open(hashOf({ e: program }));
    const buttons = page.locator('.forms button');
    await eventually(
        () => buttons.allInnerTexts(),
        (texts) => assert.deepEqual(texts, ['Open in MMA', 'Open copy in Copy']),
    );
    await buttons.first().click();
    for (const [field, text] of Object.entries({ ...FOUR, atom_layout: '(2,2,1):(1,2,0)' }))
        assert.equal(await page.inputValue(`#mma-${field}`), text);
    await eventually(
        () => page.locator('.predicted tbody tr').first().innerText(),
        (text) => assert.match(text, /A 32×16/),
    );
    await page.goBack();
    await buttons.last().click();
    const copy = { type: 'half_t', atom: 'UniversalCopy<uint64_t>', thr: '(16,8):(8,1)', val: '(1,4):(0,1)' };
    for (const [field, text] of Object.entries(copy))
        assert.equal(await page.inputValue(`#copy-${field}`), text);
    await eventually(
        () => page.locator('#tile .figure-title').innerText(),
        (text) => assert.match(text, /128 threads × 4 values/),
    );
});

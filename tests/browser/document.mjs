/* document.mjs: the URL is the document; what leaves the page; the examples. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
    api,
    drawnOn,
    eventually,
    hashOf,
    layerOf,
    reads,
    results,
    showsOffsets,
    table,
    test,
    URL_BASE,
} from './harness.mjs';

const BLOCKED = 'blocked_product((2,3):(3,1), (2,2):(1,2))';
const hash = (page) => page.evaluate(() => location.hash.slice(1));

test('the URL holds the whole document, there and back', async ({ open }) => {
    const first = await open(hashOf({ e: '4:1' }));
    await first.fill('#expr-A', 'auto a = (2,3):(3,1); // "µ" & 100%\nlogical_product(a, (2,2))');
    await first.click('#add');
    await first.fill('#expr-B', BLOCKED);
    await first.selectOption('select[name=labels]', 'coord');
    await first.selectOption('select[name=colors]', 'div');
    await first.fill('input[name=n]', '6');
    await first.selectOption('select[name=bytes]', '2');
    await first.selectOption('select[name=link]', 'offset');
    await first.selectOption('#integers', 'static');
    await first.getByRole('button', { name: 'Table' }).click();
    const text = await eventually(
        () => hash(first),
        (now) => {
            for (const part of [
                'labels=coord',
                'colors=div',
                'n=6',
                'bytes=2',
                'link=offset',
                'integers=static',
                'table=1',
            ])
                assert.ok(now.includes(part), `${part} in ${now}`);
            return now;
        },
    );
    const second = await open(text);
    assert.equal(await second.inputValue('#expr-A'), await first.inputValue('#expr-A'));
    assert.equal(await second.inputValue('#expr-B'), BLOCKED);
    for (const name of ['labels', 'colors', 'bytes', 'link'])
        assert.equal(
            await second.inputValue(`select[name=${name}]`),
            await first.inputValue(`select[name=${name}]`),
        );
    assert.equal(await second.inputValue('input[name=n]'), '6');
    await second.waitForTimeout(400);
    assert.equal(await hash(second), text);
});

test('a hash by another hand is taken as far as it makes sense', async ({ open }) => {
    const page = await open('e=6:1&labels=nonsense&n=-3&at=1e9&colors=__proto__&constructor=1&integers=cute');
    await results(page, '6:1');
    assert.equal(await page.inputValue('select[name=labels]'), 'offset');
    assert.equal(await page.inputValue('select[name=colors]'), 'offset');
    assert.equal(await page.inputValue('#integers'), 'cute');
});

test('back and forward walk through examples', async ({ open }) => {
    const page = await open(hashOf({ e: '4:1' }));
    await results(page, '4:1');
    await page.click('#open-guide');
    await page.getByRole('button', { name: 'Blocks interleave' }).click();
    await results(page, '((2,2),(2,3)):((6,3),(12,1))');
    await page.getByRole('button', { name: 'Next example' }).click();
    await eventually(
        () => page.locator('.pane').count(),
        (n) => assert.equal(n, 2),
    );
    await page.goBack();
    await eventually(
        () => page.locator('.pane').count(),
        (n) => assert.equal(n, 1),
    );
    await results(page, '((2,2),(2,3)):((6,3),(12,1))');
    await page.goBack();
    await results(page, '4:1');
    await page.goForward();
    await results(page, '((2,2),(2,3)):((6,3),(12,1))');
});

test('a pinned cell is part of the link', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED, at: 9 }));
    await showsOffsets(page, await table(BLOCKED));
    await reads(page, /index 9 offset 5/);
});

test('no example of the articles is refused', async ({ open }) => {
    const page = await open(hashOf({ e: '4:1' }));
    await page.click('#open-guide');
    const examples = page.locator('.guide-list button');
    const refused = [];
    for (let i = 0; i < (await examples.count()); i++) {
        await examples.nth(i).click();
        const title = await examples.nth(i).textContent();
        await eventually(
            () => examples.nth(i).getAttribute('aria-current'),
            (mark) => assert.equal(mark, 'true', `${title} is marked`),
        );
        await eventually(
            () => page.locator('.pane.busy').count(),
            (busy) => assert.equal(busy, 0),
        );
        if (await page.locator('.pane .problem:visible').count()) refused.push(title);
    }
    assert.deepEqual(refused, []);
    assert.ok((await examples.count()) > 40);
});

async function share(page, item) {
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: item }).click();
}

test('share: the curl line gives what the page shows', async ({ open }) => {
    const expr = "auto a = (2,3):(3,1); // it's a block\nblocked_product(a, (2,2):(1,2))";
    const page = await open(hashOf({ e: expr }));
    await results(page, '((2,2),(3,2)):((3,6),(1,12))');
    await share(page, 'Copy as curl');
    const line = await eventually(
        () => page.evaluate(() => navigator.clipboard.readText()),
        (text) => {
            assert.match(text, /^curl /);
            return text;
        },
    );
    const answer = JSON.parse(execFileSync('sh', ['-c', `${line} -s`], { encoding: 'utf8' }));
    assert.equal(answer.cute, await page.locator('.line.cute output').textContent());
});

/* Of each view: what it asked, run by Python, is what it shows. */
test('share: the Python gives what the page shows', async ({ open }) => {
    const python = async (hashed, shown) => {
        const page = await open(hashOf(hashed));
        await eventually(() => shown(page), assert.ok);
        await page.getByRole('button', { name: 'Share' }).click();
        await page.getByRole('menuitem', { name: 'Copy as Python' }).click();
        const program = await eventually(
            () => page.evaluate(() => navigator.clipboard.readText()),
            (text) => {
                assert.match(text, /^import json, urllib\.request\n/);
                return text;
            },
        );
        await page.evaluate(() => navigator.clipboard.writeText(''));
        return [
            execFileSync('python3', ['-I', '-c', program], { encoding: 'utf8' }).trim(),
            await shown(page),
        ];
    };
    const cute = (page) => page.locator('.line.cute output').textContent();
    for (const e of [BLOCKED, 'auto s = "it\'s \\n"; // µ\ncoalesce((2,(1,6)):(1,(6,2)))', '(6,2):(8,2)']) {
        const [printed, shown] = await python({ e }, cute);
        assert.equal(printed, shown);
    }
    const cost = (page) => page.locator('.cost .verdict').innerText();
    const [printed, shown] = await python({ view: 'access' }, cost);
    assert.ok(shown.startsWith(`${JSON.parse(printed).wavefronts} wavefronts`), shown);
    const copy = { view: 'copy', thr: '(4,2):(2,1)', val: '(1,4):(0,1)', atom: 'UniversalCopy<uint64_t>' };
    const tile = (page) => page.locator('.figure:visible .figure-title').innerText();
    const [job] = await python({ ...copy, src: '(64,64):(64,1)', dst: '(64,64):(64,1)' }, tile);
    assert.equal(JSON.parse(job).result.verified, true);
});

test('share: the link opens the same page', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED, colors: 'div', n: 6 }));
    await results(page, '((2,2),(3,2)):((3,6),(1,12))');
    await share(page, 'Copy link');
    const link = await eventually(
        () => page.evaluate(() => navigator.clipboard.readText()),
        (text) => {
            assert.ok(text.startsWith(URL_BASE), text);
            return text;
        },
    );
    const other = await open(link.split('#')[1]);
    await showsOffsets(other, await table(BLOCKED));
    assert.equal(await other.inputValue('input[name=n]'), '6');
});

async function saved(page, item) {
    const [file] = await Promise.all([page.waitForEvent('download'), share(page, item)]);
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

for (const [item, name, magic] of [
    ['Save PNG', 'layout.png', 'PNG'],
    ['Save PDF', 'layout.pdf', '%PDF'],
    ['Save LaTeX', 'layout.tex', '\\documentclass'],
]) {
    test(`share: ${item}`, async ({ open }) => {
        const page = await open(hashOf({ e: BLOCKED }));
        await showsOffsets(page, await table(BLOCKED));
        const file = await saved(page, item);
        assert.equal(file.name, name);
        assert.ok(file.bytes.toString('latin1').slice(0, 400).includes(magic));
    });
}

test('share: the SVG holds what the canvas shows, and another reader opens it', async ({ open }) => {
    const page = await open(hashOf({ e: [BLOCKED, '(4,6):(6,1)'], at: 9, colors: 'bank', bytes: 8 }));
    await showsOffsets(page, await table(BLOCKED));
    await showsOffsets(page, await table('(4,6):(6,1)'), 1);
    const { name, bytes } = await saved(page, 'Save SVG');
    assert.equal(name, 'layout.svg');
    const svg = bytes.toString();
    const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
    const titles = ['A ((2,2),(3,2)):((3,6),(1,12))', 'B (4,6):(6,1)'];
    const canvases = [];
    for (const i of [0, 1]) {
        canvases.push(titles[i]);
        for (const layer of [0, 1])
            canvases.push(...(await drawnOn(layerOf(page, i, layer))).map(({ text }) => text));
    }
    assert.deepEqual(texts, canvases);
    const color = await layerOf(page).evaluate((canvas) => {
        const { x, y } = canvas.drawn[0]; /* the first cell's label; left of it there is only its colour */
        return [...canvas.getContext('2d').getImageData(x - 12, y - 12, 1, 1).data].slice(0, 3).join(' ');
    });
    assert.ok(svg.includes(`fill="rgb(${color})"`), color);
    assert.doesNotThrow(() => execFileSync('python3', ['-c', READER], { input: bytes }));
});

/* Well-formed, and nothing that would load anything. */
const READER = `
import sys, xml.dom.minidom
svg = xml.dom.minidom.parse(sys.stdin.buffer).documentElement
assert svg.tagName == 'svg' and not svg.getElementsByTagName('script')
`;

const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const words = (text) => text.split(/\s+/).filter(Boolean).sort();

/* What a reader of PDF finds in a file: words in whatever order. */
function pdfWords(bytes) {
    return words(execFileSync('pdftotext', ['-', '-'], { input: bytes, encoding: 'utf8' }));
}

async function typeset(bytes) {
    const folder = await mkdtemp(join(tmpdir(), 'layoutd-tex-'));
    try {
        await writeFile(join(folder, 'layout.tex'), bytes);
        execFileSync('pdflatex', ['-interaction=nonstopmode', '-halt-on-error', 'layout.tex'], {
            cwd: folder,
        });
        return await readFile(join(folder, 'layout.pdf'));
    } finally {
        await rm(folder, { recursive: true });
    }
}

/* What reaches over the edge of the page a reader does not tell, or not all of it. */
function holdsOf(told, seen) {
    const whole = told.filter((word) => seen.includes(word));
    assert.ok(
        whole.length > 0.7 * seen.length && whole.length > 0.8 * told.length,
        `${told.length} of ${seen.length}`,
    );
}

/* Zoomed in, in the dark, an MMA: no other drawing than the page's own has these. */
const SEEN = {
    'a layout, zoomed': { hash: { e: '(64,(8,8)):(64,(1,8))', at: 70, labels: 'coord' }, zooms: 8 },
    'two, with what differs': { hash: { e: [BLOCKED, 'raked_product((2,3):(3,1), (2,2):(1,2))'] } },
    'an MMA in the dark': { hash: { view: 'mma', held: 3 }, options: { colorScheme: 'dark' } },
    'lanes and memory': { hash: { view: 'access' } },
};
for (const [scene, { hash: fields, options, zooms = 0 }] of Object.entries(SEEN))
    test(`share: PDF and LaTeX of exactly what is seen: ${scene}`, async ({ open }) => {
        const page = await open(hashOf(fields), options);
        await eventually(
            () => drawnOn(layerOf(page)),
            (drawn) => assert.ok(drawn.length > 20),
        );
        await layerOf(page, 0, 1).focus();
        for (let i = 0; i < zooms; i++) await page.keyboard.press('+');
        const figures = await page.locator('.figure:visible').count();
        const seen = await page.locator('.figure:visible .figure-text').allTextContents();
        /* what the cursor lights is written again where it stands, and by a reader read once */
        for (let i = 0; i < figures; i++)
            seen.push(...(await drawnOn(layerOf(page, i))).map(({ text }) => text));
        const letters = fields.e?.length === 2 ? ['A', 'B'] : [];
        const atom = fields.view === 'mma' ? ['SM80_16x8x16_F32F16F16F32_TN'] : [];
        const expected = words([...seen, ...letters, ...atom].join(' '));
        const pdf = await saved(page, 'Save PDF');
        if (zooms && has('pdftotext')) return holdsOf(pdfWords(pdf.bytes), expected);
        if (has('pdftotext')) assert.deepEqual(pdfWords(pdf.bytes), expected);
        const tex = await saved(page, 'Save LaTeX');
        /* TeX sets what is written twice a hair apart, and a sign of mathematics a space away */
        const unique = (list) => [...new Set(words(list.join(' ').replaceAll(/[×·]/g, ' ')))];
        if (has('pdftotext') && has('pdflatex'))
            assert.deepEqual(unique(pdfWords(await typeset(tex.bytes))), unique(expected));
    });

test('share: a million cells are pixels in a PDF, and too many for LaTeX', async ({ open }) => {
    const page = await open(hashOf({ e: '(1024,1024):(1,1024)' }));
    await eventually(
        () => page.locator('.dims').textContent(),
        (dims) => assert.equal(dims, '1024 × 1024'),
    );
    const { bytes } = await saved(page, 'Save PDF');
    assert.match(bytes.toString('latin1'), /Subtype \/Image \/Width 512/);
    assert.ok(bytes.length < 4e6, `${bytes.length} bytes`);
    if (has('pdftoppm')) execFileSync('pdftoppm', ['-png', '-r', '36', '-'], { input: bytes });
    await share(page, 'Save LaTeX');
    await eventually(
        () => page.getByRole('menuitem', { name: 'Save LaTeX' }).getAttribute('data-said'),
        (said) => assert.equal(said, 'Zoom in first'),
    );
});

test('share: a million cells become pixels in the SVG, not a million rectangles', async ({ open }) => {
    const page = await open(hashOf({ e: '(1024,1024):(1,1024)' }));
    await eventually(
        () => page.locator('.dims').textContent(),
        (dims) => assert.equal(dims, '1024 × 1024'),
    );
    const { bytes } = await saved(page, 'Save SVG');
    assert.match(bytes.toString(), /<image [^>]*href="data:image\/png;base64,/);
    assert.ok(bytes.length < 4e6, `${bytes.length} bytes`);
});

test('share: the picture link gives the daemon’s own picture with the same looks', async ({ open }) => {
    const cube = '(2,3,4):(12,4,1)';
    const page = await open(hashOf({ e: cube, modes: 'r,c,2', labels: 'bank', bytes: 8 }));
    await eventually(
        () => drawnOn(layerOf(page)),
        (drawn) => assert.ok(drawn.length > 6),
    );
    const labels = (await drawnOn(layerOf(page))).slice(0, 6).map(({ text }) => text);
    await share(page, 'Copy picture link');
    const link = await eventually(
        () => page.evaluate(() => navigator.clipboard.readText()),
        (text) => {
            assert.match(text, /\/render\?.*modes=r%2Cc%2C2/);
            return text;
        },
    );
    const response = await fetch(link);
    assert.equal(response.status, 200);
    const svg = await response.text();
    for (const label of labels) assert.ok(svg.includes(`>${label}<`), `${label} in the picture`);
});

test('copy buttons copy text and CuTe spelling', async ({ open }) => {
    const page = await open(hashOf({ e: BLOCKED }));
    const answer = await api('/eval', { expr: BLOCKED });
    await results(page, answer.text);
    for (const [label, text] of [
        ['Copy as layout', answer.text],
        ['Copy as CuTe', answer.cute],
    ]) {
        await page.getByRole('button', { name: label }).click();
        await eventually(
            () => page.evaluate(() => navigator.clipboard.readText()),
            (now) => assert.equal(now, text),
        );
    }
});

test('share: the C++ makes the same layout', async ({ open }) => {
    for (const expr of [BLOCKED, 'composition(Swizzle<2,1,3>{}, (_8,8):(8,_1))']) {
        const page = await open(hashOf({ e: expr }));
        const { cute, text } = await api('/eval', { expr });
        await results(page, text);
        await share(page, 'Copy as C++');
        const code = await eventually(
            () => page.evaluate(() => navigator.clipboard.readText()),
            (now) => {
                assert.match(now, /make_shape\(/);
                return now;
            },
        );
        assert.equal((await api('/eval', { expr: code, integers: 'cute' })).cute, cute);
        await page.evaluate(() => navigator.clipboard.writeText(''));
    }
});

/* harness.mjs: tests of the page, each in a fresh browser context against the daemon at $LAYOUTD.
 *
 *   test('typing evaluates', async ({ open }) => { const page = await open('e=4:1'); ... });
 *
 * Every test also fails on an error in the console, on a request to another host, and on a page error. What
 * is drawn is read back from the canvases themselves: each keeps the texts that were written since it was
 * last cleared. */
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

export const URL_BASE = process.env.LAYOUTD;
export const FLAGS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
];
const TIMEOUT_MS = 10000;
const DESKTOP = { width: 1280, height: 800 };

const tests = [];
export const test = (name, run) => tests.push({ name, run });

/* In the page, before its scripts: remember what is written on canvases. */
function recordDrawing() {
    const context = CanvasRenderingContext2D.prototype;
    const { fillText, clearRect } = context;
    context.clearRect = function clear(x, y, w, h) {
        if (x === 0 && y === 0 && w >= this.canvas.width && h >= this.canvas.height) this.canvas.drawn = [];
        return clearRect.call(this, x, y, w, h);
    };
    context.fillText = function write(text, x, y) {
        (this.canvas.drawn ??= []).push({ text, x, y });
        return fillText.call(this, text, x, y);
    };
}

/* A refusal is an answer, but Chromium notes every status of 400 and more as an error. */
const isRefusal = (message) => /Failed to load resource.*status of (400|422)/.test(message.text());

/* `allow`: console errors that a test provokes; `base`: another daemon than the one that all tests share. */
function watch(page, faults, allow, base) {
    page.on('console', (message) => {
        if (message.type() === 'error' && !isRefusal(message) && !allow?.test(message.text()))
            faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`page: ${error.stack}`));
    page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(base) && !/^(blob|data):/.test(url)) faults.push(`off the host: ${url}`);
    });
}

async function runOne(browser, { name, run }) {
    const contexts = [];
    const faults = [];
    const open = async (hash = '', options = {}) => {
        const { before, allow, base = URL_BASE, ...rest } = options;
        const context = await browser.newContext({
            viewport: DESKTOP,
            permissions: ['clipboard-read', 'clipboard-write'],
            ...rest,
        });
        contexts.push(context);
        context.setDefaultTimeout(TIMEOUT_MS);
        const page = await context.newPage();
        watch(page, faults, allow, base);
        await page.addInitScript(recordDrawing);
        await before?.(page);
        await page.goto(`${base}/#${hash}`);
        return page;
    };
    const start = Date.now();
    try {
        await run({ open });
        assert.deepEqual(faults, []);
        console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
        return true;
    } catch (error) {
        console.log(`NOT OK  ${name}\n${String(error.stack ?? error).replace(/^/gm, '        ')}`);
        for (const fault of faults) console.log(`        ${fault}`);
        return false;
    } finally {
        await Promise.all(contexts.map((context) => context.close()));
    }
}

export async function runAll(words) {
    const chosen = tests.filter(({ name }) => !words.length || words.some((word) => name.includes(word)));
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
    let passed = 0;
    for (const one of chosen) passed += (await runOne(browser, one)) ? 1 : 0;
    await browser.close();
    console.log(`${passed} passed, ${chosen.length - passed} failed`);
    return passed === chosen.length && passed > 0;
}

/* ---- what the tests ask -------------------------------------------------------------------------------- */

export const hashOf = (fields) =>
    Object.entries(fields)
        .flatMap(([key, value]) => [].concat(value).map((one) => `${key}=${encodeURIComponent(one)}`))
        .join('&');

export async function api(path, body) {
    const response = await fetch(
        URL_BASE + path,
        body && {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(body),
        },
    );
    return response.json();
}

export const table = async (expr, integers = 'auto') =>
    (await api('/eval', { expr, integers, table: true })).table;

/* Poll `read` until `check` passes; the last failure is the one that is told. */
export async function eventually(read, check, timeout = TIMEOUT_MS) {
    const end = Date.now() + timeout;
    for (;;) {
        try {
            return check(await read());
        } catch (error) {
            if (Date.now() > end) throw error;
            await new Promise((done) => setTimeout(done, 30));
        }
    }
}

export const figure = (page, i = 0) => page.locator('.figure:visible').nth(i);
export const layerOf = (page, i = 0, layer = 0) => figure(page, i).locator('.grid canvas').nth(layer);
export const drawnOn = (canvas) => canvas.evaluate((el) => (el.drawn ?? []).map((one) => ({ ...one })));

/* The labels of a grid of rows x cols, row by row: cells are written before headers. `lines` of text a cell. */
export async function cellsOf(page, { rows, cols }, i = 0, lines = 1) {
    const drawn = (await drawnOn(layerOf(page, i))).slice(0, rows * cols * lines);
    const byPlace = (a, b) => (Math.abs(a.y - b.y) > 2 ? a.y - b.y : a.x - b.x);
    const placed = lines === 1 ? [...drawn].sort(byPlace) : drawn;
    if (lines === 1) {
        assert.equal(new Set(placed.map(({ x }) => Math.round(x))).size, cols, 'columns on the screen');
        assert.equal(new Set(placed.map(({ y }) => Math.round(y))).size, rows, 'rows on the screen');
    }
    return placed;
}

/* What stands in the grid is what the daemon says of an expression. */
export async function showsOffsets(page, expected, i = 0) {
    await eventually(
        () => cellsOf(page, expected, i),
        (cells) =>
            assert.deepEqual(
                cells.map(({ text }) => text),
                expected.offsets.map(String),
            ),
    );
}

/* The middle of a cell in the page's coordinates. */
export async function placeOf(page, grid, { row, col }, i = 0) {
    const cells = await cellsOf(page, grid, i);
    const canvas = layerOf(page, i);
    const box = await canvas.boundingBox();
    const scale = await canvas.evaluate((el) => el.width / el.clientWidth);
    const { x, y } = cells[row * grid.cols + col];
    return { x: box.x + x / scale, y: box.y + y / scale };
}

export async function pointAt(page, grid, cell, i = 0) {
    const { x, y } = await placeOf(page, grid, cell, i);
    await page.mouse.move(x, y);
}

export const readout = (page, i = 0) => figure(page, i).locator('.readout');

export async function reads(page, pattern, i = 0) {
    await eventually(
        () => readout(page, i).innerText(),
        (text) => assert.match(text.replace(/\s+/g, ' '), pattern),
    );
}

export const resultText = (page, i = 0) => page.locator('.pane').nth(i).locator('.line.text output');

export async function results(page, text, i = 0) {
    await eventually(
        () => resultText(page, i).textContent(),
        (now) => assert.equal(now, text),
    );
}

/* bench.mjs: how fast the page is. Times are taken inside the page: from the keystroke's own time stamp to the
 * task after the frame that drew its answer; frames are counted while a pointer drags.
 *
 *     keystroke to 1024 x 1024 drawn, ms       180    300    1.67
 */
import { chromium } from 'playwright-core';
import { FLAGS, URL_BASE, hashOf } from './harness.mjs';

const DRAWN_MS = 300; /* goal: what feels like an answer */
const FRAMES = 50; /* goal: a second, while panning */
const REPEATS = 9;
const PAN_MS = 2000;

/* In the page: `drawn` becomes the milliseconds from the next input event to the picture with these dimensions. */
function armDrawn(dims) {
    globalThis.drawn = new Promise((done) => {
        let start = 0;
        addEventListener('input', (event) => (start = event.timeStamp), { once: true, capture: true });
        const shown = () => document.querySelector('.dims')?.textContent === dims;
        const look = () => {
            if (!start || !shown()) return requestAnimationFrame(look);
            const { port1, port2 } = new MessageChannel(); /* its task comes after this frame's paint */
            port1.onmessage = () => done(performance.now() - start);
            return port2.postMessage(null);
        };
        requestAnimationFrame(look);
    });
}

/* In the page: drag the grid around for a while, one move a frame; gives frames a second and the time of a paint. */
function pan(duration) {
    const canvas = document.querySelector('#figures .grid .layer:last-child');
    const box = canvas.getBoundingClientRect();
    const send = (type, x, y) =>
        canvas.dispatchEvent(
            new PointerEvent(type, {
                pointerId: 1,
                button: 0,
                buttons: 1,
                bubbles: true,
                clientX: box.x + box.width / 2 + x,
                clientY: box.y + box.height / 2 + y,
            }),
        );
    canvas.setPointerCapture = () => null; /* there is no such pointer */
    return new Promise((done) => {
        let frames = 0;
        let busy = 0;
        const start = performance.now();
        send('pointerdown', 0, 0);
        const step = (now) => {
            const t = (now - start) / 300;
            const before = performance.now();
            send('pointermove', 90 * Math.sin(t), 60 * Math.sin(1.3 * t));
            busy += performance.now() - before;
            frames++;
            if (now - start < duration) return requestAnimationFrame(step);
            send('pointerup', 0, 0);
            return done({ fps: (1000 * frames) / (performance.now() - start), paint: busy / frames });
        };
        requestAnimationFrame(step);
    });
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const row = (name, figure, goal, ratio) =>
    console.log(
        `${name.padEnd(44)} ${figure.toFixed(1).padStart(9)} ${String(goal).padStart(7)} ${ratio.toFixed(2).padStart(7)}`,
    );

async function typed(page) {
    const times = [];
    for (let i = 0; i < REPEATS; i++) {
        await page.fill('#expr-A', '(8,8):(8,1)');
        await page.locator('.dims', { hasText: '8 × 8' }).waitFor();
        await page.fill('#expr-A', `(1024,102):(1,${1024 + i})`); /* another layout each time: none is kept */
        await page.waitForTimeout(400);
        await page.locator('#expr-A').focus();
        await page.keyboard.press('Home');
        for (let k = 0; k < '(1024,102'.length; k++) await page.keyboard.press('ArrowRight');
        await page.evaluate(armDrawn, '1024 × 1024');
        await page.keyboard.press('4');
        times.push(await page.evaluate(() => globalThis.drawn));
    }
    return times;
}

async function panned(page, zooms) {
    await page.locator('#figures .grid .layer:last-child').focus();
    await page.keyboard.press('0');
    for (let i = 0; i < zooms; i++) await page.keyboard.press('+');
    return page.evaluate(pan, PAN_MS);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(`${URL_BASE}/#${hashOf({ e: '(8,8):(8,1)' })}`);
console.log(`${''.padEnd(44)} ${'figure'.padStart(9)} ${'goal'.padStart(7)} ${'ratio'.padStart(7)}`);
const times = await typed(page);
row('keystroke to 1024 x 1024 drawn, ms, median', median(times), DRAWN_MS, DRAWN_MS / median(times));
row('  the slowest of them', Math.max(...times), DRAWN_MS, DRAWN_MS / Math.max(...times));
for (const [name, zooms] of [
    ['all of it', 0],
    ['cells with lines', 10],
    ['cells with labels', 13],
]) {
    const { fps, paint } = await panned(page, zooms);
    row(`panning ${name}, frames a second`, fps, FRAMES, fps / FRAMES);
    console.log(`  ${paint.toFixed(2)} ms of a frame are the page's own`);
}
await browser.close();

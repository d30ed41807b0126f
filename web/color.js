/* color.js: from a cell to a colour. All schemes but CuTe's own are safe for colour-blind eyes: the ramps
 * rise in lightness alone, the classes are Paul Tol's "light" scheme, made for black text on them.
 *
 * A scheme is {classOf(cell, offset, row, col), fills, inks}: small integers, so that a million cells are one
 * table look-up each. */

/* OKLCH to sRGB bytes (Ottosson's matrices). */
function oklch(l, c, degrees) {
    const a = c * Math.cos((degrees * Math.PI) / 180);
    const b = c * Math.sin((degrees * Math.PI) / 180);
    const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const z = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
        -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
        -0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
    ].map((u) =>
        Math.round(
            255 * Math.min(1, Math.max(0, u <= 0.0031308 ? 12.92 * u : 1.055 * u ** (1 / 2.4) - 0.055)),
        ),
    );
}

const mix = (from, to, t) => from.map((u, i) => u + (to[i] - u) * t);
const bytes = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
export const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

function luminance(rgb) {
    const [r, g, b] = rgb.map((u) =>
        u / 255 <= 0.04045 ? u / 255 / 12.92 : ((u / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/* Lightness, chroma, hue at the two ends of the ramp. Low offsets are near the paper, in either theme. */
const RAMP = {
    light: [
        [0.972, 0.035, 108],
        [0.52, 0.125, 252],
    ],
    dark: [
        [0.29, 0.06, 268],
        [0.86, 0.11, 108],
    ],
};
const RAMP_STEPS = 256;

function ramp(theme) {
    const [low, high] = RAMP[theme];
    return Array.from({ length: RAMP_STEPS }, (_, i) => oklch(...mix(low, high, i / (RAMP_STEPS - 1))));
}

/* A wheel for banks, which wrap around: hue turns once, lightness rises and falls once. */
function wheel(n, theme) {
    return Array.from({ length: n }, (_, i) => {
        const swing = 1 - Math.abs((2 * i) / n - 1);
        return theme === 'light'
            ? oklch(0.93 - 0.27 * swing, 0.085, 80 + (360 * i) / n)
            : oklch(0.34 + 0.3 * swing, 0.08, 260 + (360 * i) / n);
    });
}

const TOL_LIGHT = [
    '#77aadd',
    '#ee8866',
    '#eedd88',
    '#ffaabb',
    '#99ddff',
    '#44bb99',
    '#bbcc33',
    '#aaaa00',
].map(bytes);
const AWAY = { light: [226, 230, 235], dark: [46, 53, 62] };
const PAPER = { light: [255, 255, 255], dark: [18, 22, 28] };
const CLASSES = 64;
export const NOTHING = -1; /* the offset of a cell of a sparse picture that is none */
export const SHARED = -2; /* and of one that no thread holds: it is read from shared memory */

/* Eight hues, then the same a shade nearer to the paper, four shades in all. */
function classes(theme) {
    return Array.from({ length: CLASSES }, (_, k) => {
        const shade = (theme === 'light' ? 0.28 : 0.46) + 0.12 * (Math.floor(k / 8) % 4);
        return mix(TOL_LIGHT[k % 8], PAPER[theme], shade).map(Math.round);
    });
}

/* CuTe's print_latex: TikzColor_BWx8 and TikzColor_TV. */
const CUTE_GRAYS = [0, 40, 20, 60, 10, 50, 30, 70].map((k) => Array(3).fill(Math.round(255 * (1 - k / 100))));
const CUTE_HUES = [
    '#afafff',
    '#afffaf',
    '#ffffaf',
    '#ffafaf',
    '#d2d2ff',
    '#d2ffd2',
    '#ffffd2',
    '#ffd2d2',
].map(bytes);

export const BANKS = 32; /* of shared memory, four bytes each */
const BANK_BYTES = 4;
export const WARP = 32;
export const bankOf = (offset, elementBytes) =>
    mod(Math.floor((Number(offset) * elementBytes) / BANK_BYTES), BANKS);
export const mod = (a, n) => ((a % n) + n) % n;

const INK = { dark: '#000000', light: '#ffffff' };
const EVEN = 0.179; /* the luminance at which both inks have the same contrast, 4.6 */

function finish(colors, classOf) {
    return {
        classOf,
        fills: colors.map(css),
        rgb: colors,
        inks: colors.map((rgb) => (luminance(rgb) > EVEN ? INK.dark : INK.light)),
    };
}

/* The scheme for a picture: doc.colors with its number n and the element's bytes. */
export function scheme(picture, { colors, n, bytes: elementBytes, lanes }, dark) {
    const theme = dark ? 'dark' : 'light';
    const byClass = (classOf, colors = classes(theme)) => {
        const plain = (...cell) => mod(classOf(...cell), colors.length);
        const rest = { [NOTHING]: colors.length, [SHARED]: colors.length + 1 };
        return picture.sparse
            ? finish([...colors, PAPER[theme], AWAY[theme]], (o, ...cell) => rest[o] ?? plain(o, ...cell))
            : finish(colors, plain);
    };
    const first = (axis) => axis.levels[0].n;
    const tilesDown = picture.rows / first(picture.rowAxis);
    switch (colors) {
        case 'tile':
            return byClass(
                (o, row, col) =>
                    Math.floor(row / first(picture.rowAxis)) +
                    tilesDown * Math.floor(col / first(picture.colAxis)),
            );
        case 'div':
            return byClass((o) => Math.floor(Number(o) / n));
        case 'mod':
            return byClass((o) => mod(Number(o), n));
        case 'warp':
            return byClass((o) => Math.floor(mod(Number(o), n) / WARP));
        case 'cute':
            return byClass((o) => mod(Number(o), n), CUTE_HUES);
        case 'mode0':
            return byClass((o, row) => row);
        case 'mode1':
            return byClass((o, row, col) => col);
        case 'bank':
            return finish(wheel(BANKS, theme), (o) => bankOf(o, elementBytes));
        case 'lane':
            return touched(picture, lanes, theme);
        case 'heat':
            return byHeat(picture, theme);
        case 'grays':
            return finish(CUTE_GRAYS, (o) => mod(Number(o), 8));
        case 'hues':
            return finish(CUTE_HUES, (o) => mod(Number(o), 8));
        default:
            return byOffset(picture, theme);
    }
}

/* What a warp touches, in the colour of its bank or sector; the rest is paper. */
function touched(picture, lanes, theme) {
    return finish([...wheel(BANKS, theme), PAPER[theme]], (o, row, col) =>
        lanes.has(row * picture.cols + col) ? mod(lanes.unitOf(o), BANKS) : BANKS,
    );
}

/* Cool where nothing is lost, and from two on hotter with each doubling: lighter to darker, blue to red, so that
 * both the lightness and the hue tell. */
const HOT = {
    light: [
        [0.9, 0.05, 210],
        [0.88, 0.1, 85],
        [0.52, 0.19, 27],
    ],
    dark: [
        [0.42, 0.06, 220],
        [0.55, 0.11, 75],
        [0.78, 0.15, 45],
    ],
};
const DOUBLINGS = 5; /* 32 lanes */

/* [heat, colour] from cool to hot, for a legend and for the cells. */
export function heatSteps(dark) {
    const [cool, warm, hot] = HOT[dark ? 'dark' : 'light'];
    const step = (i) => oklch(...mix(warm, hot, i / (DOUBLINGS - 1)));
    return [[1, oklch(...cool)], ...Array.from({ length: DOUBLINGS }, (_, i) => [2 << i, step(i)])];
}

function byHeat(picture, theme) {
    const steps = heatSteps(theme === 'dark').map(([, color]) => color);
    return finish([PAPER[theme], ...steps], (o, row, col) => {
        const heat = picture.heatAt(row, col);
        return heat <= 0 ? 0 : heat <= 1 ? 1 : 1 + Math.min(DOUBLINGS, Math.ceil(Math.log2(heat) - 1e-9));
    });
}

function byOffset(picture, theme) {
    const min = Number(picture.min);
    const span = Number(picture.max) - min;
    const scale = span > 0 ? (RAMP_STEPS - 1) / span : 0;
    return finish(ramp(theme), (o) => ((Number(o) - min) * scale + 0.5) | 0);
}

/* What a canvas needs besides the cells. Rows and columns have a colour each, the same as in the text. */
export const CHROME = {
    light: {
        paper: '#ffffff',
        line: 'rgb(20 30 45 / .13)',
        nest: '#39434f',
        head: '#f4f5f7',
        text: '#5b6672',
        strong: '#14181d',
        row: '#a14a00',
        col: '#0b5fa5',
        cursor: '#14181d',
        halo: '#ffffff',
        same: '#b3126b',
        differ: '#b3126b',
        gap: '#d9dde2',
    },
    dark: {
        paper: '#12161c',
        line: 'rgb(255 255 255 / .10)',
        nest: '#aab4c0',
        head: '#191f27',
        text: '#94a0ad',
        strong: '#f4f6f8',
        row: '#f2a766',
        col: '#7cc0ff',
        cursor: '#ffffff',
        halo: '#0b0e12',
        same: '#ff7eb9',
        differ: '#ff7eb9',
        gap: '#2a323c',
    },
};

/* api.js: the page's side of the HTTP contract.
 *
 * Every refusal becomes a Problem, with the fields of its problem+json; a daemon that does not answer is one
 * too, so that a caller has one thing to catch. An aborted request throws nothing that is worth showing: see
 * isAbort. */

export class Problem extends Error {
    constructor(fields) {
        super(fields.detail ?? fields.title ?? 'the daemon refused');
        Object.assign(this, { code: 'other', status: 0, in: null, position: null }, fields);
    }
}

export const isAbort = (error) => error?.name === 'AbortError';

/* Integers of 16 digits and more do not survive a double. JSON with one in it is read again, slowly, with
 * BigInts. */
const LONG_INTEGER = /[[:,]\s*-?\d{16,}/;

export function parseExact(text) {
    if (!LONG_INTEGER.test(text)) return JSON.parse(text);
    return JSON.parse(text, (key, value, context) =>
        Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source
            ? BigInt(context.source)
            : value,
    );
}

/* ---- the token of a daemon that asks for one: kept for this tab alone, and nowhere in the document ------ */

const TOKEN = 'layoutd-token';
const locked = [];

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;
/* Called when the daemon asks for a token, or for another one. */
export const onLocked = (run) => locked.push(run);

export function setToken(text) {
    if (text) sessionStorage.setItem(TOKEN, text);
    else sessionStorage.removeItem(TOKEN);
}

const authorization = () =>
    hasToken() ? { Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}` } : undefined;

/* ---- requests ------------------------------------------------------------------------------------------ */

async function send(path, { method, body, headers, signal }) {
    try {
        const json = body === undefined ? undefined : { 'Content-Type': 'application/json' };
        const response = await fetch(path, {
            method: method ?? (body === undefined ? 'GET' : 'POST'),
            signal,
            headers: { ...json, ...headers, ...authorization() },
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        if (response.status === 401) for (const run of locked) run();
        return response;
    } catch (error) {
        if (isAbort(error)) throw error;
        throw new Problem({ code: 'offline', title: 'no answer', detail: 'The daemon does not answer.' });
    }
}

async function readJson(path, response) {
    const text = await response.text();
    let json = null;
    try {
        json = text ? parseExact(text) : null;
    } catch {
        throw new Problem({ status: response.status, detail: `The answer to ${path} is not JSON.` });
    }
    if (!response.ok) throw new Problem({ status: response.status, ...json });
    return json;
}

/* One request; gives {headers, body}. A body is sent as JSON by POST. */
export async function request(path, options = {}) {
    const response = await send(path, options);
    return { headers: response.headers, body: await readJson(path, response) };
}

export const get = async (path, options) => (await request(path, options)).body;
export const post = async (path, body, options) => (await request(path, { ...options, body })).body;

/* A body that is not JSON. */
export async function text(path) {
    const response = await send(path, {});
    return response.ok ? response.text() : readJson(path, response);
}

const KNOWN_VALUES = 500; /* a derivation's, many times over */

/* The value that CuTe's spelling of it gives: {type, text, cute, value}. Each is asked for once. */
const values = new Map();

export function valueOf(cute) {
    if (!values.has(cute)) {
        if (values.size >= KNOWN_VALUES) values.delete(values.keys().next().value);
        const asked = post('/eval', { expr: cute, integers: 'cute' });
        asked.catch(() => values.delete(cute));
        values.set(cute, asked);
    }
    return values.get(cute);
}

/* ---- streams of events --------------------------------------------------------------------------------- */

/* The events of a text/event-stream, as {event, data, id}; none where the path has no such stream. It ends when
 * the connection does. */
export async function* events(path, { signal } = {}) {
    const response = await send(path, { headers: { Accept: 'text/event-stream' }, signal });
    if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        await response.body?.cancel();
        return;
    }
    let text = '';
    for await (const piece of chunks(response.body.pipeThrough(new TextDecoderStream()))) {
        text += piece;
        const blocks = text.split(/\r?\n\r?\n/);
        text = blocks.pop();
        for (const block of blocks) {
            const event = eventOf(block);
            if (event) yield event;
        }
    }
}

/* Not every browser can iterate a stream yet. */
async function* chunks(stream) {
    const reader = stream.getReader();
    for (;;) {
        const { done, value } = await reader.read().catch((error) => {
            if (isAbort(error)) throw error;
            return { done: true };
        });
        if (done) return;
        yield value;
    }
}

/* Null for a heartbeat, which is a comment. */
function eventOf(block) {
    const fields = {};
    for (const line of block.split(/\r?\n/)) {
        const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name) fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
    }
    return Object.keys(fields).length ? fields : null;
}

/* ---- tables of offsets --------------------------------------------------------------------------------- */

/* {rows, cols, offsets} of a value by CuTe's spelling of it, which is a program that gives it: so pictures
 * are known by what they show, and a text may change and mean the same. Each is asked for once: the answer is
 * the same for ever. */
const CACHED_CELLS = 1 << 22; /* four of the largest, or thousands of small ones */
const cache = new Map();
let cells = 0;

export function tableOf(cute) {
    const known = cache.get(cute);
    if (known) return known.table;
    const entry = { cells: 0, table: fetchTable(cute) };
    cache.set(cute, entry);
    entry.table.then(
        ({ offsets }) => {
            entry.cells = offsets.length;
            cells += offsets.length;
            evict(entry);
        },
        (problem) => {
            if (!problem.status) cache.delete(cute); /* offline is not for ever */
        },
    );
    return entry.table;
}

/* The oldest go; the one that has just come stays. */
function evict(newest) {
    for (const [cute, entry] of cache) {
        if (cells <= CACHED_CELLS) return;
        if (entry === newest || !entry.cells) continue;
        cells -= entry.cells;
        cache.delete(cute);
    }
}

/* Octets: a million offsets as JSON take longer to read than to draw. */
async function fetchTable(cute) {
    const body = { expr: cute, integers: 'cute', table: true };
    const response = await send('/eval', { body, headers: { Accept: 'application/octet-stream' } });
    if (!response.ok) return readJson('/eval', response);
    const size = (name) => Number(response.headers.get(`X-Layoutd-${name}`));
    return { rows: size('Rows'), cols: size('Cols'), offsets: numbers(await response.arrayBuffer()) };
}

/* Little-endian 64-bit integers as doubles, or as BigInts when one of them is beyond 2^53. */
function numbers(octets) {
    const words = new Int32Array(octets);
    const out = new Float64Array(words.length / 2);
    const HIGH = 2 ** 32;
    const SAFE = 2 ** 21; /* high words of what a double holds */
    for (let i = 0; i < out.length; i++) {
        const high = words[2 * i + 1];
        if (high >= SAFE || high < -SAFE) return new BigInt64Array(octets);
        out[i] = (words[2 * i] >>> 0) + high * HIGH;
    }
    return out;
}

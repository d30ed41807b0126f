/* text.js: the text of a program, for the eye: positions and colours. What it means the daemon says. */

/* The daemon counts bytes of UTF-8, a page units of UTF-16: "µ(2" has its bracket at byte 2, unit 1. */
export function unitAt(text, byte) {
    let bytes = 0;
    let unit = 0;
    for (const char of text) {
        if (bytes >= byte) break;
        const code = char.codePointAt(0);
        bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        unit += char.length;
    }
    return unit;
}

const RULES = [
    ['comment', /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/y],
    ['string', /"(?:[^"\\\n]|\\.)*"?/y],
    ['static', /(?:Int|C)<\s*-?\d+\s*>(?:\s*\{\s*\})?|_-?\d+(?:\{\s*\})?(?:@\d+)*/y],
    ['number', /\d+(?:@\d+)*/y],
    ['word', /[A-Za-z_]\w*/y],
    ['open', /[(\[{]/y],
    ['close', /[)\]}]/y],
    ['mark', /[:;,=<>.&*]/y],
    ['space', /\s+/y],
    ['other', /[^]/y],
];
const KEYWORDS = new Set([
    'auto',
    'const',
    'using',
    'namespace',
    'cute',
    'print',
    'template',
    'int',
    'decltype',
    'typename',
]);

/* [{kind, text, at}] that cover the text without a gap. A word is 'keyword', 'op' (known), 'any' (_) or
 * 'name'. */
export function tokens(text, isOp = () => false) {
    const out = [];
    for (let at = 0; at < text.length;) {
        for (const [kind, rule] of RULES) {
            rule.lastIndex = at;
            const match = rule.exec(text);
            if (!match) continue;
            out.push({ kind: kind === 'word' ? wordKind(match[0], isOp) : kind, text: match[0], at });
            at += match[0].length;
            break;
        }
    }
    return out;
}

function wordKind(word, isOp) {
    if (KEYWORDS.has(word)) return 'keyword';
    if (word === '_') return 'any';
    return isOp(word) ? 'op' : 'name';
}

/* The word that ends at the caret, or null inside a comment, a string or a number. */
export function wordBefore(text, caret) {
    const token = tokens(text).find((t) => t.at < caret && caret <= t.at + t.text.length);
    if (!token || !['name', 'keyword', 'op'].includes(token.kind)) return null;
    return { text: text.slice(token.at, caret), at: token.at, end: token.at + token.text.length };
}

/* The call around the caret and which of its arguments that is: "f(a, g(b),|" is {name: 'f', argument: 2}. */
export function callAround(text, caret) {
    const stack = [];
    let last = null;
    for (const token of tokens(text)) {
        if (token.at >= caret) break;
        if (token.kind === 'open') stack.push({ name: token.text === '(' ? last : null, argument: 0 });
        else if (token.kind === 'close') stack.pop();
        else if (token.text === ',' && stack.length) stack.at(-1).argument++;
        else if (token.text === ';') stack.length = 0;
        if (token.kind !== 'space') last = ['name', 'op', 'keyword'].includes(token.kind) ? token.text : null;
    }
    return stack.findLast((call) => call.name !== null) ?? null;
}

const meaning = (text) => tokens(text).filter(({ kind }) => kind !== 'space' && kind !== 'comment');

/* The tokens of the last statement, without what ends it. */
export function lastStatement(text) {
    const all = meaning(text);
    while (all.at(-1)?.text === ';') all.pop();
    return all.slice(all.findLastIndex((token) => token.text === ';') + 1);
}

/* The program that calls `op` with what this one gives: "auto a = 4:1; f(a);" becomes "auto a = 4:1; op(f(a))".
 * Null where the last statement is no expression. */
export function wrapLast(text, op) {
    const last = lastStatement(text);
    if (!last.length || last[0].kind === 'keyword' || last.some((token) => token.text === '=')) return null;
    const end = last.at(-1).at + last.at(-1).text.length;
    return `${text.slice(0, last[0].at)}${op}(${text.slice(last[0].at, end)})`;
}

/* Split "((2,2),(3,2)):((3,6),(1,12))" so that each piece knows its top-level mode: [{text, mode}], mode null
 * between. Of a composed layout only the last part has modes; a layout of rank 1 has mode 0. */
export function modePieces(text) {
    const from = text.lastIndexOf(' o ') < 0 ? 0 : text.lastIndexOf(' o ') + 3;
    const pieces = from ? [{ text: text.slice(0, from), mode: null }] : [];
    let depth = 0;
    let mode = 0;
    for (const char of text.slice(from)) {
        if (char === ')') depth--;
        const between = depth === 0 ? /[(): ]/.test(char) : depth === 1 && char === ',';
        const here = between ? null : mode;
        if (pieces.length && pieces.at(-1).mode === here) pieces.at(-1).text += char;
        else pieces.push({ text: char, mode: here });
        if (char === '(') depth++;
        if (char === ',' && depth === 1) mode++;
        if (char === ':' && depth === 0) mode = 0;
    }
    return pieces;
}

/* CuTe's spelling of a layout as C++ that makes it: "(_2,3):(_3,_1)" is
 * make_layout(make_shape(Int<2>{}, 3), make_stride(Int<3>{}, Int<1>{})). Other values give null. */
export function cppOf(cute) {
    const [layout, offset, outer] = cute.split(' o ').reverse();
    const [shape, stride, more] = layout.split(':');
    if (stride === undefined || more !== undefined || /[@<]/.test(layout)) return null;
    const inner = `make_layout(${cppTuple(shape, 'make_shape')}, ${cppTuple(stride, 'make_stride')})`;
    if (!outer) return inner;
    return /^Sw<[-\d,]+>$/.test(outer)
        ? `composition(${outer.replace('Sw', 'Swizzle')}{}, ${cppTuple(offset, '')}, ${inner})`
        : null;
}

const cppTuple = (text, make) =>
    text
        .replace(/_(-?\d+)/g, 'Int<$1>{}')
        .replaceAll('(', `${make}(`)
        .replaceAll(',', ', ');

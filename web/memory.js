/* memory.js: the same cells in the order of memory. For each offset that is touched, which cells touch it.
 *
 * Invariant: cells[start[k] .. start[k+1]) are the cells of keys[k], in order; keys rise. */

/* A counting sort is linear, but needs a counter an offset: worth it while offsets are not much sparser than
 * cells. */
const DENSE = 8;

export class Memory {
    constructor(offsets, min, max) {
        const span = Number(max) - Number(min) + 1;
        const dense = offsets instanceof Float64Array && span <= DENSE * offsets.length + 1024;
        Object.assign(this, dense ? counted(offsets, min, span) : sorted(offsets));
    }

    /* The place of an offset among the keys, or -1. */
    find(offset) {
        let low = 0;
        let high = this.keys.length - 1;
        while (low <= high) {
            const mid = (low + high) >> 1;
            const key = this.keys[mid];
            if (key === offset) return mid;
            if (key < offset) low = mid + 1;
            else high = mid - 1;
        }
        return -1;
    }

    cellsAt(offset) {
        const k = this.find(offset);
        return k < 0 ? this.cells.subarray(0, 0) : this.cells.subarray(this.start[k], this.start[k + 1]);
    }

    touches(k) {
        return this.start[k + 1] - this.start[k];
    }
}

/* How many cells an offset has says where each goes. */
function counted(offsets, min, span) {
    const n = offsets.length;
    const next = new Int32Array(span);
    for (let i = 0; i < n; i++) next[offsets[i] - min]++;
    const keys = new Float64Array(Math.min(n, span));
    const start = new Int32Array(keys.length + 1);
    let count = 0;
    for (let i = 0, at = 0; i < span; i++) {
        const here = next[i];
        if (!here) continue;
        keys[count] = min + i;
        start[count++] = at;
        next[i] = at;
        at += here;
    }
    start[count] = n;
    const cells = new Int32Array(n);
    for (let i = 0; i < n; i++) cells[next[offsets[i] - min]++] = i;
    return { cells, keys: keys.subarray(0, count), start: start.subarray(0, count + 1) };
}

function sorted(offsets) {
    const n = offsets.length;
    const cells = Int32Array.from({ length: n }, (_, i) => i);
    cells.sort((a, b) => (offsets[a] < offsets[b] ? -1 : offsets[a] > offsets[b] ? 1 : a - b));
    const keys = new offsets.constructor(n);
    const start = new Int32Array(n + 1);
    let count = 0;
    for (let i = 0; i < n; i++) {
        const offset = offsets[cells[i]];
        if (count && keys[count - 1] === offset) continue;
        keys[count] = offset;
        start[count++] = i;
    }
    start[count] = n;
    return { cells, keys: keys.subarray(0, count), start: start.subarray(0, count + 1) };
}

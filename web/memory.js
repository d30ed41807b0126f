/* memory.js: the same cells in the order of memory. For each offset that is touched, which cells touch it.
 *
 * Invariant: cells[start[k] .. start[k+1]) are the cells of keys[k], in order; keys rise. */

/* A counting sort is linear, but needs a counter an offset: worth it while offsets are not much sparser than
 * cells. */
const DENSE = 8;

export class Memory {
    constructor(offsets, min, max) {
        const n = offsets.length;
        this.cells = order(offsets, min, max);
        const keys = new offsets.constructor(n);
        const start = new Int32Array(n + 1);
        let count = 0;
        for (let i = 0; i < n; i++) {
            const offset = offsets[this.cells[i]];
            if (count && keys[count - 1] === offset) continue;
            keys[count] = offset;
            start[count++] = i;
        }
        start[count] = n;
        this.keys = keys.subarray(0, count);
        this.start = start.subarray(0, count + 1);
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

function order(offsets, min, max) {
    const n = offsets.length;
    const span = Number(max) - Number(min) + 1;
    if (offsets instanceof Float64Array && span <= DENSE * n + 1024) return countingSort(offsets, min, span);
    const cells = Int32Array.from({ length: n }, (_, i) => i);
    return cells.sort((a, b) => (offsets[a] < offsets[b] ? -1 : offsets[a] > offsets[b] ? 1 : a - b));
}

function countingSort(offsets, min, span) {
    const first = new Int32Array(span + 1);
    for (const offset of offsets) first[offset - min + 1]++;
    for (let i = 0; i < span; i++) first[i + 1] += first[i];
    const cells = new Int32Array(offsets.length);
    for (let i = 0; i < offsets.length; i++) cells[first[offsets[i] - min]++] = i;
    return cells;
}

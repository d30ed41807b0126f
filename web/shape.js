/* shape.js: an index split along a shape, for headers and read-outs. JSON's nested arrays are the tuples.
 *
 *   split([2, [2, 3]], 9) is [1, [0, 2]]: the first mode runs fastest.
 *
 * This is arithmetic for display. Which layout a program means is the daemon's to say, and only the daemon's. */

export const leaves = (tree) => (Array.isArray(tree) ? tree.flatMap(leaves) : [tree]);
export const sizeOf = (shape) => leaves(shape).reduce((product, n) => product * Number(n), 1);
export const format = (tree) => (Array.isArray(tree) ? `(${tree.map(format).join(',')})` : String(tree));
export const modes = (shape) => (Array.isArray(shape) ? shape : [shape]);

export function split(shape, index) {
    if (!Array.isArray(shape)) return index;
    return shape.map((mode, i) => {
        if (i === shape.length - 1) return split(mode, index);
        const n = sizeOf(mode);
        const part = split(mode, index % n);
        index = Math.floor(index / n);
        return part;
    });
}

/* The axis of a grid along a shape: its leaves, innermost first, each with the distance at which it steps. */
export function axis(shape) {
    const all = leaves(shape).map(Number);
    let step = 1;
    const levels = all.map((n) => {
        const level = { n, step };
        step *= n;
        return level;
    });
    return { n: step, levels };
}

export const digit = (level, i) => Math.floor(i / level.step) % level.n;

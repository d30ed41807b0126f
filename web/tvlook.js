/* tvlook.js: how pictures of thread and value look: what is written into a cell, and what its colour follows. */

/* Of color.js: the colours by which threads, values, ... are told apart. */
const COLORS = { thread: 'mod', value: 'div', warp: 'warp', cute: 'cute' };

/* by: whose cells light up together, for mmaview.js */
export const tvLook = (labels, colors, threads, by = 'thread') => ({
    labels,
    colors: COLORS[colors],
    n: threads,
    bytes: 1,
    by,
});

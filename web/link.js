/* link.js: one cursor in several pictures. What is "the same place" is a choice: the coordinate as drawn (row
 * and column), the integer index, or the offset in memory. */

export function linkedCell(from, cell, to, how) {
    if (how === 'coord') return to.has(cell.row, cell.col) ? cell : null;
    if (how === 'index') {
        const index = from.indexAt(cell.row, cell.col);
        return index < to.total ? to.cellOfIndex(index) : null;
    }
    const [first] = to.memory.cellsAt(like(to, from.at(cell.row, cell.col)));
    return first === undefined ? null : { row: Math.floor(first / to.cols), col: first % to.cols };
}

/* An offset in the number type that a picture's offsets have: 5 and 5n are the same place. */
const like = (picture, offset) =>
    picture.offsets instanceof BigInt64Array ? BigInt(offset) : Number(offset);

/* differs(cell) of `to`: another offset there than at the linked place of `from`, or no such place. By offset
 * nothing can differ but what is missing. */
export function differing(from, to, how) {
    return (cell) => {
        const at = { row: Math.floor(cell / to.cols), col: cell % to.cols };
        const there = linkedCell(to, at, from, how);
        return !there || like(to, from.at(there.row, there.col)) !== to.at(at.row, at.col);
    };
}

/* copyview.js: a copy partition on the left, its tile on the right: who holds what. */
import { heldCursor } from './cursor.js';
import { byId, h } from './dom.js';
import { Figure } from './figure.js';
import { Holder } from './holder.js';
import { memo } from './memo.js';
import { CopyPanel, specOf, tileWords } from './copypanel.js';
import { askJob } from './share.js';
import { cppOf as layoutCpp } from './text.js';
import { tvLook } from './tvlook.js';
import { heldWith, pinnedCell, TvTile } from './tvtile.js';

export class CopyView {
    constructor() {
        this.panel = new CopyPanel();
        this.holder = new Holder('access');
        this.holdersOf = memo((picture, threads, values, perAccess) =>
            picture ? new TvTile(picture, threads, values, perAccess) : null,
        );
        this.tile = new Figure(
            'Tile of the partition',
            heldCursor('tile', () => this.holders),
            {
                kin: (picture, cell, { by }) => heldWith(this.holders, cell, by),
                words: tileWords,
                memory: false,
                axes: this.holder,
            },
        );
        this.pinned = memo(pinnedCell);
        this.look = memo(tvLook);
        this.title = memo((picture, threads, values) =>
            picture
                ? [
                      h('span', { class: 'figure-text' }, `${threads} threads × ${values} values`),
                      h('span', { class: 'dims' }, `tile ${picture.rows} × ${picture.cols}`),
                  ]
                : [],
        );
        byId('side-copy').append(this.panel.el);
        byId('tile').append(this.tile.el);
    }

    show(s) {
        const { doc, tile, predicted, cursor } = s;
        const picture = tile?.picture ?? null;
        this.holders = this.holdersOf(
            picture,
            tile?.threads,
            tile?.values,
            valuesAnAccess(predicted?.answer),
        );
        this.panel.show(s);
        this.holder.show(doc, this.holders);
        this.tile.show({
            picture,
            note: tile?.problem?.message,
            stale: tile?.stale,
            dark: s.dark,
            table: doc.table,
            cursor: cursor?.figure === 'tile' ? cursor : this.pinned(this.holders, picture, doc.by, doc.held),
            title: this.title(picture, tile?.threads, tile?.values),
            look: this.look(doc.tvlabels, doc.tvcolors, tile?.threads ?? 1, doc.by),
            differ: null,
        });
    }

    shareable({ doc, tile: shown }) {
        const cute = shown?.picture?.cute ?? '';
        const { threads, values } = shown ?? {};
        const figures = [{ grid: this.tile.grid, name: `${threads} threads × ${values} values` }];
        const render = { labels: 'tv', colors: 'mod', n: threads ?? 1 };
        return { doc, figures, cute, ask: askJob(specOf(doc)), cpp: shown && cppOf(doc.copy, shown), render };
    }
}

/* How many values of a thread one instruction moves; 1 while that is not known. */
const valuesAnAccess = (answer) =>
    answer ? Math.max(1, (8 * answer.sides.src.bytes) / answer.element_bits) : 1;

/* The tiled copy; null where the threads or values are no plain layout. */
function cppOf({ atom, type }, { thr, val }) {
    const [threads, values] = [thr, val].map((cute) => layoutCpp(cute ?? ''));
    return threads && values ? `make_tiled_copy(Copy_Atom<${atom}, ${type}>{}, ${threads}, ${values})` : null;
}

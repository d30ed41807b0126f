/* partitionview.js: a copy partition on the left, its tile on the right: who holds what. */
import { ownCursor } from './cursor.js';
import { byId, h } from './dom.js';
import { Figure } from './figure.js';
import { memo } from './memo.js';
import { ownedByThread, PartitionPanel, specOf, tileWords } from './partition.js';

export class PartitionView {
    constructor() {
        this.panel = new PartitionPanel();
        this.tile = new Figure('Tile of the partition', ownCursor('tile'), {
            kin: ownedByThread,
            words: tileWords,
            memory: false,
        });
        this.look = memo((threads) => ({ labels: 'tv', colors: 'mod', n: threads, bytes: 1 }));
        this.title = memo((tile) =>
            tile?.picture
                ? [
                      h('span', { class: 'figure-text' }, `${tile.threads} threads × ${tile.values} values`),
                      h('span', { class: 'dims' }, `tile ${tile.picture.rows} × ${tile.picture.cols}`),
                  ]
                : [],
        );
        byId('side-partition').append(this.panel.el);
        byId('tile').append(this.tile.el);
    }

    show(s) {
        this.panel.show(s);
        this.tile.show({
            picture: s.tile?.picture ?? null,
            note: s.tile?.problem?.message,
            stale: s.tile?.stale,
            dark: s.dark,
            table: s.doc.table,
            cursor: s.cursor?.figure === 'tile' ? s.cursor : null,
            title: this.title(s.tile?.picture ? s.tile : null),
            look: this.look(s.tile?.threads ?? 1),
            differ: null,
        });
    }

    shareable({ doc, tile: shown }) {
        const cute = shown?.picture?.cute ?? '';
        const { threads, values } = shown ?? {};
        const figures = [{ grid: this.tile.grid, name: `${threads} threads × ${values} values` }];
        const render = { labels: 'tv', colors: 'mod', n: threads ?? 1 };
        return { doc, figures, cute, expr: cute, integers: 'cute', spec: specOf(doc), render };
    }
}

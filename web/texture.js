/* texture.js: a picture as pixels, one a cell, in square chunks that are made when they are first seen. With
 * it a million cells pan as fast as a photograph. */

const CHUNK = 512;

export class Texture {
    constructor(picture, scheme) {
        this.picture = picture;
        this.scheme = scheme;
        this.words = Uint32Array.from(
            scheme.rgb,
            ([r, g, b]) => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0,
        ); /* little-endian RGBA */
        this.chunks = new Map();
    }

    draw({ ctx, camera, X, Y, r0, r1, c0, c1 }) {
        ctx.imageSmoothingEnabled = camera.cellW < 1 || camera.cellH < 1;
        for (let row = r0 - (r0 % CHUNK); row < r1; row += CHUNK)
            for (let col = c0 - (c0 % CHUNK); col < c1; col += CHUNK) {
                const chunk = this.chunk(row, col);
                const x = X(col);
                const y = Y(row);
                ctx.drawImage(chunk, x, y, X(col + chunk.width) - x, Y(row + chunk.height) - y);
            }
    }

    chunk(row0, col0) {
        const key = `${row0} ${col0}`;
        const known = this.chunks.get(key);
        if (known) return known;
        const {
            picture: { offsets, cols },
            scheme: { classOf },
            words,
        } = this;
        const canvas = document.createElement('canvas');
        canvas.width = Math.min(CHUNK, cols - col0);
        canvas.height = Math.min(CHUNK, this.picture.rows - row0);
        const ctx = canvas.getContext('2d');
        const image = ctx.createImageData(canvas.width, canvas.height);
        const out = new Uint32Array(image.data.buffer);
        let i = 0;
        for (let row = row0; row < row0 + canvas.height; row++)
            for (let col = col0, cell = row * cols + col0; col < col0 + canvas.width; col++, cell++)
                out[i++] = words[classOf(offsets[cell], row, col)];
        ctx.putImageData(image, 0, 0);
        this.chunks.set(key, canvas);
        return canvas;
    }
}

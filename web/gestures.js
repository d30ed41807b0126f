/* gestures.js: pointers, wheels and fingers that move a camera.
 *
 * A drag pans, a wheel or two fingers zoom about the place where they are, a press without a drag is a tap. */

const DRAG = 4; /* pixels before a press is a drag */
const LINE = 16; /* pixels of a wheel's "line" */

export class Gestures {
    /* on: {moved() after the camera was changed, hover(cell or null), tap(cell or null)} */
    constructor(el, camera, on) {
        Object.assign(this, { el, camera, on, pointers: new Map(), pressed: null });
        const listen = (type, run, options) =>
            el.addEventListener(type, (event) => run.call(this, event, this.at(event)), options);
        listen('pointerdown', this.down);
        listen('pointermove', this.move);
        listen('pointerup', this.up);
        listen('pointercancel', this.up);
        listen('pointerleave', () => this.pointers.size || on.hover(null));
        listen('wheel', this.wheel, { passive: false });
    }

    at(event) {
        const box = this.el.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    }

    down(event, p) {
        if (event.button !== 0) return;
        this.pointers.set(event.pointerId, p);
        this.pressed = this.pointers.size === 1 ? { ...p, dragged: false } : null;
        this.el.setPointerCapture(event.pointerId);
    }

    move(event, p) {
        const { camera, pointers, pressed } = this;
        const last = pointers.get(event.pointerId);
        if (!last) {
            this.on.hover(camera.cellAt(p.x, p.y));
            return;
        }
        if (pressed) pressed.dragged ||= Math.hypot(p.x - pressed.x, p.y - pressed.y) > DRAG;
        if (pointers.size === 2) this.pinch(event.pointerId, last, p);
        else if (pressed?.dragged) camera.pan(p.x - last.x, p.y - last.y);
        else return;
        pointers.set(event.pointerId, p);
        this.on.moved();
    }

    up(event) {
        const { camera, pressed } = this;
        if (!this.pointers.delete(event.pointerId)) return;
        if (event.type === 'pointerup' && pressed && !pressed.dragged)
            this.on.tap(camera.cellAt(pressed.x, pressed.y));
        this.pressed = null;
    }

    pinch(id, last, p) {
        const [other] = [...this.pointers].filter(([key]) => key !== id).map(([, place]) => place);
        const apart = (a) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
        this.camera.zoom(apart(p) / apart(last), (p.x + other.x) / 2, (p.y + other.y) / 2);
        this.camera.pan((p.x - last.x) / 2, (p.y - last.y) / 2);
    }

    /* With shift, or sideways, a wheel pans. Touch pads send a pinch as ctrl and wheel. */
    wheel(event, p) {
        const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? this.camera.h : 1;
        const dx = event.deltaX * unit;
        const dy = event.deltaY * unit;
        event.preventDefault();
        if (event.shiftKey) this.camera.pan(-(dx || dy), 0);
        else if (Math.abs(dx) > Math.abs(dy)) this.camera.pan(-dx, 0);
        else this.camera.zoom(Math.exp(-dy * (event.ctrlKey ? 0.01 : 0.0016)), p.x, p.y);
        this.on.moved();
    }
}

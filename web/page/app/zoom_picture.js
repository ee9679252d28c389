import { element, fill } from "./dom.js";

/**
 * Which part of a picture is seen: the scale (1: all of it), and the shift as a share of the element's size, so that
 * it means the same for two elements that are linked.
 *
 * @typedef {{scale: number, x: number, y: number}} Zoom
 */

const largest = 16;
const step = 1.4;
/** @type {Zoom} */
const whole = { scale: 1, x: 0, y: 0 };

/**
 * A picture that can be enlarged and moved: wheel, drag, pinch, double click, and by `zoomBy`. Sends "zoom" when the
 * user changed it.
 */
export class ZoomPicture extends HTMLElement {
  constructor() {
    super();
    /** @type {Zoom} */
    this.zoom = whole;
    /** @type {Map<number, {x: number, y: number}>} fingers or the mouse, as shares of the size */
    this.pointers = new Map();
    /** @type {HTMLImageElement | null} */
    this.image = null;
    this.sharp = false;
    this.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    this.addEventListener("pointerdown", (event) => this.#onPointer(event));
    this.addEventListener("pointermove", (event) => this.#onPointer(event));
    for (const end of ["pointerup", "pointercancel"]) {
      this.addEventListener(end, (event) => this.pointers.delete(/** @type {PointerEvent} */ (event).pointerId));
    }
    this.addEventListener("dblclick", (event) => {
      const place = this.#share(event);
      this.#change(this.zoom.scale > 1 ? whole : around({ ...whole }, 3, place.x, place.y));
    });
  }

  /** @param {Api.Picture} picture */
  show(picture) {
    this.picture = picture;
    this.sharp = false;
    if (picture.failure !== null) {
      this.image = null;
      fill(this, element("p", {}, picture.failure));
      return;
    }
    const image = element("img", { alt: picture.name, draggable: false, src: picture.preview });
    this.image = image;
    if (Math.max(picture.width, picture.height) < 1000) {
      image.className = "small-picture";
    } else {
      // The thumbnail is there at once, and stands in until the preview has loaded.
      image.style.background = `url(${JSON.stringify(picture.thumbnail)}) center / contain no-repeat`;
      image.addEventListener("load", () => (image.style.background = ""));
    }
    image.addEventListener("error", () => {
      if (!image.isConnected) return;
      fill(this, element("p", { role: "alert" }, "This picture cannot be shown. It may have been moved."));
    });
    fill(this, image);
    this.setZoom(this.zoom);
  }

  /** @param {Zoom} zoom */
  setZoom(zoom) {
    this.zoom = zoom;
    if (!this.image) return;
    this.image.style.transform = `translate(${zoom.x * 100}%, ${zoom.y * 100}%) scale(${zoom.scale})`;
    if (zoom.scale > 2 && !this.sharp && this.picture) {
      this.sharp = true;
      this.image.src = `${this.picture.preview}&side=4096`;
    }
  }

  /** Zooms about the middle. @param {number} steps positive: in; 0: all of it is seen again */
  zoomBy(steps) {
    this.#change(steps === 0 ? whole : around(this.zoom, step ** steps, 0.5, 0.5));
  }

  /** @param {Zoom} zoom */
  #change(zoom) {
    this.setZoom(zoom);
    this.dispatchEvent(new CustomEvent("zoom", { detail: zoom }));
  }

  /** @param {MouseEvent} event */
  #share(event) {
    const box = this.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  }

  /** @param {WheelEvent} event */
  #onWheel(event) {
    event.preventDefault();
    const { x, y } = this.#share(event);
    this.#change(around(this.zoom, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0022)), x, y));
  }

  /** @param {PointerEvent} event */
  #onPointer(event) {
    const now = this.#share(event);
    if (event.type === "pointerdown") {
      this.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, now);
      return;
    }
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, now);
    if (other) {
      const factor = distance(now, other) / Math.max(0.01, distance(before, other));
      this.#change(around(this.zoom, factor, (now.x + other.x) / 2, (now.y + other.y) / 2));
    } else {
      const { scale, x, y } = this.zoom;
      this.#change(within({ scale, x: x + now.x - before.x, y: y + now.y - before.y }));
    }
  }
}

/** @param {{x: number, y: number}} a @param {{x: number, y: number}} b */
const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/** Scaled so that one point stays where it is. @param {Zoom} zoom @param {number} factor @param {number} x @param {number} y */
function around(zoom, factor, x, y) {
  const scale = Math.min(largest, Math.max(1, zoom.scale * factor));
  const change = scale / zoom.scale;
  return within({ scale, x: x - (x - zoom.x) * change, y: y - (y - zoom.y) * change });
}

/** The same, without room beside the picture. @param {Zoom} zoom @returns {Zoom} */
function within({ scale, x, y }) {
  const least = 1 - scale;
  return { scale, x: Math.min(0, Math.max(least, x)), y: Math.min(0, Math.max(least, y)) };
}

customElements.define("zoom-picture", ZoomPicture);

import { element } from "./dom.js";

/** A part of a picture, as shares of its width and height. @typedef {{left: number, top: number, width: number, height: number}} Box */

const smallest = 0.05;
const keyStep = 0.02;

/** @param {string | null} text as in addresses: left,top,width,height @returns {Box | null} */
export function parseBox(text) {
  const numbers = (text ?? "").split(",").map(Number);
  if (numbers.length !== 4 || !numbers.every((number) => number >= 0 && number <= 1)) return null;
  const [left, top, width, height] = numbers;
  return width > 0 && height > 0 ? { left, top, width, height } : null;
}

/** @param {Box | null} box */
export const boxText = (box) =>
  box && [box.left, box.top, box.width, box.height].map((share) => Number(share.toFixed(3))).join(",");

/**
 * Lies over a picture and lets the user mark a part of it: by dragging, or with the keys, arrows to move and with Shift
 * to resize. Sends "box" with the part, or null for all of it, when it has been changed.
 */
export class CropBox extends HTMLElement {
  constructor() {
    super();
    /** @type {Box | null} */
    this.box = null;
    this.frame = element(
      "div",
      { class: "crop-frame" },
      ["nw", "ne", "sw", "se"].map((corner) => element("i", { class: corner })),
    );
    /** @type {((x: number, y: number) => void) | null} */
    this.drag = null;
    this.telling = 0;
    this.addEventListener("pointerdown", (event) => this.#onDown(event));
    this.addEventListener("pointermove", (event) => {
      const { x, y } = this.#share(event);
      this.drag?.(x, y);
    });
    this.addEventListener("pointerup", () => this.#onUp());
    this.addEventListener("pointercancel", () => this.#onUp());
    this.addEventListener("keydown", (event) => this.#onKey(event));
  }

  connectedCallback() {
    this.tabIndex = 0;
    this.setAttribute("role", "group");
    this.setAttribute("aria-roledescription", "part of the picture");
    this.append(this.frame);
    this.show(this.box);
  }

  /** @param {Box | null} box */
  show(box) {
    this.box = box;
    this.frame.hidden = !box;
    this.setAttribute(
      "aria-label",
      box
        ? `Searching for a part: ${describe(box)}. Arrows move it, with Shift they resize it, Escape searches for all.`
        : "All of the picture is searched for. Press an arrow key to mark a part.",
    );
    if (!box) return;
    for (const side of /** @type {const} */ (["left", "top", "width", "height"]))
      this.frame.style[side] = `${box[side] * 100}%`;
  }

  /** @param {PointerEvent} event */
  #share(event) {
    const area = this.getBoundingClientRect();
    return { x: clamp((event.clientX - area.left) / area.width), y: clamp((event.clientY - area.top) / area.height) };
  }

  /** @param {PointerEvent} event */
  #onDown(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.focus();
    this.setPointerCapture(event.pointerId);
    const { x, y } = this.#share(event);
    const corner = event.target instanceof HTMLElement && event.target.localName === "i" ? event.target.className : "";
    const old = this.box;
    if (old && corner) {
      const anchor = {
        x: corner.includes("w") ? old.left + old.width : old.left,
        y: corner.includes("n") ? old.top + old.height : old.top,
      };
      this.drag = (toX, toY) => this.show(between(anchor.x, anchor.y, toX, toY));
    } else if (old && event.target === this.frame) {
      this.drag = (toX, toY) => this.show(moved(old, toX - x, toY - y));
    } else {
      this.drag = (toX, toY) => this.show(between(x, y, toX, toY));
    }
  }

  #onUp() {
    if (!this.drag) return;
    this.drag = null;
    if (this.box && (this.box.width < smallest || this.box.height < smallest)) this.show(null); // a click
    this.#tell(0);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (event.key === "Escape" && this.box) this.show(null);
    else if (!x && !y) return;
    else if (!this.box) this.show({ left: 0.25, top: 0.25, width: 0.5, height: 0.5 });
    else if (event.shiftKey) this.show(resized(this.box, x * keyStep, y * keyStep));
    else this.show(moved(this.box, x * keyStep, y * keyStep));
    event.preventDefault();
    this.#tell(400);
  }

  /** Says so once the user pauses. @param {number} pause milliseconds */
  #tell(pause) {
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => this.dispatchEvent(new CustomEvent("box", { detail: this.box })), pause);
  }
}

/** @param {number} share */
const clamp = (share) => Math.min(1, Math.max(0, share));

/** @param {number} x @param {number} y @param {number} toX @param {number} toY @returns {Box} */
const between = (x, y, toX, toY) => ({
  left: Math.min(x, toX),
  top: Math.min(y, toY),
  width: Math.abs(toX - x),
  height: Math.abs(toY - y),
});

/** @param {Box} box @param {number} x @param {number} y @returns {Box} */
const moved = (box, x, y) => ({
  ...box,
  left: Math.min(1 - box.width, Math.max(0, box.left + x)),
  top: Math.min(1 - box.height, Math.max(0, box.top + y)),
});

/** @param {Box} box @param {number} x @param {number} y @returns {Box} */
const resized = (box, x, y) => ({
  ...box,
  width: Math.min(1 - box.left, Math.max(smallest, box.width + x)),
  height: Math.min(1 - box.top, Math.max(smallest, box.height + y)),
});

/** @param {Box} box */
function describe({ left, top, width, height }) {
  const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;
  return `${percent(width)} wide and ${percent(height)} high, ${percent(left)} from the left and ${percent(top)} from the top`;
}

customElements.define("crop-box", CropBox);

import { button, element, icon } from "./dom.js";
import { JustifiedRows, squareSide } from "./justified_rows.js";
import { go } from "./routes.js";

/**
 * What a grid shows, and how.
 *
 * @typedef {object} GridContent
 * @property {number} total how many pictures there are
 * @property {(place: number) => Api.Picture | undefined} pictureAt undefined: not known yet
 * @property {(from: number, to: number) => void} [need] is told which places are looked at; `arrived` answers
 * @property {ArrayLike<number>} [shapes] width over height of each; without them all are squares
 * @property {string} label of the grid, for screen readers
 * @property {(picture: Api.Picture, place: number) => string} address where a click on it leads
 * @property {(picture: Api.Picture) => string} moreAddress of "more like this"
 * @property {(place: number) => string | null} [headingOf]
 * @property {(picture: Api.Picture, place: number) => string[]} [caption] lines below the picture
 */

const rowHeights = { small: 104, medium: 168, large: 216 };
const headingHeight = 52;
const captionLine = 18;
const settlingTime = 90; // milliseconds

/**
 * A windowed grid of pictures: whatever their number, only those near the visible part are elements. It scrolls
 * with the page. Arrow keys walk through it, with one stop for Tab.
 */
export class PictureGrid extends HTMLElement {
  constructor() {
    super();
    /** @type {GridContent | null} */
    this.content = null;
    this.layout = new JustifiedRows({ width: 0, rowHeight: 1, gap: 0, footer: 0, heading: 0 });
    /** @type {ArrayLike<number>} */
    this.shapes = [];
    /** @type {Map<number, HTMLElement>} the rows that are elements now */
    this.drawn = new Map();
    this.active = 0; // the place that Tab leads to
    this.drawing = 0;
    this.lastTop = 0;
    this.settling = 0;
    this.resizes = new ResizeObserver(() => this.#relayout());
    this.onScroll = () => this.#requestDraw();
    this.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("focusin", (event) => this.#onFocus(event));
  }

  connectedCallback() {
    this.setAttribute("role", "grid");
    addEventListener("scroll", this.onScroll, { passive: true });
    this.resizes.observe(this);
  }

  disconnectedCallback() {
    removeEventListener("scroll", this.onScroll);
    this.resizes.disconnect();
    cancelAnimationFrame(this.drawing);
    clearTimeout(this.settling);
  }

  /** @param {GridContent} content */
  show(content) {
    this.content = content;
    this.active = 0;
    this.setAttribute("aria-label", content.label);
    this.classList.toggle("with-headings", Boolean(content.headingOf));
    this.#relayout(true);
  }

  /** Shows pictures that were not known before. @param {number} from @param {number} to */
  arrived(from, to) {
    for (const place of this.drawn.keys()) {
      const row = this.layout.rows[place];
      if (row.first < to && row.first + row.count > from) this.#fillRow(place);
    }
    this.#loadThumbnails();
    this.#placeTabStop();
  }

  /** Brings a picture into view, and the focus to it. @param {number} place */
  focusPlace(place) {
    if (!this.content?.total) return;
    this.active = Math.min(this.content.total - 1, Math.max(0, place));
    this.#reveal(this.layout.rows[this.layout.rowOf(this.active)]);
    this.#draw();
    this.#tileAt(this.active)?.focus({ preventScroll: true });
  }

  /** @param {import("./justified_rows.js").Row | undefined} row */
  #reveal(row) {
    if (!row) return; // nothing is laid out yet
    const margin = 96; // clears the bar at the top, and the one at the bottom of narrow screens
    const top = this.getBoundingClientRect().top + row.top;
    const bottom = top + row.height + this.layout.options.footer;
    if (top < margin) scrollBy(0, top - margin);
    else if (bottom > innerHeight - margin) scrollBy(0, bottom - innerHeight + margin);
  }

  /** @param {boolean} [anew] */
  #relayout(anew = false) {
    const width = this.clientWidth;
    if (!this.content || !width || (!anew && width === this.layout.options.width)) return;
    const anchor = anew ? null : this.#anchor();
    const { total, shapes, caption, headingOf } = this.content;
    const gap = width < 560 ? 3 : caption ? 10 : 6;
    const wanted = width < 560 ? rowHeights.small : width < 1700 ? rowHeights.medium : rowHeights.large;
    this.layout = new JustifiedRows({
      width,
      rowHeight: shapes ? wanted : squareSide(width, wanted, gap),
      gap,
      footer: caption ? 2 * captionLine + 8 : 0,
      heading: headingOf ? headingHeight : 0,
    });
    this.shapes = shapes ?? new Float32Array(total).fill(1);
    for (const row of [...this.drawn.keys()]) this.#undraw(row);
    this.layout.place(this.shapes, headingOf ?? (() => null));
    this.style.height = `${Math.ceil(this.layout.height)}px`;
    this.setAttribute("aria-rowcount", String(this.layout.rows.length));
    if (anchor !== null) this.#reveal(this.layout.rows[this.layout.rowOf(anchor)]);
    this.#draw();
  }

  /** The first visible picture if the page was scrolled, to be made visible again at another width. */
  #anchor() {
    const top = -this.getBoundingClientRect().top;
    if (top <= 0) return null;
    return this.layout.rows[this.layout.between(top, top + 1)[0]]?.first ?? null;
  }

  #requestDraw() {
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    if (!this.content) return;
    const top = -this.getBoundingClientRect().top;
    const margin = innerHeight * 0.75;
    const [begin, end] = this.layout.between(top - margin, top + innerHeight + margin);
    const pinned = this.contains(document.activeElement) ? this.layout.rowOf(this.active) : -1;
    for (const row of [...this.drawn.keys()]) {
      if ((row < begin || row >= end) && row !== pinned) this.#undraw(row);
    }
    const hurried = Math.abs(top - this.lastTop) > innerHeight * 2;
    this.lastTop = top;
    for (let row = begin; row < end; row++) {
      if (!this.drawn.has(row)) this.#drawRow(row);
    }
    clearTimeout(this.settling);
    if (hurried) this.settling = window.setTimeout(() => this.#load(begin, end), settlingTime);
    else this.#load(begin, end);
    this.#placeTabStop();
  }

  /** Asks for what the rows lack, only once the scrolling rests. @param {number} begin @param {number} end */
  #load(begin, end) {
    const first = this.layout.rows[begin];
    const last = this.layout.rows[end - 1];
    if (first && last) this.content?.need?.(first.first, last.first + last.count);
    this.#loadThumbnails();
  }

  /** @param {number} row */
  #undraw(row) {
    this.drawn.get(row)?.remove();
    this.drawn.delete(row);
  }

  /** @param {number} place a row's, in the layout */
  #drawRow(place) {
    const row = this.layout.rows[place];
    const made = element("div", { class: "grid-row", role: "row", "aria-rowindex": place + 1 });
    made.style.transform = `translateY(${row.top}px)`;
    made.style.gap = `${this.layout.options.gap}px`;
    this.drawn.set(place, made);
    this.#fillRow(place);
    const next = [...this.drawn.keys()].filter((other) => other > place).sort((a, b) => a - b)[0];
    this.insertBefore(made, next === undefined ? null : (this.drawn.get(next) ?? null));
  }

  /** @param {number} place a row's, in the layout */
  #fillRow(place) {
    const row = this.layout.rows[place];
    const cells = [];
    if (row.heading !== null) cells.push(element("div", { class: "grid-heading", role: "rowheader" }, row.heading));
    for (let picture = row.first; picture < row.first + row.count; picture++)
      cells.push(this.#cell(picture, row.height));
    const made = /** @type {HTMLElement} */ (this.drawn.get(place));
    const focused = made.contains(document.activeElement);
    made.replaceChildren(...cells);
    if (focused) this.#tileAt(this.active)?.focus({ preventScroll: true });
  }

  /** @param {number} place @param {number} height */
  #cell(place, height) {
    const content = /** @type {GridContent} */ (this.content);
    const picture = content.pictureAt(place);
    const tile = element("a", { class: "tile", tabIndex: -1 });
    tile.dataset.place = String(place);
    tile.style.height = `${height}px`;
    const cell = element("div", { class: "cell", role: "gridcell" }, tile);
    cell.style.width = `${height * this.shapes[place]}px`;
    if (!picture) {
      tile.setAttribute("aria-label", "Loading");
      tile.setAttribute("role", "link");
      return cell;
    }
    tile.href = content.address(picture, place);
    tile.append(picture.failure === null ? this.#image(picture) : failedTile(picture));
    if (content.caption) {
      const [line, ...more] = content.caption(picture, place);
      cell.append(
        element(
          "div",
          { class: "caption" },
          element("b", {}, line),
          more.map((text) => element("span", {}, text)),
        ),
      );
    } else if (picture.failure === null) {
      tile.append(element("span", { class: "tile-name", "aria-hidden": "true" }, picture.name));
    }
    if (picture.failure === null) cell.append(moreButton(content.moreAddress(picture)));
    return cell;
  }

  /** @param {Api.Picture} picture */
  #image(picture) {
    const image = element("img", { alt: picture.name, decoding: "async", draggable: false });
    image.dataset.source = picture.thumbnail;
    image.addEventListener("load", () => image.classList.add("loaded"));
    image.addEventListener("error", () => image.replaceWith(element("span", { class: "tile-note" }, "No thumbnail")));
    return image;
  }

  #loadThumbnails() {
    for (const image of this.querySelectorAll("img[data-source]")) {
      const { source } = /** @type {HTMLImageElement} */ (image).dataset;
      image.removeAttribute("data-source");
      if (source) /** @type {HTMLImageElement} */ (image).src = source;
    }
  }

  /** @param {number} place @returns {HTMLElement | null} */
  #tileAt(place) {
    return this.querySelector(`.tile[data-place="${place}"]`);
  }

  #placeTabStop() {
    const stop = this.#tileAt(this.active) ?? this.querySelector(".tile");
    for (const tile of this.querySelectorAll(".tile[tabindex='0']")) {
      if (tile !== stop) /** @type {HTMLElement} */ (tile).tabIndex = -1;
    }
    if (stop instanceof HTMLElement) stop.tabIndex = 0;
  }

  /** @param {FocusEvent} event */
  #onFocus(event) {
    const tile = /** @type {HTMLElement} */ (event.target).closest?.(".tile");
    if (!(tile instanceof HTMLElement)) return;
    this.active = Number(tile.dataset.place);
    this.#placeTabStop();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.altKey || event.metaKey) return;
    const place = this.#placeAfter(event.key, event.ctrlKey);
    if (place !== null) {
      event.preventDefault();
      this.focusPlace(place);
    } else if (event.key === "m" && !event.ctrlKey) {
      const picture = this.content?.pictureAt(this.active);
      if (picture && picture.failure === null && this.content) go(this.content.moreAddress(picture));
    }
  }

  /** Where a key leads from the active picture. @param {string} key @param {boolean} control */
  #placeAfter(key, control) {
    const row = this.layout.rows[this.layout.rowOf(this.active)];
    if (!row) return null;
    const last = this.shapes.length - 1;
    switch (key) {
      case "ArrowLeft":
        return this.active - 1;
      case "ArrowRight":
        return this.active + 1;
      case "Home":
        return control ? 0 : row.first;
      case "End":
        return control ? last : row.first + row.count - 1;
      case "ArrowUp":
        return this.#vertically(-1);
      case "ArrowDown":
        return this.#vertically(1);
      case "PageUp":
        return this.#vertically(-this.#rowsPerScreen());
      case "PageDown":
        return this.#vertically(this.#rowsPerScreen());
      default:
        return null;
    }
  }

  #rowsPerScreen() {
    const { rowHeight, gap, footer } = this.layout.options;
    return Math.max(1, Math.floor((innerHeight - 160) / (rowHeight + gap + footer)));
  }

  /** The picture that lies some rows of pictures further, at the same distance from the left. @param {number} rows */
  #vertically(rows) {
    const all = this.layout.rows;
    let at = this.layout.rowOf(this.active);
    const middle = this.#middleOf(this.active, all[at]);
    const step = Math.sign(rows);
    for (let left = Math.abs(rows); left > 0; left--) {
      let next = at + step;
      while (all[next]?.count === 0) next += step;
      if (!all[next]) break;
      at = next;
    }
    let best = all[at].first;
    for (let place = best; place < all[at].first + all[at].count; place++) {
      if (Math.abs(this.#middleOf(place, all[at]) - middle) < Math.abs(this.#middleOf(best, all[at]) - middle))
        best = place;
    }
    return best;
  }

  /** @param {number} place @param {import("./justified_rows.js").Row} row */
  #middleOf(place, row) {
    let left = 0;
    for (let before = row.first; before < place; before++)
      left += this.shapes[before] * row.height + this.layout.options.gap;
    return left + (this.shapes[place] * row.height) / 2;
  }
}

/** @param {Api.Picture} picture */
function failedTile(picture) {
  return element(
    "span",
    { class: "tile-note failed" },
    icon("warning"),
    element("b", {}, picture.name),
    picture.failure,
  );
}

/** @param {string} address */
function moreButton(address) {
  return button("similar", "", {
    class: "tile-more",
    tabIndex: -1,
    "aria-label": "More like this",
    onclick: () => go(address),
  });
}

customElements.define("picture-grid", PictureGrid);

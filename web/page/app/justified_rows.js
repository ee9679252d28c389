// Pictures of any shape in rows of one width, as in a photo album. This only computes: 100,000 pictures are laid out
// once in a few milliseconds, and whoever draws asks for the rows in the visible part of the page.

/**
 * @typedef {object} Row
 * @property {number} top
 * @property {number} height of the pictures; for a heading, of the whole row
 * @property {number} first the place of its first picture
 * @property {number} count 0 for a heading
 * @property {string | null} heading
 */

/**
 * @typedef {object} RowOptions
 * @property {number} width
 * @property {number} rowHeight the preferred height of rows
 * @property {number} gap
 * @property {number} footer room below each row, for captions
 * @property {number} heading the height of a heading
 */

const widest = 3; // panoramas and scans of receipts are shown in part
const narrowest = 0.5;
const rounding = 1e-6; // squares fill a row exactly

/** @param {{width: number, height: number}} picture */
export function shapeOf(picture) {
  if (!picture.width || !picture.height) return 1;
  return Math.min(widest, Math.max(narrowest, picture.width / picture.height));
}

/**
 * The height of rows in which squares fill the width: as near to the wanted height as whole squares allow.
 *
 * @param {number} width
 * @param {number} wanted
 * @param {number} gap
 */
export function squareSide(width, wanted, gap) {
  const columns = Math.max(2, Math.round((width + gap) / (wanted + gap)));
  return (width - (columns - 1) * gap) / columns;
}

export class JustifiedRows {
  /** @param {RowOptions} options */
  constructor(options) {
    this.options = options;
    /** @type {Row[]} */
    this.rows = [];
    this.height = 0;
    /** @type {string | null} */
    this.heading = null;
  }

  /**
   * Places the pictures.
   *
   * @param {ArrayLike<number>} shapes width over height
   * @param {(place: number) => string | null} headingOf
   */
  place(shapes, headingOf) {
    let first = 0;
    let sum = 0;
    for (let place = 0; place < shapes.length; place++) {
      const heading = headingOf(place);
      if (heading !== this.heading) {
        if (place > first) this.#closeRow(first, place - first, sum, false);
        this.#addHeading(place, heading);
        first = place;
        sum = 0;
      }
      sum += shapes[place];
      if (this.#heightFor(sum, place - first + 1) <= this.options.rowHeight + rounding) {
        this.#closeRow(first, place - first + 1, sum, true);
        first = place + 1;
        sum = 0;
      }
    }
    if (first < shapes.length) this.#closeRow(first, shapes.length - first, sum, false);
  }

  /**
   * The rows from one height of the page to another, as a range of places in `rows`.
   *
   * @param {number} from
   * @param {number} to
   * @returns {[number, number]}
   */
  between(from, to) {
    const { gap, footer } = this.options;
    const begin = this.#firstRow((row) => row.top + row.height + footer + gap > from);
    const end = this.#firstRow((row) => row.top >= to);
    return [begin, Math.max(begin, end)];
  }

  /** The row of a picture. @param {number} place */
  rowOf(place) {
    return this.#firstRow((row) => row.first + row.count > place);
  }

  /** @param {(row: Row) => boolean} reached monotone: false, then true */
  #firstRow(reached) {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (reached(this.rows[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** @param {number} shapes the sum of a row's shapes @param {number} count */
  #heightFor(shapes, count) {
    return (this.options.width - (count - 1) * this.options.gap) / shapes;
  }

  /** @param {number} first @param {number} count @param {number} sum @param {boolean} full */
  #closeRow(first, count, sum, full) {
    const fitting = this.#heightFor(sum, count);
    const height = full ? fitting : Math.min(this.options.rowHeight, fitting);
    this.rows.push({ top: this.height, height, first, count, heading: null });
    this.height += height + this.options.footer + this.options.gap;
  }

  /** @param {number} first @param {string | null} heading */
  #addHeading(first, heading) {
    this.heading = heading;
    if (heading === null) return;
    this.rows.push({ top: this.height, height: this.options.heading, first, count: 0, heading });
    this.height += this.options.heading;
  }
}

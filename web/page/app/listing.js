import { api } from "./api.js";

/** @typedef {{sort: string, path: string, folder: string, state: string}} Choice */

const pageSize = 200;
const pagesKept = 60;

/**
 * The pictures of a library in some order, of which only the pages that were looked at are fetched, and the latest
 * kept.
 */
export class Listing {
  /** @param {string} library @param {Choice} choice */
  constructor(library, choice) {
    this.library = library;
    this.choice = choice;
    this.total = 0;
    /** @type {Map<number, Api.Picture[]>} the page that was asked for last comes last */
    this.pages = new Map();
    /** @type {Map<number, Promise<void>>} */
    this.asked = new Map();
    /** Called when pictures have arrived. @type {(from: number, to: number) => void} */
    this.onArrival = () => {};
  }

  /** Fetches the first page, and with it the number of all pictures. */
  async open() {
    await this.#fetchPage(0);
  }

  /** @param {number} place @returns {Api.Picture | undefined} */
  at(place) {
    return this.pages.get(Math.floor(place / pageSize))?.[place % pageSize];
  }

  /**
   * Fetches the pages from one place to another. Resolves when they are there; those that fail are asked for the next
   * time they are looked at.
   *
   * @param {number} from
   * @param {number} to
   */
  async need(from, to) {
    const waiting = [];
    for (let page = Math.floor(from / pageSize); page * pageSize < Math.min(to, this.total); page++) {
      const known = this.pages.get(page);
      if (known) {
        this.pages.delete(page);
        this.pages.set(page, known);
      } else {
        waiting.push(this.#fetchPage(page));
      }
    }
    await Promise.allSettled(waiting);
  }

  /** @param {number} page @returns {Promise<void>} */
  #fetchPage(page) {
    const asked = this.asked.get(page);
    if (asked) return asked;
    const answer = api
      .pictures(this.library, { ...this.choice, offset: page * pageSize, limit: pageSize })
      .then(({ pictures, total }) => this.#keep(page, pictures, total))
      .finally(() => this.asked.delete(page));
    this.asked.set(page, answer);
    return answer;
  }

  /** @param {number} page @param {Api.Picture[]} pictures @param {number} total */
  #keep(page, pictures, total) {
    this.total = total;
    this.pages.set(page, pictures);
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= pagesKept) break;
      this.pages.delete(oldest);
    }
    this.onArrival(page * pageSize, page * pageSize + pictures.length);
  }
}

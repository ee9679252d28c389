// A mock library: pictures with paths and dates, some of them copies of others, and decisions about these.
import { chance, drawing, photographs } from "./images.js";

/** @typedef {import("./images.js").Source} Source */
/** @typedef {{source: Source, look: "plain" | "grey" | "crop"}} Look */

export const bits = 64;
const places = ["Rome", "Home", "Alps", "Harbour", "Garden", "Lisbon <b>at night<b>", "Workshop & yard"];
const firstYear = 2016;
const kinds = /** @type {Api.DuplicateKind[]} */ (["exact", "edited", "part", "similar"]);

export class MockLibrary {
  /** @param {{name: string, count: number, photos: string | null, duplicates: number, failed: number, indexed: boolean}} options */
  constructor({ name, count, photos, duplicates, failed, indexed }) {
    this.name = name;
    this.indexed = indexed;
    this.generation = 1;
    /** @type {string | null} */
    this.job = null;
    /** @type {Api.Picture[]} */
    this.pictures = [];
    /** @type {Map<number, Api.Picture>} */
    this.byId = new Map();
    /** @type {Map<number, Look>} */
    this.looks = new Map();
    /** @type {Api.DuplicateGroup[]} */
    this.groups = [];
    /** @type {{decision: Api.Decision, hidden: Set<number>, apart: Set<string>}[]} */
    this.decided = [];
    const sources = photographs(photos);
    const sourceOf = (/** @type {number} */ index) =>
      sources.length ? sources[index % sources.length] : drawing(index);
    for (let index = 0; index < count; index++) this.#add(index, sourceOf(index), "plain", 1, index < failed);
    for (let group = 0; group < duplicates; group++) this.#addGroup(group, this.pictures[failed + group * 2 + 1]);
    this.pictures.sort((a, b) => (a.path < b.path ? -1 : 1));
    this.sorted = { path: this.pictures, date: [...this.pictures].sort((a, b) => (a.modified < b.modified ? 1 : -1)) };
  }

  /** @param {number} id */
  find(id) {
    return this.byId.get(id);
  }

  /** Pictures that no decision has taken away. */
  get gone() {
    return new Set(this.decided.flatMap(({ decision, hidden }) => (decision.undone ? [] : [...hidden])));
  }

  /** Groups that are still to be decided. */
  openGroups() {
    const apart = new Set(this.decided.flatMap(({ decision, apart: ids }) => (decision.undone ? [] : [...ids])));
    const { gone } = this;
    return this.groups.filter(
      (group) => !apart.has(group.id) && group.members.filter(({ picture }) => !gone.has(picture.id)).length > 1,
    );
  }

  /** @param {number} index @param {Source} source @param {Look["look"]} look @param {number} scale @param {boolean} failed */
  #add(index, source, look, scale, failed, path = "") {
    const id = this.pictures.length + 1;
    const year = firstYear + Math.floor(chance(index, "year") * 9);
    const month = 1 + Math.floor(chance(index, "month") * 12);
    const day = 1 + Math.floor(chance(index, "day") * 28);
    const place = places[Math.floor(chance(index, "place") * places.length)];
    const full = path || `${year}/${place}/IMG_${String(index).padStart(5, "0")}.jpg`;
    const address = `/v1/libraries/${encodeURIComponent(this.name)}/pictures/${id}`;
    const version = `v=${source.seed.toString(16)}`;
    this.looks.set(id, { source, look });
    const picture = {
      id,
      path: full,
      folder: full.slice(0, full.lastIndexOf("/")),
      name: full.slice(full.lastIndexOf("/") + 1),
      width: failed ? 0 : Math.round(source.width * scale),
      height: failed ? 0 : Math.round(source.height * scale),
      bytes: Math.round(source.width * source.height * scale * scale * 0.3),
      modified: new Date(Date.UTC(year, month - 1, day, 12, index % 60)).toISOString(),
      failure: failed ? "the picture is cut off after 4,096 bytes" : null,
      thumbnail: `${address}/thumbnail?${version}`,
      preview: `${address}/preview?${version}`,
      original: `${address}/original`,
    };
    this.pictures.push(picture);
    this.byId.set(id, picture);
    return picture;
  }

  /** @param {number} number @param {Api.Picture} best */
  #addGroup(number, best) {
    const kind = kinds[number % 7 < 4 ? 0 : (number % 7) - 3];
    const { source } = /** @type {Look} */ (this.looks.get(best.id));
    const copies = 1 + Math.floor(chance(number, "copies") * 3);
    /** @type {Api.DuplicateMember[]} */
    const members = [{ picture: best, kind: null, distance: 0, keep: true }];
    for (let copy = 1; copy <= copies; copy++) {
      const look = kind === "part" ? "crop" : kind === "edited" ? "grey" : "plain";
      const path = `backup/phone ${copy}/${best.name.replace(".", kind === "exact" ? `(${copy}).` : `_${kind}${copy}.`)}`;
      const picture = this.#add(number * 7 + copy, source, look, kind === "exact" ? 1 : 0.5, false, path);
      members.push({ picture, kind, distance: kind === "exact" ? 0 : 2 + copy, keep: false });
    }
    const reason = kind === "exact" ? "shortest path of equals" : "most pixels";
    const bytes = members.slice(1).reduce((sum, { picture }) => sum + picture.bytes, 0);
    this.groups.push({ id: `g${number}`, kind, keep: best.id, reason, members, bytes });
  }
}

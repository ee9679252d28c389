import { api } from "./api.js";
import { boxText, parseBox } from "./crop_box.js";
import { button, element, fill, icon } from "./dom.js";
import { shapeOf } from "./justified_rows.js";
import "./picture_grid.js";
import { ShownPicture } from "./picture_viewer.js";
import "./query_panel.js";
import { choosePicture, findQuery } from "./query_pictures.js";
import { changedAddress, currentRoute, go, routeAddress } from "./routes.js";
import { failedState, firstRun, isAbort, state } from "./states.js";
import { distanceText, likeness, plural, shortDistance } from "./words.js";

/** @typedef {import("./routes.js").Route} Route */

const asked = 200; // results; the slider chooses among them without another request
const usualShare = 3 / 8; // of the bits may differ, unless the slider says otherwise

/** Pictures that are like a picture. */
class SearchView extends HTMLElement {
  /** @type {Api.Library} the library of what is shown */
  library;

  constructor() {
    super();
    this.panel = element("query-panel");
    this.results = element("section", { class: "results", "aria-label": "Results" });
    this.count = element("p", { class: "muted numbers", role: "status" });
    this.grid = element("picture-grid");
    this.rest = element("div", { class: "list-end" });
    this.shownPicture = new ShownPicture(
      (id) => this.#find(id),
      () => this.grid.focusPlace(this.grid.active),
    );
    this.searching = new AbortController();
    this.queryShown = "";
    this.searchShown = "";
    /** @type {Api.Matches | null} */
    this.answer = null;
    /** @type {Api.Match[]} those that are alike enough */
    this.found = [];
  }

  connectedCallback() {
    this.panel.crop.addEventListener("box", (event) => this.#changeBox(/** @type {CustomEvent} */ (event).detail));
    this.panel.slider.addEventListener("alike", (event) =>
      this.#changeAlike(/** @type {CustomEvent} */ (event).detail),
    );
  }

  disconnectedCallback() {
    this.searching.abort();
    this.shownPicture.close();
  }

  /** @param {Route} route @param {Api.Library} library */
  async follow(route, library) {
    this.library = library;
    const { parameters } = route;
    const picture = Number(parameters.get("picture"));
    const upload = parameters.get("upload");
    if (!library.indexed || library.pictures === 0) {
      fill(this, firstRun(library));
    } else if (!picture && !upload) {
      this.queryShown = this.searchShown = "";
      await this.#showStart(library);
    } else {
      await this.#showSearch(picture || String(upload), parameters);
    }
    await this.shownPicture.follow(route);
  }

  /** Before anything was asked. @param {Api.Library} library */
  async #showStart(library) {
    const strip = element("div", { class: "start-strip" });
    fill(
      this,
      element(
        "div",
        { class: "start" },
        element("h1", {}, "What are you looking for?"),
        element(
          "p",
          { class: "muted" },
          `Show a picture, and see what is like it among ${plural(library.pictures, "picture")}.`,
        ),
        element(
          "button",
          { class: "drop-zone", type: "button", onclick: choosePicture },
          icon("upload"),
          element("strong", {}, "Drop a picture here, paste one, or choose a file"),
          element("span", { class: "muted small" }, "It is only compared, and not kept on the server."),
        ),
      ),
      strip,
    );
    try {
      const { pictures } = await api.pictures(library.name, { sort: "date", state: "fine", limit: 40 });
      fill(strip, element("h2", {}, "Or begin with one of yours"), this.grid);
      this.#showPictures(pictures, "Newest pictures");
    } catch (error) {
      fill(
        strip,
        failedState("The pictures could not be listed", error, () => this.#showStart(library)),
      );
    }
  }

  /** @param {Api.Picture[]} pictures @param {string} label */
  #showPictures(pictures, label) {
    const { name } = this.library;
    const more = (/** @type {Api.Picture} */ picture) => routeAddress(name, "search", { picture: picture.id });
    this.grid.show({
      total: pictures.length,
      pictureAt: (place) => pictures[place],
      shapes: pictures.map(shapeOf),
      label,
      address: more,
      moreAddress: more,
    });
  }

  /** @param {number | string} query an id or the key of an upload @param {URLSearchParams} parameters */
  async #showSearch(query, parameters) {
    if (this.panel.parentElement !== this)
      fill(this, element("h1", { class: "visually-hidden" }, "Search"), this.panel, this.results);
    const box = parseBox(parameters.get("box"));
    this.panel.showBox(box);
    const search = `${query} ${boxText(box)}`;
    const anew = search !== this.searchShown;
    if (anew) {
      this.searchShown = search;
      this.searching.abort();
      this.searching = new AbortController();
      try {
        await this.#ask(query, boxText(box), this.searching.signal);
      } catch (error) {
        if (!isAbort(error)) this.#showFailure(error);
        return;
      }
    }
    if (!this.answer) return;
    const usual = Math.floor(this.answer.bits * usualShare);
    const alike = parameters.has("alike") ? Number(parameters.get("alike")) : usual;
    if (anew || alike !== this.panel.slider.value) this.#showResults(this.answer, alike);
  }

  /** @param {number | string} query @param {string | null} box @param {AbortSignal} signal */
  async #ask(query, box, signal) {
    const { name } = this.library;
    this.results.setAttribute("aria-busy", "true");
    const file = typeof query === "string" ? await findQuery(query) : null;
    if (typeof query === "string" && !file) throw new Error(goneUpload);
    this.answer = null;
    const [answer] = await Promise.all([
      api.search(name, file ?? Number(query), { k: asked, box }, signal),
      this.#showQuery(query, file, signal),
    ]);
    signal.throwIfAborted();
    this.answer = answer;
    this.results.removeAttribute("aria-busy");
  }

  /** @param {number | string} query @param {Blob | null} file @param {AbortSignal} signal */
  async #showQuery(query, file, signal) {
    if (this.queryShown === String(query)) return;
    this.queryShown = String(query);
    if (file) {
      await this.panel.showFile(file);
      return;
    }
    const picture = await api.picture(this.library.name, Number(query));
    if (!signal.aborted) this.panel.showPicture(picture);
  }

  /** @param {unknown} error */
  #showFailure(error) {
    this.searchShown = this.queryShown = "";
    this.results.removeAttribute("aria-busy");
    const { name } = this.library;
    if (error instanceof Error && error.message === goneUpload) {
      const choose = button("upload", "Choose a picture", { class: "primary", onclick: choosePicture });
      fill(
        this,
        state("picture", "This picture is not here any more", [goneUpload], { whole: true, actions: [choose] }),
      );
      return;
    }
    const start = element("a", { class: "button", href: routeAddress(name, "search") }, "Another picture");
    const failed = failedState(
      "The search did not succeed",
      error,
      () => this.follow(currentRoute(), this.library),
      true,
    );
    failed.querySelector(".actions")?.append(start);
    fill(this, failed);
  }

  /** @param {Api.Matches} answer @param {number} alike */
  #showResults({ bits, matches }, alike) {
    const distances = matches.map(({ distance }) => distance);
    this.panel.slider.show(bits, distances, alike);
    this.#drawResults(alike);
  }

  /** @param {number} alike */
  #drawResults(alike) {
    if (!this.answer) return;
    const { bits, matches } = this.answer;
    const limit = alike >= bits / 2 ? bits : alike;
    this.found = matches.filter(({ distance }) => distance <= limit).sort((a, b) => degree(a, bits) - degree(b, bits));
    const orMore = this.found.length === asked ? " or more" : "";
    this.count.textContent = this.found.length ? `${plural(this.found.length, "picture")}${orMore}` : "";
    this.#drawRest(matches.length - this.found.length, bits);
    if (this.found.length > 0) this.#drawGrid(bits);
  }

  /** @param {number} bits */
  #drawGrid(bits) {
    if (this.grid.parentElement !== this.results) fill(this.results, this.count, this.grid, this.rest);
    this.grid.show({
      total: this.found.length,
      pictureAt: (place) => this.found[place]?.picture,
      shapes: this.found.map(({ picture }) => shapeOf(picture)),
      label: "Pictures that are alike",
      address: (picture) => changedAddress({ show: picture.id }),
      moreAddress: (picture) => routeAddress(this.library.name, "search", { picture: picture.id }),
      headingOf: (place) => likeness(this.found[place].distance, bits).name,
      caption: (picture, place) => [picture.name, shortDistance(this.found[place].distance)],
    });
  }

  /** What there is beyond those that are alike enough. @param {number} count @param {number} bits */
  #drawRest(count, bits) {
    const show = () => go(changedAddress({ alike: bits / 2 }));
    const words = `Show ${plural(count, "picture")} less alike`;
    const offer = count > 0 && button("similar", words, { onclick: show });
    if (this.found.length > 0) {
      fill(this.rest, offer);
      return;
    }
    const text = count > 0 ? "Nothing in this library is that alike." : "There is nothing to compare with.";
    fill(this.results, this.count, state("search", "No such picture", [text], { actions: [offer] }));
  }

  /** @param {number} alike */
  #changeAlike(alike) {
    const usual = this.answer && alike === Math.floor(this.answer.bits * usualShare);
    history.replaceState(history.state, "", changedAddress({ alike: usual ? null : alike }));
    this.#drawResults(alike);
  }

  /** @param {import("./crop_box.js").Box | null} box */
  #changeBox(box) {
    go(changedAddress({ box: boxText(box), show: null }));
  }

  /** @param {number} id */
  async #find(id) {
    const { name, bits } = this.library;
    const place = this.found.findIndex(({ picture }) => picture.id === id);
    if (place < 0) return { picture: await api.picture(name, id), facts: [], step: null };
    const { picture, distance } = this.found[place];
    this.grid.active = place;
    const { name: words, hint } = likeness(distance, bits);
    const step = async (/** @type {number} */ steps) => {
      const neighbour = this.found[place + steps];
      return neighbour ? { show: neighbour.picture.id } : null;
    };
    return {
      picture,
      facts: /** @type {[string, string][]} */ ([[words, `${distanceText(distance, bits)}: ${hint}`]]),
      step,
    };
  }
}

const goneUpload =
  "It was dropped in another browser, or some time ago, and is not kept on the server. Drop it once more.";

/** @param {Api.Match} match @param {number} bits */
const degree = ({ distance }, bits) => likeness(distance, bits).share;

customElements.define("search-view", SearchView);

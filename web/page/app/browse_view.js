import { api } from "./api.js";
import { button, element, fill, icon, keepingFocus } from "./dom.js";
import { Listing } from "./listing.js";
import "./picture_grid.js";
import { ShownPicture } from "./picture_viewer.js";
import { changedAddress, currentRoute, go, routeAddress } from "./routes.js";
import { failedState, firstRun, state } from "./states.js";
import { countText, monthText, plural } from "./words.js";

/** @typedef {import("./routes.js").Route} Route */
/** @typedef {import("./listing.js").Choice} Choice */

const typingPause = 250; // milliseconds

/** Everything in a library, by folder or by date. */
class BrowseView extends HTMLElement {
  /** @type {Api.Library} the library of what is shown */
  library;
  /** @type {Listing} */
  listing;

  constructor() {
    super();
    this.count = element("span", { class: "muted numbers", role: "status" });
    this.extras = element("div", { class: "view-tools" });
    this.sorts = element("div", { class: "segments" });
    const words = "Part of a name or folder";
    this.input = element("input", {
      type: "search",
      placeholder: words,
      "aria-label": words,
      oninput: () => this.#onTyping(),
    });
    this.folders = element("nav", { class: "folders", tabIndex: -1, "aria-label": "Folders" });
    this.body = element("div", {});
    this.grid = element("picture-grid");
    this.shownPicture = new ShownPicture(
      (id, parameters) => this.#find(id, parameters),
      () => this.grid.focusPlace(this.grid.active),
    );
    /** @type {Api.Month[]} */
    this.months = [];
    this.shown = "";
    this.typing = 0;
  }

  connectedCallback() {
    const title = element("div", { class: "view-title" }, element("h1", {}, "Browse"), this.count);
    const tools = element("div", { class: "view-tools" }, this.extras, this.input, this.sorts);
    this.append(element("div", { class: "view-head" }, title, tools), this.folders, this.body);
  }

  disconnectedCallback() {
    this.shownPicture.close();
    clearTimeout(this.typing);
  }

  /** @param {Route} route @param {Api.Library} library */
  async follow(route, library) {
    this.library = library;
    if (!library.indexed || library.pictures === 0) {
      fill(this, firstRun(library));
      return;
    }
    const choice = choiceOf(route);
    const shown = JSON.stringify(choice);
    if (shown !== this.shown) {
      this.shown = shown;
      await this.#showListing(choice);
    }
    await this.shownPicture.follow(route);
  }

  /** @param {Choice} choice */
  async #showListing(choice) {
    const { name } = this.library;
    const listing = new Listing(name, choice);
    this.listing = listing;
    this.#drawHead(choice);
    const byMonth = choice.sort === "date" && !choice.path && choice.state === "all";
    try {
      const [, months, folders] = await Promise.all([
        listing.open(),
        byMonth ? api.months(name, choice.folder) : [],
        choice.path || choice.state !== "all" ? [] : api.folders(name, choice.folder),
      ]);
      if (this.listing !== listing) return; // the user has gone on
      this.months = months;
      keepingFocus(this.folders, () => this.#drawFolders(choice, folders));
      this.#drawHead(choice);
      this.#drawGrid(choice, listing);
    } catch (error) {
      if (this.listing !== listing) return;
      this.shown = "";
      const again = () => this.follow(currentRoute(), this.library);
      fill(this.body, failedState("The pictures could not be listed", error, again));
    }
  }

  /** @param {Choice} choice @param {Listing} listing */
  #drawGrid(choice, listing) {
    if (listing.total === 0) {
      fill(this.body, emptyState(choice));
      return;
    }
    fill(this.body, this.grid);
    listing.onArrival = (from, to) => this.grid.arrived(from, to);
    this.grid.show({
      total: listing.total,
      pictureAt: (place) => listing.at(place),
      need: (from, to) => listing.need(from, to),
      label: "Pictures",
      address: (picture, place) => changedAddress({ show: picture.id, at: place }),
      moreAddress: (picture) => routeAddress(listing.library, "search", { picture: picture.id }),
      headingOf: this.months.length ? (place) => this.#headingAt(place) : undefined,
    });
  }

  /** @param {number} place */
  #headingAt(place) {
    const month = this.months.findLast(({ offset }) => offset <= place);
    return month ? monthName(month) : null;
  }

  /** @param {Choice} choice */
  #drawHead(choice) {
    const { name, failed } = this.library;
    const here = routeAddress(name, "browse", { folder: choice.folder });
    const what = choice.state === "failed" ? "picture that failed" : "picture";
    const many = choice.state === "failed" ? "pictures that failed" : "pictures";
    fill(this.count, this.listing?.total ? plural(this.listing.total, what, many) : "");
    keepingFocus(this.sorts, () =>
      fill(this.sorts, this.#sortLink("By folder", "path", choice), this.#sortLink("By date", "date", choice)),
    );
    fill(
      this.extras,
      this.months.length > 1 && this.#monthChoice(),
      failed > 0 &&
        choice.state !== "failed" &&
        element(
          "a",
          { class: "button quiet bad", href: routeAddress(name, "browse", { state: "failed" }) },
          icon("warning"),
          `${countText(failed)} failed`,
        ),
      choice.state === "failed" && element("a", { class: "button", href: here }, icon("close"), "All pictures"),
    );
    if (document.activeElement !== this.input) this.input.value = choice.path;
  }

  #onTyping() {
    clearTimeout(this.typing);
    this.typing = window.setTimeout(
      () => go(changedAddress({ path: this.input.value.trim(), show: null, at: null }), { replace: true }),
      typingPause,
    );
  }

  /** @param {string} label @param {string} sort @param {Choice} choice */
  #sortLink(label, sort, choice) {
    const current = choice.sort === sort ? "true" : undefined;
    return element(
      "a",
      { href: changedAddress({ sort: sort === "path" ? null : sort, show: null, at: null }), "aria-current": current },
      label,
    );
  }

  #monthChoice() {
    const options = this.months.map((month) =>
      element("option", { value: month.offset }, `${monthName(month)} (${countText(month.pictures)})`),
    );
    const jump = () => this.grid.focusPlace(Number(select.value));
    const select = element("select", { "aria-label": "Go to a month", onchange: jump }, options);
    return select;
  }

  /** @param {Choice} choice @param {Api.Folder[]} folders */
  #drawFolders(choice, folders) {
    const address = (/** @type {string} */ folder) => changedAddress({ folder, show: null, at: null, path: null });
    const parts = choice.folder ? choice.folder.split("/") : [];
    const crumbs = parts.map((part, depth) =>
      element(
        "a",
        {
          href: address(parts.slice(0, depth + 1).join("/")),
          "aria-current": depth === parts.length - 1 ? "true" : undefined,
        },
        part,
      ),
    );
    fill(
      this.folders,
      parts.length > 0 &&
        element("div", { class: "crumbs" }, element("a", { href: address("") }, "All folders"), crumbs),
      folders.length > 0 &&
        element(
          "ul",
          { class: "folder-list" },
          folders.map((folder) =>
            element(
              "li",
              {},
              element(
                "a",
                { class: "folder", href: address(folder.path) },
                icon("folder"),
                element("span", {}, folder.name),
                element("span", { class: "count" }, countText(folder.pictures)),
              ),
            ),
          ),
        ),
    );
  }

  /** @param {number} id @param {URLSearchParams} parameters */
  async #find(id, parameters) {
    const { listing } = this;
    const place = parameters.has("at") ? Number(parameters.get("at")) : -1;
    if (place >= 0) await listing.need(place, place + 1);
    const placed = listing.at(place);
    if (placed?.id !== id) return { picture: await api.picture(listing.library, id), facts: [], step: null };
    this.grid.active = place;
    return { picture: placed, facts: [], step: (/** @type {number} */ steps) => this.#neighbour(place + steps) };
  }

  /** @param {number} place */
  async #neighbour(place) {
    const { listing } = this;
    if (place < 0 || place >= listing.total) return null;
    await listing.need(place, place + 1);
    const picture = listing.at(place);
    return picture ? { show: picture.id, at: place } : null;
  }
}

/** @param {Route} route @returns {Choice} */
function choiceOf({ parameters }) {
  const get = (/** @type {string} */ name) => parameters.get(name) ?? "";
  return {
    sort: get("sort") === "date" ? "date" : "path",
    path: get("path"),
    folder: get("folder"),
    state: get("state") === "failed" ? "failed" : "all",
  };
}

/** @param {Choice} choice */
function emptyState(choice) {
  const all = button("browse", "All pictures", { onclick: () => go(routeAddress(currentRoute().library, "browse")) });
  if (choice.state === "failed")
    return state("check", "Nothing failed", ["Every picture could be read."], { actions: [all] });
  const where = choice.path ? `No path contains “${choice.path}”.` : "There is no picture in this folder.";
  return state("search", "No pictures here", [where], { actions: [all] });
}

/** @param {Api.Month} month */
function monthName({ month }) {
  const [, year, number] = /** @type {RegExpMatchArray} */ (month.match(/^(-?\d+)-(\d\d)$/));
  return monthText(new Date(Number(year), Number(number) - 1));
}

customElements.define("browse-view", BrowseView);

import { button, element, fill, icon } from "./dom.js";
import { bytesText, copyFacts, kindName, plural } from "./words.js";

/**
 * @typedef {object} CardActions
 * @property {(group: Api.DuplicateGroup, keep: number[]) => void} keep
 * @property {(group: Api.DuplicateGroup) => void} apart
 * @property {(group: Api.DuplicateGroup) => string} compareAddress
 * @property {boolean} mayDecide
 */

/** A group of duplicates, with those chosen that are to be kept. */
export class DuplicateCard extends HTMLElement {
  /** @param {Api.DuplicateGroup} group @param {CardActions} actions */
  static of(group, actions) {
    const card = element("duplicate-card");
    card.group = group;
    card.actions = actions;
    card.chosen = new Set([group.keep]);
    return card;
  }

  constructor() {
    super();
    /** @type {Api.DuplicateGroup | null} */
    this.group = null;
    /** @type {CardActions | null} */
    this.actions = null;
    /** @type {Set<number>} */
    this.chosen = new Set();
  }

  connectedCallback() {
    if (this.firstChild || !this.group) return;
    this.setAttribute("role", "group");
    this.setAttribute(
      "aria-label",
      `${kindName(this.group.kind)}: ${this.group.members[0].picture.name}, ${plural(this.group.members.length, "copy", "copies")}`,
    );
    this.addEventListener("keydown", (event) => this.#onKey(event));
    this.#draw();
  }

  #draw() {
    const group = /** @type {Api.DuplicateGroup} */ (this.group);
    const actions = /** @type {CardActions} */ (this.actions);
    fill(
      this,
      element(
        "div",
        { class: "card-head" },
        element("span", { class: `badge ${group.kind}` }, kindName(group.kind)),
        element(
          "span",
          { class: "muted small numbers" },
          `${plural(group.members.length, "copy", "copies")} · ${bytesText(group.bytes)} to gain`,
        ),
      ),
      element(
        "ul",
        { class: "copies" },
        group.members.map((member) => this.#member(group, member)),
      ),
      element(
        "div",
        { class: "card-actions" },
        actions.mayDecide &&
          button("check", this.#keepLabel(), {
            class: "primary keep-button",
            onclick: () => actions.keep(group, [...this.chosen]),
          }),
        element("a", { class: "button compare-link", href: actions.compareAddress(group) }, icon("compare"), "Compare"),
        actions.mayDecide && button("split", "Not duplicates", { class: "quiet", onclick: () => actions.apart(group) }),
      ),
    );
  }

  #keepLabel() {
    const { members } = /** @type {Api.DuplicateGroup} */ (this.group);
    if (this.chosen.size === members.length) return "Keep all";
    return this.chosen.size === 1 ? "Keep the chosen one" : `Keep the ${this.chosen.size} chosen`;
  }

  /** @param {Api.DuplicateGroup} group @param {Api.DuplicateMember} member */
  #member(group, { picture, kind, keep }) {
    const chosen = this.chosen.has(picture.id);
    const [pixels, bytes, date] = copyFacts(picture);
    const choose = button("", "", {
      class: "copy-choice",
      "aria-pressed": String(chosen),
      "aria-label": `Keep ${picture.path}`,
      onclick: () => this.#toggle(picture.id),
    });
    choose.append(
      element("img", { src: picture.thumbnail, alt: "", loading: "lazy", decoding: "async", draggable: false }),
      element("span", { class: "copy-mark" }, chosen ? icon("check") : ""),
    );
    return element(
      "li",
      { class: chosen ? "copy chosen" : "copy" },
      choose,
      element("p", { class: "copy-name", title: picture.path }, picture.name),
      element("p", { class: "copy-folder muted", title: picture.folder }, picture.folder || "top folder"),
      element("p", { class: "muted numbers" }, `${pixels} · ${bytes}`),
      element("p", { class: "muted numbers" }, date),
      keep
        ? element("p", { class: "copy-reason" }, `Suggested: ${group.reason}`)
        : kind && kind !== group.kind && element("p", {}, element("span", { class: `badge ${kind}` }, kindName(kind))),
    );
  }

  /** Whether a copy is kept; one always is. @param {number} id */
  #toggle(id) {
    if (!this.actions?.mayDecide) return;
    const place = this.group?.members.findIndex(({ picture }) => picture.id === id) ?? 0;
    if (!this.chosen.delete(id)) this.chosen.add(id);
    if (this.chosen.size === 0) this.chosen.add(id);
    this.#draw();
    /** @type {HTMLElement} */ (this.querySelectorAll(".copy-choice")[place]).focus();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.group) return;
    const neighbour =
      event.key === "ArrowDown"
        ? this.nextElementSibling
        : event.key === "ArrowUp"
          ? this.previousElementSibling
          : null;
    if (neighbour instanceof DuplicateCard) {
      event.preventDefault();
      neighbour.focusFirst();
    } else if (event.key === "k" && this.actions?.mayDecide) this.actions.keep(this.group, [...this.chosen]);
    else if (event.key === "n" && this.actions?.mayDecide) this.actions.apart(this.group);
  }

  focusFirst() {
    const target = this.querySelector(".keep-button") ?? this.querySelector(".compare-link");
    if (target instanceof HTMLElement) target.focus();
    this.scrollIntoView({ block: "nearest" });
  }
}

customElements.define("duplicate-card", DuplicateCard);

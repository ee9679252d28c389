import { button, element, fill, keepingFocus } from "./dom.js";
import { placeNotices } from "./notices.js";
import { copyFacts, kindName } from "./words.js";
import "./zoom_picture.js";

/** @typedef {import("./zoom_picture.js").ZoomPicture} ZoomPicture */

/**
 * @typedef {object} CompareActions
 * @property {(group: Api.DuplicateGroup, keep: number[]) => void} keep
 * @property {(group: Api.DuplicateGroup) => void} apart
 * @property {(steps: number) => void} step to another group
 * @property {() => void} undo
 * @property {() => void} close
 * @property {boolean} mayDecide
 */

/**
 * Two copies side by side, zoomed and moved together. One is the copy to keep, the other one of the rest; they can
 * change sides, lie in the same place to flicker between them, and change roles.
 */
export class CompareDialog {
  /** @param {CompareActions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Api.DuplicateGroup | null} */
    this.group = null;
    this.kept = 0; // places in the group
    this.other = 1;
    this.swapped = false;
    this.flicker = false;
    const zoom = () => element("zoom-picture");
    this.zooms = [zoom(), zoom()];
    this.captions = [element("figcaption", {}), element("figcaption", {})];
    this.panes = element(
      "div",
      { class: "compare-panes" },
      this.zooms.map((one, side) =>
        element("figure", {}, element("div", { class: "compare-stage" }, one), this.captions[side]),
      ),
    );
    this.bar = element("div", { class: "viewer-bar" });
    this.tools = element("div", { class: "compare-tools", role: "toolbar", "aria-label": "Decide" });
    this.dialog = element(
      "dialog",
      { class: "full-dialog", tabIndex: -1, "aria-label": "Compare copies" },
      element("div", { class: "compare" }, this.bar, this.panes, this.tools),
    );
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      actions.close();
    });
    this.dialog.addEventListener("keydown", (event) => this.#onKey(event));
    for (const one of this.zooms)
      one.addEventListener("zoom", (event) => this.#linkZoom(/** @type {CustomEvent} */ (event).detail));
  }

  get isOpen() {
    return this.dialog.open;
  }

  /** @param {Api.DuplicateGroup} group @param {string} position such as "3 of 40" */
  show(group, position) {
    if (group.id !== this.group?.id) {
      this.group = group;
      this.kept = Math.max(
        0,
        group.members.findIndex(({ picture }) => picture.id === group.keep),
      );
      this.other = this.kept === 0 ? 1 : 0;
      this.swapped = false;
      this.#linkZoom({ scale: 1, x: 0, y: 0 });
    }
    this.position = position;
    this.#draw();
    if (this.dialog.open) return;
    document.body.append(this.dialog);
    placeNotices(this.dialog);
    this.dialog.showModal();
    this.dialog.focus(); // and not a button: a key pressed by mistake decides nothing
  }

  close() {
    if (!this.dialog.open) return;
    placeNotices(document.body);
    this.dialog.close();
    this.dialog.remove();
    this.group = null;
  }

  /** @param {import("./zoom_picture.js").Zoom} zoom */
  #linkZoom(zoom) {
    for (const one of this.zooms) one.setZoom(zoom);
  }

  #draw() {
    const group = /** @type {Api.DuplicateGroup} */ (this.group);
    const kept = group.members[this.kept];
    const other = group.members[this.other];
    const shown = this.swapped ? [other, kept] : [kept, other];
    shown.forEach((member, side) => {
      if (this.zooms[side].picture !== member.picture) this.zooms[side].show(member.picture);
      fill(this.captions[side], this.#caption(member, member === kept ? other : kept, member === kept));
    });
    this.panes.classList.toggle("one-place", this.flicker);
    keepingFocus(this.dialog, () => {
      this.#drawBar(group);
      this.#drawTools(group);
    });
  }

  /** @param {Api.DuplicateGroup} group */
  #drawBar(group) {
    const rest = group.members.length - 1;
    const which = group.members.filter((_, place) => place !== this.kept).indexOf(group.members[this.other]) + 1;
    fill(
      this.bar,
      button("close", "", { class: "quiet only-icon", "aria-label": "Close", onclick: this.actions.close }),
      element(
        "h2",
        { "aria-live": "polite" },
        element("span", { class: `badge ${group.kind}` }, kindName(group.kind)),
        ` Group ${this.position}`,
        rest > 1 && element("span", { class: "muted" }, ` · copy ${which} of ${rest}`),
      ),
      rest > 1 &&
        button("left", "", {
          class: "quiet only-icon",
          "aria-label": "The copy before",
          onclick: () => this.#step(-1),
        }),
      rest > 1 &&
        button("right", "", { class: "quiet only-icon", "aria-label": "The next copy", onclick: () => this.#step(1) }),
    );
  }

  /** @param {Api.DuplicateGroup} group */
  #drawTools(group) {
    const { actions } = this;
    const tool = (
      /** @type {string} */ key,
      /** @type {string} */ drawing,
      /** @type {string} */ words,
      /** @type {() => void} */ run,
      kind = "",
    ) => {
      const made = button(drawing, words, {
        class: kind,
        onclick: run,
        "aria-keyshortcuts": key === "↓" ? "ArrowDown" : key,
        "aria-pressed": key === "F" ? String(this.flicker) : undefined,
      });
      made.append(element("kbd", { "aria-hidden": "true" }, key));
      return made;
    };
    fill(
      this.tools,
      actions.mayDecide &&
        tool(
          "K",
          "check",
          "Keep this one",
          () => actions.keep(group, [group.members[this.kept].picture.id]),
          "primary",
        ),
      actions.mayDecide && tool("S", "duplicates", "The other instead", () => this.#chooseOther()),
      actions.mayDecide && tool("N", "split", "Not duplicates", () => actions.apart(group)),
      element("span", { class: "space" }),
      tool("X", "swap", "Swap", () => this.#swap()),
      tool("F", "compare", "Flicker", () => this.#toggleFlicker()),
      tool("↓", "right", "Next group", () => actions.step(1)),
      actions.mayDecide && tool("U", "undo", "Undo", actions.undo),
    );
  }

  /** @param {Api.DuplicateMember} member @param {Api.DuplicateMember} against @param {boolean} isKept */
  #caption({ picture }, against, isKept) {
    const facts = copyFacts(picture);
    const others = copyFacts(against.picture);
    const better = [
      picture.width * picture.height > against.picture.width * against.picture.height,
      picture.bytes > against.picture.bytes,
      false,
    ];
    return [
      isKept ? element("span", { class: "badge keep" }, "Keep") : element("span", { class: "badge" }, "Copy"),
      element(
        "span",
        { class: "compare-name" },
        element("b", {}, picture.name),
        element("span", { class: "muted small" }, picture.folder),
      ),
      element(
        "span",
        { class: "compare-facts numbers small" },
        facts.map((fact, place) =>
          element("span", { class: better[place] ? "better" : fact === others[place] ? "muted" : "" }, fact),
        ),
      ),
    ];
  }

  /** @param {number} steps */
  #step(steps) {
    const count = this.group?.members.length ?? 2;
    do this.other = (this.other + steps + count) % count;
    while (this.other === this.kept);
    this.#draw();
  }

  #swap() {
    this.swapped = !this.swapped;
    this.#draw();
  }

  #toggleFlicker() {
    this.flicker = !this.flicker;
    this.#draw();
  }

  #chooseOther() {
    [this.kept, this.other] = [this.other, this.kept];
    this.swapped = !this.swapped; // the pictures stay where they are
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.group) return;
    const { group, actions } = this;
    /** @type {Record<string, () => void>} */
    const run = {
      ArrowLeft: () => this.#step(-1),
      ArrowRight: () => this.#step(1),
      x: () => this.#swap(),
      f: () => this.#toggleFlicker(),
      ArrowDown: () => actions.step(1),
      ArrowUp: () => actions.step(-1),
      "+": () => this.zooms[0].zoomBy(1),
      "=": () => this.zooms[0].zoomBy(1),
      "-": () => this.zooms[0].zoomBy(-1),
      0: () => this.zooms[0].zoomBy(0),
    };
    if (actions.mayDecide) {
      run.k = () => actions.keep(group, [group.members[this.kept].picture.id]);
      run.s = () => this.#chooseOther();
      run.n = () => actions.apart(group);
      run.u = actions.undo;
    }
    const action = run[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

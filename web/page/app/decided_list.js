import { api } from "./api.js";
import { button, element, fill, icon } from "./dom.js";
import { notifyError } from "./notices.js";
import { failedState, state } from "./states.js";
import { bytesText, momentText, plural } from "./words.js";

/** @typedef {import("./api.js").Decision} Decision */

/** What was decided, the newest first, each of which can be undone. */
class DecidedList extends HTMLElement {
  /** @param {string} library @param {boolean} mayUndo @param {() => void} onUndone */
  async show(library, mayUndo, onUndone) {
    try {
      const { decisions, next } = await api.decisions(library);
      const list = element("ul", { class: "decided" });
      fill(this, decisions.length ? list : state("duplicates", "Nothing was decided yet", ["What you decide about duplicates stands here, and can be undone."]));
      const add = (/** @type {Decision[]} */ more) =>
        list.append(...more.map((decision) => this.row(library, decision, mayUndo, onUndone)));
      add(decisions);
      this.addMore(library, next, add);
    } catch (error) {
      fill(this, failedState("The decisions could not be listed", error, () => this.show(library, mayUndo, onUndone)));
    }
  }

  /** @private @param {string} library @param {string | null} cursor @param {(more: Decision[]) => void} add */
  addMore(library, cursor, add) {
    if (!cursor) return;
    const more = button("", "Earlier ones", {
      onclick: async () => {
        const { decisions, next } = await api.decisions(library, cursor);
        more.remove();
        add(decisions);
        this.addMore(library, next, add);
      },
    });
    this.append(more);
  }

  /** @private @param {string} library @param {Decision} decision @param {boolean} mayUndo @param {() => void} onUndone */
  row(library, decision, mayUndo, onUndone) {
    const undo = async () => {
      try {
        const undone = await api.undo(library, decision.id);
        row.replaceWith(this.row(library, undone, mayUndo, onUndone));
        onUndone();
      } catch (error) {
        notifyError(error);
      }
    };
    const row = element(
      "li",
      { class: decision.undone ? "undone" : "" },
      icon(decision.action === "not_duplicates" ? "split" : "check"),
      element("div", {}, element("p", {}, whatWasDone(decision)), element("p", { class: "muted small" }, momentText(new Date(decision.time)))),
      decision.undone ? element("span", { class: "badge" }, "Undone") : mayUndo && button("undo", "Undo", { onclick: undo }),
    );
    return row;
  }
}

/** @param {Decision} decision */
function whatWasDone({ action, groups, gone, bytes, moved }) {
  if (action === "not_duplicates") return "Not duplicates";
  const where = moved ? "moved to the trash folder" : "noted for the script";
  const from = groups > 1 ? ` of ${plural(groups, "group")}` : "";
  return `${plural(gone.length, "copy", "copies")}${from} ${where}, ${bytesText(bytes)}`;
}

customElements.define("decided-list", DecidedList);

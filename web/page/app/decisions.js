import { api } from "./api.js";
import { button, element, fill, icon } from "./dom.js";
import { notifyError } from "./notices.js";
import { changedAddress, go } from "./routes.js";
import { session } from "./session.js";
import { failedState, state } from "./states.js";
import { bytesText, momentText, plural, rules } from "./words.js";

/** What was decided, the newest first, each of which can be undone. */
export class DecidedList extends HTMLElement {
  /** @param {string} library @param {boolean} mayUndo @param {() => void} onUndone */
  async show(library, mayUndo, onUndone) {
    try {
      const { decisions, next } = await api.decisions(library);
      const list = element("ul", { class: "decided" });
      fill(
        this,
        decisions.length
          ? list
          : state("duplicates", "Nothing was decided yet", [
              "What you decide about duplicates is listed here, and can be undone.",
            ]),
      );
      const add = (/** @type {Api.Decision[]} */ more) =>
        list.append(...more.map((decision) => this.#row(library, decision, mayUndo, onUndone)));
      add(decisions);
      this.#addMore(library, next, add);
    } catch (error) {
      fill(
        this,
        failedState("The decisions could not be listed", error, () => this.show(library, mayUndo, onUndone)),
      );
    }
  }

  /** @param {string} library @param {string | null} cursor @param {(more: Api.Decision[]) => void} add */
  #addMore(library, cursor, add) {
    if (!cursor) return;
    const more = button("", "Earlier ones", {
      onclick: async () => {
        const { decisions, next } = await api.decisions(library, cursor);
        more.remove();
        add(decisions);
        this.#addMore(library, next, add);
      },
    });
    this.append(more);
  }

  /** @param {string} library @param {Api.Decision} decision @param {boolean} mayUndo @param {() => void} onUndone */
  #row(library, decision, mayUndo, onUndone) {
    const undo = async () => {
      try {
        const undone = await api.undo(library, decision.id);
        row.replaceWith(this.#row(library, undone, mayUndo, onUndone));
        onUndone();
      } catch (error) {
        notifyError(error);
      }
    };
    const row = element(
      "li",
      { class: decision.undone ? "undone" : "" },
      icon(decision.action === "not_duplicates" ? "split" : "check"),
      element(
        "div",
        {},
        element("p", {}, whatWasDone(decision)),
        element("p", { class: "muted small" }, momentText(new Date(decision.time))),
      ),
      decision.undone
        ? element("span", { class: "badge" }, "Undone")
        : mayUndo && button("undo", "Undo", { onclick: undo }),
    );
    return row;
  }
}

/** @param {Api.Decision} decision */
function whatWasDone({ action, groups, gone, bytes, moved }) {
  if (action === "not_duplicates") return "Not duplicates";
  const where = moved ? "moved to the trash folder" : "noted for the script";
  const from = groups > 1 ? ` of ${plural(groups, "group")}` : "";
  return `${plural(gone.length, "copy", "copies")}${from} ${where}, ${bytesText(bytes)}`;
}

customElements.define("decided-list", DecidedList);

/**
 * Says what deciding all exact groups at once would do, and does it when asked to.
 *
 * @param {string} library
 * @param {{rule: string, prefer_folder: string}} choice
 * @param {(decision: Api.Decision) => void} onDecided
 */
export async function decideAllExact(library, choice, onDecided) {
  /** @type {Api.DecisionRequest} */
  const request = { action: "keep_suggested", kind: "exact", rule: choice.rule };
  if (choice.prefer_folder) request.prefer_folder = choice.prefer_folder;
  const preview = await api.decide(library, { ...request, preview: true });
  const label = "Decide all exact groups";
  const dialog = element("dialog", { class: "small-dialog", "aria-label": label, onclose: () => dialog.remove() });
  const message = element("p", { role: "alert" });
  const run = async () => {
    confirm.disabled = true;
    try {
      const decision = await api.decide(library, request);
      dialog.close();
      onDecided(decision);
    } catch (error) {
      fill(message, error instanceof Error ? error.message : String(error));
      confirm.disabled = false;
    }
  };
  const confirm = button("check", `Keep ${plural(preview.kept.length, "picture")}`, { class: "primary", onclick: run });
  const cancel = button("", "Cancel", { onclick: () => dialog.close() });
  const actions = element("div", { class: "actions" }, cancel, confirm);
  dialog.append(element("div", {}, summaryOf(preview), message, actions));
  document.body.append(dialog);
  dialog.showModal();
  confirm.focus();
}

/** @param {Api.Decision} preview */
function summaryOf({ groups, gone, bytes }) {
  const fate = session.server?.allow_changes
    ? "They are moved to the trash folder of the library."
    : "They are noted for the script, which moves them when you run it.";
  const copies = plural(gone.length, "copy", "copies");
  return [
    element("h2", {}, `${plural(groups, "group")} of exact copies`),
    element("p", {}, `One of each group is kept. ${copies} with ${bytesText(bytes)} will go.`),
    element("p", { class: "muted" }, `${fate} Nothing is deleted, and it can be undone.`),
  ];
}

/** Which copy is suggested. @param {string} chosen */
export function ruleChoice(chosen) {
  const options = rules.map(([rule, words]) => element("option", { value: rule, selected: rule === chosen }, words));
  const change = () => go(changedAddress({ rule: select.value === "pixels" ? null : select.value, group: null }));
  const select = element("select", { onchange: change }, options);
  return element("label", { class: "field" }, "Keep", select);
}

/** Copies in this folder are suggested before all others. @param {string} chosen */
export function folderChoice(chosen) {
  const change = () => go(changedAddress({ prefer: input.value.trim().replace(/\/+$/, ""), group: null }));
  const input = element("input", { type: "text", value: chosen, placeholder: "any", onchange: change });
  return element("label", { class: "field" }, "Prefer folder", input);
}

import { api } from "./api.js";
import { button, element, fill } from "./dom.js";
import { session } from "./session.js";
import { bytesText, plural } from "./words.js";

/**
 * Says what deciding all exact groups at once would do, and does it when asked to.
 *
 * @param {string} library
 * @param {{rule: string, prefer_folder: string}} choice
 * @param {(decision: import("./api.js").Decision) => void} onDecided
 */
export async function decideAllExact(library, choice, onDecided) {
  /** @type {import("./api.js").DecisionRequest} */
  const request = { action: "keep_suggested", kind: "exact", rule: choice.rule };
  if (choice.prefer_folder) request.prefer_folder = choice.prefer_folder;
  const preview = await api.decide(library, { ...request, preview: true });
  const dialog = element("dialog", { class: "small-dialog", "aria-label": "Decide all exact groups", onclose: () => dialog.remove() });
  const message = element("p", { role: "alert" });
  const confirm = button("check", `Keep ${plural(preview.kept.length, "picture")}`, { class: "primary", onclick: () => run() });
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
  const fate = session.server?.allow_changes
    ? "They are moved to the trash folder of the library. Nothing is deleted, and it can be undone."
    : "They are noted for the script, which moves them when you run it. Nothing is deleted, and it can be undone.";
  dialog.append(
    element(
      "div",
      {},
      element("h2", {}, `${plural(preview.groups, "group")} of exact copies`),
      element("p", {}, `One of each group is kept. ${plural(preview.gone.length, "copy", "copies")} with ${bytesText(preview.bytes)} will go.`),
      element("p", { class: "muted" }, fate),
      message,
      element("div", { class: "actions" }, button("", "Cancel", { onclick: () => dialog.close() }), confirm),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  confirm.focus();
}

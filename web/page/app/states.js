import { api, Problem } from "./api.js";
import { button, element, icon } from "./dom.js";
import { notifyError } from "./notices.js";
import { go, routeAddress } from "./routes.js";
import { session } from "./session.js";

/** @typedef {import("./dom.js").Child} Child */

/**
 * What a view says in place of pictures: what is the matter, and what to do next.
 *
 * @param {string} drawing
 * @param {string} title
 * @param {(Child | Child[])[]} text
 * @param {{bad?: boolean, whole?: boolean, actions?: Child[]}} [options] whole: it is all that the page shows
 */
export function state(drawing, title, text, { bad = false, whole = false, actions = [] } = {}) {
  return element(
    "div",
    { class: bad ? "state bad" : "state", role: bad ? "alert" : undefined },
    icon(drawing),
    element(whole ? "h1" : "h2", {}, title),
    text.flat().map((part) => (part instanceof Node ? part : part && element("p", {}, part))),
    actions.length > 0 && element("div", { class: "actions" }, actions),
  );
}

/**
 * @param {string} title what could not be done
 * @param {unknown} error
 * @param {() => void} again
 * @param {boolean} [whole]
 */
export function failedState(title, error, again, whole = false) {
  const request = error instanceof Problem && error.request;
  return state(
    "warning",
    title,
    [
      error instanceof Error ? error.message : String(error),
      request && element("p", { class: "small" }, `Request ${request} in the server's log`),
    ],
    { bad: true, whole, actions: [button("update", "Try again", { onclick: again })] },
  );
}

/** @param {string} text */
export const command = (text) => element("pre", { tabIndex: 0 }, element("code", {}, text));

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/** What a view says about a library without pictures. @param {Api.Library} library */
export function firstRun(library) {
  const folder = element("p", {}, element("code", {}, library.folder));
  if (library.job) {
    const watch = element("a", { class: "button primary", href: routeAddress(library.name, "update") }, "Watch it");
    const text = "They can be searched as soon as they are known.";
    return state("update", "Pictures are being looked at", [text], { whole: true, actions: [watch] });
  }
  if (!session.mayWrite) {
    const text = "Somebody with a key that may write has to update this library first.";
    return state("picture", "Nothing was indexed yet", [text], { whole: true });
  }
  const start = button("update", "Look for pictures", { class: "primary", onclick: () => startUpdate(library) });
  const [title, text] = library.indexed
    ? ["The folder is empty", "Put pictures into it, and let Bitpool look at them."]
    : [
        "Nothing was indexed yet",
        "Bitpool looks at every picture once and notes what it shows. Your files are not changed.",
      ];
  return state("picture", title, [text, folder], { whole: true, actions: [start] });
}

/** @param {Api.Library} library */
async function startUpdate(library) {
  try {
    await api.startUpdate(library.name);
    await session.load();
    go(routeAddress(library.name, "update"));
  } catch (error) {
    notifyError(error);
  }
}

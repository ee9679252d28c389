import { Problem } from "./api.js";
import { button, element, icon } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/**
 * What a view says in place of pictures: what is the matter, and what to do next.
 *
 * @param {string} drawing
 * @param {string} title
 * @param {(Child | Child[])[]} text
 * @param {{bad?: boolean, actions?: Child[]}} [options]
 */
export function state(drawing, title, text, { bad = false, actions = [] } = {}) {
  return element(
    "div",
    { class: bad ? "state bad" : "state", role: bad ? "alert" : undefined },
    icon(drawing),
    element("h2", {}, title),
    text.flat().map((part) => (part instanceof Node ? part : part && element("p", {}, part))),
    actions.length > 0 && element("div", { class: "actions" }, actions),
  );
}

/**
 * @param {string} title what could not be done
 * @param {unknown} error
 * @param {() => void} again
 */
export function failedState(title, error, again) {
  const request = error instanceof Problem && error.request;
  return state(
    "warning",
    title,
    [
      error instanceof Error ? error.message : String(error),
      request && element("p", { class: "small" }, `Request ${request} in the server's log`),
    ],
    { bad: true, actions: [button("update", "Try again", { onclick: again })] },
  );
}

/** @param {string} text */
export const command = (text) => element("pre", { tabIndex: 0 }, element("code", {}, text));

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

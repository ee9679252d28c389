import { Problem } from "./api.js";
import { button, element, icon } from "./dom.js";
import { routeAddress } from "./routes.js";
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
  if (library.job) {
    const watch = element("a", { class: "button primary", href: routeAddress(library.name, "update") }, "Watch it");
    return state("update", "Pictures are being looked at", ["They can be searched as soon as they are known."], {
      whole: true,
      actions: [watch],
    });
  }
  if (library.indexed) {
    const text = [
      "Put pictures into ",
      element("p", {}, element("code", {}, library.folder)),
      " and update the library.",
    ];
    return state("picture", "The folder is empty", text, { whole: true, actions: [updateLink(library)] });
  }
  const text = session.mayWrite
    ? [
        "Bitpool looks at every picture once and notes what it shows. Your files are not changed.",
        element("p", {}, element("code", {}, library.folder)),
      ]
    : ["Somebody with a key that may write has to update this library first."];
  return state("picture", "Nothing was indexed yet", text, {
    whole: true,
    actions: session.mayWrite ? [updateLink(library)] : [],
  });
}

/** @param {Api.Library} library */
const updateLink = (library) =>
  element("a", { class: "button primary", href: routeAddress(library.name, "update") }, "Go to Update");

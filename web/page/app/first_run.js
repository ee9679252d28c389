import { element } from "./dom.js";
import { routeAddress } from "./routes.js";
import { session } from "./session.js";
import { state } from "./states.js";

/** What a view says about a library without pictures. @param {import("./api.js").Library} library */
export function firstRun(library) {
  if (library.job) {
    const watch = element("a", { class: "button primary", href: routeAddress(library.name, "update") }, "Watch it");
    return state("update", "Pictures are being looked at", ["They can be searched as soon as they are known."], { actions: [watch] });
  }
  if (library.indexed) {
    const text = ["Put pictures into ", element("p", {}, element("code", {}, library.folder)), " and update the library."];
    return state("picture", "The folder is empty", text, { actions: [updateLink(library)] });
  }
  const text = session.mayWrite
    ? ["Bitpool looks at every picture once and notes what it shows. Your files are not changed.", element("p", {}, element("code", {}, library.folder))]
    : ["Somebody with a key that may write has to update this library first."];
  return state("picture", "Nothing was indexed yet", text, { actions: session.mayWrite ? [updateLink(library)] : [] });
}

/** @param {import("./api.js").Library} library */
const updateLink = (library) =>
  element("a", { class: "button primary", href: routeAddress(library.name, "update") }, "Go to Update");

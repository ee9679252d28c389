// Where the page is: #/LIBRARY/VIEW?name=value. Everything that a link should bring back is in it.

/** @typedef {"search" | "browse" | "duplicates" | "update"} ViewName */
/** @typedef {{library: string | null, view: ViewName, parameters: URLSearchParams}} Route */

/** @type {ViewName[]} */
export const viewNames = ["search", "browse", "duplicates", "update"];

/** @param {string} hash @returns {Route} */
export function parseRoute(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [library, view] = path.split("/").map(decode);
  return {
    library: library || null,
    view: viewNames.find((name) => name === view) ?? "search",
    parameters: new URLSearchParams(query),
  };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % that someone typed
  }
}

/**
 * @param {string | null} library
 * @param {ViewName} view
 * @param {Record<string, string | number | null | undefined> | URLSearchParams} [parameters] empty ones are left out
 */
export function routeAddress(library, view, parameters = {}) {
  const query = new URLSearchParams();
  const entries = parameters instanceof URLSearchParams ? [...parameters] : Object.entries(parameters);
  for (const [name, value] of entries) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `#/${encodeURIComponent(library ?? "")}/${view}${text && `?${text}`}`;
}

/** The route of the address bar. */
export const currentRoute = () => parseRoute(location.hash);

/**
 * The address of the present route with some parameters changed; null and "" take one away.
 *
 * @param {Record<string, string | number | null>} changes
 */
export function changedAddress(changes) {
  const { library, view, parameters } = currentRoute();
  return routeAddress(library, view, { ...Object.fromEntries(parameters), ...changes });
}

/**
 * Goes to an address. `replace` leaves no entry for "back", as when a slider moves.
 *
 * @param {string} address
 * @param {{replace?: boolean}} [options]
 */
export function go(address, { replace = false } = {}) {
  if (address === location.hash) return;
  if (replace) history.replaceState(history.state, "", address);
  else history.pushState({ within: true }, "", address);
  dispatchEvent(new Event("routechange"));
}

/**
 * Undoes the step that led here, or, where this is the first page of the visit, goes to the address.
 *
 * @param {string} address
 */
export function goBack(address) {
  if (history.state?.within) history.back();
  else go(address, { replace: true });
}

/**
 * Calls back whenever the route changed, by a link, a key or the browser's buttons.
 *
 * @param {() => void} listener
 */
export function onRouteChange(listener) {
  addEventListener("routechange", listener);
  addEventListener("hashchange", () => {
    if (!history.state) history.replaceState({ within: true }, ""); // a link was followed
    listener();
  });
}

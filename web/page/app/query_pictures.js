import { element } from "./dom.js";
import { notify } from "./notices.js";
import { currentRoute, go, routeAddress } from "./routes.js";
import { session } from "./session.js";
import { bytesText } from "./words.js";

// Pictures that were dropped, pasted or chosen. They are not part of any library, so their address works in this
// browser only: in memory and, where the browser keeps caches (on this machine, or with TLS), after a reload.

const cacheName = "queries";
const kept = 20;
/** @type {Map<string, Blob>} */
const memory = new Map();

/** @param {string} key */
const address = (key) => `query/${key}`;

/** @param {Blob} picture @returns {Promise<string>} its key */
export async function keepQuery(picture) {
  const key = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  memory.set(key, picture);
  if (globalThis.caches) {
    const cache = await caches.open(cacheName);
    await cache.put(address(key), new Response(picture)).catch(() => {}); // no room: then in memory only
    const entries = await cache.keys();
    await Promise.all(entries.slice(0, -kept).map((entry) => cache.delete(entry)));
  }
  return key;
}

/** @param {string} key @returns {Promise<Blob | null>} null: it was another browser's, or is long gone */
export async function findQuery(key) {
  const known = memory.get(key);
  if (known || !globalThis.caches) return known ?? null;
  const found = await (await caches.open(cacheName)).match(address(key));
  return found ? found.blob() : null;
}

/** Goes to the search for a picture that is not in the library. @param {Blob | undefined | null} picture */
export async function searchFor(picture) {
  if (!picture) return;
  const limit = session.server?.limits.body_bytes;
  if (limit && picture.size > limit) {
    notify(`This file has ${bytesText(picture.size)}; the server takes ${bytesText(limit)} at most.`);
    return;
  }
  const library = session.library(currentRoute().library) ?? session.libraries[0];
  if (library) go(routeAddress(library.name, "search", { upload: await keepQuery(picture) }));
}

/** Opens the system's dialog for files. */
export function choosePicture() {
  const input = element("input", {
    type: "file",
    accept: "image/*,.heic,.avif",
    onchange: () => searchFor(input.files?.[0]),
  });
  input.click();
}

/** @param {DataTransfer | null} data */
const hasFiles = (data) => data?.types.includes("Files") ?? false;

/** In every view a picture may be dropped or pasted anywhere. */
export function takePictures() {
  const veil = element(
    "div",
    { class: "drop-veil", hidden: true },
    element("p", {}, "Drop the picture to search for it"),
  );
  document.body.append(veil);
  addEventListener("dragenter", (event) => {
    if (hasFiles(event.dataTransfer) && !document.querySelector("dialog[open]")) veil.hidden = false;
  });
  addEventListener("dragover", (event) => {
    if (hasFiles(event.dataTransfer)) event.preventDefault();
  });
  veil.addEventListener("dragleave", () => (veil.hidden = true));
  addEventListener("drop", (event) => {
    veil.hidden = true;
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    searchFor(event.dataTransfer?.files[0]);
  });
  addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith("image/"));
    if (!file) return;
    event.preventDefault();
    searchFor(file);
  });
}

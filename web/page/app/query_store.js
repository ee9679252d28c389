// Pictures that were dropped, pasted or chosen. They are not part of any library, so that their address works in this
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

// The server's interface, as openapi.json describes it: types, and a function for each route that the page uses.

/**
 * @typedef {object} Server
 * @property {string} version
 * @property {"none" | "read" | "write"} access
 * @property {boolean} keys
 * @property {boolean} allow_changes
 * @property {{body_bytes: number, pixels: number, page: number}} limits
 *
 * @typedef {object} Library
 * @property {string} name
 * @property {string} folder
 * @property {boolean} indexed
 * @property {number} pictures
 * @property {number} failed
 * @property {number} bits
 * @property {number} duplicate_radius
 * @property {number} generation
 * @property {string | null} job
 * @property {number} trash
 *
 * @typedef {object} Picture
 * @property {number} id
 * @property {string} path
 * @property {string} folder
 * @property {string} name
 * @property {number} width
 * @property {number} height
 * @property {number} bytes
 * @property {string} modified
 * @property {string | null} failure
 * @property {string} thumbnail
 * @property {string} preview
 * @property {string} original
 *
 * @typedef {{pictures: Picture[], total: number, offset: number, next: string | null}} Pictures
 * @typedef {{path: string, name: string, pictures: number, failed: number, folders: number}} Folder
 * @typedef {{month: string, pictures: number, offset: number}} Month
 * @typedef {{picture: Picture, distance: number, score: number}} Match
 * @typedef {{bits: number, duplicate_radius: number, generation: number, matches: Match[]}} Matches
 *
 * @typedef {"exact" | "edited" | "part" | "similar"} DuplicateKind
 * @typedef {{picture: Picture, kind: DuplicateKind | null, distance: number, keep: boolean}} DuplicateMember
 * @typedef {{id: string, kind: DuplicateKind, keep: number, reason: string, members: DuplicateMember[], bytes: number}} DuplicateGroup
 * @typedef {{groups: number, pictures: number, bytes: number}} DuplicateCount
 * @typedef {{groups: DuplicateGroup[], total: number, next: string | null, summary: Record<DuplicateKind, DuplicateCount>, generation: number}} Duplicates
 *
 * @typedef {{path: string, reason: string}} Failure
 * @typedef {{action: "keep", keep: number[], pictures: number[]}
 *   | {action: "not_duplicates", pictures: number[]}
 *   | {action: "keep_suggested", kind: DuplicateKind, rule?: string, prefer_folder?: string, preview?: boolean}} DecisionRequest
 *
 * @typedef {object} Decision
 * @property {string} id
 * @property {"keep" | "not_duplicates" | "trash" | "keep_suggested"} action
 * @property {number} groups
 * @property {number[]} kept
 * @property {number[]} gone
 * @property {number} bytes
 * @property {boolean} moved
 * @property {Failure[]} failures
 * @property {string} time
 * @property {boolean} undone
 *
 * @typedef {{added: number, changed: number, removed: number, unchanged: number, failed: number, stopped: boolean, seconds: number}} UpdateSummary
 *
 * @typedef {object} Job
 * @property {string} id
 * @property {string} library
 * @property {"running" | "done" | "failed" | "cancelled"} state
 * @property {string} task
 * @property {string} unit
 * @property {number} done
 * @property {number} total
 * @property {number} rate
 * @property {number | null} seconds_left
 * @property {number} failed
 * @property {Failure[]} failures
 * @property {string} started
 * @property {string | null} ended
 * @property {UpdateSummary | null} summary
 * @property {string | null} error
 */

/** What the server says when it cannot do something: problem+json, or that it is not there. */
export class Problem extends Error {
  /** @param {number} status 0: no answer @param {string} code @param {string} detail @param {string} [request] */
  constructor(status, code, detail, request = "") {
    super(detail);
    this.status = status;
    this.code = code;
    this.request = request;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [request]
 * @returns {Promise<Response>}
 */
async function ask(path, request) {
  let answer;
  try {
    answer = await fetch(path, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "The server does not answer. Is “bitpool serve” still running?");
  }
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  if (answer.status === 401) dispatchEvent(new Event("keyneeded"));
  throw new Problem(
    answer.status,
    problem.code ?? "",
    problem.detail ?? `The server answered ${answer.status} ${answer.statusText}.`,
    problem.request_id,
  );
}

/** @param {string} path @param {AbortSignal} [signal] */
const getJson = async (path, signal) => (await ask(path, { signal })).json();

/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] */
async function postJson(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body), signal })).json();
}

/** @param {Record<string, string | number | null | undefined>} parameters those without a value are left out */
function queryText(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  return `?${query}`;
}

/** @param {string} library */
const at = (library) => `v1/libraries/${encodeURIComponent(library)}`;

export const api = {
  /** @returns {Promise<Server>} */
  server: () => getJson("v1/server"),

  /** @param {string} key */
  startSession: (key) => ask("v1/session", { method: "POST", headers: { Authorization: `Bearer ${key}` } }),

  /** @returns {Promise<Library[]>} */
  libraries: async () => (await getJson("v1/libraries")).libraries,

  /**
   * @param {string} library
   * @param {{sort?: string, path?: string, folder?: string, state?: string, offset?: number, limit?: number}} choice
   * @param {AbortSignal} [signal]
   * @returns {Promise<Pictures>}
   */
  pictures: (library, choice, signal) => getJson(`${at(library)}/pictures${queryText(choice)}`, signal),

  /** @param {string} library @param {number} id @returns {Promise<Picture>} */
  picture: (library, id) => getJson(`${at(library)}/pictures/${id}`),

  /** @param {string} library @param {string} parent @returns {Promise<Folder[]>} */
  folders: async (library, parent) => (await getJson(`${at(library)}/folders${queryText({ parent })}`)).folders,

  /** @param {string} library @param {string} folder @returns {Promise<Month[]>} */
  months: async (library, folder) => (await getJson(`${at(library)}/dates${queryText({ folder })}`)).months,

  /**
   * @param {string} library
   * @param {Blob | number} picture its bytes, or the id of one of the library
   * @param {{k: number, box?: string | null}} choice
   * @param {AbortSignal} [signal]
   * @returns {Promise<Matches>}
   */
  async search(library, picture, choice, signal) {
    const path = `${at(library)}/search${queryText(choice)}`;
    if (typeof picture === "number") return postJson(path, { picture }, signal);
    const headers = { "Content-Type": picture.type || "image/*" };
    return (await ask(path, { method: "POST", headers, body: picture, signal })).json();
  },

  /**
   * @param {string} library
   * @param {{kind?: string, rule?: string, prefer_folder?: string, limit?: number, cursor?: string | null}} choice
   * @param {AbortSignal} [signal]
   * @returns {Promise<Duplicates>}
   */
  duplicates: (library, choice, signal) => getJson(`${at(library)}/duplicates${queryText(choice)}`, signal),

  /** @param {string} library @param {DecisionRequest} decision @returns {Promise<Decision>} */
  decide: (library, decision) => postJson(`${at(library)}/duplicates/decisions`, decision),

  /** @param {string} library @param {string | null} [cursor] @returns {Promise<{decisions: Decision[], next: string | null}>} */
  decisions: (library, cursor) => getJson(`${at(library)}/duplicates/decisions${queryText({ cursor })}`),

  /** @param {string} library @param {string} decision @returns {Promise<Decision>} */
  undo: async (library, decision) =>
    (await ask(`${at(library)}/duplicates/decisions/${encodeURIComponent(decision)}`, { method: "DELETE" })).json(),

  /** @param {string} library */
  scriptAddress: (library) => `${at(library)}/duplicates/script`,

  /** @param {string} library @returns {Promise<Job>} */
  startUpdate: (library) => postJson(`${at(library)}/updates`, {}),

  /** @returns {Promise<Job[]>} */
  jobs: async () => (await getJson("v1/jobs")).jobs,

  /** @param {string} job @returns {Promise<Job>} */
  job: (job) => getJson(`v1/jobs/${encodeURIComponent(job)}`),

  /** @param {string} job @returns {Promise<Job>} */
  cancelJob: async (job) => (await ask(`v1/jobs/${encodeURIComponent(job)}`, { method: "DELETE" })).json(),

  /** @param {string} job */
  jobEvents: (job) => new EventSource(`v1/jobs/${encodeURIComponent(job)}/events`),
};

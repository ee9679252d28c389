// A function for each route of the server that the page uses. Their types are in types/api.d.ts.

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
  /** @returns {Promise<Api.Server>} */
  server: () => getJson("v1/server"),

  /** @param {string} key */
  startSession: (key) => ask("v1/session", { method: "POST", headers: { Authorization: `Bearer ${key}` } }),

  /** @returns {Promise<Api.Library[]>} */
  libraries: async () => (await getJson("v1/libraries")).libraries,

  /**
   * @param {string} library
   * @param {{sort?: string, path?: string, folder?: string, state?: string, offset?: number, limit?: number}} choice
   * @param {AbortSignal} [signal]
   * @returns {Promise<Api.Pictures>}
   */
  pictures: (library, choice, signal) => getJson(`${at(library)}/pictures${queryText(choice)}`, signal),

  /** @param {string} library @param {number} id @returns {Promise<Api.Picture>} */
  picture: (library, id) => getJson(`${at(library)}/pictures/${id}`),

  /** @param {string} library @param {string} parent @returns {Promise<Api.Folder[]>} */
  folders: async (library, parent) => (await getJson(`${at(library)}/folders${queryText({ parent })}`)).folders,

  /** @param {string} library @param {string} folder @returns {Promise<Api.Month[]>} */
  months: async (library, folder) => (await getJson(`${at(library)}/dates${queryText({ folder })}`)).months,

  /**
   * @param {string} library
   * @param {Blob | number} picture its bytes, or the id of one of the library
   * @param {{k: number, box?: string | null}} choice
   * @param {AbortSignal} [signal]
   * @returns {Promise<Api.Matches>}
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
   * @returns {Promise<Api.Duplicates>}
   */
  duplicates: (library, choice, signal) => getJson(`${at(library)}/duplicates${queryText(choice)}`, signal),

  /** @param {string} library @param {Api.DecisionRequest} decision @returns {Promise<Api.Decision>} */
  decide: (library, decision) => postJson(`${at(library)}/duplicates/decisions`, decision),

  /** @param {string} library @param {string | null} [cursor] @returns {Promise<{decisions: Api.Decision[], next: string | null}>} */
  decisions: (library, cursor) => getJson(`${at(library)}/duplicates/decisions${queryText({ cursor })}`),

  /** @param {string} library @param {string} decision @returns {Promise<Api.Decision>} */
  undo: async (library, decision) =>
    (await ask(`${at(library)}/duplicates/decisions/${encodeURIComponent(decision)}`, { method: "DELETE" })).json(),

  /** @param {string} library */
  scriptAddress: (library) => `${at(library)}/duplicates/script`,

  /** @param {string} library @returns {Promise<Api.Job>} */
  startUpdate: async (library) => (await ask(`${at(library)}/updates`, { method: "POST" })).json(),

  /** @returns {Promise<Api.Job[]>} */
  jobs: async () => (await getJson("v1/jobs")).jobs,

  /** @param {string} job @returns {Promise<Api.Job>} */
  job: (job) => getJson(`v1/jobs/${encodeURIComponent(job)}`),

  /** @param {string} job @returns {Promise<Api.Job>} */
  cancelJob: async (job) => (await ask(`v1/jobs/${encodeURIComponent(job)}`, { method: "DELETE" })).json(),

  /** @param {string} job */
  jobEvents: (job) => new EventSource(`v1/jobs/${encodeURIComponent(job)}/events`),
};

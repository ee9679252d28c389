import { api } from "./api.js";

/** What the page knows about the server: what may be done, and its libraries. Sends "change" when that changed. */
class Session extends EventTarget {
  constructor() {
    super();
    /** @type {Api.Server | null} */
    this.server = null;
    /** @type {Api.Library[]} */
    this.libraries = [];
  }

  get mayWrite() {
    return this.server?.access === "write";
  }

  /** @param {string | null} name @returns {Api.Library | undefined} */
  library(name) {
    return this.libraries.find((library) => library.name === name);
  }

  async load() {
    this.server = await api.server();
    this.libraries = this.server.access === "none" ? [] : await api.libraries();
    this.dispatchEvent(new Event("change"));
  }
}

export const session = new Session();

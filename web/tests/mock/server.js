// A server with the routes of openapi.json that the page uses, over mock libraries. It needs only Node:
//   node web/tests/mock/server.js [--port 8099] [--count 800] [--photos FOLDER] [--allow-changes] [--empty] [--key KEY]
import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bodyOf, json, problem, text } from "./answers.js";
import { bits, MockLibrary } from "./library.js";
import { chance, render } from "./images.js";
import { MockJobs } from "./jobs.js";
import { decide, summary } from "./decisions.js";

/** @typedef {import("node:http").IncomingMessage} Request */
/** @typedef {import("node:http").ServerResponse} Answer */

const pageFolder = fileURLToPath(new URL("../../page", import.meta.url));
const mediaTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

export class MockServer {
  /**
   * @param {object} [options]
   * @param {number} [options.count] pictures
   * @param {string | null} [options.photos] a folder of JPEG files to show
   * @param {number} [options.duplicates] groups
   * @param {number} [options.failed] pictures
   * @param {boolean} [options.indexed] false: the library is new
   * @param {boolean} [options.allowChanges]
   * @param {"read" | "write"} [options.access]
   * @param {string | null} [options.key]
   * @param {string[]} [options.names] of the libraries
   * @param {number} [options.step] milliseconds between the events of a job
   */
  constructor(options = {}) {
    const { count = 800, photos = null, duplicates = 40, failed = 3, indexed = true, names = ["photos"] } = options;
    this.options = options;
    this.libraries = names.map((name) => new MockLibrary({ name, count, photos, duplicates, failed, indexed }));
    this.jobs = new MockJobs(options.step ?? 60);
    /** Requests whose address contains this text fail with 503. @type {string | null} */
    this.failing = null;
    /** The part of a picture that was searched for last. @type {string | null} */
    this.lastBox = null;
    /** @type {string[]} the addresses of all requests */
    this.requests = [];
    /** @type {Set<import("node:net").Socket>} */
    this.connections = new Set();
    this.server = http.createServer((request, answer) => this.#onRequest(request, answer));
    this.server.on("connection", (connection) => this.connections.add(connection));
  }

  /** @param {number} [port] 0: any that is free @returns {Promise<string>} the address */
  async listen(port = 0) {
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", () => resolve(null)));
    const address = /** @type {import("node:net").AddressInfo} */ (this.server.address());
    return `http://127.0.0.1:${address.port}/`;
  }

  /** How many requests had an address with this text. @param {string} part */
  asked(part) {
    return this.requests.filter((address) => address.includes(part)).length;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** @param {Request} request @param {Answer} answer */
  async #onRequest(request, answer) {
    const url = new URL(request.url ?? "/", "http://localhost");
    this.requests.push(url.pathname + url.search);
    try {
      if (url.pathname.startsWith("/v1/")) await this.#onInterface(request, answer, url);
      else await sendFile(answer, url.pathname);
    } catch (error) {
      problem(answer, 500, "internal", String(error));
    }
  }

  /** @param {Request} request @param {Answer} answer @param {URL} url */
  async #onInterface(request, answer, url) {
    const parts = url.pathname.slice(4).split("/").map(decodeURIComponent);
    const known = !this.options.key || request.headers.cookie?.includes("bitpool_session=known");
    if (parts[0] === "server") return json(answer, this.#describe(Boolean(known)));
    if (parts[0] === "session") return this.#startSession(request, answer);
    if (!known) return problem(answer, 401, "unauthorized", "a key is needed");
    if (this.failing && url.href.includes(this.failing))
      return problem(answer, 503, "busy", "too much to do, try again in a moment");
    if (parts[0] === "jobs") return this.jobs.onRequest(request, answer, parts.slice(1));
    if (parts.length === 1)
      return json(answer, { libraries: this.libraries.map((library) => describeLibrary(library)) });
    const library = this.libraries.find(({ name }) => name === parts[1]);
    if (!library) return problem(answer, 404, "not_found", `there is no library ${parts[1]}`);
    return this.#onLibrary(request, answer, url.searchParams, library, parts.slice(2));
  }

  /** @param {boolean} known */
  #describe(known) {
    return {
      name: "bitpool",
      version: "0.2.0",
      access: known ? (this.options.access ?? "write") : "none",
      keys: Boolean(this.options.key),
      allow_changes: this.options.allowChanges ?? false,
      limits: { body_bytes: 64e6, pixels: 2e8, page: 500 },
    };
  }

  /** @param {Request} request @param {Answer} answer */
  #startSession(request, answer) {
    if (request.headers.authorization !== `Bearer ${this.options.key}`)
      return problem(answer, 401, "unauthorized", "this key is not known");
    answer.writeHead(204, { "Set-Cookie": "bitpool_session=known; HttpOnly; SameSite=Strict; Path=/" }).end();
  }

  /** @param {Request} request @param {Answer} answer @param {URLSearchParams} query @param {MockLibrary} library @param {string[]} parts */
  async #onLibrary(request, answer, query, library, parts) {
    const route = `${request.method} ${[parts[0], ...parts.slice(1).map((part) => (/^\d+$/.test(part) ? "#" : part))].join("/")}`;
    switch (route) {
      case "GET pictures":
        return json(answer, listPictures(library, query));
      case "GET folders":
        return json(answer, listFolders(library, query.get("parent") ?? ""));
      case "GET dates":
        return json(answer, listMonths(library, query.get("folder") ?? ""));
      case "POST search":
        this.lastBox = query.get("box");
        return search(request, answer, library, query);
      case "GET duplicates":
        return json(answer, listDuplicates(library, query));
      case "GET duplicates/decisions":
        return json(answer, { decisions: library.decided.map(({ decision }) => decision).reverse(), next: null });
      case "POST duplicates/decisions":
        return json(
          answer,
          decide(library, JSON.parse(String(await bodyOf(request))), this.options.allowChanges ?? false),
        );
      case "DELETE duplicates/decisions/#":
        return undo(answer, library, parts[2]);
      case "GET duplicates/script":
        return text(answer, "text/x-shellscript", "#!/bin/sh\n");
      case "POST updates":
        return json(answer, this.jobs.start(library), 202);
    }
    const picture = parts[0] === "pictures" ? library.find(Number(parts[1])) : undefined;
    if (!picture)
      return problem(
        answer,
        404,
        "not_found",
        `${library.name}: there is no ${parts[0] === "pictures" ? "picture" : parts[0]} ${parts[1] ?? ""}`,
      );
    if (!parts[2]) return json(answer, picture);
    const look = library.looks.get(picture.id);
    if (picture.failure !== null || !look) return problem(answer, 404, "not_found", "there is no thumbnail");
    const { type, body } = render(look.source, look.look);
    answer.writeHead(200, { "Content-Type": type, "Cache-Control": "max-age=31536000, immutable" }).end(body);
  }
}

/** @param {MockLibrary} library */
function describeLibrary(library) {
  const pictures = library.indexed ? library.pictures : [];
  return {
    name: library.name,
    folder: `/home/ada/${library.name}`,
    indexed: library.indexed,
    pictures: pictures.length,
    failed: pictures.filter(({ failure }) => failure !== null).length,
    bits: library.indexed ? bits : 0,
    duplicate_radius: 8,
    generation: library.generation,
    job: library.job,
    trash: library.gone.size,
  };
}

/** @param {MockLibrary} library @param {URLSearchParams} query */
function listPictures(library, query) {
  const folder = query.get("folder") ?? "";
  const path = (query.get("path") ?? "").toLowerCase();
  const failed = query.get("state") === "failed";
  const all = library.sorted[query.get("sort") === "date" ? "date" : "path"].filter(
    (picture) =>
      isIn(picture.folder, folder) &&
      picture.path.toLowerCase().includes(path) &&
      (!failed || picture.failure !== null),
  );
  const offset = Number(query.get("offset") ?? 0);
  const pictures = all.slice(offset, offset + Number(query.get("limit") ?? 100));
  return { pictures, total: all.length, offset, next: null };
}

/** @param {string} folder @param {string} parent */
const isIn = (folder, parent) => !parent || folder === parent || folder.startsWith(`${parent}/`);

/** @param {MockLibrary} library @param {string} parent */
function listFolders(library, parent) {
  const counts = new Map();
  for (const { folder } of library.pictures) {
    if (!isIn(folder, parent) || folder === parent) continue;
    const [name] = folder.slice(parent ? parent.length + 1 : 0).split("/");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const folders = [...counts]
    .sort()
    .map(([name, pictures]) => ({ path: parent ? `${parent}/${name}` : name, name, pictures, failed: 0, folders: 0 }));
  return { parent, folders };
}

/** @param {MockLibrary} library @param {string} folder */
function listMonths(library, folder) {
  /** @type {{month: string, pictures: number, offset: number}[]} */
  const months = [];
  let offset = 0;
  for (const picture of library.sorted.date) {
    if (!isIn(picture.folder, folder)) continue;
    const month = picture.modified.slice(0, 7);
    if (months.at(-1)?.month !== month) months.push({ month, pictures: 0, offset });
    /** @type {any} */ (months.at(-1)).pictures++;
    offset++;
  }
  return { months };
}

/** Copies first, then others at distances that grow. @param {Request} request @param {Answer} answer @param {MockLibrary} library @param {URLSearchParams} query */
async function search(request, answer, library, query) {
  const body = await bodyOf(request);
  const isPicture = String(request.headers["content-type"]).startsWith("image/");
  if (isPicture && !/^(\xff\xd8|\x89PNG|GIF8|RIFF|<svg)/.test(body.toString("latin1", 0, 8))) {
    return problem(
      answer,
      422,
      "unsupported_picture",
      "this is no picture in a format that is read: JPEG, PNG, WebP, TIFF, GIF, HEIC or AVIF",
    );
  }
  const id = isPicture ? 0 : JSON.parse(String(body)).picture;
  if (!isPicture && !library.find(id))
    return problem(answer, 404, "not_found", `${library.name}: there is no picture ${id}`);
  const seed = (id || body.length) + (query.get("box") ? 1000 : 0);
  const copies = library.groups.find(({ members }) => members.some(({ picture }) => picture.id === id))?.members ?? [];
  const near = copies.map(({ picture }) => picture).filter((picture) => picture.id !== id);
  const start = Math.floor(chance(seed, "start") * library.pictures.length);
  const others = library.pictures.map((_, place) => library.pictures[(start + place * 17) % library.pictures.length]);
  const found = [...new Set([...near, ...others])].filter((picture) => picture.failure === null && picture.id !== id);
  const matches = found.slice(0, Number(query.get("k") ?? 20)).map((picture, place) => ({
    picture,
    distance: place < near.length ? place : Math.min(bits, 4 + Math.floor(place ** 0.72)),
    score: 64 - place,
  }));
  json(answer, { bits, duplicate_radius: 8, generation: library.generation, matches });
}

/** @param {MockLibrary} library @param {URLSearchParams} query */
function listDuplicates(library, query) {
  const kind = query.get("kind");
  const open = library.openGroups();
  const groups = open.filter((group) => (kind ? group.kind === kind : group.kind !== "similar"));
  const from = Number(query.get("cursor") ?? 0);
  const to = from + Number(query.get("limit") ?? 100);
  const rule = query.get("rule");
  const page = groups.slice(from, to).map((group) => (rule === "oldest" ? keepLast(group) : group));
  return {
    groups: page,
    total: groups.length,
    next: to < groups.length ? String(to) : null,
    summary: summary(kind === "similar" ? open : open.filter((group) => group.kind !== "similar")),
    generation: library.generation,
  };
}

/** As if another rule chose the last one. @param {Api.DuplicateGroup} group */
function keepLast(group) {
  const members = [...group.members]
    .reverse()
    .map((member, place) => ({ ...member, keep: place === 0, kind: place === 0 ? null : group.kind }));
  return { ...group, members, keep: members[0].picture.id, reason: "oldest" };
}

/** @param {Answer} answer @param {MockLibrary} library @param {string} id */
function undo(answer, library, id) {
  const decided = library.decided.find(({ decision }) => decision.id === id);
  if (!decided) return problem(answer, 404, "not_found", `there is no decision ${id}`);
  decided.decision.undone = true;
  json(answer, decided.decision);
}

/** @param {Answer} answer @param {string} name */
async function sendFile(answer, name) {
  const file = path.join(pageFolder, path.normalize(name === "/" ? "index.html" : name));
  const type = /** @type {Record<string, string>} */ (mediaTypes)[path.extname(file)];
  const body = type && (await readFile(file).catch(() => null));
  if (!body) return problem(answer, 404, "not_found", name);
  answer
    .writeHead(200, {
      "Content-Type": type,
      "Content-Security-Policy": "default-src 'self'",
      "Cache-Control": "no-cache",
    })
    .end(body);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8099" },
      count: { type: "string", default: "800" },
      photos: { type: "string" },
      key: { type: "string" },
      "allow-changes": { type: "boolean", default: false },
      empty: { type: "boolean", default: false },
    },
  });
  const server = new MockServer({
    count: Number(values.count),
    photos: values.photos ?? null,
    key: values.key ?? null,
    allowChanges: values["allow-changes"],
    indexed: !values.empty,
    step: 250,
  });
  console.log(await server.listen(Number(values.port)));
}

// Updates that pretend: a step at a time, with failures on the way, reported as server-sent events.
import { json, problem } from "./answers.js";

/** @typedef {import("./library.js").MockLibrary} MockLibrary */

const steps = 24;
const failuresAt = [5, 11, 12];

export class MockJobs {
  /** @param {number} pause milliseconds between steps */
  constructor(pause) {
    this.pause = pause;
    /** The step before which jobs wait until `resume` is called, for tests that look at one in the middle. */
    this.waitBefore = Infinity;
    this.resume = () => {
      this.waitBefore = Infinity; // a job that has not come there yet does not wait at all
    };
    /** @type {{job: Api.Job, library: MockLibrary, events: string[], listeners: Set<import("node:http").ServerResponse>}[]} */
    this.jobs = [];
  }

  /** @param {MockLibrary} library @returns {Api.Job} */
  start(library) {
    const running = this.jobs.find(({ job }) => job.id === library.job);
    if (running) return running.job;
    const total = library.pictures.length;
    /** @type {Api.Job} */
    const job = {
      id: String(this.jobs.length + 1),
      library: library.name,
      state: "running",
      task: "encoding",
      unit: "pictures",
      done: 0,
      total,
      rate: 48.5,
      seconds_left: null,
      failed: 0,
      failures: [],
      started: "2026-11-16T09:00:00Z",
      ended: null,
      summary: null,
      error: null,
      .../** @type {any} */ ({ kind: "update" }),
    };
    library.job = job.id;
    const started = { job, library, events: [], listeners: new Set() };
    this.jobs.push(started);
    this.#step(started, 1);
    return job;
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} answer @param {string[]} parts */
  onRequest(request, answer, parts) {
    if (!parts[0]) return json(answer, { jobs: this.jobs.map(({ job }) => job).reverse() });
    const found = this.jobs.find(({ job }) => job.id === parts[0]);
    if (!found) return problem(answer, 404, "not_found", `there is no job ${parts[0]}`);
    if (request.method === "DELETE") {
      found.job.state = "cancelled";
      this.resume();
      return json(answer, found.job, 202);
    }
    if (parts[1] !== "events") return json(answer, found.job);
    const from = Number(request.headers["last-event-id"] ?? 0);
    answer.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    answer.write(found.events.slice(from).join(""));
    if (found.job.state !== "running" && found.job.ended) answer.end();
    else found.listeners.add(answer);
  }

  /** @param {MockJobs["jobs"][number]} running @param {number} step */
  #step(running, step) {
    if (step === this.waitBefore && running.job.state === "running") {
      this.resume = () => {
        this.waitBefore = Infinity;
        this.#step(running, step);
      };
      return;
    }
    const { job, library } = running;
    if (step > steps || job.state !== "running") {
      const stopped = job.state !== "running";
      job.state = stopped ? "cancelled" : "done";
      job.ended = "2026-11-16T09:00:20Z";
      job.seconds_left = null;
      job.summary = {
        added: job.done - job.failed,
        changed: 0,
        removed: 0,
        unchanged: 0,
        failed: job.failed,
        stopped,
        seconds: 16.5,
      };
      library.job = null;
      library.indexed = true;
      library.generation++;
      this.#tell(running, "end", job);
      for (const listener of running.listeners) listener.end();
      return;
    }
    job.done = Math.round((job.total * step) / steps);
    job.seconds_left = (job.total - job.done) / job.rate;
    if (failuresAt.includes(step)) {
      const failure = { path: `2019/Rome/IMG_${step}_broken.jpg`, reason: "the picture is cut off after 4,096 bytes" };
      job.failed++;
      job.failures.push(failure);
      this.#tell(running, "failure", failure);
    }
    this.#tell(running, "progress", { ...job, failures: [] });
    setTimeout(() => this.#step(running, step + 1), this.pause).unref();
  }

  /** @param {MockJobs["jobs"][number]} running @param {string} name @param {unknown} value */
  #tell(running, name, value) {
    const event = `id: ${running.events.length + 1}\nevent: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
    running.events.push(event);
    for (const listener of running.listeners) listener.write(event);
  }
}

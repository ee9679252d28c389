import { api } from "./api.js";
import { button, element, fill, icon } from "./dom.js";
import { notifyError } from "./notices.js";
import { routeAddress } from "./routes.js";
import { session } from "./session.js";
import { failedState } from "./states.js";
import { countText, durationText, momentText, plural } from "./words.js";

const failuresShown = 500;

/** Brings a library up to date, and shows how far it is. */
class UpdateView extends HTMLElement {
  constructor() {
    super();
    this.facts = element("dl", { class: "library-facts" });
    this.panel = element("section", { class: "job-panel", "aria-label": "Update" });
    this.failures = element("section", { class: "failures", "aria-label": "Pictures that failed" });
    /** @type {EventSource | null} */
    this.events = null;
    /** @type {Api.Job | null} */
    this.job = null;
    this.onChange = () => this.#drawFacts();
  }

  connectedCallback() {
    this.append(
      element("div", { class: "view-head" }, element("h1", {}, "Update")),
      this.facts,
      this.panel,
      this.failures,
    );
    session.addEventListener("change", this.onChange);
  }

  disconnectedCallback() {
    session.removeEventListener("change", this.onChange);
    this.events?.close();
  }

  /** @param {import("./routes.js").Route} route @param {Api.Library} library */
  async follow(route, library) {
    this.name = library.name;
    this.#drawFacts();
    if (this.job) return;
    try {
      const jobs = await api.jobs();
      const job = jobs.find((one) => one.library === this.name) ?? null;
      if (job?.state === "running") this.#watch(job);
      else this.#show(job);
    } catch (error) {
      fill(
        this.panel,
        failedState("The state of updates is not known", error, () => this.follow(route, library)),
      );
    }
  }

  get library() {
    return session.library(this.name ?? null);
  }

  #drawFacts() {
    const { library } = this;
    if (!library) return;
    const { folder, pictures, failed, bits, trash } = library;
    /** @type {[string, string | Node][]} */
    const facts = [
      ["Folder", element("code", {}, folder)],
      ["Pictures", countText(pictures)],
      [
        "Failed",
        failed
          ? element("a", { href: routeAddress(library.name, "browse", { state: "failed" }) }, countText(failed))
          : "none",
      ],
      ["Codes", bits ? `${bits} bits each` : "none yet"],
    ];
    if (trash) facts.push(["In the trash folder", countText(trash)]);
    fill(
      this.facts,
      facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
    );
  }

  /** Listens to a job until it ends. @param {Api.Job} job */
  #watch(job) {
    this.job = job;
    this.#show(job);
    this.#showFailures(job.failures);
    this.events?.close();
    const events = api.jobEvents(job.id);
    this.events = events;
    const failures = new Map(job.failures.map((failure) => [failure.path, failure])); // the events may repeat them
    events.addEventListener("progress", (event) => this.#show(JSON.parse(event.data)));
    events.addEventListener("failure", (event) => {
      const failure = JSON.parse(event.data);
      failures.set(failure.path, failure);
      this.#showFailures([...failures.values()]);
    });
    events.addEventListener("end", (event) => {
      events.close();
      this.#show(JSON.parse(event.data));
      session.load().catch(notifyError);
    });
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) this.#showLost();
    });
  }

  /** @param {Api.Job | null} job null: none yet */
  #show(job) {
    this.job = job;
    if (job?.state === "running") {
      this.#showRunning(job);
      return;
    }
    const { library } = this;
    const first = !library?.indexed;
    fill(
      this.panel,
      job ? ending(job) : intro(first),
      session.mayWrite
        ? element(
            "div",
            { class: "actions" },
            button("update", job ? "Update again" : first ? "Index the pictures" : "Update now", {
              class: "primary",
              onclick: () => this.#start(),
            }),
            job?.state === "done" &&
              library &&
              element("a", { class: "button", href: routeAddress(library.name, "browse") }, "Browse"),
          )
        : element("p", { class: "note" }, icon("info"), "Your key may only read, so you cannot start an update."),
    );
    if (job) this.#showFailures(job.failures);
  }

  /** @param {Api.Job} job */
  #showRunning(job) {
    if (!this.panel.querySelector("progress")) {
      const words = element("h2", { "aria-live": "polite" });
      const bar = element("progress", { max: 1, "aria-label": "Progress" });
      const stop = button("stop", "Stop", { onclick: () => api.cancelJob(job.id).catch(notifyError) });
      fill(
        this.panel,
        words,
        bar,
        element("div", { class: "job-numbers muted numbers" }),
        element(
          "div",
          { class: "actions" },
          stop,
          element("span", { class: "muted small" }, "What is done is kept. You can leave this page."),
        ),
      );
    }
    const [words, bar, numbers] = /** @type {[HTMLElement, HTMLProgressElement, HTMLElement]} */ (
      /** @type {unknown} */ ([...this.panel.children])
    );
    const task = taskText(job);
    if (words.textContent !== task) words.textContent = task;
    if (job.total) bar.value = job.done / job.total;
    else bar.removeAttribute("value");
    fill(
      numbers,
      job.unit === "pictures" && [
        element("span", {}, `${countText(job.done)}${job.total ? ` of ${countText(job.total)}` : ""} pictures`),
        job.rate > 0 && element("span", {}, `${job.rate < 10 ? job.rate.toFixed(1) : Math.round(job.rate)} a second`),
      ],
      job.seconds_left !== null && element("span", {}, `${durationText(job.seconds_left)} left`),
      job.failed > 0 && element("span", { class: "bad" }, plural(job.failed, "failure")),
    );
  }

  /** @param {Api.Failure[]} failures */
  #showFailures(failures) {
    if (failures.length === 0) {
      fill(this.failures);
      return;
    }
    const rows = failures
      .slice(-failuresShown)
      .reverse()
      .map(({ path, reason }) =>
        element("li", {}, element("b", {}, path), element("span", { class: "muted" }, reason)),
      );
    fill(
      this.failures,
      element("h2", {}, plural(failures.length, "picture failed", "pictures failed")),
      element("ul", { class: "failure-list" }, rows),
    );
  }

  #showLost() {
    const again = async () => {
      this.job = null;
      await session.load().catch(notifyError);
      if (this.library)
        await this.follow({ library: null, view: "update", parameters: new URLSearchParams() }, this.library);
    };
    fill(
      this.panel,
      failedState(
        "The server went away",
        new Error("Whatever was done is kept. Start the server again, and update once more."),
        again,
      ),
    );
  }

  async #start() {
    try {
      fill(this.failures);
      this.#watch(await api.startUpdate(this.name ?? ""));
      await session.load();
    } catch (error) {
      notifyError(error);
    }
  }
}

/** What is being done, for a person: steps of learning are many, and their names are for others. @param {Api.Job} job */
function taskText({ task, unit }) {
  if (!task) return "Starting";
  if (unit !== "pictures") return "Learning from the pictures";
  return `${task[0].toUpperCase()}${task.slice(1)}${task.includes(" ") ? "" : " pictures"}`;
}

/** @param {boolean} first */
function intro(first) {
  return element(
    "div",
    {},
    element("h2", {}, first ? "These pictures were not looked at yet" : "Look for new pictures"),
    element(
      "p",
      { class: "muted" },
      first
        ? "Bitpool reads every picture once and notes what it shows, to find it again by another picture. Your files are not changed."
        : "Pictures that are new or changed are read, and those that are gone forgotten. Your files are not changed.",
    ),
  );
}

/** @param {Api.Job} job */
function ending({ state, summary, error, ended }) {
  if (state === "failed")
    return element(
      "div",
      { class: "note bad", role: "alert" },
      icon("warning"),
      element("div", {}, element("h2", {}, "The update failed"), element("p", {}, error ?? "")),
    );
  const title = state === "cancelled" || summary?.stopped ? "Stopped; what was done is kept" : "Up to date";
  const parts =
    summary &&
    [
      summary.added && `${countText(summary.added)} new`,
      summary.changed && `${countText(summary.changed)} changed`,
      summary.removed && `${countText(summary.removed)} gone`,
      summary.unchanged && `${countText(summary.unchanged)} as before`,
      summary.failed && `${countText(summary.failed)} failed`,
    ].filter(Boolean);
  return element(
    "div",
    {},
    element("h2", { "aria-live": "polite" }, icon("check"), title),
    parts &&
      element("p", { class: "numbers" }, `${parts.join(", ") || "Nothing to do"} · ${durationText(summary.seconds)}`),
    ended && element("p", { class: "muted small" }, momentText(new Date(ended))),
  );
}

customElements.define("update-view", UpdateView);

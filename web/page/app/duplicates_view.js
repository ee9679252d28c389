import { api } from "./api.js";
import { CompareDialog } from "./compare_dialog.js";
import { decideAllExact, folderChoice, ruleChoice } from "./decisions.js";
import { button, element, fill, icon, keepingFocus } from "./dom.js";
import { DuplicateCard } from "./duplicate_card.js";
import { notify, notifyError } from "./notices.js";
import { changedAddress, currentRoute, go, goBack } from "./routes.js";
import { session } from "./session.js";
import { failedState, firstRun, isAbort, state } from "./states.js";
import { bytesText, countText, decisionText, kinds, plural } from "./words.js";

/** @typedef {import("./routes.js").Route} Route */
/** @typedef {{kind: string, rule: string, prefer_folder: string}} Choice */

const pageSize = 30;
const patience = 6; // attempts

/** Groups of duplicates to be decided, and what was decided. */
class DuplicatesView extends HTMLElement {
  /** @type {Api.Library} the library of what is shown */
  library;

  constructor() {
    super();
    this.head = element("div", { class: "view-head" });
    this.notes = element("div", { class: "view-notes" });
    this.list = element("div", { class: "cards" });
    this.end = element("div", { class: "list-end" });
    /** @type {Choice} */
    this.choice = { kind: "", rule: "pixels", prefer_folder: "" };
    /** @type {Api.DuplicateGroup[]} */
    this.groups = [];
    /** @type {Api.Duplicates["summary"] | null} */
    this.summary = null;
    this.total = 0;
    /** @type {string | null} */
    this.next = null;
    this.shown = "";
    this.loading = new AbortController();
    /** @type {{decision: Api.Decision, group: Api.DuplicateGroup | null, place: number}[]} */
    this.undoable = [];
    this.compare = new CompareDialog({
      keep: (group, keep) => this.#keep(group, keep),
      apart: (group) => this.#apart(group),
      step: (steps) => this.#stepCompared(steps),
      undo: () => this.#undoLast(),
      close: () => goBack(changedAddress({ group: null })),
      get mayDecide() {
        return session.mayWrite;
      },
    });
    this.watcher = new IntersectionObserver(([entry]) => entry.isIntersecting && this.#loadMore(), {
      rootMargin: "800px",
    });
  }

  connectedCallback() {
    this.append(this.head, this.notes, this.list, this.end);
    this.watcher.observe(this.end);
  }

  disconnectedCallback() {
    this.loading.abort();
    this.watcher.disconnect();
    this.compare.close();
  }

  /** @param {Route} route @param {Api.Library} library */
  async follow(route, library) {
    this.library = library;
    if (!library.indexed || library.pictures === 0) {
      fill(this, firstRun(library));
      return;
    }
    const { parameters } = route;
    this.choice = {
      kind: parameters.get("kind") ?? "",
      rule: parameters.get("rule") ?? "pixels",
      prefer_folder: parameters.get("prefer") ?? "",
    };
    const shown = JSON.stringify(this.choice);
    if (shown !== this.shown) {
      this.shown = shown;
      if (this.choice.kind === "decided") await this.#showDecided();
      else await this.#showGroups();
    }
    this.#followCompared(parameters.get("group"));
  }

  async #showDecided() {
    this.groups = [];
    this.next = null;
    const list = element("decided-list");
    fill(this.list, list);
    fill(this.end);
    this.#drawHead();
    const { name } = this.library;
    await Promise.all([list.show(name, session.mayWrite, () => this.#refreshSummary(true)), this.#refreshSummary()]);
  }

  async #showGroups() {
    this.loading.abort();
    this.loading = new AbortController();
    this.groups = [];
    this.next = null;
    this.#drawHead();
    fill(this.list, element("p", { class: "muted", role: "status" }, "Looking for duplicates…"));
    fill(this.end);
    try {
      const page = await this.#fetchPage(null);
      fill(this.list);
      this.#take(page);
      this.#drawHead();
      if (this.groups.length === 0) this.#showEmpty();
    } catch (error) {
      if (isAbort(error)) return;
      this.shown = "";
      const again = () => this.follow(currentRoute(), this.library);
      fill(this.list, failedState("The search for duplicates did not succeed", error, again));
    }
  }

  /** @param {string | null} cursor */
  #fetchPage(cursor) {
    const { name } = this.library;
    return api.duplicates(name, { ...this.choice, limit: pageSize, cursor }, this.loading.signal);
  }

  /** @param {Api.Duplicates} page */
  #take({ groups, total, next, summary }) {
    this.groups.push(...groups);
    this.total = total;
    this.next = next;
    this.summary = summary;
    this.list.append(...groups.map((group) => this.#card(group)));
  }

  async #loadMore() {
    const cursor = this.next;
    if (!cursor) return;
    this.next = null; // asked for once
    try {
      this.#take(await this.#fetchPage(cursor));
    } catch (error) {
      if (isAbort(error)) return;
      this.next = cursor;
      fill(this.end, button("update", "Load more groups", { onclick: () => this.#loadMore() }));
    }
  }

  /** @param {Api.DuplicateGroup} group */
  #card(group) {
    return DuplicateCard.of(group, {
      keep: (which, keep) => this.#keep(which, keep),
      apart: (which) => this.#apart(which),
      compareAddress: (which) => changedAddress({ group: which.id }),
      mayDecide: session.mayWrite,
    });
  }

  #showEmpty() {
    const name = kinds.find(({ kind }) => kind === this.choice.kind)?.name.toLowerCase();
    const look = element(
      "a",
      { class: "button", href: changedAddress({ kind: "similar" }) },
      "Look at similar pictures",
    );
    const text = name ? "Nothing of this kind is left to decide." : "Every picture is there once, or all was decided.";
    const actions = name ? [] : [look];
    fill(this.list, state("check", name ? `No ${name} duplicates` : "No duplicates", [text], { actions }));
  }

  #drawHead() {
    const { summary } = this;
    const counts = kinds.slice(0, 3).map(({ kind }) => summary?.[kind] ?? { groups: 0, pictures: 0, bytes: 0 });
    const sum = (/** @type {"groups" | "pictures" | "bytes"} */ what) =>
      counts.reduce((all, count) => all + count[what], 0);
    const text = sum("groups")
      ? `${plural(sum("groups"), "group")}, ${plural(sum("pictures"), "copy", "copies")} with ${bytesText(sum("bytes"))} could go`
      : "";
    const segments = [
      this.#segment("All", "", sum("groups")),
      ...kinds.map(({ kind, name, hint }) => {
        // Similar ones are counted only when they are asked for.
        const counted = kind !== "similar" || this.choice.kind === "similar";
        return this.#segment(name, kind, counted ? summary?.[kind].groups : undefined, hint);
      }),
      this.#segment("Decided", "decided"),
    ];
    const title = element("h1", {}, "Duplicates");
    keepingFocus(this.head, () =>
      fill(
        this.head,
        element(
          "div",
          { class: "view-title" },
          title,
          element("span", { class: "muted numbers", role: "status" }, text),
        ),
        element("div", { class: "segments", role: "group", "aria-label": "Kinds" }, segments),
      ),
    );
    this.#drawNotes();
  }

  /** @param {string} name @param {string} kind @param {number} [count] @param {string} [hint] */
  #segment(name, kind, count, hint) {
    const current = this.choice.kind === kind ? "true" : undefined;
    return element(
      "a",
      { href: changedAddress({ kind, group: null }), "aria-current": current, title: hint },
      name,
      count !== undefined && element("span", { class: "count" }, countText(count)),
    );
  }

  #drawNotes() {
    const { name } = this.library;
    const exact = this.summary?.exact.groups ?? 0;
    const offerAll = session.mayWrite && exact > 0 && ["", "exact"].includes(this.choice.kind);
    fill(
      this.notes,
      !session.mayWrite &&
        element(
          "p",
          { class: "note" },
          icon("info"),
          "Your key may only read: you can look at duplicates, not decide about them.",
        ),
      session.mayWrite &&
        !session.server?.allow_changes &&
        element(
          "div",
          { class: "note" },
          icon("info"),
          element(
            "p",
            {},
            "This server moves no files. What you decide goes into a script that you look at and run yourself. ",
            element("a", { href: api.scriptAddress(name), download: `${name}-duplicates.sh` }, "Get the script"),
          ),
        ),
      this.choice.kind !== "decided" &&
        element(
          "div",
          { class: "view-tools" },
          ruleChoice(this.choice.rule),
          folderChoice(this.choice.prefer_folder),
          offerAll &&
            button("check", `Decide all ${countText(exact)} exact groups`, {
              class: "decide-all",
              onclick: () => this.#decideAll(),
            }),
        ),
    );
  }

  /** @param {string | null} id */
  #followCompared(id) {
    const place = this.groups.findIndex((group) => group.id === id);
    if (place >= 0) {
      this.compare.show(this.groups[place], `${countText(place + 1)} of ${countText(this.total)}`);
    } else {
      const wasOpen = this.compare.isOpen;
      this.compare.close();
      if (wasOpen) this.#focusCard(this.lastCompared);
      if (id) go(changedAddress({ group: null }), { replace: true });
    }
    if (place >= 0) this.lastCompared = place;
  }

  /** @param {number} steps */
  #stepCompared(steps) {
    const place = this.groups.findIndex((group) => group.id === currentRoute().parameters.get("group"));
    if (place + steps >= 0) this.#compareAt(place + steps);
  }

  /** Goes to a group, or, after the last one, back to the list. @param {number} place */
  async #compareAt(place) {
    if (place >= this.groups.length) await this.#loadMore();
    const group = this.groups[place];
    if (group) go(changedAddress({ group: group.id }), { replace: true });
    else goBack(changedAddress({ group: null }));
  }

  /** @param {Api.DuplicateGroup} group @param {number[]} keep */
  #keep(group, keep) {
    const pictures = group.members.map(({ picture }) => picture.id);
    if (keep.length === pictures.length) this.#apart(group);
    else this.#decide(group, { action: "keep", keep, pictures });
  }

  /** @param {Api.DuplicateGroup} group */
  #apart(group) {
    this.#decide(group, { action: "not_duplicates", pictures: group.members.map(({ picture }) => picture.id) });
  }

  /** @param {Api.DuplicateGroup} group @param {Api.DecisionRequest} request */
  async #decide(group, request) {
    const place = this.groups.indexOf(group);
    if (place < 0) return; // pressed twice
    this.groups.splice(place, 1);
    try {
      const decision = await api.decide(this.library.name, request);
      this.total--;
      this.undoable.push({ decision, group, place });
      this.list.children[place]?.remove();
      notify(decisionText(decision), { label: "Undo", run: () => this.#undo(decision.id) });
      if (this.compare.isOpen) await this.#compareAt(place);
      else this.#focusCard(place);
      if (this.groups.length === 0 && !this.next) this.#showEmpty();
      this.#count(group, -1);
    } catch (error) {
      this.groups.splice(place, 0, group);
      notifyError(error);
    }
  }

  async #decideAll() {
    const { name } = this.library;
    try {
      await decideAllExact(name, this.choice, (decision) => {
        this.undoable.push({ decision, group: null, place: 0 });
        notify(decisionText(decision), { label: "Undo", run: () => this.#undo(decision.id) });
        this.#takeAwayExact(decision.groups);
      });
    } catch (error) {
      notifyError(error);
    }
  }

  #undoLast() {
    const last = this.undoable.at(-1);
    if (last) this.#undo(last.decision.id);
    else notify("There is nothing to undo. Earlier decisions are under “Decided”.");
  }

  /** @param {string} id */
  async #undo(id) {
    const at = this.undoable.findIndex(({ decision }) => decision.id === id);
    if (at < 0) return;
    const [{ decision, group, place }] = this.undoable.splice(at, 1);
    try {
      await api.undo(this.library.name, id);
      notify("Undone");
    } catch (error) {
      notifyError(error);
      return;
    }
    if (group && !decision.moved && this.choice.kind !== "decided") {
      this.#putBack(group, place);
      this.#count(group, 1);
    } else {
      await this.#showAgain(group);
    }
  }

  /** Files that came back are pictures with new ids, so the groups are fetched again. @param {Api.DuplicateGroup | null} group */
  async #showAgain(group) {
    await this.#refreshSummary(true);
    this.shown = "";
    const comparing = this.compare.isOpen;
    if (!comparing) await this.follow(currentRoute(), this.library);
    else await this.#showGroups();
    const path = group?.members[0].picture.path;
    const place = this.groups.findIndex(({ members }) => members.some(({ picture }) => picture.path === path));
    if (place < 0) return;
    if (comparing) go(changedAddress({ group: this.groups[place].id }), { replace: true });
    else this.#focusCard(place);
  }

  /** @param {Api.DuplicateGroup} group @param {number} place */
  #putBack(group, place) {
    if (this.groups.length === 0) fill(this.list);
    const at = Math.min(place, this.groups.length);
    this.groups.splice(at, 0, group);
    this.total++;
    this.list.insertBefore(this.#card(group), this.list.children[at] ?? null);
    if (this.compare.isOpen) go(changedAddress({ group: group.id }), { replace: true });
    else this.#focusCard(at);
  }

  /** @param {number} [place] */
  #focusCard(place = 0) {
    const card = this.list.children[Math.min(place, this.list.children.length - 1)];
    if (card instanceof DuplicateCard) card.focusFirst();
  }

  /** Counts a group that was decided, or came back. @param {Api.DuplicateGroup} group @param {1 | -1} sign */
  #count(group, sign) {
    const count = this.summary?.[group.kind];
    if (!count) return;
    count.groups += sign;
    count.pictures += sign * (group.members.length - 1);
    count.bytes += sign * group.bytes;
    this.#drawHead();
  }

  /** @param {number} count of groups */
  #takeAwayExact(count) {
    this.groups = this.groups.filter(({ kind }) => kind !== "exact");
    this.total -= count;
    if (this.summary) this.summary.exact = { groups: 0, pictures: 0, bytes: 0 };
    fill(
      this.list,
      this.groups.map((group) => this.#card(group)),
    );
    this.#drawHead();
    if (this.groups.length === 0 && !this.next) this.#showEmpty();
  }

  /**
   * Asks how many groups there are. After a change, a library may take a moment to know what came back.
   *
   * @param {boolean} [changed]
   */
  async #refreshSummary(changed = false) {
    const kind = this.choice.kind === "similar" ? "similar" : "";
    const before = JSON.stringify(this.summary);
    try {
      for (let attempt = 0; attempt < (changed ? patience : 1); attempt++) {
        if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 500));
        const { summary } = await api.duplicates(this.library.name, { ...this.choice, kind, limit: 1 });
        this.summary = summary;
        if (JSON.stringify(summary) !== before) break;
      }
    } catch (error) {
      notifyError(error);
    }
    this.#drawHead();
  }
}

customElements.define("duplicates-view", DuplicatesView);

import { api, Problem } from "./api.js";
import { button, element, fill, icon } from "./dom.js";
import { showKeys } from "./keys_dialog.js";
import { notify } from "./notices.js";
import { currentRoute, onRouteChange, routeAddress, viewNames } from "./routes.js";
import { session } from "./session.js";
import { command, failedState, state } from "./states.js";
import { countText } from "./words.js";

/** @typedef {import("./routes.js").Route} Route */

/**
 * A view follows the address as long as neither view nor library change; `follow` is also called at the start. What it
 * returns resolves when there is something to scroll through.
 *
 * @typedef {HTMLElement & {follow(route: Route, library: Api.Library): void | Promise<void>}} View
 */

const jobPause = 2000; // milliseconds between looks at what else goes on

/** The bar with the views, and the view below it. */
class PageFrame extends HTMLElement {
  constructor() {
    super();
    this.main = element("main", { id: "main", tabIndex: -1 });
    this.nav = element("nav", { "aria-label": "Views" });
    this.tools = element("div", { class: "tools" });
    /** @type {View | null} */
    this.view = null;
    this.shown = "";
    this.scrollNote = 0;
  }

  connectedCallback() {
    const brand = element("a", { class: "brand", href: "#/" }, element("img", { src: "icon.svg", alt: "" }), "Bitpool");
    this.append(
      element("header", { class: "bar" }, brand, this.nav, element("div", { class: "space" }), this.tools),
      this.main,
    );
    history.scrollRestoration = "manual";
    onRouteChange(() => this.#follow());
    addEventListener("scroll", () => this.#noteScroll(), { passive: true });
    addEventListener("keyneeded", () => this.#askForKey());
    session.addEventListener("change", () => this.#drawBar());
    document.querySelector(".skip-link")?.addEventListener("click", (event) => {
      event.preventDefault();
      this.main.focus();
    });
    this.start();
    setInterval(() => this.#lookAtJobs(), jobPause);
  }

  async start() {
    try {
      await session.load();
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return;
      fill(
        this.main,
        failedState("The server cannot be reached", error, () => this.start(), true),
      );
      return;
    }
    if (session.server?.access === "none") this.#askForKey();
    else this.#follow();
  }

  /** Shows what the address says. */
  #follow() {
    const route = currentRoute();
    const library = session.library(route.library) ?? (route.library ? undefined : session.libraries[0]);
    if (!library) {
      this.#showNoLibrary(route);
      return;
    }
    if (!route.library) {
      route.library = library.name; // from here on the address says which
      history.replaceState(history.state, "", routeAddress(library.name, route.view, route.parameters));
    }
    clearTimeout(this.scrollNote);
    const shown = `${library.name}\n${route.view}`;
    const another = shown !== this.shown;
    if (another || !this.view) {
      const moved = this.shown !== "";
      this.shown = shown;
      this.view = /** @type {View} */ (document.createElement(`${route.view}-view`));
      fill(this.main, this.view);
      if (moved) this.main.focus({ preventScroll: true });
    }
    document.title = `${title(route.view)} · ${library.name} · Bitpool`;
    this.#drawBar();
    const top = history.state?.top ?? 0;
    Promise.resolve(this.view.follow(route, library)).then(() => {
      if (another || history.state?.top !== undefined) scrollTo(0, top);
    });
  }

  /** @param {Route} route */
  #showNoLibrary(route) {
    this.shown = "";
    this.view = null;
    this.#drawBar();
    if (session.libraries.length) {
      const actions = session.libraries.map((library) =>
        element("a", { class: "button", href: routeAddress(library.name, route.view) }, library.name),
      );
      fill(
        this.main,
        state("folder", `There is no library “${route.library}”`, ["This server has:"], { whole: true, actions }),
      );
      return;
    }
    const text = [
      "A library is a folder of pictures that Bitpool has looked at. Start the server with one, and come back:",
      command("bitpool serve --library ~/Pictures/.bitpool"),
    ];
    const again = button("update", "Look again", { class: "primary", onclick: () => this.start() });
    fill(this.main, state("picture", "No pictures yet", text, { whole: true, actions: [again] }));
  }

  #askForKey() {
    if (this.querySelector(".key-form")) return;
    this.shown = "";
    this.view = null;
    const input = element("input", {
      type: "password",
      required: true,
      autocomplete: "off",
      "aria-label": "Key",
      placeholder: "Key",
    });
    const message = element("p", { role: "alert" });
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        await api.startSession(input.value.trim());
        await this.start();
      } catch (error) {
        message.textContent = error instanceof Error ? error.message : String(error);
        input.select();
      }
    };
    const form = element(
      "form",
      { class: "key-form", onsubmit: submit },
      input,
      element("button", { class: "primary" }, "Open"),
    );
    fill(
      this.main,
      state("lock", "This server asks for a key", ["Whoever started it can give you one.", form, message], {
        whole: true,
      }),
    );
    input.focus();
  }

  #drawBar() {
    const route = currentRoute();
    const library = session.library(route.library) ?? session.libraries[0];
    const links = viewNames.map((view) =>
      element(
        "a",
        { href: routeAddress(library?.name ?? null, view), "aria-current": view === route.view ? "page" : undefined },
        icon(view),
        element("span", {}, title(view)),
      ),
    );
    fill(this.nav, library ? links : []);
    fill(
      this.tools,
      library?.job &&
        element("a", { class: "job", href: routeAddress(library.name, "update") }, icon("update"), "Updating"),
      session.libraries.length > 1 && this.#libraryChoice(library?.name),
      button("keys", "", { class: "quiet only-icon keys-button", "aria-label": "Keys", onclick: showKeys }),
      button("theme", "", { class: "quiet only-icon", "aria-label": "Light or dark", onclick: changeTheme }),
    );
  }

  /** @param {string | undefined} chosen */
  #libraryChoice(chosen) {
    const options = session.libraries.map(({ name, pictures }) =>
      element("option", { value: name, selected: name === chosen }, `${name} (${countText(pictures)})`),
    );
    const change = () => (location.hash = routeAddress(select.value, currentRoute().view));
    const select = element("select", { class: "library-choice", "aria-label": "Library", onchange: change }, options);
    return select;
  }

  /** Remembers how far the page was scrolled, for "back". */
  #noteScroll() {
    clearTimeout(this.scrollNote);
    this.scrollNote = window.setTimeout(() => history.replaceState({ ...history.state, top: scrollY }, ""), 120);
  }

  /** While something is updated, its end is worth noticing in every view. */
  async #lookAtJobs() {
    const running = session.libraries.filter((library) => library.job);
    if (document.hidden || running.length === 0) return;
    await session.load().catch(() => {}); // the next look may succeed
    const { library: name, view } = currentRoute();
    const ended = running.some((library) => library.name === name && session.library(name)?.job === null);
    if (ended && view !== "update")
      notify("The library was updated", { label: "Show it", run: () => this.#showAnew() });
  }

  #showAnew() {
    this.shown = "";
    this.#follow();
  }
}

/** @param {string} view */
const title = (view) => view[0].toUpperCase() + view.slice(1);

function changeTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

customElements.define("page-frame", PageFrame);

import { button, element, fill, icon, keepingFocus } from "./dom.js";
import { notify, notifyError, placeNotices } from "./notices.js";
import { changedAddress, currentRoute, go, goBack, routeAddress } from "./routes.js";
import { bytesText, countText, momentText } from "./words.js";
import "./zoom_picture.js";

/**
 * @typedef {object} ViewerOptions
 * @property {string} library
 * @property {() => void} onClose
 * @property {((steps: number) => void) | null} onStep leads to the picture before (−1) or the next; null: there are none
 * @property {[string, string][]} facts more that is known, such as the distance
 */

/** One picture on the whole screen, with what is known about it. */
export class PictureViewer {
  constructor() {
    this.heading = element("h2", {});
    this.zoom = element("zoom-picture");
    this.bar = element("div", { class: "viewer-bar" });
    this.stage = element("div", { class: "viewer-stage" });
    this.facts = element("aside", { class: "viewer-facts", tabIndex: 0, "aria-label": "About this picture" });
    this.dialog = element(
      "dialog",
      { class: "full-dialog", tabIndex: -1, "aria-label": "Picture" },
      element("div", { class: "viewer" }, this.bar, this.stage, this.facts),
    );
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.options?.onClose();
    });
    this.dialog.addEventListener("keydown", (event) => this.#onKey(event));
  }

  get isOpen() {
    return this.dialog.open;
  }

  /** @param {Api.Picture} picture @param {ViewerOptions} options */
  show(picture, options) {
    this.picture = picture;
    this.options = options;
    this.heading.textContent = picture.name;
    keepingFocus(this.dialog, () => {
      this.#drawBar(picture, options);
      this.#drawStage(picture, options);
      this.#drawFacts(picture, options);
    });
    if (this.dialog.open) return;
    document.body.append(this.dialog);
    placeNotices(this.dialog);
    this.dialog.showModal();
    this.dialog.focus();
    this.zoom.zoomBy(0);
  }

  close() {
    if (!this.dialog.open) return;
    placeNotices(document.body);
    this.dialog.close();
    this.dialog.remove();
  }

  /** @param {Api.Picture} picture @param {ViewerOptions} options */
  #drawBar(picture, options) {
    const more = routeAddress(options.library, "search", { picture: picture.id });
    fill(
      this.bar,
      button("close", "", { class: "quiet only-icon", "aria-label": "Close", onclick: options.onClose }),
      this.heading,
      picture.failure === null &&
        button("similar", "More like this", {
          class: "primary",
          "aria-label": "More like this",
          onclick: () => go(more),
        }),
      element(
        "a",
        { class: "button", href: picture.original, target: "_blank", rel: "noopener", "aria-label": "Open the file" },
        icon("open"),
        element("span", {}, "Open the file"),
      ),
    );
  }

  /** @param {Api.Picture} picture @param {ViewerOptions} options */
  #drawStage(picture, { onStep }) {
    this.zoom.show(picture);
    fill(
      this.stage,
      this.zoom,
      onStep &&
        button("left", "", { class: "step previous", "aria-label": "The picture before", onclick: () => onStep(-1) }),
      onStep && button("right", "", { class: "step next", "aria-label": "The next picture", onclick: () => onStep(1) }),
    );
  }

  /** @param {Api.Picture} picture @param {ViewerOptions} options */
  #drawFacts(picture, options) {
    const size = picture.width ? `${countText(picture.width)} × ${countText(picture.height)} pixels` : "unknown";
    /** @type {[string, string][]} */
    const facts = [
      ...options.facts,
      ["Size", size],
      ["File", bytesText(picture.bytes)],
      ["Changed", momentText(new Date(picture.modified))],
      ["Path", picture.path],
    ];
    if (picture.failure !== null) facts.unshift(["Could not be indexed", picture.failure]);
    const copy = () =>
      navigator.clipboard.writeText(picture.path).then(
        () => notify("The path was copied"),
        () => notify("The browser does not allow copying here"),
      );
    fill(
      this.facts,
      element(
        "dl",
        { class: "facts" },
        facts.map(([name, value]) =>
          element("div", { class: value.length > 24 ? "wide" : "" }, element("dt", {}, name), element("dd", {}, value)),
        ),
      ),
      button("link", "Copy the path", { class: "quiet small", onclick: copy }),
    );
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { picture, options } = this;
    if (!picture || !options) return;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => options.onStep?.(-1),
      ArrowRight: () => options.onStep?.(1),
      "+": () => this.zoom.zoomBy(1),
      "=": () => this.zoom.zoomBy(1),
      "-": () => this.zoom.zoomBy(-1),
      0: () => this.zoom.zoomBy(0),
      m: () => picture.failure === null && go(routeAddress(options.library, "search", { picture: picture.id })),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

/**
 * What a view knows about the picture that the address asks to show.
 *
 * @typedef {object} Shown
 * @property {Api.Picture} picture
 * @property {[string, string][]} facts
 * @property {((steps: number) => Promise<Record<string, number> | null>) | null} step the parameters of a neighbour
 */

/** Opens and closes the viewer as the address says: ?show=ID. */
export class ShownPicture {
  /**
   * @param {(id: number, parameters: URLSearchParams) => Promise<Shown>} find
   * @param {() => void} onClosed
   */
  constructor(find, onClosed) {
    this.viewer = new PictureViewer();
    this.find = find;
    this.onClosed = onClosed;
  }

  /** @param {import("./routes.js").Route} route */
  async follow({ library, parameters }) {
    const id = Number(parameters.get("show"));
    if (!id) {
      const wasOpen = this.viewer.isOpen;
      this.close();
      if (wasOpen) this.onClosed();
      return;
    }
    try {
      const { picture, facts, step } = await this.find(id, parameters);
      if (currentRoute().parameters.get("show") !== String(id)) return; // the user has gone on
      const stepTo = async (/** @type {number} */ steps) => {
        const neighbour = await step?.(steps);
        if (neighbour) go(changedAddress(neighbour), { replace: true });
      };
      this.viewer.show(picture, { library: library ?? "", onClose: leave, onStep: step && stepTo, facts });
    } catch (error) {
      notifyError(error);
      go(changedAddress({ show: null, at: null }), { replace: true });
    }
  }

  close() {
    this.viewer.close();
  }
}

const leave = () => goBack(changedAddress({ show: null, at: null }));

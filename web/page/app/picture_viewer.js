import { button, element, fill, icon } from "./dom.js";
import { notify, placeNotices } from "./notices.js";
import { go, routeAddress } from "./routes.js";
import { bytesText, countText, momentText } from "./words.js";
import "./zoom_picture.js";

/** @typedef {import("./api.js").Picture} Picture */

/**
 * @typedef {object} ViewerOptions
 * @property {string} library
 * @property {() => void} onClose
 * @property {((steps: number) => void) | null} onStep leads to the picture before (−1) or the next; null: there are none
 * @property {[string, string][]} facts more that is known, such as the distance
 */

/** One picture on the whole screen, with what is known of it. */
export class PictureViewer {
  constructor() {
    this.heading = element("h2", {});
    this.zoom = /** @type {import("./zoom_picture.js").ZoomPicture} */ (document.createElement("zoom-picture"));
    this.bar = element("div", { class: "viewer-bar" });
    this.stage = element("div", { class: "viewer-stage" });
    this.facts = element("aside", { class: "viewer-facts", tabIndex: 0, "aria-label": "About this picture" });
    this.dialog = element(
      "dialog",
      { class: "full-dialog", "aria-label": "Picture" },
      element("div", { class: "viewer" }, this.bar, this.stage, this.facts),
    );
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.options?.onClose();
    });
    this.dialog.addEventListener("keydown", (event) => this.onKey(event));
  }

  get isOpen() {
    return this.dialog.open;
  }

  /** @param {Picture} picture @param {ViewerOptions} options */
  show(picture, options) {
    this.picture = picture;
    this.options = options;
    this.heading.textContent = picture.name;
    this.drawBar(picture, options);
    this.drawStage(picture, options);
    this.drawFacts(picture, options);
    if (this.dialog.open) return;
    document.body.append(this.dialog);
    placeNotices(this.dialog);
    this.dialog.showModal();
    this.zoom.zoomBy(0);
  }

  close() {
    if (!this.dialog.open) return;
    placeNotices(document.body);
    this.dialog.close();
    this.dialog.remove();
  }

  /** @private @param {Picture} picture @param {ViewerOptions} options */
  drawBar(picture, options) {
    const more = routeAddress(options.library, "search", { picture: picture.id });
    fill(
      this.bar,
      button("close", "", { class: "quiet only-icon", "aria-label": "Close", onclick: options.onClose }),
      this.heading,
      picture.failure === null && button("similar", "More like this", { class: "primary", "aria-label": "More like this", onclick: () => go(more) }),
      element("a", { class: "button", href: picture.original, target: "_blank", rel: "noopener", "aria-label": "Open the file" }, icon("open"), element("span", {}, "Open the file")),
    );
  }

  /** @private @param {Picture} picture @param {ViewerOptions} options */
  drawStage(picture, { onStep }) {
    this.zoom.show(picture);
    fill(
      this.stage,
      this.zoom,
      onStep && button("left", "", { class: "step previous", "aria-label": "The picture before", onclick: () => onStep(-1) }),
      onStep && button("right", "", { class: "step next", "aria-label": "The next picture", onclick: () => onStep(1) }),
    );
  }

  /** @private @param {Picture} picture @param {ViewerOptions} options */
  drawFacts(picture, options) {
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

  /** @private @param {KeyboardEvent} event */
  onKey(event) {
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

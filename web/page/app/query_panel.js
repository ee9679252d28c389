import "./crop_box.js";
import { button, element, fill } from "./dom.js";
import { choosePicture } from "./query_pictures.js";
import { bytesText, likeness, plural } from "./words.js";

const bars = 33;

/**
 * How alike results have to be: the number of bits that may differ, from none to half of them. Above it stands how many
 * results there are at each distance. Sends "alike" while it is moved.
 */
export class LikenessSlider extends HTMLElement {
  constructor() {
    super();
    this.input = element("input", { type: "range", min: "0", id: "alike", oninput: () => this.#onInput() });
    this.words = element("output", { class: "alike-words", htmlFor: "alike" });
    this.chart = element("div", { class: "alike-chart", "aria-hidden": "true" });
    this.bits = 64;
    /** @type {number[]} */
    this.distances = [];
  }

  connectedCallback() {
    if (this.firstChild) return; // it has been here before
    this.append(
      element("div", { class: "alike-head" }, element("label", { htmlFor: "alike" }, "How alike"), this.words),
      this.chart,
      this.input,
      element(
        "div",
        { class: "alike-ends", "aria-hidden": "true" },
        element("span", {}, "the same"),
        element("span", {}, "anything"),
      ),
    );
  }

  get value() {
    return Number(this.input.value);
  }

  /** @param {number} bits @param {number[]} distances of all results @param {number} value */
  show(bits, distances, value) {
    this.bits = bits;
    this.distances = distances;
    this.input.max = String(bits / 2);
    this.input.value = String(value);
    this.#draw();
  }

  #draw() {
    const counts = new Array(bars).fill(0);
    const barOf = (/** @type {number} */ distance) =>
      Math.min(bars - 1, Math.floor((distance / (this.bits / 2)) * (bars - 1)));
    for (const distance of this.distances) counts[barOf(distance)]++;
    const most = Math.max(1, ...counts);
    fill(
      this.chart,
      counts.map((count, place) => {
        const bar = element("i", { class: place <= barOf(this.value) ? "within" : "" });
        bar.style.height = `${count ? 8 + 92 * Math.sqrt(count / most) : 0}%`;
        return bar;
      }),
    );
    const { name } = likeness(this.value, this.bits);
    this.words.textContent = name;
    const found = this.distances.filter((distance) => distance <= this.value).length;
    this.input.setAttribute(
      "aria-valuetext",
      `${name}, at most ${plural(this.value, "bit")} of ${this.bits}: ${plural(found, "picture")}`,
    );
  }

  #onInput() {
    this.#draw();
    this.dispatchEvent(new CustomEvent("alike", { detail: this.value }));
  }
}

customElements.define("likeness-slider", LikenessSlider);

/** @typedef {import("./crop_box.js").Box} Box */

/** What is searched for: the picture, a part of it to be marked, and how alike the results have to be. */
export class QueryPanel extends HTMLElement {
  constructor() {
    super();
    this.crop = element("crop-box");
    this.slider = element("likeness-slider");
    this.stage = element("div", { class: "query-stage" });
    this.about = element("p", { class: "small muted query-name" });
    this.wholeButton = button("close", "Search for all of it", {
      class: "quiet small",
      onclick: () => this.#clearBox(),
    });
    this.hint = element("p", { class: "small muted" }, "Drag over the picture to search for a part of it.");
  }

  connectedCallback() {
    if (this.firstChild) return; // it has been here before
    const other = button("upload", "Another picture", { onclick: choosePicture });
    this.append(
      this.stage,
      element("div", { class: "query-words" }, this.about, this.hint, this.wholeButton, this.slider, other),
    );
  }

  /** @param {Api.Picture} picture */
  showPicture(picture) {
    this.about.textContent = picture.path;
    const image = element("img", {
      alt: `The picture that is searched for: ${picture.name}`,
      src: picture.thumbnail,
      draggable: false,
    });
    const sharp = new Image();
    sharp.onload = () => (image.src = sharp.src);
    sharp.src = `${picture.preview}&side=800`;
    fill(this.stage, element("div", { class: "query-picture" }, image, this.crop));
    this.#allowCrop(true);
  }

  /** @param {Blob} file */
  async showFile(file) {
    this.about.textContent = `${file instanceof File && file.name ? file.name : "A picture from outside the library"} · ${bytesText(file.size)}`;
    const bitmap = await createImageBitmap(file).catch(() => null);
    if (!bitmap) {
      fill(
        this.stage,
        element(
          "p",
          { class: "muted query-unseen" },
          "This browser cannot show pictures of this kind. They can be searched for all the same.",
        ),
      );
      this.#allowCrop(false);
      return;
    }
    const scale = Math.min(1, 800 / Math.max(bitmap.width, bitmap.height));
    const canvas = element("canvas", {
      width: Math.round(bitmap.width * scale),
      height: Math.round(bitmap.height * scale),
      role: "img",
      "aria-label": "The picture that is searched for",
    });
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    fill(this.stage, element("div", { class: "query-picture" }, canvas, this.crop));
    this.#allowCrop(true);
  }

  /** @param {Box | null} box */
  showBox(box) {
    this.crop.show(box);
    this.wholeButton.hidden = !box;
    this.hint.hidden = Boolean(box) || this.crop.hidden;
  }

  /** @param {boolean} allowed */
  #allowCrop(allowed) {
    this.crop.hidden = !allowed;
    this.hint.hidden = !allowed || this.crop.box !== null;
  }

  #clearBox() {
    this.crop.show(null);
    this.crop.dispatchEvent(new CustomEvent("box", { detail: null }));
    this.crop.focus();
  }
}

customElements.define("query-panel", QueryPanel);

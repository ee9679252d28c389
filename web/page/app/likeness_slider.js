import { element, fill } from "./dom.js";
import { likeness, plural } from "./words.js";

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
      element("div", { class: "alike-ends", "aria-hidden": "true" }, element("span", {}, "the same"), element("span", {}, "anything")),
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
    const barOf = (/** @type {number} */ distance) => Math.min(bars - 1, Math.floor((distance / (this.bits / 2)) * (bars - 1)));
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
    this.input.setAttribute("aria-valuetext", `${name}, at most ${plural(this.value, "bit")} of ${this.bits}: ${plural(found, "picture")}`);
  }

  #onInput() {
    this.#draw();
    this.dispatchEvent(new CustomEvent("alike", { detail: this.value }));
  }
}

customElements.define("likeness-slider", LikenessSlider);

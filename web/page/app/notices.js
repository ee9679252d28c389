import { button, element } from "./dom.js";

const shownFor = 9000; // milliseconds

/** Short messages at the edge of the page. They are read out, wait while they are pointed at or focused, and go. */
export class NoticeList extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "status");
    this.setAttribute("aria-live", "polite");
  }

  /**
   * @param {string} text
   * @param {{label: string, run: () => void}} [action]
   */
  add(text, action) {
    const notice = element("div", { class: "notice" }, element("span", {}, text));
    if (action) {
      const run = () => {
        notice.remove();
        action.run();
      };
      notice.append(button("", action.label, { onclick: run }));
    }
    notice.append(button("close", "", { class: "only-icon", "aria-label": "Dismiss", onclick: () => notice.remove() }));
    this.append(notice);
    while (this.children.length > 3) this.firstElementChild?.remove();
    const leave = () => {
      if (notice.matches(":hover, :focus-within")) setTimeout(leave, 1000);
      else notice.remove();
    };
    setTimeout(leave, shownFor);
  }
}

customElements.define("notice-list", NoticeList);
const list = element("notice-list");
document.body.append(list);

/**
 * Notices lie above a dialog only when they are in it.
 *
 * @param {HTMLElement} parent
 */
export const placeNotices = (parent) => parent.append(list);

/**
 * @param {string} text
 * @param {{label: string, run: () => void}} [action]
 */
export const notify = (text, action) => list.add(text, action);

/** @param {unknown} error */
export const notifyError = (error) => notify(error instanceof Error ? error.message : String(error));

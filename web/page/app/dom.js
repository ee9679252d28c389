// Elements made in one expression. Text is always set as text: names of files are not markup.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an element. Properties that start with "on" are listeners, `class` and names with a dash are attributes, and
 * all others are properties of the element.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), value);
    } else if (name === "class" || name === "role" || name.includes("-")) {
      if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
    } else {
      Reflect.set(made, name, value);
    }
  }
  append(made, children);
  return made;
}

/**
 * @param {ParentNode} parent
 * @param {(Child | Child[])[]} children
 */
function append(parent, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces the children of an element.
 *
 * @param {ParentNode} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * A drawing of icons.svg. It says nothing to a screen reader; its button has to.
 *
 * @param {string} name
 */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `icons.svg#${name}`);
  svg.append(use);
  return svg;
}

/**
 * A button with a drawing and words; without words it needs a label.
 *
 * @param {string} drawing
 * @param {string} words
 * @param {Record<string, any>} properties
 */
export function button(drawing, words, properties) {
  return element(
    "button",
    { type: "button", title: words ? undefined : properties["aria-label"], ...properties },
    drawing && icon(drawing),
    words && element("span", {}, words),
  );
}

/**
 * Redraws what may have the focus, and brings the focus back: to what has the same label now, or else to the whole.
 *
 * @param {HTMLElement} whole
 * @param {() => void} draw
 */
export function keepingFocus(whole, draw) {
  const before = whole.contains(document.activeElement) ? document.activeElement : null;
  draw();
  if (!before || before.isConnected) return;
  const label = labelOf(before);
  const after = [...whole.querySelectorAll("button, a")].find((one) => labelOf(one) === label);
  /** @type {HTMLElement} */ (after ?? whole).focus();
}

/** The label, without a count at its end, which may have changed. @param {Element} control */
function labelOf(control) {
  const text = control.getAttribute("aria-label") ?? control.textContent ?? "";
  return text.slice(0, text.length - (control.querySelector(".count")?.textContent?.length ?? 0));
}

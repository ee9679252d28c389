import { button, element } from "./dom.js";

/** @type {[string, [string, string][]][]} */
const keys = [
  [
    "Pictures in a grid",
    [
      ["← → ↑ ↓", "go through the pictures"],
      ["Enter", "look at the picture"],
      ["M", "more like this one"],
      ["Home End", "begin and end of the row, with Ctrl of all"],
    ],
  ],
  [
    "One picture",
    [
      ["← →", "the picture before, the next one"],
      ["+ − 0", "zoom in, out, fit"],
      ["M", "more like this one"],
      ["Esc", "close"],
    ],
  ],
  [
    "Comparing duplicates",
    [
      ["← →", "compare the next copy with the one to keep"],
      ["X", "swap the two pictures"],
      ["F", "both in the same place: flicker between them"],
      ["S", "keep the picture on the right instead"],
      ["K", "keep the chosen one, go to the next group"],
      ["N", "these are not duplicates"],
      ["↑ ↓", "the group before, the next one"],
      ["U", "undo the last decision"],
    ],
  ],
];

/** A list of the keys. They work where the focus is, so none of them gets in the way of typing. */
export function showKeys() {
  const dialog = element("dialog", { class: "small-dialog", "aria-label": "Keys", onclose: () => dialog.remove() });
  const close = button("", "Close", { onclick: () => dialog.close() });
  dialog.append(
    element("div", {}, element("h2", {}, "Keys"), keys.map(keyList), element("div", { class: "actions" }, close)),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {[string, [string, string][]]} section */
function keyList([heading, list]) {
  const rows = list.flatMap(([key, meaning]) => [
    element(
      "dt",
      {},
      key.split(" ").flatMap((one) => [element("kbd", {}, one), " "]),
    ),
    element("dd", {}, meaning),
  ]);
  return element("section", {}, element("h3", {}, heading), element("dl", { class: "key-list" }, rows));
}

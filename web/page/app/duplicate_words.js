// Kinds of duplicates, rules and decisions in words.
import { bytesText, dayText, plural } from "./words.js";


/** @type {{kind: Api.DuplicateKind, name: string, hint: string}[]} */
export const kinds = [
  { kind: "exact", name: "Exact", hint: "The same pixels: nothing is lost when one of them goes." },
  { kind: "edited", name: "Edited", hint: "One picture, resized, compressed again, or in other colours." },
  { kind: "part", name: "Part", hint: "One shows a part of the other." },
  { kind: "similar", name: "Similar", hint: "Alike, but not the same picture: look before you decide." },
];

/** @param {Api.DuplicateKind} kind */
export const kindName = (kind) => kinds.find((one) => one.kind === kind)?.name ?? kind;

/** @type {[string, string][]} */
export const rules = [
  ["pixels", "the one with most pixels"],
  ["size", "the largest file"],
  ["oldest", "the oldest file"],
  ["format", "the best format"],
  ["path", "the shortest path"],
];

/** What sets copies apart, in three short facts. @param {Api.Picture} picture @returns {string[]} */
export const copyFacts = (picture) => [
  `${picture.width} × ${picture.height}`,
  bytesText(picture.bytes),
  dayText(new Date(picture.modified)),
];

/** @param {Api.Decision} decision */
export function decisionText(decision) {
  if (decision.action === "not_duplicates") return "Noted: these are not duplicates";
  const files = `${plural(decision.gone.length, "picture")} (${bytesText(decision.bytes)})`;
  const failed = decision.failures.length ? `, ${plural(decision.failures.length, "picture")} could not be moved: ${decision.failures[0].reason}` : "";
  return decision.moved ? `${files} moved to the trash folder${failed}` : `${files} noted for the script`;
}

// Numbers, names, distances and duplicates in words.

const counts = new Intl.NumberFormat("en");
const days = new Intl.DateTimeFormat("en", { dateStyle: "long" });
const moments = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const months = new Intl.DateTimeFormat("en", { year: "numeric", month: "long" });

/** @param {number} number */
export const countText = (number) => counts.format(number);

/**
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export const plural = (number, one, many = `${one}s`) => `${countText(number)} ${number === 1 ? one : many}`;

/** @param {number} bytes */
export function bytesText(bytes) {
  if (bytes < 1000) return plural(bytes, "byte");
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 9.95 ? value.toFixed(1) : counts.format(Math.round(value))} ${units[unit]}`;
}

/** @param {number} seconds */
export function durationText(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return plural(Math.round(seconds), "second");
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return plural(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${plural(hours, "hour")}${minutes % 60 ? ` ${plural(minutes % 60, "minute")}` : ""}`
    : plural(Math.round(hours / 24), "day");
}

/** @param {Date} date */
export const dayText = (date) => days.format(date);
/** @param {Date} date */
export const momentText = (date) => moments.format(date);
/** @param {Date} date */
export const monthText = (date) => months.format(date);

/** @param {string} path */
export const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);
/** @param {string} path */
export const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/**
 * How alike two pictures are, by the share of their codes' bits that differ. Unrelated pictures differ in about half;
 * an eighth is what the search for duplicates begins with.
 */
const degrees = [
  { name: "Nearly identical", share: 1 / 32, hint: "the same picture, or a copy that was hardly changed" },
  { name: "Very alike", share: 1 / 8, hint: "probably copies or shots of the same moment" },
  { name: "Alike", share: 1 / 4, hint: "the same place, thing or composition" },
  { name: "Loosely alike", share: 3 / 8, hint: "something in common" },
  { name: "Hardly alike", share: 1, hint: "about as near as any other picture" },
];

/**
 * @param {number} distance
 * @param {number} bits
 */
export const likeness = (distance, bits) =>
  degrees.find((degree) => distance <= degree.share * bits) ?? degrees[degrees.length - 1];

/**
 * @param {number} distance
 * @param {number} bits
 */
export const distanceText = (distance, bits) =>
  distance === 0 ? `All ${bits} bits agree` : `${distance} of ${bits} bits differ`;

/** The same where there is little room. @param {number} distance */
export const shortDistance = (distance) =>
  distance === 0 ? "no bit differs" : `${plural(distance, "bit differs", "bits differ")}`;

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
  const failed = decision.failures.length
    ? `, ${plural(decision.failures.length, "picture")} could not be moved: ${decision.failures[0].reason}`
    : "";
  return decision.moved ? `${files} moved to the trash folder${failed}` : `${files} noted for the script`;
}

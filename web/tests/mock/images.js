// Pictures for the mock library: photographs of a folder, or drawings that depend on a number alone.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

/** @typedef {{width: number, height: number, jpeg: string | null, seed: number}} Source */

/** A number from 0 to 1 that depends on a seed and a name. @param {number} seed @param {string} name */
export function chance(seed, name) {
  let state = 2166136261 ^ seed;
  for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 16777619);
  state = Math.imul(state ^ (state >>> 15), 2246822507);
  state = Math.imul(state ^ (state >>> 13), 3266489909);
  return ((state ^ (state >>> 16)) >>> 0) / 2 ** 32;
}

/** @param {string | null} folder @returns {Source[]} */
export function photographs(folder) {
  if (!folder) return [];
  const names = readdirSync(folder)
    .filter((name) => /\.jpe?g$/i.test(name))
    .sort();
  return names.map((name, seed) => {
    const jpeg = path.join(folder, name);
    return { ...jpegSize(readFileSync(jpeg)), jpeg, seed };
  });
}

/** @param {number} seed @returns {Source} */
export function drawing(seed) {
  const [width, height] = [
    [4032, 3024],
    [3024, 4032],
    [6000, 4000],
    [1920, 1080],
    [3000, 3000],
  ][Math.floor(chance(seed, "shape") * 5)];
  return { width, height, jpeg: null, seed };
}

/** @param {Buffer} bytes */
function jpegSize(bytes) {
  let at = 2;
  while (at < bytes.length) {
    const marker = bytes[at + 1];
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  throw new Error("not a JPEG file");
}

/**
 * The picture as it is served: the photograph, or a drawing; an edited copy is one with another look.
 *
 * @param {Source} source
 * @param {"plain" | "grey" | "crop"} look
 * @returns {{type: string, body: Buffer}}
 */
export function render(source, look) {
  if (source.jpeg && look === "plain") return { type: "image/jpeg", body: readFileSync(source.jpeg) };
  const scale = 640 / Math.max(source.width, source.height);
  const width = Math.round(source.width * scale);
  const height = Math.round(source.height * scale);
  const content = source.jpeg
    ? `<image width="${width}" height="${height}" href="data:image/jpeg;base64,${readFileSync(source.jpeg).toString("base64")}"/>`
    : landscape(source.seed, width, height);
  const filter = look === "grey" ? '<filter id="f"><feColorMatrix type="saturate" values="0.25"/></filter>' : "";
  const box =
    look === "crop" ? `${width * 0.15} ${height * 0.15} ${width * 0.7} ${height * 0.7}` : `0 0 ${width} ${height}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${box}">${filter}<g${filter && ' filter="url(#f)"'}>${content}</g></svg>`;
  return { type: "image/svg+xml", body: Buffer.from(svg) };
}

/** Hills under a sky. @param {number} seed @param {number} width @param {number} height */
function landscape(seed, width, height) {
  const hue = Math.floor(chance(seed, "hue") * 360);
  const hills = [0, 1, 2].map((hill) => {
    const top = height * (0.45 + hill * 0.17);
    const bend = height * (0.1 + 0.2 * chance(seed, `bend${hill}`));
    const color = `hsl(${(hue + 30 * hill) % 360} 34% ${48 - hill * 13}%)`;
    return `<path fill="${color}" d="M0 ${top}Q${width * chance(seed, `x${hill}`)} ${top - bend} ${width} ${top}V${height}H0Z"/>`;
  });
  const sun = `<circle fill="hsl(${(hue + 180) % 360} 70% 88%)" cx="${width * (0.15 + 0.7 * chance(seed, "sun"))}" cy="${height * 0.26}" r="${height * 0.09}"/>`;
  return `<rect width="${width}" height="${height}" fill="hsl(${hue} 45% 76%)"/>${sun}${hills.join("")}`;
}

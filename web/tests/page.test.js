// The page as files: how much there is to load, and that nothing in it needs what the policy refuses.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const folder = fileURLToPath(new URL("../page", import.meta.url));

/** @param {string} under @returns {string[]} */
const filesIn = (under) =>
  readdirSync(under, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(under, entry.name);
    return entry.isDirectory() ? filesIn(file) : [file];
  });

const files = filesIn(folder);

test("the page has 60 kB at most", () => {
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);
  assert.ok(bytes <= 60_000, `${bytes} bytes`);
});

test("every file is loaded by the page, and every one that it loads is there", () => {
  /** @type {Set<string>} */
  const loaded = new Set(["index.html"]);
  for (const name of loaded) {
    const text = readFileSync(path.join(folder, name), "utf8");
    for (const [, address] of text.matchAll(/(?:href|src)="([\w/.]+\.(?:js|css|svg))"/g)) loaded.add(address);
    for (const [, address] of text.matchAll(/(?:from|import) "(\.[\w/.]+)"/g)) {
      loaded.add(path.join(path.dirname(name), address));
    }
  }
  loaded.add("icons.svg"); // dom.js makes its addresses
  assert.deepEqual([...loaded].sort(), files.map((file) => path.relative(folder, file)).sort());
});

test("every module is asked for at once, not one after the other", () => {
  const page = readFileSync(path.join(folder, "index.html"), "utf8");
  const asked = [...page.matchAll(/(?:modulepreload" href|src)="(app\/[\w.]+)"/g)].map(([, address]) => address);
  assert.deepEqual(
    asked.sort(),
    files
      .map((file) => path.relative(folder, file))
      .filter((file) => file.endsWith(".js"))
      .sort(),
  );
});

test("nothing makes markup of text, and nothing is inline", () => {
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, file);
    if (!file.endsWith(".html")) continue;
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/, file);
  }
});

test("every icon that is used is drawn, and every one that is drawn is used", () => {
  const drawn = new Set(
    [...readFileSync(path.join(folder, "icons.svg"), "utf8").matchAll(/<symbol id="(\w+)"/g)].map(([, id]) => id),
  );
  const code = files
    .filter((file) => file.endsWith(".js"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const used = new Set(
    [...code.matchAll(/\b(?:icon|button|state|tool)\(\s*(?:"."\s*,\s*)?"([a-z]+)"/g)].map(([, id]) => id),
  );
  for (const name of used) assert.ok(drawn.has(name), `${name} is not drawn`);
  for (const name of drawn) assert.ok(code.includes(`"${name}"`), `${name} is not used`);
});

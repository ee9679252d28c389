// A browser on the page, and everything about it that must not happen: failed requests, errors, refusals by the policy.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").Browser} Browser */

export const tools = process.env.BITPOOL_WEB_TOOLS ?? fileURLToPath(new URL("../../build/web-tools", import.meta.url));
const require = createRequire(path.join(tools, "package.json"));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const screenshots = process.env.BITPOOL_SCREENSHOTS;

/** @returns {Promise<Browser>} */
export function startBrowser() {
  const { chromium } = require("playwright-core");
  return chromium.launch({
    executablePath: process.env.BITPOOL_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
}

/**
 * Opens the page, runs the visit, and fails it when the browser complained about anything that was not expected.
 *
 * @param {Browser} browser
 * @param {string} address
 * @param {(page: Page) => Promise<void>} visit
 * @param {{width?: number, height?: number, dark?: boolean, expected?: RegExp, touch?: boolean}} [options]
 */
export async function visitPage(
  browser,
  address,
  visit,
  { width = 1280, height = 860, dark = false, expected, touch = false } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    hasTouch: touch,
    isMobile: touch,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000); // machines may be busy
  /** @type {string[]} */
  const complaints = [];
  const complain = (/** @type {string} */ text) => {
    if (!expected?.test(text)) complaints.push(text);
  };
  page.on("console", (message) => message.type() === "error" && complain(`console: ${message.text()}`));
  page.on("pageerror", (error) => complain(`error: ${error.stack}`));
  page.on(
    "response",
    (response) => response.status() >= 400 && complain(`status ${response.status()}: ${response.url()}`),
  );
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    // A picture that was scrolled out of sight, or a search that was overtaken, is given up.
    if (reason !== "net::ERR_ABORTED") complain(`failed: ${request.url()} ${reason}`);
  });
  try {
    await page.goto(address);
    await visit(page);
  } finally {
    await context.close();
  }
  assert.deepEqual(complaints, []);
}

/** What axe-core finds wrong with the page as it is. @param {Page} page @param {string} where */
export async function checkAccess(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    // @ts-expect-error axe is what the line before has defined
    const { violations } = await axe.run(document, {
      resultTypes: ["violations"],
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.map(
      (/** @type {any} */ one) =>
        `${one.id}: ${one.help}: ${one.nodes.map((/** @type {any} */ node) => node.html.slice(0, 160)).join(" | ")}`,
    );
  });
  assert.deepEqual(found, [], `axe-core in ${where}`);
}

/** Nothing is wider than the screen. @param {Page} page @param {string} where */
export async function checkWidth(page, where) {
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(beyond <= 0, `${where} is ${beyond} pixels too wide`);
}

/** Keeps a picture of the page where one was asked for. @param {Page} page @param {string} name */
export async function keepScreenshot(page, name) {
  if (!screenshots) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
}

/** Waits until all thumbnails in sight are there. @param {Page} page */
export async function picturesLoaded(page) {
  await page.waitForFunction(() => {
    const images = [...document.querySelectorAll("img")].filter((image) => {
      const { top, bottom } = image.getBoundingClientRect();
      return bottom > 0 && top < innerHeight && image.checkVisibility() && (image.complete || image.loading !== "lazy");
    });
    return images.length > 1 && images.every((image) => image.complete && image.naturalWidth > 0);
  });
}

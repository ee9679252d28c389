// What the walks through the page share: a browser for a whole file, and a server for each walk.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startBrowser, visitPage } from "./browser.js";
import { MockServer } from "./mock/server.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {ConstructorParameters<typeof MockServer>[0]} ServerOptions */

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/**
 * A walk through the page from one of its addresses.
 *
 * @param {string} name
 * @param {string} route
 * @param {(page: Page, server: MockServer) => Promise<void>} walk
 * @param {{server?: ServerOptions} & NonNullable<Parameters<typeof visitPage>[3]>} [options]
 */
export function journey(name, route, walk, { server: serverOptions = {}, ...pageOptions } = {}) {
  test(name, async () => {
    const server = new MockServer({ count: 160, duplicates: 20, step: 15, ...serverOptions });
    const address = await server.listen();
    try {
      await visitPage(browser, address + route, (page) => walk(page, server), pageOptions);
    } finally {
      server.close();
    }
  });
}

/** The text of all elements, without room around it. @param {Page} page @param {string} selector */
export const texts = (page, selector) => page.locator(selector).allInnerTexts();

/**
 * Waits until an expression is true in the page. (The page's policy refuses to evaluate texts by itself.)
 *
 * @param {Page} page
 * @param {string} expression
 */
export async function until(page, expression) {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await page.evaluate(expression).catch(() => false)) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`never became true: ${expression}`);
}

/** Whether the focus is on, or in, what the selector finds. @param {Page} page @param {string} selector */
export const focusIsIn = (page, selector) =>
  page.waitForFunction((where) => document.activeElement?.closest(where) !== null, selector);

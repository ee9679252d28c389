// How long the page of a running server takes to its first picture, and what it weighs:
//   node web/tests/measure.js http://127.0.0.1:8080/#/NAME/browse
import { startBrowser } from "./browser.js";

const visits = 15;
const address = process.argv[2] ?? "http://127.0.0.1:8080/";

/** The time from asking for the page to its first picture, with nothing kept from before. */
async function visit(/** @type {import("playwright-core").Browser} */ browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  let bytes = 0;
  page.on("response", async (response) => {
    if (!/\/(thumbnail|original)/.test(response.url())) bytes += (await response.request().sizes()).responseBodySize;
  });
  await page.addInitScript(() => {
    document.addEventListener(
      "load",
      (event) => {
        if (!(event.target instanceof HTMLImageElement) || "firstPicture" in window) return;
        Object.assign(window, { firstPicture: performance.now() });
      },
      true,
    );
  });
  await page.goto(address);
  const handle = await page.waitForFunction(() => Reflect.get(window, "firstPicture"));
  const ms = Number(await handle.jsonValue());
  await page.waitForLoadState("networkidle");
  await context.close();
  return { ms, bytes };
}

const browser = await startBrowser();
await visit(browser); // the browser's own first time
const measured = [];
for (let i = 0; i < visits; ++i) measured.push(await visit(browser));
await browser.close();
measured.sort((a, b) => a.ms - b.ms);
const middle = measured[Math.floor(visits / 2)];
console.log(
  JSON.stringify({
    visits,
    first_picture_ms: { median: Math.round(middle.ms), slowest: Math.round(measured[visits - 1].ms) },
    bytes_without_pictures: middle.bytes,
  }),
);

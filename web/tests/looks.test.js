// Every view at three widths, in light and dark: nothing too wide, nothing that axe-core finds, no error; with
// BITPOOL_SCREENSHOTS a picture of each.
import { after, before, test } from "node:test";
import { checkAccess, checkWidth, keepScreenshot, picturesLoaded, startBrowser, visitPage } from "./browser.js";
import { MockServer } from "./mock/server.js";

/** @typedef {import("playwright-core").Page} Page */

const photos = process.env.BITPOOL_PHOTOS ?? null;
const sizes = [
  { width: 360, height: 780, touch: true },
  { width: 1280, height: 860 },
  { width: 2560, height: 1440 },
];

// For axe-core, which takes its time: both layouts and both themes. Wide screens have nothing of their own.
const checked = new Set(["360-light", "1280-light", "1280-dark"]);

/** @type {{name: string, route: string, ready: (page: Page) => Promise<unknown>}[]} */
const views = [
  { name: "start", route: "#/", ready: picturesLoaded },
  { name: "search", route: "#/photos/search?picture=5", ready: picturesLoaded },
  { name: "search-part", route: "#/photos/search?picture=9&box=0.2,0.2,0.5,0.5", ready: picturesLoaded },
  { name: "browse", route: "#/photos/browse", ready: picturesLoaded },
  { name: "browse-dates", route: "#/photos/browse?sort=date", ready: picturesLoaded },
  {
    name: "browse-failed",
    route: "#/photos/browse?state=failed",
    ready: (page) => page.waitForSelector(".tile-note.failed"),
  },
  { name: "picture", route: "#/photos/browse?show=9&at=3", ready: (page) => page.waitForSelector("zoom-picture img") },
  { name: "duplicates", route: "#/photos/duplicates", ready: picturesLoaded },
  {
    name: "compare",
    route: "#/photos/duplicates?group=g2",
    ready: (page) => page.waitForSelector(".compare-tools .primary"),
  },
  {
    name: "decided",
    route: "#/photos/duplicates?kind=decided",
    ready: (page) => page.waitForSelector("decided-list > *"),
  },
  { name: "update", route: "#/photos/update", ready: (page) => page.waitForSelector(".job-panel button") },
];

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {MockServer} */
let server;
/** @type {string} */
let address;

before(async () => {
  browser = await startBrowser();
  server = new MockServer({ photos, names: ["photos", "scans"] });
  address = await server.listen();
});
after(async () => {
  await browser.close();
  server.close();
});

for (const size of sizes) {
  for (const dark of [false, true]) {
    const look = `${size.width}-${dark ? "dark" : "light"}`;
    test(`every view, ${look}`, () =>
      visitPage(
        browser,
        address,
        async (page) => {
          for (const { name, route, ready } of views) {
            await page.goto("about:blank");
            await page.goto(address + route);
            await ready(page);
            await checkWidth(page, `${name} ${look}`);
            if (checked.has(look)) await checkAccess(page, `${name} ${look}`);
            await keepScreenshot(page, `${name}-${look}`);
          }
        },
        { ...size, dark },
      ));
  }
}

test("states without pictures", async () => {
  const states = [
    { name: "first-run", options: { indexed: false }, routes: ["search", "browse", "duplicates", "update"] },
    { name: "no-library", options: { names: [] }, routes: ["search"] },
    { name: "key", options: { key: "secret" }, routes: ["search"] },
    {
      name: "nothing-double",
      options: { duplicates: 0, failed: 0 },
      routes: ["duplicates", "browse?state=failed", "browse?path=nowhere"],
    },
  ];
  for (const { name, options, routes } of states) {
    const other = new MockServer(options);
    const there = await other.listen();
    try {
      await visitPage(browser, there, async (page) => {
        for (const route of routes) {
          await page.goto("about:blank");
          await page.goto(`${there}#/${options.names ? "" : "photos"}/${route}`);
          await page.waitForSelector(".state, .job-panel h2");
          await checkAccess(page, `${name} ${route}`);
          await keepScreenshot(page, `${name}-${route.replace(/\W/g, "-")}`);
        }
      });
    } finally {
      other.close();
    }
  }
});

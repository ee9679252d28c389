import assert from "node:assert/strict";
import { journey, texts } from "./journey.js";

journey(
  "the first run: from an empty library to its pictures",
  "#/photos/browse",
  async (page, server) => {
    server.jobs.waitBefore = 14;
    assert.match(await page.innerText(".state h1"), /Nothing was indexed yet/);
    await page.click("button:has-text('Look for pictures')");
    await page.waitForSelector("progress");
    await page.waitForSelector(".bar .job");
    await page.waitForSelector(".failure-list li:nth-child(3)");
    assert.match(await page.innerText(".job-panel"), /Encoding pictures[^]*of[^]*left[^]*3 failures/);
    server.jobs.resume();
    await page.waitForSelector("h2:has-text('Up to date')");
    assert.match(await page.innerText(".job-panel"), /\d+ new, 3 failed/);
    assert.equal((await texts(page, ".failure-list li")).length, 3);
    await page.waitForSelector(".bar .job", { state: "detached" });
    await page.click(".job-panel a:has-text('Browse')");
    await page.waitForSelector(".tile img.loaded");
  },
  { server: { indexed: false } },
);

journey("an update is watched, left, found again and stopped", "#/photos/update", async (page, server) => {
  server.jobs.waitBefore = 6;
  await page.click("button:has-text('Update now')");
  await page.waitForSelector(".job-numbers:has-text('of')");
  await page.click("nav a[href$='/browse']");
  await page.waitForSelector(".tile");
  await page.click(".bar .job");
  await page.waitForSelector("progress");
  await page.click("button:has-text('Stop')");
  await page.waitForSelector("h2:has-text('Stopped')");
  await page.waitForSelector("button:has-text('Update again')");
});

journey(
  "a server that goes away is noticed",
  "#/photos/update",
  async (page, server) => {
    await page.click("button:has-text('Update now')");
    await page.waitForSelector("progress");
    server.jobs.jobs.length = 0; // as after a restart: the job is not known any more
    for (const connection of server.connections) connection.destroy();
    await page.waitForSelector(".state.bad");
    assert.match(await page.innerText(".state.bad"), /The server went away/);
    await page.click("button:has-text('Try again')");
    await page.waitForSelector("button:has-text('Update now')");
  },
  { server: { step: 1000 }, expected: /ERR_|404|Failed to load/ },
);

journey(
  "with a key that may only read no update can be started",
  "#/photos/update",
  async (page) => {
    await page.waitForSelector(".note:has-text('may only read')");
    assert.equal(await page.locator(".job-panel button").count(), 0);
  },
  { server: { access: "read" } },
);

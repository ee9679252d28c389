import assert from "node:assert/strict";
import { focusIsIn, journey, texts, until } from "./journey.js";

journey(
  "100,000 pictures: a window of elements, and every place within reach",
  "#/photos/browse",
  async (page, server) => {
    await page.waitForSelector(".tile img.loaded");
    const total = server.libraries[0].pictures.length;
    const shown = () => page.locator(".tile").count();
    assert.ok((await shown()) < 200, `${await shown()} tiles`);
    await page.locator(".tile").first().focus();
    await page.keyboard.press("Control+End");
    await focusIsIn(page, `.tile[data-place='${total - 1}']`);
    const last = server.libraries[0].pictures[total - 1].name;
    await page.waitForFunction((name) => document.activeElement?.querySelector("img")?.alt === name, last);
    assert.ok((await shown()) < 200, `${await shown()} tiles at the end`);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
    await page.waitForFunction((count) => {
      const tile = [...document.querySelectorAll("a.tile[href]")].find((one) => one.getBoundingClientRect().top > 100);
      return tile && Math.abs(Number(/** @type {HTMLElement} */ (tile).dataset.place) - count / 2) < 300;
    }, total);
    assert.ok(server.asked("/pictures?") < 12, `${server.asked("/pictures?")} requests for lists`);
    await page.keyboard.press("Control+Home");
    await focusIsIn(page, ".tile[data-place='0']");
    await page.keyboard.press("PageDown");
    await until(page, "scrollY > 0");
  },
  { server: { count: 100_000, duplicates: 0 } },
);

journey("folders lead down and back up, and their names are text", "#/photos/browse", async (page) => {
  await page.waitForSelector(".folder");
  const names = await texts(page, ".folder span:not(.count)");
  assert.ok(names.includes("2019") && names.includes("backup"), names.join());
  await page.click(".folder:has-text('2019')");
  await page.waitForSelector(".crumbs a[aria-current]");
  const inside = await texts(page, ".folder span:not(.count)");
  assert.ok(
    inside.some((name) => name === "Lisbon <b>at night<b>"),
    inside.join(),
  );
  await page.click(".folder:has-text('Lisbon')");
  await until(page, "document.querySelectorAll('.crumbs a').length === 3");
  await focusIsIn(page, ".folders");
  assert.match(page.url(), /folder=2019%2FLisbon/);
  assert.equal(await page.locator(".folders b").count(), 0);
  await page.goBack();
  await until(page, "document.querySelectorAll('.crumbs a').length === 2");
  await page.click(".crumbs a >> nth=0");
  await until(page, "document.querySelectorAll('.crumbs a').length === 0");
});

journey("typing narrows, by path", "#/photos/browse", async (page) => {
  await page.waitForSelector(".tile");
  await page.fill("input[type=search]", "img_0000");
  await until(page, "location.hash.includes('path=img_0000')");
  await until(
    page,
    "[...document.querySelectorAll('.tile img')].length > 0 && [...document.querySelectorAll('.tile img')].every((i) => i.alt.startsWith('IMG_0000'))",
  );
  assert.equal(await page.inputValue("input[type=search]"), "img_0000");
  await focusIsIn(page, "input[type=search]");
});

journey("by date, with months to go to", "#/photos/browse", async (page) => {
  await page.waitForSelector(".tile");
  await page.click(".segments a:has-text('By date')");
  await page.waitForSelector(".grid-heading");
  await focusIsIn(page, ".segments a:nth-child(2)");
  assert.match(await page.innerText(".grid-heading >> nth=0"), /^[A-Z][a-z]+ 20\d\d$/);
  const months = await page.locator("select[aria-label='Go to a month'] option").allInnerTexts();
  await page.selectOption("select[aria-label='Go to a month']", { index: months.length - 1 });
  await until(page, "scrollY > 500");
  const name = months[months.length - 1].replace(/ \(.*/, "");
  await page.waitForSelector(`.grid-heading:has-text('${name}')`);
});

journey("a picture, its neighbours, and back to where one was", "#/photos/browse", async (page) => {
  await page.waitForSelector(".tile img.loaded");
  await page.evaluate(() => scrollTo(0, 900));
  await until(page, "history.state?.top >= 900");
  const place = await page.evaluate(() => {
    const tile = [...document.querySelectorAll("a.tile[href]")].find((one) => one.getBoundingClientRect().top > 200);
    /** @type {HTMLElement} */ (tile).click();
    return Number(/** @type {HTMLElement} */ (tile).dataset.place);
  });
  await page.waitForSelector("dialog[open] zoom-picture img");
  assert.match(page.url(), new RegExp(`at=${place}`));
  const first = await page.innerText(".viewer h2");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((name) => document.querySelector(".viewer h2")?.textContent !== name, first);
  await page.keyboard.press("+");
  await until(page, "document.querySelector('zoom-picture img').style.transform.includes('scale(1.4)')");
  await page.keyboard.press("0");
  await page.mouse.move(400, 400);
  await page.mouse.wheel(0, -100);
  await until(page, "Math.abs(document.querySelector('zoom-picture').zoom.scale - Math.exp(0.22)) < 0.01");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog[open]", { state: "detached" });
  await focusIsIn(page, `.tile[data-place='${place + 1}']`);
  assert.ok((await page.evaluate(() => scrollY)) >= 600);
  await page.click("nav a[href$='/update']");
  await page.waitForSelector("update-view");
  await page.goBack();
  await until(page, "document.querySelector('browse-view') && scrollY >= 600");
});

journey("pictures that failed say why", "#/photos/browse", async (page) => {
  await page.click("a:has-text('3 failed')");
  // Among all pictures there is one too, until the list is another.
  await until(page, "document.querySelectorAll('.tile-note.failed').length === 3");
  assert.match(await page.innerText(".tile-note >> nth=0"), /cut off after 4,096 bytes/);
  await page.click("a:has-text('All pictures')");
  await page.waitForSelector(".tile img.loaded");
});

journey(
  "a server that is busy can be asked again",
  "#/photos/update",
  async (page, server) => {
    server.failing = "/pictures";
    await page.click("nav a[href$='/browse']");
    await page.waitForSelector(".state.bad");
    assert.match(await page.innerText(".state.bad"), /too much to do/);
    server.failing = null;
    await page.click("button:has-text('Try again')");
    await page.waitForSelector(".tile img.loaded");
  },
  { expected: /503/ },
);

journey("a library with an unknown name offers those that are there", "#/nowhere/browse", async (page) => {
  await page.waitForSelector(".state");
  assert.match(await page.innerText(".state h1"), /no library “nowhere”/);
  await page.click(".state a:has-text('photos')");
  await page.waitForSelector(".tile img.loaded");
});

journey(
  "a key opens the page, a wrong one does not",
  "#/photos/browse",
  async (page) => {
    await page.fill("input[type=password]", "guess");
    await page.keyboard.press("Enter");
    await until(page, "document.querySelector('.key-form + p').textContent.includes('not known')");
    await page.fill("input[type=password]", "secret");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".tile img.loaded");
  },
  { server: { key: "secret" }, expected: /401/ },
);

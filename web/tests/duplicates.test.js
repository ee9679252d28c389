import assert from "node:assert/strict";
import { focusIsIn, journey, texts, until } from "./journey.js";

/** @typedef {import("playwright-core").Page} Page */

const changes = { server: { allowChanges: true } };

/** The number of groups that the page says are left. @param {Page} page */
const groupsLeft = async (page) => Number((await page.innerText(".segments a >> nth=0")).match(/\d+/)?.[0]);

/** @param {Page} page @param {number} count */
const untilLeft = (page, count) =>
  until(page, `document.querySelector('.segments a .count')?.textContent === '${count}'`);

journey(
  "a group is decided and the decision undone",
  "#/photos/duplicates",
  async (page, server) => {
    await page.waitForSelector("duplicate-card");
    const before = await groupsLeft(page);
    const name = await page.getAttribute("duplicate-card >> nth=0", "aria-label");
    await page.click("duplicate-card >> nth=0 >> .keep-button");
    await page.waitForSelector(".notice:has-text('moved to the trash folder')");
    await untilLeft(page, before - 1);
    assert.notEqual(await page.getAttribute("duplicate-card >> nth=0", "aria-label"), name);
    await focusIsIn(page, "duplicate-card");
    assert.equal(server.libraries[0].decided.length, 1);
    await page.click(".notice button:has-text('Undo')");
    await untilLeft(page, before);
    assert.equal(await page.getAttribute("duplicate-card >> nth=0", "aria-label"), name);
    assert.ok(server.libraries[0].decided[0].decision.undone);
  },
  changes,
);

journey(
  "another copy is chosen, and more than one may be kept",
  "#/photos/duplicates",
  async (page, server) => {
    const card = page.locator("duplicate-card:has(li:nth-child(3)) >> nth=0");
    await card.locator(".copy-choice >> nth=1").click();
    assert.equal(await card.locator(".copy-choice[aria-pressed=true]").count(), 2);
    assert.equal(await card.locator(".keep-button").innerText(), "Keep the 2 chosen");
    await card.locator(".copy-choice >> nth=0").click();
    await card.locator(".keep-button").click();
    await page.waitForSelector(".notice");
    const { decision } = server.libraries[0].decided[0];
    const group = server.libraries[0].groups.find(({ members }) =>
      members.some(({ picture }) => picture.id === decision.kept[0]),
    );
    assert.deepEqual(decision.kept, [group?.members[1].picture.id]);
    assert.ok(decision.gone.includes(group?.keep ?? 0));
  },
  changes,
);

journey(
  "groups are compared and decided with the keyboard alone",
  "#/photos/duplicates",
  async (page, server) => {
    await page.waitForSelector("duplicate-card");
    const before = await groupsLeft(page);
    await page.locator("duplicate-card >> nth=0 >> .compare-link").focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open] .compare");
    const title = () => page.innerText(".compare h2");
    assert.match(await title(), new RegExp(`Group 1 of ${before}`));
    const sides = () => texts(page, ".compare-name b");
    const shown = await sides();
    await page.keyboard.press("x");
    assert.deepEqual(await sides(), [...shown].reverse());
    await page.keyboard.press("s"); // the pictures stay, the roles change
    assert.deepEqual(await sides(), [...shown].reverse());
    assert.deepEqual(await texts(page, ".compare figcaption .badge"), ["Keep", "Copy"]);
    await page.keyboard.press("s");
    await page.keyboard.press("f");
    assert.equal(await page.locator(".compare figure:visible").count(), 1);
    await page.keyboard.press("f");
    await page.keyboard.press("k");
    await until(page, `document.querySelector('.compare h2').textContent.includes('1 of ${before - 1}')`);
    await page.keyboard.press("n");
    await until(page, `document.querySelector('.compare h2').textContent.includes('1 of ${before - 2}')`);
    assert.deepEqual(
      server.libraries[0].decided.map(({ decision }) => decision.action),
      ["keep", "not_duplicates"],
    );
    await page.keyboard.press("u");
    await until(page, `document.querySelector('.compare h2').textContent.includes('1 of ${before - 1}')`);
    await page.keyboard.press("u");
    await until(page, `document.querySelector('.compare h2').textContent.includes('1 of ${before}')`);
    assert.deepEqual(await sides(), shown);
    await page.keyboard.press("ArrowDown");
    await until(page, `document.querySelector('.compare h2').textContent.includes('2 of ${before}')`);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    await focusIsIn(page, "duplicate-card");
    assert.doesNotMatch(page.url(), /group=/);
  },
  changes,
);

journey("two copies are zoomed together", "#/photos/duplicates?group=g0", async (page) => {
  await page.waitForSelector(".compare zoom-picture img");
  const box = await page.locator("zoom-picture >> nth=0").boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 100, box.y + 100);
  await page.mouse.wheel(0, -400);
  await until(page, "document.querySelector('zoom-picture img').style.transform.includes('scale(2')");
  const [left, right] = await page
    .locator("zoom-picture img")
    .evaluateAll((images) => images.map((image) => image.style.transform));
  assert.equal(left, right);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 80, { steps: 3 });
  await page.mouse.up();
  const [movedLeft, movedRight] = await page
    .locator("zoom-picture img")
    .evaluateAll((images) => images.map((image) => image.style.transform));
  assert.notEqual(movedLeft, left);
  assert.equal(movedLeft, movedRight);
});

journey(
  "all exact groups at once, after a summary; decided, and undone",
  "#/photos/duplicates",
  async (page, server) => {
    await page.waitForSelector(".decide-all");
    const before = await groupsLeft(page);
    const exact = server.libraries[0].groups.filter(({ kind }) => kind === "exact");
    await page.click(".decide-all");
    await page.waitForSelector("dialog[open]");
    const copies = exact.reduce((sum, { members }) => sum + members.length - 1, 0);
    assert.match(await page.innerText("dialog[open]"), new RegExp(`${exact.length} groups[^]*${copies} copies`));
    await page.click("dialog[open] button:has-text('Cancel')");
    assert.equal(server.libraries[0].decided.length, 0);
    await page.click(".decide-all");
    await page.click("dialog[open] .primary");
    await untilLeft(page, before - exact.length);
    await page.click(".segments a:has-text('Decided')");
    await page.waitForSelector(".decided li");
    assert.match(await page.innerText(".decided li"), new RegExp(`${copies} copies of ${exact.length} groups moved`));
    await page.click(".decided button:has-text('Undo')");
    await page.waitForSelector(".decided .undone");
    await untilLeft(page, before);
  },
  changes,
);

journey("a kind and a rule are chosen, and are in the link", "#/photos/duplicates", async (page) => {
  await page.waitForSelector("duplicate-card");
  await page.click(".segments a:has-text('Edited')");
  await until(
    page,
    "[...document.querySelectorAll('duplicate-card .card-head .badge')].every((b) => b.textContent === 'Edited')",
  );
  await focusIsIn(page, ".segments a:nth-child(3)");
  await page.selectOption("select >> nth=0", "oldest");
  await page.waitForSelector(".copy-reason:has-text('oldest')");
  assert.match(page.url(), /kind=edited&rule=oldest$/);
  await page.goBack();
  await page.waitForSelector(".copy-reason:has-text('most pixels')");
});

journey("a server that moves no files offers the script", "#/photos/duplicates", async (page) => {
  await page.waitForSelector("duplicate-card");
  const script = page.waitForEvent("download");
  await page.click("duplicate-card >> nth=0 >> .keep-button");
  await page.waitForSelector(".notice:has-text('noted for the script')");
  await page.click("a:has-text('Get the script')");
  assert.equal((await script).suggestedFilename(), "photos-duplicates.sh");
});

journey(
  "with a key that may only read nothing can be decided",
  "#/photos/duplicates",
  async (page) => {
    await page.waitForSelector("duplicate-card");
    assert.match(await page.innerText(".note"), /may only read/);
    assert.equal(await page.locator(".keep-button, .decide-all").count(), 0);
    await page.click("duplicate-card >> nth=0 >> .compare-link");
    await page.waitForSelector("dialog[open] .compare");
    assert.equal(await page.locator(".compare-tools .primary").count(), 0);
  },
  { server: { access: "read" } },
);

journey(
  "more groups come as one scrolls",
  "#/photos/duplicates",
  async (page) => {
    await page.waitForSelector("duplicate-card");
    assert.equal(await page.locator("duplicate-card").count(), 30);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await until(page, "document.querySelectorAll('duplicate-card').length > 30");
  },
  { server: { duplicates: 80, count: 400 } },
);

import assert from "node:assert/strict";
import { focusIsIn, journey, texts, until } from "./journey.js";

/** @typedef {import("playwright-core").Page} Page */

// A chequered picture, 24 × 16.
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAAAfklEQVR42u3SkRaDAACG0T1ONBp1foiiUdT5YBSNoiiKoiiKomi0p/geay8x6vQCl+4tFOEeHqGUSmp5ShPa8ApdeEsvg4wyhTksYQ2b7HLIR763E0NSyF0eUoYq1OEZGmnlJZ28Qx+GMIZJZllklS3s4QifnBu6Hl2P/gD9ACP/7ZCttSIVAAAAAElFTkSuQmCC",
  "base64",
);

/** @param {Page} page @param {string} name @param {Buffer} bytes */
async function choose(page, name, bytes) {
  const dialog = page.waitForEvent("filechooser");
  await page.click(".drop-zone");
  await (await dialog).setFiles({ name, mimeType: "image/png", buffer: bytes });
}

/** Lets a file fall onto the page, or pastes it. @param {Page} page @param {"drop" | "paste"} kind */
const bring = (page, kind) =>
  page.evaluate(
    ([bytes, event]) => {
      const data = new DataTransfer();
      data.items.add(
        new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], "one.png", { type: "image/png" }),
      );
      const options = { bubbles: true, cancelable: true };
      dispatchEvent(
        event === "drop"
          ? new DragEvent("drop", { ...options, dataTransfer: data })
          : new ClipboardEvent("paste", { ...options, clipboardData: data }),
      );
    },
    [png.toString("base64"), kind],
  );

journey("a chosen picture is searched for, and is still there after a reload", "#/", async (page) => {
  await choose(page, "query.png", png);
  await page.waitForSelector("query-panel canvas");
  await page.waitForSelector(".results .tile img.loaded");
  assert.match(await page.innerText(".query-name"), /query\.png · \d+ bytes/);
  assert.match(page.url(), /#\/photos\/search\?upload=[0-9a-f]{16}$/);
  await page.reload();
  await page.waitForSelector("query-panel canvas");
  await page.goBack();
  await page.waitForSelector(".drop-zone");
});

journey("a picture can be dropped and pasted in any view", "#/photos/update", async (page) => {
  await page.waitForSelector(".job-panel button");
  await bring(page, "drop");
  await page.waitForSelector("query-panel canvas");
  const dropped = page.url();
  await page.click("nav a[href$='/duplicates']");
  await page.waitForSelector("duplicate-card");
  await bring(page, "paste");
  await page.waitForSelector("query-panel canvas");
  assert.notEqual(page.url(), dropped);
});

journey(
  "the slider chooses among the results, and its place is in the link",
  "#/photos/search?picture=5",
  async (page) => {
    await page.waitForSelector(".results .tile");
    const all = Number((await page.innerText(".results > p")).split(" ")[0]);
    await page.focus("#alike");
    for (let press = 0; press < 16; press++) await page.keyboard.press("ArrowLeft");
    assert.match(page.url(), /alike=8$/);
    const [fewer] = (await page.innerText(".results > p")).split(" ");
    assert.ok(Number(fewer) < all, `${fewer} of ${all}`);
    assert.deepEqual(await texts(page, ".grid-heading"), ["Nearly identical", "Very alike"]);
    const value = await page.getAttribute("#alike", "aria-valuetext");
    assert.match(value ?? "", /^Very alike, at most 8 bits of 64: /);
    await page.reload();
    await page.waitForSelector(".results .tile");
    assert.equal(await page.inputValue("#alike"), "8");
    await page.fill("#alike", "0");
    await page.fill("#alike", "32");
  },
);

journey("more like this, back and forward, with the keyboard alone", "#/", async (page) => {
  await page.waitForSelector(".start-strip .tile");
  await page.locator(".drop-zone").focus();
  await page.keyboard.press("Tab");
  await focusIsIn(page, ".tile[data-place='0']");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await focusIsIn(page, ".tile[data-place='2']");
  await page.keyboard.press("m");
  await page.waitForSelector(".query-picture img");
  await page.waitForSelector(".results .tile");
  const first = await page.innerText(".query-name");
  await page.locator(".results .tile[data-place='0']").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open] .viewer");
  assert.match(await page.innerText(".viewer-facts"), /bits (differ|agree)/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog[open]", { state: "detached" });
  await focusIsIn(page, ".tile[data-place='1']");
  await page.keyboard.press("m");
  await page.waitForFunction((before) => document.querySelector(".query-name")?.textContent !== before, first);
  await page.goBack();
  await page.waitForFunction((before) => document.querySelector(".query-name")?.textContent === before, first);
  await page.goForward();
  await page.waitForFunction((before) => document.querySelector(".query-name")?.textContent !== before, first);
});

journey(
  "a part of the picture is searched for, with the mouse and with keys",
  "#/photos/search?picture=9",
  async (page, server) => {
    await page.waitForSelector(".results .tile");
    const before = (await texts(page, ".results .caption b")).join();
    const area = await page.locator("crop-box").boundingBox();
    assert.ok(area);
    await page.mouse.move(area.x + area.width * 0.25, area.y + area.height * 0.25);
    await page.mouse.down();
    await page.mouse.move(area.x + area.width * 0.75, area.y + area.height * 0.5, { steps: 4 });
    await page.mouse.up();
    await until(page, "location.hash.includes('box=')");
    assert.match(decodeURIComponent(page.url()), /box=0\.2\d*,0\.2\d*,0\.(5|49)\d*,0\.2\d*/);
    await page.waitForFunction(
      (was) => [...document.querySelectorAll(".results .caption b")].map((b) => b.textContent).join() !== was,
      before,
    );
    assert.ok(server.lastBox?.startsWith("0.2"), String(server.lastBox)); // asked after the address has changed
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForFunction((was) => location.href !== was, page.url());
    await page.keyboard.press("Escape");
    await until(page, "!location.hash.includes('box=')");
    assert.ok(await page.isHidden(".crop-frame"));
  },
);

journey(
  "what is no picture is refused in words, and one can go on",
  "#/",
  async (page) => {
    await choose(page, "notes.png", Buffer.from("these are notes"));
    await page.waitForSelector(".state.bad");
    assert.match(await page.innerText(".state.bad"), /this is no picture in a format that is read/);
    await page.click(".state .actions a");
    await page.waitForSelector(".drop-zone");
  },
  { expected: /422/ },
);

journey(
  "a link to a picture of another browser says what to do",
  "#/photos/search?upload=0123456789abcdef",
  async (page) => {
    await page.waitForSelector(".state");
    assert.match(await page.innerText(".state"), /Drop it once more/);
  },
);

journey(
  "a link to a picture that is gone says so",
  "#/photos/search?picture=4711",
  async (page) => {
    await page.waitForSelector(".state.bad");
    assert.match(await page.innerText(".state.bad"), /there is no picture 4711/);
  },
  { expected: /404/ },
);

// Drives the pages of findings in a real browser: node pages.mjs PAGE...
// Needs the package playwright-core and a Chromium; `.ci/browser` sees to both and makes the pages.
import { chromium } from "playwright-core";
import assert from "node:assert/strict";
import { basename, resolve } from "node:path";

const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => request.url().startsWith("file:") || trouble.push(`asks for ${request.url()}`));
  await page.goto(`file://${resolve(path)}`);
  return { page, trouble, done: () => context.close() };
}

const chosen = (page) => page.locator("#diagram .row.chosen .number").textContent();
let withNearest = 0;

async function check(path) {
  const { page, trouble, done } = await open(path);
  const total = await page.locator("#list ol > li").count();
  assert.ok(total > 0, "steps are listed");
  assert.match(await page.locator("h1").textContent(), /^bug\[[a-z-]+\] ./);

  // Only what is in the window is drawn, whatever the number of steps.
  const rows = await page.locator("#diagram .row").count();
  assert.ok(rows > 0 && rows < 120, `${rows} rows are drawn`);
  assert.ok((await page.locator("#diagram svg circle").count()) > 0, "nodes are drawn");
  assert.equal(Number(await chosen(page)), total, "the last step is chosen first");
  assert.match(await page.locator(".panel h2").textContent(), new RegExp(`^Step ${total} of ${total}: `));

  // Keys go from step to step, and a click chooses.
  await page.keyboard.press("Home");
  assert.equal(Number(await chosen(page)), 1);
  await page.keyboard.press("ArrowDown");
  const second = Number(await chosen(page));
  assert.ok(total === 1 || second > 1, "the next step is chosen");
  await page.locator("#diagram .row[data-step]").first().click();
  assert.equal(Number(await chosen(page)), 1);

  // Causes and effects: the rest is dimmed.
  await page.keyboard.press("c");
  assert.equal(await page.locator("#causes").getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".row.dim").count(), 0);

  // What did not lead to the bug can be shown and left out.
  const only = page.locator("#only");
  if (!(await only.isDisabled())) {
    const inPast = Number((await only.textContent()).match(/\((\d+) of/)[1]);
    assert.equal(await page.locator("#list li.outside").count(), total - inPast);
    await only.click();
    assert.equal(await page.locator("#diagram .row.gap").count(), 0, "every step has a row");
    await only.click();
  }

  // The search counts what the list has.
  const name = await page.locator("#list ol > li b").first().textContent();
  await page.keyboard.press("/");
  await page.keyboard.type(name);
  const hits = (await page.locator("#list ol > li").allTextContents()).filter((text) => text.toLowerCase().includes(name.toLowerCase()));
  assert.equal(await page.locator(".tools .hint").first().textContent(), `${hits.length} found`);
  await page.keyboard.press("Enter");
  await page.locator(".row.hit").first().waitFor();

  // Only hits, and only steps of one worker: in the diagram and in the list.
  const inList = () => page.locator("#list ol > li:not([hidden])").count();
  await page.locator("#hits").click();
  assert.equal(await inList(), hits.length, "only hits are listed");
  await page.locator("#hits").click();
  assert.equal(await inList(), total);
  const worker = (await page.locator("#who option").allTextContents()).at(-1);
  await page.locator("#who").selectOption({ label: worker });
  const names = await page.locator("#list ol > li b").allTextContents();
  assert.equal(await inList(), names.filter((name) => name === worker).length, `only steps of ${worker}`);
  const drawn = await page.locator("#diagram .row[data-step] b").allTextContents();
  assert.ok(drawn.every((name) => name === worker), `${drawn} and not only ${worker}`);
  await page.locator("#who").selectOption("");
  assert.equal(await inList(), total);

  // A loop can be gone round once more.
  const again = page.locator("button", { hasText: "go round once more" });
  if (await page.locator("#loop").count()) {
    await page.locator("#diagram .scroll").evaluate((scroll) => (scroll.scrollTop = scroll.scrollHeight));
    await again.click();
    await page.locator(".row", { hasText: "round 2" }).waitFor();
  }

  // The nearest schedule that does not fail has a diagram of its own, at its first difference.
  const nearest = page.locator("#nearest");
  if (await nearest.count()) {
    const sentence = await nearest.locator(".otherwise").textContent();
    assert.match(sentence, /^Had .*\.$/s);
    assert.equal(await page.locator("header a[href='#nearest']").textContent(), sentence);
    await page.locator("header a[href='#nearest']").click();
    assert.ok((await nearest.locator(".row").count()) > 0, "its steps are drawn");
    assert.equal(await nearest.locator(".row.last").count(), 0, "none of its steps is a bug");
    const marked = nearest.locator(".row.difference");
    assert.equal(await marked.count(), 1, "the first difference is marked");
    const step = Number(await marked.locator(".number").textContent());
    await marked.click();
    assert.equal(Number(await nearest.locator(".row.chosen .number").textContent()), step);
    withNearest += 1;
  }

  await page.locator("button", { hasText: "List" }).click();
  await page.locator("#list").waitFor();
  await page.locator("#diagram").waitFor({ state: "hidden" });
  assert.deepEqual(trouble, [], "the browser has nothing to complain about");
  await done();

  // Without JavaScript the list is there, and in the dark too.
  const plain = await open(path, { javaScriptEnabled: false, colorScheme: "dark" });
  await plain.page.locator("#list ol > li").first().waitFor();
  await plain.page.locator(".command").first().waitFor();
  if (await plain.page.locator("#nearest").count()) {
    await plain.page.locator("#nearest .otherwise").waitFor();
    await plain.page.locator("#nearest summary").click();
    await plain.page.locator("#nearest ol > li").first().waitFor();
  }
  await plain.done();
  return total;
}

async function loaded(path) {
  const { page, done } = await open(path);
  const ready = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domComplete);
  await done();
  return ready;
}

async function time(path) {
  // The best of three, and twice what it may take: a busy machine is no fault of the page.
  const ready = Math.min(await loaded(path), await loaded(path), await loaded(path));
  assert.ok(ready < 2000, `loaded in ${Math.round(ready)} ms`);
  const { page, done } = await open(path);
  const scrolled = await page.evaluate(async () => {
    const scroll = document.querySelector(".scroll");
    const start = performance.now();
    for (let frame = 0; frame < 60; frame++) {
      scroll.scrollTop = (scroll.scrollHeight * frame) / 60;
      await new Promise(requestAnimationFrame);
    }
    return (performance.now() - start) / 60;
  });
  await done();
  return `loaded in ${Math.round(ready)} ms, ${scrolled.toFixed(1)} ms a frame while scrolling`;
}

const pages = process.argv.slice(2);
let failed = 0;
for (const path of pages) {
  try {
    const steps = await check(path);
    console.log(`ok    ${basename(path)}: ${steps} steps, ${await time(path)}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${basename(path)}: ${error.message}`);
  }
}
await browser.close();
console.log(`${pages.length - failed} passed, ${failed} failed; ${withNearest} show the nearest schedule that passes`);
process.exit(failed || pages.length === 0 ? 1 : 0);

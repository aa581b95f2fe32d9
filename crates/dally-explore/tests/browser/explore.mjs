// Drives the page of `dally explore` in a real browser: node explore.mjs URL [SCREENSHOT]
// The page is of raft-v1 with the bug duplicate-votes; `.ci/browser` sees to all that is needed.
import { chromium } from "playwright-core";
import assert from "node:assert/strict";

const [url, screenshot] = process.argv.slice(2);
const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

async function open() {
  const context = await browser.newContext({ viewport: { width: 1400, height: 950 } });
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  await page.goto(url);
  await page.locator(".choice").first().waitFor();
  return { page, trouble };
}

const where = (page) => page.locator("#where").textContent();
const at = async (page) => (await where(page)).match(/^after (\d+) of (\d+)/).slice(1).map(Number);
async function settled(page, steps, of = steps) {
  await page.waitForFunction(([steps, of]) => document.getElementById("where").textContent.startsWith(`after ${steps} of ${of} `), [steps, of], { timeout: 60000 });
}
async function idle(page) {
  await page.waitForFunction(() => !document.body.hasAttribute("aria-busy"), null, { timeout: 120000 });
}

const { page, trouble } = await open();
await settled(page, 0);
assert.equal(await page.locator("h1").textContent(), "raft-v1");

// Steps by a click and by a key, and back.
await page.locator(".choice").first().click();
await settled(page, 1);
await page.keyboard.press("Escape");
await page.locator("h1").click();
await page.keyboard.press("1");
await settled(page, 2);
assert.equal(await page.locator(".row[data-step]").count(), 2, "the path is drawn");
await page.locator("#back").click();
await settled(page, 1, 2);
await page.locator("#forward").click();
await settled(page, 2);

// A mark, a run of a strategy, a comparison, and back to the mark.
await page.locator("#name").fill("begin");
await page.locator("#mark button").click();
await page.locator("#marks button", { hasText: "begin" }).waitFor();
await page.locator("#run button").click();
await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("random took"));
const [run] = await at(page);
assert.ok(run > 10, `${run} steps`);
await page.locator("#marks button", { hasText: "≠" }).click();
await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("from `begin`"));
await page.locator("#marks button", { hasText: "begin" }).click();
await settled(page, 2);

// A map is drawn, and a click on one of its states goes there.
await page.locator("#map-of button").click();
await page.locator("#map circle").nth(1).waitFor();
assert.ok((await page.locator("#map circle").count()) > 3);
assert.ok((await page.locator("#map path").count()) >= (await page.locator("#map circle").count()) - 1);
if (screenshot) await page.screenshot({ path: screenshot.replace(".png", "-map.png") });
await page.locator("#map circle").nth(1).click();
await settled(page, 3);

// Another tab has a session of its own.
const other = await open();
await settled(other.page, 0);
assert.deepEqual(await at(page), [3, 3]);

// A wrong condition is told, a right one is found, and so is the bug; its schedule can be saved.
await page.locator("#until").fill("Server in");
await page.locator("#search button").click();
await page.locator("#said.error").waitFor();
assert.match(await page.locator("#said").textContent(), /the condition cannot be read: character 10/);
await page.locator("#until").fill("Server in Leader");
await page.locator("#search button").click();
await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("found a state"), null, { timeout: 120000 });
assert.match(await page.locator("#state").textContent(), /in Leader/);
await idle(page);
await page.locator("#until").fill("");
await page.locator("#by").fill("random");
await page.locator("#search button").click();
await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("found a bug"), null, { timeout: 120000 });
assert.match(await page.locator("#choices h2").textContent(), /^bug\[[a-z]+\]: /);
if (screenshot) await page.screenshot({ path: screenshot });
const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
assert.equal(download.suggestedFilename(), "explored.schedule");
await download.saveAs("explored.schedule");

// The saved schedule is opened in the other tab, and its path left in the middle.
await other.page.locator("#open").setInputFiles("explored.schedule");
await other.page.waitForFunction(() => !document.getElementById("where").textContent.startsWith("after 0 "));
const [length] = await at(other.page);
assert.deepEqual(await at(page), [length, length]);
await other.page.locator(".row[data-step]").first().scrollIntoViewIfNeeded();
await other.page.locator("#start").click();
await settled(other.page, 0, length);
await other.page.locator(".choice").first().click();
await settled(other.page, 1, length);

assert.deepEqual([...trouble, ...other.trouble], []);
await browser.close();
console.log("the page of dally explore: passed");

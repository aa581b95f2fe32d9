// Drives the page of a campaign that is under way in a real browser: node campaign.mjs URL [SCREENSHOT]
// `.ci/browser` sees to all that is needed; the campaign has two programs under two strategies.
import { chromium } from "playwright-core";
import assert from "node:assert/strict";

const [url, screenshot] = process.argv.slice(2);
const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";

// No wait is longer than this, and whatever hangs elsewhere, the whole ends.
const LONGEST = 15000;
const ALL = 45000;
let doing = "starting the browser";
setTimeout(() => {
  console.error(`the page of a campaign: FAIL  not done within ${ALL} ms, at: ${doing}`);
  process.exit(1);
}, ALL).unref();

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], timeout: 20000 });
const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
context.setDefaultTimeout(LONGEST);
const page = await context.newPage();
const trouble = [];
page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
page.on("pageerror", (error) => trouble.push(String(error)));

const schedules = async () => Number((await page.locator("#sum").textContent()).match(/([\d,]+) schedules/)[1].replaceAll(",", ""));

const tests = {
  async "every cell has a row, and one of them is under way"() {
    await page.goto(url);
    await page.locator("#cells tr").nth(3).waitFor();
    assert.equal(await page.locator("#cells tr").count(), 4);
    assert.equal(await page.locator("#cells tr.now").count(), 1);
  },

  async "figures grow while somebody watches"() {
    const grown = ([id, before]) => Number(document.getElementById(id).textContent.match(/([\d,]+) schedules/)[1].replaceAll(",", "")) > before;
    await page.waitForFunction(grown, ["sum", await schedules()]);
    await page.locator("td.bugs").first().waitFor();
    if (screenshot) await page.screenshot({ path: screenshot });
  },

  async "the report has charts and what was found"() {
    await page.locator("a", { hasText: "The report" }).click();
    await page.locator("svg").first().waitFor();
    assert.ok((await page.locator("svg").count()) >= 3, "a chart of survival, and one for each program");
    assert.match(await page.locator("body").textContent(), /first seen in run 1/);
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("th")).textAlign), "left", "its style holds");
    if (screenshot) await page.screenshot({ path: screenshot.replace(".png", "-report.png"), fullPage: true });
  },
};

let failed = 0;
try {
  for (const [name, test] of Object.entries(tests)) {
    doing = name;
    await test();
    console.log(`ok    ${name}`);
  }
  assert.deepEqual(trouble, [], "the browser has nothing to complain about");
} catch (error) {
  failed = 1;
  console.error(`FAIL  ${doing}: ${error.message}`);
}
doing = "closing the browser";
await browser.close();
console.log(`the page of a campaign: ${failed ? "FAIL" : "passed"}`);
process.exit(failed);

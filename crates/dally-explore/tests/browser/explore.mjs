// Drives the page of `dally explore` in a real browser: node explore.mjs URL [SCREENSHOT]
// The page is of two-phase-commit with the bug vote-before-persist; `.ci/browser` sees to all that is needed.
import { chromium } from "playwright-core";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const [url, screenshot] = process.argv.slice(2);
const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";

// No wait is longer than this, and whatever hangs elsewhere, the whole ends.
const LONGEST = 8000;
const ALL = 45000;
setTimeout(() => {
  console.error(`the page of dally explore: FAIL  not done within ${ALL} ms, at: ${doing}`);
  process.exit(1);
}, ALL).unref();
let doing = "starting the browser";

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], timeout: 20000 });

async function open() {
  const context = await browser.newContext({ viewport: { width: 1400, height: 950 } });
  context.setDefaultTimeout(LONGEST);
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  await page.goto(url);
  await page.locator(".choice").first().waitFor();
  return { page, trouble };
}

// What the page says once it has answered; a text that is waited for is named if it does not come.
const text = (page, id) => page.locator(`#${id}`).textContent();
const at = async (page) => (await text(page, "where")).match(/^after (\d+) of (\d+)/).slice(1).map(Number);
async function says(page, id, begin) {
  const begins = ([id, begin]) => !document.body.hasAttribute("aria-busy") && document.getElementById(id).textContent.startsWith(begin);
  try {
    await page.waitForFunction(begins, [id, begin]);
  } catch {
    assert.fail(`#${id} should begin with "${begin}", and is "${await text(page, id)}"`);
  }
}
const choice = (page, name) => page.locator(".choice", { has: page.locator("b", { hasText: new RegExp(`^${name}$`) }) });
const settled = (page, steps, of = steps) => says(page, "where", `after ${steps} of ${of} `);

const tests = {
  async "a worker steps by a click and by a key, and the path goes back and forward"(page) {
    await settled(page, 0);
    assert.equal(await text(page, "program"), "two-phase-commit");
    await choice(page, "Client 0").click();
    await settled(page, 1);
    assert.match(await text(page, "state"), /Client 0in Idle/);
    await page.locator("h1").click();
    await page.keyboard.press("2");
    await settled(page, 2);
    assert.equal(await page.locator(".row[data-step]").count(), 2, "the path is drawn");
    await page.locator("#back").click();
    await settled(page, 1, 2);
    await page.locator("#forward").click();
    await settled(page, 2);
  },

  async "a value is chosen"(page) {
    await choice(page, "faults").click();
    await says(page, "choices", "Worker faults asks for one of");
    const values = await page.locator(".choice").count();
    assert.ok(values > 1, `${values} values`);
    await page.locator(".choice").nth(1).click();
    await says(page, "choices", "Who steps?");
    await settled(page, 3);
    assert.match(await text(page, "diagram"), /crash/i);
    await page.locator("#start").click();
    await settled(page, 0, 3);
  },

  async "a strategy takes steps from a mark, the states are compared, and the mark gone back to"(page) {
    await choice(page, "Coordinator 4").click();
    await settled(page, 1);
    await page.locator("#name").fill("begin");
    await page.locator("#mark button").click();
    await page.locator("#marks button", { hasText: "begin" }).waitFor();
    await page.locator("#strategy").fill("random");
    await page.locator("#steps").fill("12");
    await page.locator("#run button").click();
    await says(page, "said", "random took");
    const [run] = await at(page);
    assert.ok(run > 1, `${run} steps`);
    await page.locator("#marks button", { hasText: "≠" }).click();
    await says(page, "said", "from `begin`");
    assert.ok((await text(page, "said")).split("\n").length > 1, "differences are listed");
    await page.locator("#marks button", { hasText: "begin" }).click();
    await settled(page, 1);
  },

  async "the map is drawn, and a click on a state goes there"(page) {
    await page.locator("#map-of button").click();
    await page.locator("#map circle").nth(1).waitFor();
    const circles = await page.locator("#map circle").count();
    assert.ok(circles > 3, `${circles} states`);
    assert.ok((await page.locator("#map path").count()) >= circles - 1);
    if (screenshot) await page.screenshot({ path: screenshot.replace(".png", "-map.png") });
    await page.locator("#map circle[aria-label^='Client 0: ']").first().click();
    await settled(page, 2);
  },

  async "another tab has a session of its own, and neither moves the other"(page, other) {
    await settled(other.page, 0);
    assert.deepEqual(await at(page), [2, 2]);
    // Both ask at the same time, several times.
    for (let step = 1; step <= 3; step++) {
      const click = (page) => choice(page, `Participant ${step}`).click();
      await Promise.all([click(page), click(other.page)]);
      await Promise.all([settled(page, 2 + step), settled(other.page, step)]);
    }
    assert.equal(await other.page.locator("#marks button").count(), 0, "marks are of one tab");
    await page.locator("#start").click();
    await settled(page, 0, 5);
    await settled(other.page, 3);
  },

  async "a wrong condition is told, and a right one found"(page) {
    await page.locator("#by").fill("random");
    await page.locator("#until").fill("Coordinator in");
    await page.locator("#search button").click();
    await says(page, "said", "the condition cannot be read: character 15");
    assert.ok(await page.locator("#said.error").isVisible());
    await page.locator("#until").fill("Coordinator in Idle");
    await page.locator("#search button").click();
    await says(page, "said", "found a state in which it holds");
    assert.match(await text(page, "state"), /Coordinator 4in Idle/);
  },

  async "a bug is found, its schedule saved, opened in the other tab, and its path left"(page, other) {
    await page.locator("#start").click();
    await page.locator("#by").fill("pos");
    await page.locator("#until").fill("");
    await page.locator("#search button").click();
    await says(page, "said", "found a bug");
    assert.match(await page.locator("#choices h2").textContent(), /^bug\[[a-z]+\]: /);
    if (screenshot) await page.screenshot({ path: screenshot });
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
    assert.equal(download.suggestedFilename(), "explored.schedule");
    const schedule = await readFile(await download.path());
    assert.match(String(schedule), /^dally/);
    const file = { name: "explored.schedule", mimeType: "text/plain", buffer: schedule };
    await other.page.locator("#open").setInputFiles(file);
    const [length] = await at(page);
    await settled(other.page, length);
    await other.page.locator("#start").click();
    await settled(other.page, 0, length);
    await choice(other.page, "Participant 3").click();
    await says(other.page, "where", "after 1 of ");
    await settled(page, length);
  },
};

let failed = 0;
try {
  const [first, other] = [await open(), await open()];
  for (const [name, test] of Object.entries(tests)) {
    doing = name;
    await test(first.page, other);
    console.log(`ok    ${name}`);
  }
  assert.deepEqual([...first.trouble, ...other.trouble], [], "the browser has nothing to complain about");
} catch (error) {
  failed = 1;
  console.error(`FAIL  ${doing}: ${error.message}`);
}
doing = "closing the browser";
await browser.close();
console.log(`the page of dally explore: ${failed ? "FAIL" : "passed"}`);
process.exit(failed);

// The list of sessions: sorted and folded by key and by mouse, and the browser remembers it. "Resume
// all" is there only if a session would come back.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Scenario, checkAccess, go, segue, sessionOf, startAgent, waitFor } from "./support.mjs";

const names = (page) => page.locator("main .session-card strong").allTextContents();
const fold = (page, fleet) => page.locator(`main [data-fleet="${fleet}"] .fleet-fold`);
const shows = (page, wanted) => waitFor(async () => String(await names(page)) === String(wanted));

await Scenario.run(async (scenario) => {
  const other = join(process.env.SEGUE_FOLDER, "api");
  mkdirSync(other);
  writeFileSync(join(other, "segue.toml"), '[fleet]\nname = "api"\n[[agents]]\nname = "owl"\nvendor = "demo"\n');
  for (const words of [["trust", "--yes"], ["up"]]) {
    execFileSync(process.env.SEGUE_PROGRAM, words, { cwd: other, stdio: "ignore" });
  }
  for (const name of ["bee", "ant"]) startAgent(name);
  segue("send", "ant", "--wait", "hello");
  segue("stop", "ant");

  const page = await scenario.login();
  await go(page, "/sessions");
  await shows(page, ["owl", "bee", "ant"]);
  const all = page.getByRole("button", { name: "Resume all" });
  assert.equal(await all.count(), 0, "a stopped session comes back only if it is named");
  await page.keyboard.press("R");
  assert.equal(await page.getByRole("dialog").count(), 0);

  // By keys: the order changes, and a notice names it.
  await page.keyboard.press("o");
  await page.getByText("Sorted by name").waitFor();
  await shows(page, ["owl", "ant", "bee"]);
  await page.keyboard.press("o");
  await page.getByText("Sorted newest first").waitFor();
  await shows(page, ["owl", "ant", "bee"]);
  await page.getByLabel("Order of the sessions").selectOption("by name");

  // A folded fleet is one item of the list, and the key unfolds it again.
  await page.locator("main").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("z");
  await shows(page, ["ant", "bee"]);
  assert.equal(await fold(page, "api").getAttribute("aria-expanded"), "false");
  await checkAccess(page, "a folded fleet");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("z");
  await shows(page, ["owl", "ant", "bee"]);
  await fold(page, "default").click();
  await shows(page, ["owl"]);

  // The browser remembers both. A filter looks into folded fleets.
  await page.reload();
  await shows(page, ["owl"]);
  assert.equal(await page.getByLabel("Order of the sessions").inputValue(), "name");
  await page.getByLabel("Filter the sessions").fill("bee");
  await shows(page, ["bee"]);
  await page.getByLabel("Filter the sessions").fill("");
  await page.locator("main").focus();
  await page.keyboard.press("Z");
  await shows(page, []);
  await page.keyboard.press("Z");
  await shows(page, ["owl", "ant", "bee"]);

  // A session that nobody ended on purpose comes back with all others.
  process.kill(sessionOf("bee").pid, "SIGKILL");
  await all.waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("Fold or unfold all fleets").waitFor();
});

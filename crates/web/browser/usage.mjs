// Usage and disk: numbers of today by day, agent and vendor, which grow by events, and a sweep that
// shows what it would remove before it removes it.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { PHONE, Scenario, checkAccess, go, segue, segueJson, startAgent } from "./support.mjs";
import { commitFiles } from "./world.mjs";

const SETTINGS = '\n[disk]\nbudget = "1 GB"\n\n[sweep]\norphans = "0s"\n';

const table = (page, by) => page.getByRole("region", { name: `Usage by ${by}` });

/** Returns the numbers of a row: cost, input, cached, output, sessions. */
async function cells(page, by, name) {
  const row = table(page, by).getByRole("row", { name });
  return row.getByRole("cell").allTextContents();
}

await Scenario.run(async (scenario) => {
  appendFileSync(join(process.env.SEGUE_HOME, "config.toml"), SETTINGS);
  commitFiles({ "greeting.txt": "hello\n" });
  startAgent("fox", "remember the word amber");
  segue("run", "-d", "--vendor", "demo", "--name", "old", "--worktree", "feat/old", "hello");
  segue("wait", "old");
  const page = await scenario.login();
  await go(page, "/usage");
  await table(page, "day").getByText(/^today, /).waitFor();
  const [total] = segueJson("usage", "--by", "vendor").usage;
  const expected = ["not reported", total.input, total.cached, total.output, 2].map(String);
  for (const [by, name] of [["day", /^today/], ["vendor", "demo"], ["agent", "Total"]]) {
    assert.deepEqual(await cells(page, by, name), expected, by);
  }
  assert.deepEqual((await cells(page, "day", /^yesterday/))[1], "0");
  const today = new Date().toISOString().slice(0, 10);
  await page.getByRole("img", { name: `Tokens by day. Most on ${today}: ${total.input + total.output}.` }).waitFor();
  await page.locator(".legend").getByText("demo").waitFor();

  // The numbers grow when an agent has worked, without a reload.
  segue("send", "fox", "--wait", "one two three four five six seven eight nine ten");
  const [later] = segueJson("usage", "--by", "vendor").usage;
  assert.ok(later.input > total.input);
  await table(page, "vendor").getByRole("cell", { name: String(later.input), exact: true }).waitFor();
  await checkAccess(page, "usage");

  await disk(page);
  const phone = await scenario.login({ viewport: PHONE, colorScheme: "light" });
  await go(phone, "/usage");
  await table(phone, "day").waitFor();
  await checkAccess(phone, "usage on a phone");
});

async function disk(page) {
  const card = page.getByRole("region", { name: "Disk use" });
  await card.getByText("of 1 GB").waitFor();
  segue("stop", "old");
  segue("rm", "old", "--yes");
  await card.getByRole("button", { name: "Show what a sweep would remove" }).click();
  const plan = card.getByRole("region", { name: "What a sweep would remove" });
  await plan.getByRole("listitem").filter({ hasText: "feat-old" }).waitFor();
  assert.equal(segueJson("worktree", "ls").worktrees.find((it) => it.branch === "feat/old").state, "present");
  await checkAccess(page, "the plan of a sweep");
  await plan.getByRole("button", { name: "Remove these" }).click();
  await page.getByText("Old things are removed").waitFor();
  await plan.waitFor({ state: "detached" });
  const worktrees = segueJson("worktree", "ls").worktrees;
  assert.ok(!worktrees.some((it) => it.branch === "feat/old" && it.state === "present"), JSON.stringify(worktrees));
}

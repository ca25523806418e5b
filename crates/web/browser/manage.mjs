// The number of agents is changed, a conversation that was begun without Segue is taken in, and
// worktrees are salvaged, removed and restored. Each shows its consequence first.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Scenario, checkAccess, go, segue, segueJson, sessionOf } from "./support.mjs";
import { commitFiles } from "./world.mjs";

const folder = process.env.SEGUE_FOLDER;
const PROJECT = '[fleet]\nname = "shop"\n\n[[agents]]\nname = "worker"\nvendor = "demo"\n';

await Scenario.run(async (scenario) => {
  commitFiles({ "greeting.txt": "hello\n", "segue.toml": PROJECT });
  segue("trust", "--yes");
  segue("up");
  segue("wait", "shop/worker");
  const page = await scenario.login();
  await scale(page);
  await adopt(page);
  await worktrees(page);
});

function workers() {
  const isLive = (it) => it.agent?.startsWith("worker") && it.status !== "ended";
  return segueJson("ls", "--all").sessions.filter(isLive);
}

async function scale(page) {
  await go(page, `/sessions/${workers()[0].id}/log`);
  await page.getByRole("heading", { name: "shop/worker" }).waitFor();
  await page.keyboard.press("+");
  const dialog = page.getByRole("dialog", { name: "Number of shop/worker" });
  const number = dialog.getByLabel("Agents of the kind worker");
  await dialog.getByText("There are 1 now.").waitFor();
  await number.fill("3");
  await dialog.getByText("2 agents more will start").waitFor();
  await checkAccess(page, "scaling");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  assert.equal(workers().length, 3);
  for (const { address } of workers()) segue("wait", address);
  await page.getByRole("navigation", { name: "Places", exact: true }).getByText("worker-3").waitFor();
  await page.getByRole("button", { name: "Scale" }).click();
  await dialog.getByText("There are 3 now.").waitFor();
  await number.fill("1");
  await dialog.getByText("worker-2, worker-3 will be stopped. The conversations stay.").waitFor();
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  assert.equal(workers().length, 1);
}

async function adopt(page) {
  // A conversation that was begun without Segue.
  segue("demo-agent", "--print", "--", "remember the word heron");
  await go(page, "/sessions");
  await page.getByRole("heading", { name: "Sessions", exact: true }).waitFor();
  await page.keyboard.press("A");
  const dialog = page.getByRole("dialog", { name: "Take in a conversation" });
  await dialog.getByText("remember the word heron").waitFor();
  await checkAccess(page, "taking a conversation in");
  await dialog.getByLabel("Filter the conversations").fill("nothing like that");
  assert.equal(await dialog.getByRole("listitem").count(), 0);
  await dialog.getByLabel("Filter the conversations").fill("heron");
  const before = segueJson("ls", "--all").sessions.length;
  await dialog.getByRole("button", { name: "Take in: remember the word heron" }).click();
  await page.locator(".chat").getByText("remember the word heron", { exact: true }).waitFor();
  assert.equal(segueJson("ls", "--all").sessions.length, before + 1);
}

async function worktrees(page) {
  segue("run", "-d", "--vendor", "demo", "--name", "coder", "--worktree", "feat/greeting", "hello");
  segue("wait", "coder");
  const { worktree } = sessionOf("coder");
  const file = join(worktree, "greeting.txt");
  writeFileSync(file, "hello\nworld\n");
  await go(page, "/worktrees");
  const card = page.locator("article.worktree", { hasText: "feat/greeting" });
  await card.getByText("1 uncommitted file").waitFor();

  await card.getByRole("button", { name: "Salvage feat/greeting" }).click();
  const salvage = page.getByRole("dialog", { name: "Salvage feat/greeting" });
  await salvage.getByText("Stores the whole state in a git ref: 1 uncommitted file, and the commits.").waitFor();
  await checkAccess(page, "salvaging");
  await page.keyboard.press("Enter");
  await page.getByText("Everything is stored in a git ref").waitFor();
  const refs = execFileSync("git", ["-C", folder, "for-each-ref"], { encoding: "utf8" });
  assert.ok(refs.includes("salvage"), refs);

  // With keys, and with the files as they were.
  segue("stop", "coder");
  await page.locator("main").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("D");
  const remove = page.getByRole("dialog", { name: "Remove feat/greeting" });
  await remove.getByText(/^Then removes the folder/).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("The worktree is salvaged and removed").waitFor();
  assert.ok(!existsSync(file));
  await card.getByText("removed").waitFor();
  await page.locator("main").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("u");
  const restore = page.getByRole("dialog", { name: "Restore feat/greeting" });
  await restore.getByText(/also those that were not committed/).waitFor();
  await checkAccess(page, "restoring");
  await page.keyboard.press("Enter");
  await page.getByText("The worktree is restored").waitFor();
  assert.equal(readFileSync(file, "utf8"), "hello\nworld\n");
}

// Plans: the list, the picture and the tasks of a plan, live. A gate is in "Needs you", in the title
// and in a notification, and is approved there after the page has shown what it starts.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { PHONE, Scenario, checkAccess, go, segue, segueJson, startAgent, waitFor } from "./support.mjs";
import { applyPlan } from "./world.mjs";

const PROJECT = '[fleet]\nname = "shop"\n\n[[agents]]\nname = "worker"\nvendor = "demo"\n';
const MANY = 200;

const node = (page, name) => page.locator(".plan-node", { hasText: name });
const row = (page, name) => page.locator(`#plan-task-${name}`);
const state = (name = "release") => segueJson("plan", "show", name).plan.state;

await Scenario.run(async (scenario) => {
  writeFileSync(join(process.env.SEGUE_FOLDER, "segue.toml"), PROJECT);
  segue("trust", "--yes");
  startAgent("fox");
  const page = await scenario.login();
  await go(page, "/plans");
  await page.getByRole("heading", { name: "No plans" }).waitFor();
  await go(page, "/");
  const id = await applyPlan();

  await gateNeedsYou(page);
  await picture(page, id);
  await control(page, id);
  await failed(page);
  await large(scenario);
});

/** The gate is a card of the start page, with what the approval starts. */
async function gateNeedsYou(page) {
  const card = page.getByRole("article", { name: "ship of the plan release needs your approval" });
  await card.waitFor();
  await card.getByText("The approval starts the work of worker; announce after it.").waitFor();
  await card.getByText("Open a pull request.").waitFor();
  await page.waitForFunction(() => document.title === "(1) Segue");
  assert.equal(await page.locator(".rail .badge").textContent(), "1 need you");
  await checkAccess(page, "a gate of a plan");
  await page.keyboard.press("p");
  const dialog = page.getByRole("dialog", { name: "Approve ship of release" });
  await dialog.getByText("announce after it").waitFor();
  await checkAccess(page, "an approval");
  // Nothing is approved before it is confirmed.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(state(), "waiting");
}

/** The picture has a node for each task. It changes with the plan, and leads to the tasks. */
async function picture(page, id) {
  await page.keyboard.press("P");
  await page.getByRole("link", { name: "shop/release" }).click();
  await page.getByRole("heading", { name: "shop/release" }).waitFor();
  assert.equal(new URL(page.url()).pathname, `/plans/${id}`);
  assert.equal(await page.locator(".plan-node").count(), 5);
  assert.equal(await page.locator(".arrow").count(), 5);
  await node(page, "ship").getByText("▲ needs approval").waitFor();
  await node(page, "announce").getByText("◌ blocked").waitFor();
  const x = async (name) => (await node(page, name).boundingBox()).x;
  assert.ok((await x("design")) < (await x("build")) && (await x("build")) < (await x("ship")));
  await checkAccess(page, "a plan");
  await node(page, "design").click();
  await page.getByRole("heading", { name: "Design the export of invoices." }).waitFor();
  await page.goBack();
  // A task that has not started has its row.
  await node(page, "announce").click();
  assert.equal(await page.evaluate(() => document.activeElement?.id), "plan-task-announce");
}

/** Pause, resume and approve, with the keyboard and the consequences. */
async function control(page, id) {
  await page.getByRole("button", { name: "Pause" }).click();
  const pause = page.getByRole("dialog", { name: "Pause release" });
  await pause.getByText("No further task starts.").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Resume" }).waitFor();
  assert.equal(state(), "paused");
  await page.waitForFunction(() => document.title === "Segue");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("dialog", { name: "Resume release" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.title === "(1) Segue");
  await row(page, "ship").getByRole("button", { name: "Approve" }).click();
  await page.getByRole("dialog", { name: "Approve ship of release" }).getByText("announce after it").waitFor();
  await page.keyboard.press("Enter");
  await node(page, "announce").getByText("✓ done").waitFor();
  await page.getByText("5 of 5 ended").waitFor();
  await page.waitForFunction(() => document.title === "Segue");
  assert.equal(state(id), "done");
}

/** A failed task shows why, and is tried again. */
async function failed(page) {
  writeFileSync(join(process.env.SEGUE_FOLDER, "plan.toml"), 'name = "broken"\n\n[tasks.test]\nagent = "worker"\nverify = "test -e done"\nprompt = "hello"\n\n[tasks.after]\nneeds = ["test"]\nagent = "worker"\nprompt = "hello"\n');
  segue("plan", "apply", "plan.toml");
  await waitFor(() => state("broken") === "failed");
  await page.keyboard.press("q");
  await page.getByRole("link", { name: "shop/broken" }).click();
  await node(page, "test").getByText("✕ failed").waitFor();
  await node(page, "after").getByText("· skipped").waitFor();
  writeFileSync(join(process.env.SEGUE_FOLDER, "done"), "");
  await row(page, "test").getByRole("button", { name: "Retry" }).click();
  await page.getByRole("dialog", { name: "Retry test" }).getByText("After it: after.").waitFor();
  await page.keyboard.press("Enter");
  await node(page, "after").getByText("✓ done").waitFor();
}

/** A plan with many tasks is drawn at once, and its picture scrolls in its own box on a phone. */
async function large(scenario) {
  const task = (number) => `[tasks.t${number}]\n${number >= 10 ? `needs = ["t${number - 10}"]\n` : 'gate = "person"\n'}agent = "worker"\nprompt = "hello"\n`;
  const id = await applyPlan(`name = "many"\n\n${Array.from({ length: MANY }, (_, number) => task(number)).join("\n")}`, "many");
  const phone = await scenario.login({ viewport: PHONE, hasTouch: true, isMobile: true });
  await go(phone, `/plans/${id}`);
  await waitFor(async () => (await phone.locator(".plan-node").count()) === MANY);
  const overflow = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
  await checkAccess(phone, "a plan with 200 tasks on a phone");
  await phone.getByRole("button", { name: "Cancel the plan" }).tap();
  await phone.getByRole("dialog").getByText("Tasks that never start: t0, t1, t2, t3, t4 and 195 more.").waitFor();
  await phone.getByRole("dialog").getByRole("button", { name: "Cancel many" }).tap();
  await phone.locator("main").getByText("cancelled").first().waitFor();
}

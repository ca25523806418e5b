// The board of tasks: a task is added, moves through the columns by events, and is moved in the
// queue by dragging, by its arrows and by keys. The agent works in the order of the board.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { PHONE, Scenario, checkAccess, go, segue, segueJson } from "./support.mjs";

const PROJECT = '[fleet]\nname = "shop"\n\n[[agents]]\nname = "worker"\nvendor = "demo"\n';

const column = (page, name) => page.getByRole("region", { name, exact: true });
const card = (page, title) => column(page, "Queued").locator("[data-task]", { hasText: title });

/** Waits until the queue has this order. */
async function showsQueue(page, titles) {
  const list = column(page, "Queued").locator(".task-title");
  await page.waitForFunction(
    (wanted) => {
      const shown = [...document.querySelectorAll(".column:first-child .task-title")].map((it) => it.textContent);
      return shown.join() === wanted;
    },
    titles.join(),
  );
  assert.deepEqual(await list.allTextContents(), titles);
}

const priorities = () => {
  const queued = segueJson("task", "ls").tasks.filter((it) => it.state === "queued");
  return Object.fromEntries(queued.map((it) => [it.prompt, it.priority]));
};

await Scenario.run(async (scenario) => {
  writeFileSync(join(process.env.SEGUE_FOLDER, "segue.toml"), PROJECT);
  segue("trust", "--yes");
  // The agent works on one task at a time.
  segue("task", "add", "--agent", "worker", "/hang");
  for (const title of ["one", "two", "three"]) segue("task", "add", "--agent", "worker", title);
  const page = await scenario.login();
  await go(page, "/tasks");
  await showsQueue(page, ["one", "two", "three"]);
  await column(page, "Running").getByText("/hang").waitFor();

  // A new task, with the keyboard alone.
  await page.keyboard.press("T");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("Work").fill("four");
  // The agents are those of the project file, and another name can be written.
  const agent = dialog.getByLabel("Agent", { exact: true });
  assert.deepEqual(await agent.locator("option").allTextContents(), ["worker: demo", "another one…"]);
  await agent.selectOption("another one…");
  await dialog.getByLabel("Name of the agent").waitFor();
  await agent.selectOption("worker");
  await dialog.getByLabel("Work").focus();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "four", level: 1 }).waitFor();
  await page.keyboard.press("q");
  await showsQueue(page, ["one", "two", "three", "four"]);

  // Dragged between two tasks of the same priority.
  await card(page, "four").dragTo(card(page, "two"));
  await showsQueue(page, ["one", "four", "two", "three"]);
  assert.deepEqual(priorities(), { one: 1, four: 1, two: 0, three: 0 });
  await card(page, "one").dragTo(card(page, "three"));
  await showsQueue(page, ["four", "two", "three", "one"]);

  // By keys: select the first task, and start it later.
  await page.locator("main").focus();
  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "four");
  await page.keyboard.press("J");
  await showsQueue(page, ["two", "four", "three", "one"]);
  // The task keeps the focus, so that the key can be repeated.
  await page.keyboard.press("K");
  await showsQueue(page, ["four", "two", "three", "one"]);

  // By its arrows, on a phone.
  const phone = await scenario.login({ viewport: PHONE, hasTouch: true, isMobile: true });
  await go(phone, "/tasks");
  await showsQueue(phone, ["four", "two", "three", "one"]);
  await phone.getByRole("button", { name: "Start earlier: one" }).tap();
  await showsQueue(phone, ["four", "two", "one", "three"]);
  await checkAccess(phone, "a queue on a phone");
  // The other page learns of it by an event.
  await showsQueue(page, ["four", "two", "one", "three"]);

  // Cancel the task that hangs: the others run in the order of the board.
  await column(page, "Running").getByRole("link", { name: "/hang" }).click();
  await page.getByRole("button", { name: "Cancel the task" }).click();
  for (const task of segueJson("task", "ls").tasks.filter((it) => it.prompt !== "/hang")) segue("task", "wait", task.id);
  const ended = segueJson("task", "ls", "--all").tasks.filter((it) => it.state === "done");
  const started = ended.sort((a, b) => a.started_at.localeCompare(b.started_at)).map((it) => it.prompt);
  assert.deepEqual(started, ["four", "two", "one", "three"]);
  await go(page, "/tasks");
  await column(page, "Done").getByText("three").waitFor();
  await column(page, "Done").getByText("cancelled").waitFor();
  assert.equal(await card(page, "").count(), 0);
});

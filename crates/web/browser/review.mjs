// Review: changes of a worktree with colours, comments on lines by mouse and by keyboard, and one
// message to the agent. Text of files stays text.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { PHONE, Scenario, checkAccess, go, segue, segueJson, sessionOf, waitFor } from "./support.mjs";
import { commitFiles } from "./world.mjs";

const BEFORE = "fn main() {\n    greet();\n}\n";
const AFTER = 'fn main() {\n    // <img src=x onerror="alert(1)">\n    greet("world");\n}\n';

/** Returns what people and Segue have said to the agent. */
const told = () =>
  segue("show", "coder", "--json")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter((turn) => turn.role === "user")
    .map((turn) => turn.text);

await Scenario.run(async (scenario) => {
  commitFiles({ "main.rs": BEFORE, "notes.txt": "one\ntwo\n" });
  segue("run", "-d", "--vendor", "demo", "--name", "coder", "--worktree", "feat/greeting", "hello");
  segue("wait", "coder");
  const coder = sessionOf("coder");
  writeFileSync(join(coder.worktree, "main.rs"), AFTER);
  writeFileSync(join(coder.worktree, "notes.txt"), "one\n2\n");

  const page = await scenario.login();
  await go(page, `/sessions/${coder.id}/review`);
  const main = page.getByRole("region", { name: "Changes of main.rs" });
  await main.locator(".token-keyword", { hasText: "fn" }).first().waitFor();
  await main.locator(".token-comment", { hasText: "<img src=x" }).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await checkAccess(page, "a review with colours");

  // By mouse, on an added and on a removed line.
  await main.getByRole("button", { name: "Comment on added line 3" }).click();
  await main.getByRole("textbox", { name: "Comment on this line" }).fill("Who is the world?");
  await main.getByRole("button", { name: "Add comment" }).click();
  await main.getByRole("button", { name: "Comment on removed line 2" }).click();
  await page.keyboard.type("Keep this call.");
  await page.keyboard.press("Control+Enter");
  await main.locator(".comment").getByText("Keep this call.").waitFor();

  // By keyboard: the next file, its first line, a comment. Another tab keeps the draft.
  await page.keyboard.press("]");
  await page.keyboard.press("G");
  await page.keyboard.press("m");
  await page.keyboard.type("A number?");
  await page.keyboard.press("Control+Enter");
  await page.getByText("3 comments").waitFor();
  await page.keyboard.press("5");
  await page.getByRole("region", { name: "Log" }).waitFor();
  await page.keyboard.press("3");
  await page.getByText("3 comments").waitFor();
  await page.getByRole("textbox", { name: /^Review of coder/ }).fill("Almost done.");
  await page.getByRole("heading", { level: 1 }).click();
  await checkAccess(page, "a review with comments");

  // A comment on a line that changes meanwhile is kept. An event of the session loads the changes.
  writeFileSync(join(coder.worktree, "notes.txt"), "zero\none\nthree\n");
  segue("send", "coder", "--wait", "remember the word amber");
  const moved = page.getByRole("region", { name: "Comments on lines that have changed" });
  await moved.getByText("A number?").waitFor();

  // All of it arrives as one message.
  const before = told();
  await page.keyboard.press("M");
  await page.getByText("The review is sent").waitFor();
  await waitFor(() => told().length > before.length);
  segue("wait", "coder");
  const [message, ...others] = told().slice(before.length);
  assert.deepEqual(others, []);
  const expected = [
    "I have reviewed your changes.",
    "Almost done.",
    "main.rs:2 (removed line)\n> greet();\nKeep this call.",
    'main.rs:3\n> greet("world");\nWho is the world?',
    "notes.txt:2\n> 2\nA number?",
    "Please address each comment.",
  ];
  assert.equal(message, expected.join("\n\n"));
  assert.equal(segueJson("messages", "coder").messages.at(-1).state, "delivered");
  await page.getByText("click the number of a line").waitFor();

  // Unified on a phone, and in the other colours.
  const phone = await scenario.login({ viewport: PHONE, colorScheme: "light", hasTouch: true, isMobile: true });
  await go(phone, `/sessions/${coder.id}/review`);
  await phone.locator(".token-keyword", { hasText: "fn" }).first().waitFor();
  await checkAccess(phone, "a review on a phone");
  await phone.getByRole("button", { name: "Comment on added line 3" }).first().tap();
  await phone.getByRole("textbox", { name: "Comment on this line" }).waitFor();
});

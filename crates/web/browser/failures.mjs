// A session that cannot go on alone is among those that need a person, with the reason and with what
// helps. Agents that were killed are brought back together.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Scenario, checkAccess, segue, segueJson, sessionOf, startAgent } from "./support.mjs";

/** Returns the parent process: that of an agent is its holder. */
function parentOf(pid) {
  const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return Number(parent);
}

await Scenario.run(async (scenario) => {
  startAgent("fox");
  const page = await scenario.login();
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();

  segue("send", "fox", "--no-wait", "/limit 2099-01-02T03:04:05Z");
  const card = page.locator("article.question", { hasText: "default/fox" });
  await card.getByText("cannot go on: usage limit").waitFor();
  await card.getByText("the usage limit is reached until").waitFor();
  await card.getByText(/The limit ends at 2099-01-02/).waitFor();
  await card.getByText("wait until the limit ends, or continue with another vendor").waitFor();
  await card.getByText("segue handoff default/fox --to VENDOR").waitFor();
  await page.waitForFunction(() => document.title === "(1) Segue");
  await checkAccess(page, "a session at its limit");
  await card.getByRole("button", { name: "Hand over" }).click();
  await page.getByRole("dialog", { name: "Hand over default/fox" }).waitFor();
  await page.keyboard.press("Escape");

  // It goes on, and needs nobody any more.
  segue("send", "fox", "--wait", "hello again");
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  await page.waitForFunction(() => document.title === "Segue");
  await crash(page);
});

/** Everything is killed, as by a crash of the machine: the start page brings the agents back. */
async function crash(page) {
  startAgent("owl");
  const killed = ["fox", "owl"].map((name) => sessionOf(name));
  const holders = killed.map(({ pid }) => parentOf(pid));
  const agents = killed.map(({ pid }) => pid);
  for (const pid of [segueJson("daemon").pid, ...holders, ...agents]) process.kill(pid, "SIGKILL");
  await page.getByText("No connection to Segue").waitFor();
  // The next command starts the daemon.
  assert.equal(sessionOf("fox").status, "interrupted");
  const banner = page.getByRole("region", { name: "Interrupted sessions" });
  await banner.getByText(/fox, owl/).waitFor();
  await checkAccess(page, "interrupted sessions");
  await banner.getByRole("button", { name: "Bring them back" }).click();
  const dialog = page.getByRole("dialog", { name: "Resume all" });
  await dialog.getByText("resume its conversation").first().waitFor();
  await dialog.getByRole("button", { name: "Resume 2 sessions" }).click();
  await banner.waitFor({ state: "detached" });
  for (const { name, vendor_session_id } of killed) {
    segue("wait", name);
    assert.equal(sessionOf(name).vendor_session_id, vendor_session_id, "the conversation goes on");
  }
}

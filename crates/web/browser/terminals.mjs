// Real terminals: typed text arrives, two browsers share one, and the terminal survives the daemon.

import assert from "node:assert/strict";

import { Scenario, go, openTerminal, segue, segueJson, startAgent, takeControl, terminalShows as shows } from "./support.mjs";

const host = (page) => page.locator("[data-terminal]");
const access = (page) => page.locator("[data-role=access]");
const others = (page) => page.locator("[data-role=others]");

async function open(scenario, session) {
  const page = await scenario.login();
  await openTerminal(page, session);
  return page;
}

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox", "remember the word amber");
  const first = await open(scenario, fox);
  await access(first).getByText("watching").waitFor();

  // Keys of a page that only watches do not reach the agent.
  await host(first).click();
  await first.keyboard.type("never");

  await takeControl(first);
  await access(first).getByText("you have control").waitFor();
  await first.keyboard.type("what is the word?");
  await shows(first, "what is the word?");
  await first.keyboard.press("Enter");
  await shows(first, "The word is amber.");
  segue("wait", "fox", "--for", "idle");
  const turns = segue("show", "fox");
  assert.ok(turns.includes("what is the word?"), turns);
  assert.ok(!turns.includes("never"), turns);

  // A second browser watches, sees who has control, and takes it.
  const second = await open(scenario, fox);
  await others(second).getByText("1 other in control").waitFor();
  await others(first).getByText("1 viewer").waitFor();
  await first.getByRole("button", { name: "Release control" }).click();
  await access(first).getByText("watching").waitFor();
  await takeControl(second);
  await others(first).getByText("1 other in control").waitFor();
  await second.keyboard.type("hello from the second");
  await shows(first, "hello from the second");
  await second.keyboard.press("Enter");
  segue("wait", "fox", "--for", "idle");

  await daemonDies(scenario, fox, first);
});

/** The daemon is killed. The pages continue when it is back. `lines.mjs` looks at every line. */
async function daemonDies(scenario, fox, page) {
  const { pid } = segueJson("daemon");
  process.kill(pid, "SIGKILL");
  await page.getByText("No connection to Segue").waitFor();
  // The next command starts the daemon.
  segue("send", "fox", "--wait", "said while the page was away");
  await page.getByText("No connection to Segue").waitFor({ state: "detached" });
  await page.locator("[data-connected=yes]").waitFor();
  await shows(page, "said while the page was away");
  await go(page, `/sessions/${fox.id}/talk`);
  for (const text of ["what is the word?", "hello from the second", "said while the page was away"]) {
    await page.locator(".chat").getByText(text).first().waitFor();
  }
}

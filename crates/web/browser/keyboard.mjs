// A whole job with the keyboard alone: start an agent, type into its terminal, send it a message,
// answer its question, find it again, stop it, and bring it back.

import assert from "node:assert/strict";

import { Scenario, segue, segueJson, startAgent, terminalShows } from "./support.mjs";

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page, name) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element?.labels?.[0]?.textContent ?? element?.getAttribute("aria-label");
      return (label ?? element?.textContent ?? "").trim();
    });
    if (focused === name) return;
  }
  throw new Error(`no element "${name}" can be reached with Tab`);
}

await Scenario.run(async (scenario) => {
  startAgent("fox");
  const page = await scenario.login();
  const keys = page.keyboard;
  await page.evaluate(() => {
    for (const kind of ["pointerdown", "mousedown", "touchstart"]) {
      addEventListener(kind, () => (window.hasUsedPointer = true), true);
    }
  });

  await keys.press("c");
  await page.getByRole("dialog", { name: "New session" }).waitFor();
  await tabTo(page, "Name");
  await keys.type("owl");
  await tabTo(page, "Prompt");
  await keys.type("remember the word amber");
  await keys.press("Control+Enter");
  await page.locator("[data-connected=yes]").waitFor();
  await terminalShows(page, "remember the word amber");
  segue("wait", "owl", "--for", "idle");

  await tabTo(page, "Take control");
  await keys.press("Enter");
  await page.locator("[data-state=control][data-connected=yes]").waitFor();
  await keys.type("what is the word?");
  await terminalShows(page, "what is the word?");
  await keys.press("Enter");
  await terminalShows(page, "The word is amber.");
  segue("wait", "owl", "--for", "idle");
  // The terminal has got every key; one of them leads out again.
  await keys.press("Control+\\");
  await page.locator("[data-state=view][data-connected=yes]").waitFor();

  await keys.press("s");
  await page.getByRole("dialog", { name: "Send to default/owl" }).waitFor();
  await keys.type("/ask");
  await keys.press("Control+Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  segue("wait", "owl", "--for", "waiting");
  await keys.press("H");
  await page.locator("article.question").getByText("Allow?").waitFor();
  await keys.press("j");
  await keys.press("1");
  const dialog = page.getByRole("dialog", { name: "Answer default/owl" });
  await dialog.getByText("Allow?").waitFor();
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  segue("wait", "owl", "--for", "idle");

  await keys.press("l");
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await keys.press("/");
  await keys.type("owl");
  await page.locator("main").getByText("fox").first().waitFor({ state: "detached" });
  await keys.press("Escape");
  await keys.press("j");
  await keys.press("Enter");
  await page.getByRole("heading", { name: "owl" }).first().waitFor();
  await keys.press("x");
  await page.getByRole("dialog", { name: "Stop default/owl" }).waitFor();
  await keys.press("Enter");
  await page.getByText("The agent does not run").waitFor();
  assert.equal(segueJson("ls", "--all").sessions.find((it) => it.name === "owl").status, "ended");
  await keys.press("r");
  await page.getByRole("button", { name: "Resume 1 session" }).waitFor();
  await keys.press("Enter");
  await page.locator("[data-connected=yes]").waitFor();
  segue("wait", "owl", "--for", "idle");
  const turns = segue("show", "owl");
  assert.ok(turns.includes("what is the word?") && turns.includes("/ask"), turns);
  assert.equal(await page.evaluate(() => window.hasUsedPointer), undefined);
});

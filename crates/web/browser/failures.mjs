// A session that cannot go on alone is among those that need a person, with the reason and with what
// helps.

import { Scenario, checkAccess, segue, startAgent } from "./support.mjs";

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
});

// Questions appear by themselves, and are answered by a button and by the keyboard alone. Text of
// agents stays text.

import assert from "node:assert/strict";

import { PHONE, Scenario, ask, go, segue, startAgent } from "./support.mjs";
import { MARKUP } from "./world.mjs";

/** Waits until the page shows that the answer has arrived, and until the agent is idle. */
const answered = async (page) => {
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  segue("wait", "fox", "--for", "idle");
};

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox");
  const page = await scenario.login();
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();

  // The page learns of the question by an event.
  ask("fox");
  const card = page.locator("article.question");
  await card.getByText("Allow?").waitFor();
  await page.waitForFunction(() => document.title === "(1) Segue");
  await card.getByRole("button", { name: "yes" }).click();
  await answered(page);
  await page.waitForFunction(() => document.title === "Segue");

  // With the keyboard alone: select the card, choose an answer, see what is answered, confirm.
  ask("fox");
  await card.getByText("Allow?").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("2");
  const dialog = page.getByRole("dialog", { name: "Answer default/fox" });
  await dialog.getByText("Allow?").waitFor();
  assert.ok(await dialog.getByRole("radio", { name: "no" }).isChecked());
  await page.keyboard.press("Enter");
  await answered(page);

  // A phone: the same card with large buttons.
  const phone = await scenario.login({ viewport: PHONE, hasTouch: true, isMobile: true });
  ask("fox");
  const button = phone.getByRole("button", { name: "yes" });
  await button.waitFor();
  const box = await button.boundingBox();
  assert.ok(box && box.height >= 44 && box.width > 300, "a large button");
  await button.tap();
  await answered(phone);

  // Messages are sent with the keyboard, and text of people and agents stays text.
  await go(page, `/sessions/${fox.id}/talk`);
  await page.getByRole("textbox", { name: "Message to fox" }).fill(MARKUP);
  await page.keyboard.press("Enter");
  segue("wait", "fox", "--for", "idle");
  await page.locator(".chat").getByText('<img src=x onerror="alert(1)">').first().waitFor();
  assert.equal(await page.locator("#injected, main img, main script").count(), 0);
});

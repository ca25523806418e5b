// A live terminal of the real Claude Code: text that is typed into the page reaches the model, and a
// permission is answered by a button. The test then looks at what the model was sent.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { Scenario, go, openTerminal, segue, segueJson, takeControl, terminalShows } from "./support.mjs";

await Scenario.run(async (scenario) => {
  const [fox] = segueJson("ls").sessions;
  const page = await scenario.login();
  await openTerminal(page, fox);
  await takeControl(page);
  await page.keyboard.type("[[say: heard you]] typed in the browser");
  await terminalShows(page, "typed in the browser");
  await page.keyboard.press("Enter");
  await terminalShows(page, "heard you");
  segue("wait", "fox", "--for", "idle");

  // The tool needs a permission. The question of the program becomes a card with buttons.
  await page.keyboard.type("[[ask: touch made-by-claude]] [[say: the tool is over]]");
  await terminalShows(page, "made-by-claude");
  await page.keyboard.press("Enter");
  const watcher = await scenario.login();
  const card = watcher.locator("article.question");
  await card.getByText("made-by-claude").first().waitFor();
  const made = join(process.env.SEGUE_FOLDER, "made-by-claude");
  if (existsSync(made)) throw new Error("the tool has run before a person has answered");
  await card.getByRole("button", { name: /\bYes$/ }).click();
  await watcher.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  await terminalShows(page, "the tool is over");
  segue("wait", "fox", "--for", "idle");
  if (!existsSync(made)) throw new Error("the tool has not run");

  // The conversation shows both turns.
  await go(watcher, `/sessions/${fox.id}/talk`);
  await watcher.locator(".chat").getByText("typed in the browser").first().waitFor();
});

// The same sessions are open again after a reload of the window, after a crash of the editor, and
// after a crash of the agent: the conversation with the text that was not sent, and the terminal.

import assert from "node:assert/strict";

import { Editor, command, conversation, installExtension, openWindow, row, rowAction, showSessions, tab, terminalShows, typeLine, waitStored, writeSettings } from "./editor.mjs";
import { Scenario, segue, sessionOf, startAgent, waitFor } from "./support.mjs";

/** Types a message into the terminal of the fox, and waits until the fox has it. */
async function typeToFox(page, word) {
  await terminalShows(page, "/help lists the commands");
  await typeLine(page, `remember the word ${word}`);
  await waitFor(() => segue("show", "fox").includes(`I will remember ${word}`));
  await terminalShows(page, `I will remember ${word}`);
}

/** Waits until both sessions are open again, and reads the conversation of the elk. */
async function bothAreBack(page) {
  await terminalShows(page, "I will remember one");
  await tab(page, /default\/elk/).click();
  await conversation(page).getByText("I will remember amber").waitFor();
  assert.equal(await conversation(page).getByRole("textbox").inputValue(), "a draft");
}

await Scenario.run((scenario) => Editor.run(async (editor) => {
  writeSettings();
  installExtension();
  const elk = startAgent("elk", "remember the word amber");
  const fox = startAgent("fox");
  const page = await scenario.page();
  await openWindow(page);
  await showSessions(page);
  await row(page, "elk").click();
  await conversation(page).getByText("I will remember amber").waitFor();
  await conversation(page).getByRole("textbox").fill("a draft");
  await rowAction(page, "fox", /^Open Terminal/);
  await typeToFox(page, "one");

  await waitStored(page, (it) => [elk.id, fox.id, "a draft"].every((word) => it.includes(word)));
  await page.reload();
  await bothAreBack(page);
  await typeToFox(page, "two");

  await editor.kill();
  await editor.start();
  await page.reload();
  await bothAreBack(page);
  await typeToFox(page, "three");
  assert.equal(await page.locator(".terminal-wrapper").count(), 1, "each session is open once");

  await bringBack(page);

  // A terminal that a person has closed stays closed.
  await command(page, "Terminal: Kill the Active Terminal Instance");
  await waitStored(page, (it) => it.includes(elk.id) && !it.includes(fox.id));
  await page.reload();
  await tab(page, /default\/elk/).waitFor();
  await row(page, "fox").getByText("idle").waitFor();
  assert.equal(await page.getByText("I will remember four").count(), 0);
}));

/** The agent of the fox is stopped, and brought back into the same conversation. */
async function bringBack(page) {
  const before = sessionOf("fox");
  segue("stop", "fox");
  await row(page, "fox").getByText("ended").waitFor();
  await rowAction(page, "fox", /^Bring Back/);
  await terminalShows(page, "resumed after");
  await typeToFox(page, "four");
  const after = sessionOf("fox");
  assert.equal(after.id, before.id);
  assert.equal(after.vendor_session_id, before.vendor_session_id);
}

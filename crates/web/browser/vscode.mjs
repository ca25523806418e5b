// The extension lists sessions by fleet, marks those that wait, answers, opens terminals and
// conversations, and opens a session by its address.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Editor, command, conversation, fillInput, installExtension, openWindow, pick, row, rowAction, showSessions, tab, terminalShows, typeLine, writeProgram, writeSettings } from "./editor.mjs";
import { Scenario, ask, segue, startAgent, waitFor } from "./support.mjs";
import { MARKUP } from "./world.mjs";

const folder = process.env.SEGUE_FOLDER;

/** A project that wants the extension to run a program of its own. */
function writeHostileWorkspace() {
  const program = writeProgram("evil", `#!/bin/sh\ntouch '${join(folder, "evil-ran")}'\n`);
  mkdirSync(join(folder, ".vscode"));
  writeFileSync(join(folder, ".vscode/settings.json"), JSON.stringify({ "segue.program": program }));
}

await Scenario.run((scenario) => Editor.run(async () => {
  writeSettings();
  writeHostileWorkspace();
  installExtension();
  const elk = startAgent("elk", "remember the word amber");
  startAgent("fox");
  const page = await scenario.page({ permissions: ["clipboard-read", "clipboard-write"] });
  await openWindow(page);
  await showSessions(page);
  await row(page, "fox").getByText("idle").waitFor();
  assert.equal(await page.getByText("Needs you").count(), 0);

  // A question appears by itself: on top, in its fleet, and as a number.
  ask("fox");
  await row(page, "default/fox").getByText("waiting · permission: Allow?").waitFor();
  await row(page, "fox").getByText("waiting · permission: Allow?").waitFor();
  const badge = page.getByRole("tab", { name: /^Segue/ }).locator(".badge-content");
  await badge.getByText("1", { exact: true }).waitFor();
  await answerByList(page);
  await badge.waitFor({ state: "hidden" });

  await rowAction(page, "elk", /^Open Terminal/);
  await terminalShows(page, "I will remember amber");
  await typeLine(page, "what is the word?");
  await waitFor(() => segue("show", "elk").includes("The word is amber"));
  await terminalShows(page, "The word is amber");

  await row(page, "elk").click();
  const chat = conversation(page);
  await chat.locator("article[data-role=assistant]").getByText("The word is amber").waitFor();
  await chat.getByRole("textbox", { name: "Message" }).fill(MARKUP);
  await chat.getByRole("button", { name: "Send" }).click();
  await chat.locator("article[data-role=user]").getByText(MARKUP).waitFor();
  assert.equal(await chat.locator("#injected, img, main script").count(), 0, "text of people and agents stays text");

  await rowAction(page, "fox", /^Send a Message/);
  await fillInput(page, "remember the word cobalt");
  await waitFor(() => segue("show", "fox").includes("I will remember cobalt"));

  await openByAddress(page, elk);
  assert.ok(!existsSync(join(folder, "evil-ran")), "a workspace does not choose the program");
}));

/** The question is shown as a whole, above its choices. */
async function answerByList(page) {
  await rowAction(page, "default/fox", /^Answer/);
  const list = page.locator(".quick-input-list");
  await list.getByText("Allow?").waitFor();
  await pick(page, "2. no");
  await row(page, "fox").getByText("idle").waitFor();
  await page.getByText("Needs you").waitFor({ state: "hidden" });
}

/** The address that is copied leads to the same session, by hand and as a link. */
async function openByAddress(page, elk) {
  await row(page, "elk").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Copy Address" }).hover();
  await page.keyboard.press("Enter");
  await waitFor(async () => (await page.evaluate(() => navigator.clipboard.readText())) === `segue://session/${elk.id}`);
  await closeTabs(page);
  await command(page, "Segue: Open by Address…");
  await fillInput(page, `segue://session/${elk.id}`);
  await pick(page, "Conversation");
  await conversation(page).getByText("remember the word amber").waitFor();
  await command(page, "Terminal: Kill the Active Terminal Instance");
  await page.locator(".xterm-rows").waitFor({ state: "hidden" });
  await openLink(page, `/session/${elk.id}?as=terminal`);
  await terminalShows(page, "The word is amber");
  await openLink(page, "/session/elk");
  await page.getByText("there is no session").first().waitFor();
}

/** Opens a link as a browser or another program does. The editor asks the person first. */
async function openLink(page, path) {
  await command(page, "Developer: Open URL");
  await fillInput(page, `code-oss://segue.segue${path}`);
  const dialog = page.getByRole("dialog").filter({ hasText: "to open this URI" });
  await dialog.getByRole("button", { name: "Open" }).click();
  await dialog.waitFor({ state: "hidden" });
}

async function closeTabs(page) {
  await command(page, "View: Close All Editors");
  await tab(page, /default/).first().waitFor({ state: "hidden" });
}

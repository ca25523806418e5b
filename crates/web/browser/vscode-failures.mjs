// A missing program, a daemon that ends, and a program that reports hostile names and questions.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { Editor, conversation, installExtension, openWindow, pick, row, setProgram, showSessions, writeProgram, writeSettings } from "./editor.mjs";
import { Scenario, segue, sessionOf, startAgent, waitFor } from "./support.mjs";

const home = process.env.HOME;

/** Texts that the editor would take for an icon, a link to a command, or markup. */
const ICON = "$(alert)";
const LINK = "[yes](command:workbench.action.closeAllEditors)";
const IMAGE = "<img src=x onerror=alert(1)>";
const HOSTILE = `${ICON} ${LINK} ${IMAGE}`;
const QUESTION = `Run ${HOSTILE}?\n${"a long line of the question ".repeat(6)}the end`;

/** Writes a program that answers as `segue` does, with names and texts of an attacker. */
function writeHostileProgram(session) {
  const dialog = { id: "1", kind: "permission", question: QUESTION, choices: [HOSTILE, "no"], answer: "" };
  const hostile = { ...session, name: HOSTILE, fleet: HOSTILE, address: HOSTILE, cwd: HOSTILE, status: "waiting", attention: "permission", dialog };
  const turn = { index: 1, role: HOSTILE, text: HOSTILE, tool: HOSTILE };
  const lines = (name, values) => writeFileSync(join(home, name), values.map((it) => `${JSON.stringify(it)}\n`).join(""));
  lines("list", [hostile, { daemon: "running" }]);
  lines("turns", [turn]);
  lines("failure", [{ error: { kind: "conflict", message: HOSTILE, hints: [HOSTILE] } }]);
  return writeProgram("hostile", `#!/bin/sh
case $1 in
  ls) cat '${home}/list'; exec tail -f /dev/null ;;
  show) cat '${home}/turns'; exec tail -f /dev/null ;;
  answer) echo "$*" >'${home}/answered'; cat '${home}/failure'; exit 4 ;;
esac
`);
}

await Scenario.run((scenario) => Editor.run(async () => {
  writeSettings();
  installExtension();
  startAgent("fox");
  const fox = sessionOf("fox");
  setProgram("segue-that-is-missing");
  const page = await scenario.page();
  await openWindow(page);
  await showSessions(page);
  await page.getByText("The program of Segue was not found in PATH").waitFor();
  await page.getByRole("button", { name: "Set the path" }).waitFor();

  // The extension notices that the setting has changed.
  setProgram(process.env.SEGUE_PROGRAM);
  await row(page, "fox").getByText("idle").waitFor();
  segue("daemon", "stop");
  await page.getByText("The daemon has ended").waitFor();
  segue("send", "fox", "--wait", "hello");
  await page.getByText("The daemon has ended").waitFor({ state: "hidden" });

  setProgram(writeHostileProgram(fox));
  await showsHostileTexts(page);
}));

/** Zero-width spaces separate what the editor would take for markup. */
function shown(text) {
  return text.replaceAll("\u200b", "");
}

/** Returns whether the editor has made something of the hostile texts. */
async function hasMarkup(page) {
  const icons = page.locator(".part.sidebar .monaco-list, .quick-input-list, .notifications-toasts").locator(".codicon-alert");
  const links = page.locator('a[href^="command:workbench"], a[data-href^="command:workbench"], img[src=x]');
  return (await icons.count()) + (await links.count()) > 0;
}

async function showsHostileTexts(page) {
  const item = page.getByRole("treeitem").filter({ hasText: "onerror" });
  await item.nth(2).waitFor();
  const texts = (await item.allInnerTexts()).map(shown);
  assert.ok(texts.every((it) => it.includes(HOSTILE)), texts.join("\n"));
  assert.ok(!(await hasMarkup(page)), "in the view");

  await item.last().click();
  const chat = conversation(page);
  await chat.locator("#asked").getByText("the end").waitFor();
  assert.equal(await chat.locator("#asked").innerText(), QUESTION);
  assert.equal(await chat.locator("article .text").innerText(), HOSTILE);
  assert.equal(await chat.locator("img, a, b").count(), 0);

  // The whole question, and an answer to this question only; the failure is text, too.
  await chat.getByRole("button", { name: "Answer…" }).click();
  const list = page.locator(".quick-input-list");
  await list.getByText("the end").waitFor();
  const rows = await list.locator(".quick-input-list-row").allInnerTexts();
  const lines = shown(rows.join(" ")).replace(/\s+/g, " ");
  assert.ok(lines.includes(QUESTION.replace(/\s+/g, " ")), lines);
  assert.ok(!(await hasMarkup(page)), "in the list of answers");
  await pick(page, "2. no");
  const notice = page.locator(".notification-list-item-message").filter({ hasText: "onerror" });
  await notice.waitFor();
  assert.ok(shown(await notice.innerText()).includes(HOSTILE));
  assert.equal(await notice.locator("a").count(), 0, "no link in a notification");
  assert.ok(!(await hasMarkup(page)), "in a notification");
  await waitFor(() => readFileSync(join(home, "answered"), "utf8").trim().endsWith("2 --question 1 --json"));
}

// VS Code in a browser, with the extension, for the scenarios of the extension.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

import { segue, waitFor } from "./support.mjs";

const modules = join(process.env.SEGUE_TEST_CODE_SERVER, "node_modules");
const node = ["x64", "arm64"].map((it) => join(modules, `node-linux-${it}/bin/node`)).find((it) => existsSync(it));
const entry = join(modules, "code-server/out/node/entry.js");

/** The test has a network of its own, in which every port is free. */
const ADDRESS = "127.0.0.1:8123";
const FOLDER = process.env.SEGUE_FOLDER;
const DATA = join(process.env.HOME, ".local/share/code-server");

const SETTINGS = {
  // Texts of a terminal are elements of the page only if they are not painted by the graphics card.
  "terminal.integrated.gpuAcceleration": "off",
  // The page would show typed text before the agent has it.
  "terminal.integrated.localEchoEnabled": "off",
  // The editor would open a shell beside the terminals of the extension.
  "terminal.integrated.hideOnStartup": "whenEmpty",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "chat.disableAIFeatures": true,
  "window.confirmBeforeClose": "never",
  "git.enabled": false,
};

function writeJson(path, value) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}

/** Writes the settings of the user. */
export function writeSettings() {
  writeJson(join(DATA, "User/settings.json"), SETTINGS);
}

/** Writes the setting of the machine that names the program of Segue. */
export function setProgram(program) {
  writeJson(join(DATA, "Machine/settings.json"), { "segue.program": program });
}

/** Writes an executable file into the home of the test, and returns its path. */
export function writeProgram(name, text) {
  const path = join(process.env.HOME, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** Installs the extension by the command of this editor, as a user does. */
export function installExtension() {
  const program = writeProgram("editor", `#!/bin/sh\nexec '${node}' '${entry}' "$@"\n`);
  segue("editor", "install", "vscode", "--program", program);
  // The editor takes the environment of its programs from the user's login shell.
  writeFileSync(join(process.env.HOME, ".profile"), `PATH=${dirname(process.env.SEGUE_PROGRAM)}:$PATH\n`);
}

export class Editor {
  /** Runs `body` with an editor that runs. The editor and its programs are gone afterwards. */
  static async run(body) {
    const editor = new Editor();
    try {
      await editor.start();
      await body(editor);
    } finally {
      await editor.kill();
    }
  }

  /** Starts the editor, and waits until it accepts connections. */
  async start() {
    const words = ["--auth", "none", "--bind-addr", ADDRESS, "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"];
    // Without a gallery, the editor asks no other machine for extensions.
    const env = { ...process.env, EXTENSIONS_GALLERY: "{}" };
    const options = { cwd: FOLDER, env, detached: true, stdio: ["ignore", "pipe", "ignore"] };
    this.child = spawn(node, [entry, ...words], options);
    this.closed = new Promise((resolve) => this.child.on("close", resolve));
    await new Promise((resolve, reject) => {
      createInterface({ input: this.child.stdout }).on("line", (line) => {
        if (line.includes("HTTP server listening")) resolve();
      });
      this.child.on("close", (code) => reject(new Error(`code-server ended with ${code}`)));
    });
  }

  /** Kills the editor at once, as a crash does, with its terminals and its extension host. */
  async kill() {
    process.kill(-this.child.pid, "SIGKILL");
    await this.closed;
  }
}

/** Opens a window of the editor in a page. */
export async function openWindow(page) {
  await page.goto(`http://${ADDRESS}/?folder=${encodeURIComponent(FOLDER)}`);
  await page.locator(".monaco-workbench").waitFor();
}

/** Shows the view of sessions. */
export async function showSessions(page) {
  await page.getByRole("tab", { name: /^Segue/ }).locator("a").click();
  await page.getByText("Segue: Sessions").waitFor();
}

/** Returns the row of a session in the group of its fleet. Its text begins with symbol and name. */
export function row(page, name) {
  return page.getByRole("treeitem").filter({ hasText: new RegExp(`^\\S ${name}`) });
}

/** Clicks on a button in the row of a session. */
export async function rowAction(page, name, action) {
  await row(page, name).hover();
  await row(page, name).getByRole("button", { name: action }).click();
}

/** Runs a command of the editor by its title. */
export async function command(page, title) {
  await page.keyboard.press("F1");
  const input = page.locator(".quick-input-widget input");
  await input.waitFor();
  await input.fill(`>${title}`);
  await page.locator(".quick-input-list").getByText(title, { exact: true }).first().waitFor();
  await page.keyboard.press("Enter");
}

/** Picks an entry of the list that the editor shows. */
export async function pick(page, text) {
  await page.locator(".quick-input-list").getByText(text, { exact: true }).click();
}

/** Writes into the input that the editor shows, and confirms it. */
export async function fillInput(page, text) {
  await page.locator(".quick-input-widget input").fill(text);
  await page.keyboard.press("Enter");
}

/** Returns the tab of an open terminal or conversation. */
export function tab(page, name) {
  return page.locator(".tabs-container").getByRole("tab", { name });
}

/** Returns the page inside of the visible panel with a conversation. */
export function conversation(page) {
  return page.locator("iframe.webview:visible").contentFrame().locator("iframe#active-frame").contentFrame();
}

/** Waits until the visible terminal shows a text. */
export async function terminalShows(page, text) {
  await page.locator(".xterm-rows:visible").getByText(text).first().waitFor();
}

/** Types a line into the visible terminal, which must show the agent's screen already. */
export async function typeLine(page, text) {
  await page.locator(".xterm-screen:visible").click();
  await page.keyboard.type(text);
  await terminalShows(page, text);
  await page.keyboard.press("Enter");
}

/** Waits until the browser has stored what the extension remembers for the next window. */
export async function waitStored(page, isWanted) {
  await waitFor(async () => isWanted(await page.evaluate(storedState)));
}

/** Runs in the page: returns the texts that the editor has stored about extensions. */
async function storedState() {
  const done = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
  const names = (await indexedDB.databases()).map((it) => it.name).filter((it) => it.startsWith("vscode-web-state-db"));
  const texts = [];
  for (const name of names) {
    const database = await done(indexedDB.open(name));
    const table = database.transaction("ItemTable").objectStore("ItemTable");
    texts.push(await done(table.get("segue.segue")));
    database.close();
  }
  return texts.join("\n");
}

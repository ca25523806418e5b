// What the scenarios share: a browser, logins, and what no page may do.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** Runs a command of Segue in the world of the test. Returns what it prints. */
export function segue(...words) {
  const options = { cwd: process.env.SEGUE_FOLDER, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  return execFileSync(process.env.SEGUE_PROGRAM, words, options);
}

export const segueJson = (...words) => JSON.parse(segue(...words, "--json"));

/** Returns the session with this name. */
export function sessionOf(name) {
  return segueJson("ls", "--all").sessions.find((it) => it.name === name);
}

/** Starts a demo agent, and waits until it is idle. Returns its session. */
export function startAgent(name, prompt = "hello") {
  segue("run", "-d", "--vendor", "demo", "--name", name, prompt);
  segue("wait", name);
  return sessionOf(name);
}

/** Makes a demo agent ask for permission, and waits until it asks. */
export function ask(name, question = "/ask") {
  segue("send", name, "--no-wait", question);
  segue("wait", name, "--for", "waiting");
}

const CHECK_MS = 50;
const GIVE_UP_MS = Number(process.env.SEGUE_PATIENCE_MS ?? 60_000);

/** Waits until a check of something outside of the page succeeds. */
export async function waitFor(check) {
  const end = Date.now() + GIVE_UP_MS;
  while (!(await check())) {
    assert.ok(Date.now() < end, `waited in vain for ${check}`);
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
}

/** Returns a new login link. */
export function loginLink(...words) {
  return segueJson("web", "--no-open", ...words).url;
}

export class Scenario {
  /** What pages did that they must not do. */
  problems = [];

  static async run(body, options = {}) {
    // Chromium cannot use its sandbox as root, as in a container.
    const sandbox = process.getuid() === 0 ? ["--no-sandbox"] : [];
    const args = [...sandbox, ...(options.args ?? [])];
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
    const scenario = new Scenario(browser);
    try {
      await body(scenario);
      assert.deepEqual(scenario.problems, []);
      console.log("ok");
    } catch (error) {
      // They may be the reason.
      for (const problem of scenario.problems) console.error(problem);
      await scenario.printPages();
      await scenario.keepPictures();
      throw error;
    } finally {
      await browser.close();
    }
  }

  constructor(browser) {
    this.browser = browser;
  }

  /** Prints what the pages show, for the reader of a failure. */
  async printPages() {
    const pages = this.browser.contexts().flatMap((context) => context.pages());
    for (const page of pages) {
      const text = await page.locator("body").innerText({ timeout: 5000 }).catch(String);
      console.error(`--- ${new URL(page.url()).pathname}\n${text}`);
    }
  }

  /** Keeps pictures of all pages in the folder that `SEGUE_FAILED_PICTURES` names. */
  async keepPictures() {
    const folder = process.env.SEGUE_FAILED_PICTURES;
    const pages = this.browser.contexts().flatMap((it) => it.pages());
    for (const [number, page] of folder ? pages.entries() : []) {
      await page.screenshot({ path: join(folder, `page-${number}.png`) });
    }
  }

  /** Opens a page in a browser profile of its own, which reports what it must not do. */
  async page(options = {}) {
    const context = await this.browser.newContext({ viewport: DESKTOP, colorScheme: "dark", ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(GIVE_UP_MS);
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
      });
    });
    const report = (text) => this.problems.push(text);
    page.on("console", (message) => {
      const text = message.text();
      if (text.startsWith("policy: ") || /Content Security Policy/.test(text)) report(text);
    });
    page.on("pageerror", (error) => report(`error of the page: ${error.stack}`));
    page.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      // The service worker of VS Code answers requests to this name; no request leaves the browser.
      const isOfPanel = hostname.endsWith(".vscode-resource.vscode-cdn.net");
      const isOwn = ["127.0.0.1", "localhost"].includes(hostname) || ["data:", "blob:"].includes(protocol) || isOfPanel;
      if (!isOwn) report(`request to ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      report(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    return page;
  }

  /** Opens a page that is logged in. */
  async login(options) {
    const page = await this.page(options);
    await page.goto(loginLink());
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    return page;
  }
}

/** Goes to a path as a link of the page does, without loading the page again. */
export async function go(page, path) {
  await page.goto(new URL(path, page.url()).href);
}

/** Shows the terminal of a session, and waits until it is connected. */
export async function openTerminal(page, session) {
  await go(page, `/sessions/${session.id}/terminal`);
  await page.locator("[data-connected=yes]").waitFor();
}

/** Takes control of the terminal that a page shows. Its keys go to the agent afterwards. */
export async function takeControl(page) {
  await page.getByRole("button", { name: "Take control" }).click();
  await page.locator("[data-state=control][data-connected=yes]").waitFor();
  await page.locator("[data-terminal]").click();
}

/** Waits until the terminal of a page shows a text. */
export async function terminalShows(page, text) {
  await page.locator(".xterm-rows").getByText(text).first().waitFor();
}

/** Fails if axe finds a problem for people with disabilities. */
export async function checkAccess(page, place) {
  await page.evaluate(await axeSource());
  // An agent that dims a text wants less contrast.
  const { violations } = await page.evaluate(() => window.axe.run({ exclude: [".xterm-dim"] }, { resultTypes: ["violations"] }));
  const words = violations.map((it) => `${it.id}: ${it.help}: ${it.nodes.map((node) => node.target.join(" ")).join(", ")}`);
  assert.deepEqual(words, [], `axe at ${place}`);
}

let axe = null;
async function axeSource() {
  axe ??= require("axe-core").source;
  return axe;
}

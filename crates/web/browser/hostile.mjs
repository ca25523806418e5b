// An agent, a project and other sites try to get into the page: markup in texts and names, control
// sequences in the terminal, another name for this address, and a login that may only read.

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";

import { Scenario, go, loginLink, openTerminal, segue, segueJson, startAgent, takeControl, terminalShows } from "./support.mjs";

const folder = process.env.SEGUE_FOLDER;

const IMAGE = '<img src=x onerror=alert(1)>';

/**
 * Writes control sequences that would change the page, its title or the clipboard, then asks the
 * terminal for its position and records what is typed as the answer.
 */
const AGENT = `#!/bin/bash
printf '\\033]0;<b>title</b>\\007\\033]2;owned\\007'
printf '\\033]52;c;b3duZWQ=\\007'
printf '\\033]8;;javascript:alert(3)\\033\\\\click me\\033]8;;\\033\\\\\\n'
printf '%s\\n' '${IMAGE} <script>alert(2)</script> <b id="injected">bold</b>'
printf '\\033]1337;File=inline=1:PHN2Zz4=\\007\\033P+q544e\\033\\\\\\033]10;?\\007\\033[>q\\033[c'
printf '\\033]7;file:///etc/passwd\\007\\033]9;note\\007\\033]777;notify;a;b\\007'
read go <steps
stty raw -echo; printf '\\033[6n'; printf 'asked\\r\\n'; IFS= read -r -d R answer; stty sane
printf '%q\\n' "$answer" >answers; read -r -t 1 -d R again && printf '%q\\n' "$again" >>answers
echo done >>answers; echo 'all is written'; cat
`;

/** Returns whether a page has an element that only markup of the agent can have made. */
async function hasInjected(page) {
  return (await page.locator('#injected, img[src="x"], main script, a[href^="javascript"]').count()) > 0;
}

await Scenario.run(async (scenario) => {
  const named = spawnSync(process.env.SEGUE_PROGRAM, ["run", "-d", "--vendor", "demo", "--name", IMAGE, "x"], { cwd: folder, encoding: "utf8" });
  assert.notEqual(named.status, 0, "a name with markup is refused");

  execFileSync("mkfifo", [join(folder, "steps")]);
  writeFileSync(join(folder, "evil"), AGENT);
  chmodSync(join(folder, "evil"), 0o755);
  writeFileSync(join(folder, "segue.toml"), `[vendors.evil]\ncommand = ["${join(folder, "evil")}"]\n`);
  segue("trust", "--yes");
  segue("run", "-d", "--vendor", "evil", "--name", "owl");
  const [owl] = segueJson("ls").sessions;

  const page = await scenario.login({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.evaluate(() => navigator.clipboard.writeText("mine"));
  const pages = [];
  page.context().on("page", (opened) => pages.push(opened.url()));
  await openTerminal(page, owl);
  await terminalShows(page, IMAGE);
  await takeControl(page);
  await terminalShows(page, IMAGE);
  assert.ok(!(await hasInjected(page)), "markup in a terminal stays text");
  assert.equal(await page.title(), "Segue", "an agent does not name the page");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "mine");
  // A link of the terminal opens only addresses of the web.
  await terminalShows(page, "click me");
  const rows = await page.locator(".xterm-rows").boundingBox();
  // The link is the beginning of the first row.
  for (const key of [null, "Control"]) {
    if (key) await page.keyboard.down(key);
    await page.mouse.move(rows.x + 20, rows.y + 6);
    await page.mouse.click(rows.x + 20, rows.y + 6);
    if (key) await page.keyboard.up(key);
  }

  // The terminal's question about the cursor is answered once: by the holder, and not by the page.
  writeFileSync(join(folder, "steps"), "go\n");
  await terminalShows(page, "all is written");
  assert.match(readFileSync(join(folder, "answers"), "utf8"), /^[^\n]*\[\d+\\?;\d+[^\n]*\ndone\n$/);
  assert.deepEqual(pages, [], "no window was opened");

  // The same text in the small picture of the terminal.
  await go(page, "/sessions");
  await page.locator("main [data-session] a").getByText(IMAGE).first().waitFor();
  assert.ok(!(await hasInjected(page)));

  // Markup in the name of a folder, in a message and in a task.
  const place = join(folder, IMAGE);
  mkdirSync(place);
  segue("run", "-d", "--vendor", "demo", "--name", "elk", "--cwd", place, `say ${IMAGE}`);
  segue("wait", "elk");
  const elk = segueJson("ls", "--all").sessions.find((it) => it.name === "elk");
  for (const tab of ["terminal", "talk", "messages", "log", "review"]) {
    await go(page, `/sessions/${elk.id}/${tab}`);
    await page.getByText(IMAGE).first().waitFor();
    assert.ok(!(await hasInjected(page)), tab);
  }

  await rebinding(scenario, new URL(page.url()).port);
  await reader(scenario, startAgent("fox"));
  assert.ok(!existsSync(join(folder, "typed")));
}, { args: ["--host-resolver-rules=MAP rebound.example.com 127.0.0.1"] });

/** A site of an attacker gets a name that leads to this machine. */
async function rebinding(scenario, port) {
  const context = await scenario.browser.newContext();
  const page = await context.newPage();
  const response = await page.goto(`http://rebound.example.com:${port}/`);
  assert.equal(response.status(), 403);
  const answer = await page.evaluate(async () => (await fetch("/v1/web/session")).status);
  assert.equal(answer, 403);
  assert.deepEqual(await context.cookies(), []);
  await context.close();
}

/** A browser that may only read sees the terminal and cannot type, whatever its page sends. */
async function reader(scenario, fox) {
  const page = await scenario.page();
  await page.goto(loginLink("--scope", "read"));
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await openTerminal(page, fox);
  assert.equal(await page.getByRole("button", { name: "Take control" }).count(), 0);
  const open = (access) => page.evaluate(([id, wanted]) => new Promise((resolve) => {
    const key = localStorage.getItem("segue.page-key");
    const url = `${location.origin.replace("http", "ws")}/v1/sessions/${id}/terminal?access=${wanted}`;
    const socket = new WebSocket(url, ["segue.terminal", `segue.page-key.${key}`]);
    socket.onerror = () => resolve("refused");
    socket.onopen = () => socket.send(new TextEncoder().encode("typed by a reader\r"));
    socket.onmessage = ({ data }) => {
      if (typeof data === "string" && JSON.parse(data).type === "refused") resolve("input refused");
    };
  }), [fox.id, access]);
  assert.equal(await open("control"), "refused");
  assert.equal(await open("view"), "input refused");
  const status = await page.evaluate(async () => {
    const headers = { "segue-page-key": localStorage.getItem("segue.page-key"), "content-type": "application/json" };
    return (await fetch("/v1/send", { method: "POST", headers, body: "{}" })).status;
  });
  assert.equal(status, 403);
  assert.ok(!segue("show", "fox").includes("typed by a reader"));
}

// An agent writes numbered lines while the daemon is dead. The page has every line afterwards, once.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Scenario, openTerminal, segue, segueJson, terminalShows } from "./support.mjs";

const folder = process.env.SEGUE_FOLDER;

/** Writes lines up to a number each time that somebody writes into the pipe. */
const AGENT = `#!/bin/sh
write() { while [ "$1" -le "$2" ]; do echo "line $1 of the agent"; set -- $(($1 + 1)) "$2"; done; }
write 1 200; read go <steps; write 201 400; read go <steps; write 401 600; cat
`;

/** Returns all lines of the terminal, with the text that its button copies. */
async function lines(page) {
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByText("The terminal's text is copied").first().waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  return text.split("\n").filter((line) => line.startsWith("line "));
}

const expected = (count) => Array.from({ length: count }, (_, index) => `line ${index + 1} of the agent`);

await Scenario.run(async (scenario) => {
  execFileSync("mkfifo", [join(folder, "steps")]);
  writeFileSync(join(folder, "writer"), AGENT);
  chmodSync(join(folder, "writer"), 0o755);
  writeFileSync(join(folder, "segue.toml"), `[vendors.writer]\ncommand = ["${join(folder, "writer")}"]\n`);
  segue("trust", "--yes");
  segue("run", "-d", "--vendor", "writer", "--name", "owl");
  const [owl] = segueJson("ls").sessions;

  const page = await scenario.login({ permissions: ["clipboard-read", "clipboard-write"] });
  const second = await scenario.login({ permissions: ["clipboard-read", "clipboard-write"] });
  for (const it of [page, second]) {
    await openTerminal(it, owl);
    await terminalShows(it, "line 200 of the agent");
  }
  const { pid } = segueJson("daemon");
  process.kill(pid, "SIGKILL");
  for (const it of [page, second]) await it.getByText("No connection to Segue").waitFor();
  writeFileSync(join(folder, "steps"), "go\n");
  // The next command starts the daemon.
  segue("ls");
  for (const it of [page, second]) {
    await it.getByText("No connection to Segue").waitFor({ state: "detached" });
    await it.locator("[data-connected=yes]").waitFor();
    await terminalShows(it, "line 400 of the agent");
    assert.deepEqual(await lines(it), expected(400));
  }
  // The connection works on as before.
  writeFileSync(join(folder, "steps"), "go\n");
  for (const it of [page, second]) {
    await terminalShows(it, "line 600 of the agent");
    assert.deepEqual(await lines(it), expected(600));
  }
});

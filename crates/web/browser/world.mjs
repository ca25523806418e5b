// A fleet with something in every view.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { segue, segueJson, startAgent, waitFor } from "./support.mjs";

const folder = process.env.SEGUE_FOLDER;

function git(...words) {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  execFileSync("git", ["-C", folder, ...identity, ...words], { stdio: "ignore" });
}

/** Makes the folder of the scenario a repository with these files. */
export function commitFiles(files) {
  git("init", "--initial-branch", "main");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  git("add", ".");
  git("commit", "-m", "first");
}

/** Markup that would run or load something if the page took it for HTML. */
export const MARKUP = '<img src=x onerror="alert(1)"> <script>alert(2)</script> <b id="injected">bold</b>';

const GREETING = `/// Greets everybody.
fn main() {
    let name = "world";
    println!("hello {name}");
}
`;
const CHANGED_GREETING = `/// Greets everybody, or the person that the first argument names.
fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "world".to_owned());
    println!("hello {name}");
}
`;

const PROJECT = `[fleet]
name = "shop"

[[agents]]
name = "worker"
vendor = "demo"
`;

const PLAN = `name = "release"

[tasks.design]
agent = "worker"
prompt = "Design the export of invoices."

[tasks.build]
needs = ["design"]
agent = "worker"
prompt = "Build this design: {{ tasks.design.answer }}"

[tasks.document]
needs = ["design"]
agent = "worker"
prompt = "Describe the export in the manual."

[tasks.ship]
needs = ["build", "document"]
gate = "person"
agent = "worker"
prompt = "Open a pull request."

[tasks.announce]
needs = ["ship"]
agent = "worker"
prompt = "Write the announcement."
`;

/** Applies a plan, and waits until it needs a person. Returns its id. */
export async function applyPlan(text = PLAN, name = "release") {
  writeFileSync(join(folder, "plan.toml"), text);
  segue("plan", "apply", "plan.toml");
  await waitFor(() => segueJson("plan", "show", name).plan.state === "waiting");
  return segueJson("plan", "show", name).plan.id;
}

export async function fillWorld() {
  commitFiles({ "greeting.rs": GREETING, "segue.toml": PROJECT });
  segue("trust", "--yes");

  startAgent("reader", "remember the word amber");
  segue("send", "reader", "--wait", "what is the word?");
  segue("send", "reader", "--wait", MARKUP);

  segue("run", "-d", "--vendor", "demo", "--name", "coder", "--worktree", "feat/greeting", "hello");
  segue("wait", "coder");
  const coder = segueJson("ls", "--all").sessions.find((it) => it.name === "coder");
  writeFileSync(join(coder.worktree, "greeting.rs"), CHANGED_GREETING);

  segue("task", "add", "--agent", "worker", "--wait", "Write the release notes");
  const plan = await applyPlan();
  startAgent("builder");
  segue("send", "builder", "/tool 3600");
  startAgent("tester");
  segue("stop", "tester");
  for (const [name, question] of [["writer", "/question"], ["asker", "/ask"]]) {
    startAgent(name);
    segue("send", name, "--no-wait", question);
    segue("wait", name, "--for", "waiting");
  }
  return { plan, worktree: coder, asking: segueJson("ls", "--all").sessions.find((it) => it.name === "asker") };
}

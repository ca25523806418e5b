// Reports to Segue which conversation this process is in and what it does. Sends the first message,
// and sets the permission rules of the session. The line before this file defines `given`.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// These environment variables limit OpenCode's own installations. Tools that it starts must not
// inherit them.
for (const name of (process.env.SEGUE_INSTALL_LIMITS ?? "").split(" ")) {
  if (name) delete process.env[name];
}
delete process.env.SEGUE_INSTALL_LIMITS;

// OpenCode retries forever after errors that it considers temporary. At the third attempt, or
// before a long pause, report the failure. A headless turn ends there.
const ENOUGH = 3;
const LONG_MS = 60_000;

// The tools that need permission in each mode, unless the user has configured them in another way.
const ASKED = {
  ask: ["edit", "bash", "webfetch", "websearch", "external_directory"],
  "accept-edits": ["bash", "webfetch", "websearch", "external_directory"],
  auto: [],
};

// An OpenCode that the agent starts as a tool has the same environment. It must not report
// anything.
function isAgent() {
  const file = join(given.folder, "plugin.pid");
  try {
    writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    return readFileSync(file, "utf8") === String(process.pid);
  }
}

function tell(said) {
  const input = JSON.stringify(said);
  spawnSync("/bin/sh", ["-c", given.hook], { input, stdio: ["pipe", "ignore", "ignore"], timeout: 5000 });
}

function ask(config) {
  const known = typeof config.permission === "string" ? { "*": config.permission } : config.permission;
  const rules = { ...known };
  for (const tool of ASKED[given.permission]) {
    if (rules[tool] !== undefined && rules[tool] !== "allow") continue;
    // The last matching rule counts, so move this rule to the end.
    delete rules[tool];
    rules[tool] = rules["*"] === "deny" ? "deny" : "ask";
  }
  config.permission = rules;
}

let begun = false;

async function begin(client) {
  const path = { id: given.session };
  const found = await client.session.get({ path });
  if (!found.data) return;
  tell({ event: given.message || given.headless ? "working" : "idle", session: given.session });
  if (!given.message) return;
  const body = { parts: [{ type: "text", text: given.message }] };
  if (given.model) body.model = given.model;
  const said = await client.session.promptAsync({ path, body });
  if (said.error) {
    tell({ event: "ended", session: given.session, error: { data: { message: JSON.stringify(said.error) } } });
  }
}

export const Segue = async ({ client }) => {
  if (!isAgent()) return {};
  let current = given.session;
  let busy = false;
  let failed;
  let answer = "";
  const children = new Map();
  const users = new Set();
  const questions = new Set();

  if (!begun && given.session) setTimeout(() => begin(client), 0);
  begun = true;

  const is_current = (session) => {
    let root = session;
    while (children.has(root)) root = children.get(root);
    return root === current;
  };

  const enter = (session) => {
    current = session;
    busy = false;
    questions.clear();
    tell({ event: "entered", session });
  };

  const trouble = (status) => {
    const wait = (status.next ?? 0) - Date.now();
    if (status.attempt < ENOUGH && wait < LONG_MS) return;
    const error = { data: { message: status.message } };
    const until = wait < LONG_MS ? undefined : status.next;
    if (!failed) tell({ event: "failing", session: current, error, until });
    failed = error;
    if (given.headless) client.session.abort({ path: { id: current } }).finally(() => process.exit(1));
  };

  const status = (properties) => {
    if (properties.sessionID !== current) return;
    if (properties.status.type === "retry") trouble(properties.status);
    if (properties.status.type !== "busy" || busy) return;
    busy = true;
    failed = undefined;
    answer = "";
    tell({ event: "working", session: current });
  };

  const idle = (properties) => {
    if (properties.sessionID !== current || !busy) return;
    busy = false;
    tell({ event: "ended", session: current, text: answer, error: failed });
  };

  const part = ({ part: it }) => {
    if (it.type !== "text" || it.synthetic) return;
    if (!users.has(it.messageID)) {
      if (it.sessionID === current && it.time?.end) answer = it.text;
    } else if (!children.has(it.sessionID) && it.sessionID !== current) {
      enter(it.sessionID);
    }
  };

  const asked = (reason) => (properties) => {
    if (!is_current(properties.sessionID)) return;
    questions.add(properties.id);
    tell({ event: "waiting", session: current, reason });
  };

  const answered = (properties) => {
    if (!questions.delete(properties.requestID) || questions.size > 0) return;
    tell({ event: "working", session: current });
  };

  const heard = {
    "session.created": ({ info }) => info.parentID && children.set(info.id, info.parentID),
    "message.updated": ({ info }) => info.role === "user" && users.add(info.id),
    "message.part.updated": part,
    "session.status": status,
    "session.error": (properties) => {
      if (properties.sessionID === current) failed = properties.error;
    },
    "session.idle": idle,
    "permission.asked": asked("permission"),
    "permission.replied": answered,
    "question.asked": asked("question"),
    "question.replied": answered,
    "question.rejected": answered,
  };

  return {
    config: async (config) => ask(config),
    event: async ({ event }) => heard[event.type]?.(event.properties),
  };
};

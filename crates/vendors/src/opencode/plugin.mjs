// Reports the conversation and the activity of this process to Segue. Sends the first message, and
// sets the permission rules of the session. Segue writes a line before this file that defines
// `launch`.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// These environment variables limit OpenCode's own installations. OpenCode's tools must not inherit
// them.
for (const name of (process.env.SEGUE_INSTALL_LIMITS ?? "").split(" ")) {
  if (name) delete process.env[name];
}
delete process.env.SEGUE_INSTALL_LIMITS;

// OpenCode retries temporary errors without a limit. The plugin reports a failure at the third
// attempt, or before a long pause. A headless turn then ends.
const MAX_ATTEMPTS = 3;
const LONG_PAUSE_MS = 60_000;

// The tools that need permission in each mode, unless the user has configured other rules.
const TOOLS_THAT_ASK = {
  ask: ["edit", "bash", "webfetch", "websearch", "external_directory"],
  "accept-edits": ["bash", "webfetch", "websearch", "external_directory"],
  auto: [],
};

// Returns whether this process is the agent. An OpenCode process that the agent starts as a tool
// loads the same plugin, and must not report.
function isAgent() {
  const file = join(launch.folder, "plugin.pid");
  try {
    writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    return readFileSync(file, "utf8") === String(process.pid);
  }
}

function report(payload) {
  const input = JSON.stringify(payload);
  spawnSync("/bin/sh", ["-c", launch.hook], { input, stdio: ["pipe", "ignore", "ignore"], timeout: 5000 });
}

function addPermissionRules(config) {
  const configured = typeof config.permission === "string" ? { "*": config.permission } : config.permission;
  const rules = { ...configured };
  for (const tool of TOOLS_THAT_ASK[launch.permission]) {
    if (rules[tool] !== undefined && rules[tool] !== "allow") continue;
    // The last matching rule applies, so move this rule to the end.
    delete rules[tool];
    rules[tool] = rules["*"] === "deny" ? "deny" : "ask";
  }
  config.permission = rules;
}

let hasBegun = false;

async function begin(client) {
  const path = { id: launch.session };
  const found = await client.session.get({ path });
  if (!found.data) return;
  report({ event: launch.message || launch.headless ? "working" : "idle", session: launch.session });
  if (!launch.message) return;
  const body = { parts: [{ type: "text", text: launch.message }] };
  if (launch.model) body.model = launch.model;
  const sent = await client.session.promptAsync({ path, body });
  if (sent.error) {
    report({ event: "ended", session: launch.session, error: { data: { message: JSON.stringify(sent.error) } } });
  }
}

export const Segue = async ({ client }) => {
  if (!isAgent()) return {};
  let current = launch.session;
  let isBusy = false;
  let failed;
  let answer = "";
  const children = new Map();
  const userMessages = new Set();
  const questions = new Set();

  if (!hasBegun && launch.session) setTimeout(() => begin(client), 0);
  hasBegun = true;

  const isCurrent = (session) => {
    let root = session;
    while (children.has(root)) root = children.get(root);
    return root === current;
  };

  const enter = (session) => {
    current = session;
    isBusy = false;
    questions.clear();
    report({ event: "entered", session });
  };

  const reportRetry = (status) => {
    const wait = (status.next ?? 0) - Date.now();
    if (status.attempt < MAX_ATTEMPTS && wait < LONG_PAUSE_MS) return;
    const error = { data: { message: status.message } };
    const until = wait < LONG_PAUSE_MS ? undefined : status.next;
    if (!failed) report({ event: "failing", session: current, error, until });
    failed = error;
    if (launch.headless) client.session.abort({ path: { id: current } }).finally(() => process.exit(1));
  };

  const status = (properties) => {
    if (properties.sessionID !== current) return;
    if (properties.status.type === "retry") reportRetry(properties.status);
    if (properties.status.type !== "busy" || isBusy) return;
    isBusy = true;
    failed = undefined;
    answer = "";
    report({ event: "working", session: current });
  };

  const idle = (properties) => {
    if (properties.sessionID !== current || !isBusy) return;
    isBusy = false;
    report({ event: "ended", session: current, text: answer, error: failed });
  };

  const part = ({ part: changed }) => {
    if (changed.type !== "text" || changed.synthetic) return;
    if (!userMessages.has(changed.messageID)) {
      if (changed.sessionID === current && changed.time?.end) answer = changed.text;
    } else if (!children.has(changed.sessionID) && changed.sessionID !== current) {
      enter(changed.sessionID);
    }
  };

  const asked = (reason) => (properties) => {
    if (!isCurrent(properties.sessionID)) return;
    questions.add(properties.id);
    report({ event: "waiting", session: current, reason });
  };

  const answered = (properties) => {
    if (!questions.delete(properties.requestID) || questions.size > 0) return;
    report({ event: "working", session: current });
  };

  const handlers = {
    "session.created": ({ info }) => info.parentID && children.set(info.id, info.parentID),
    "message.updated": ({ info }) => info.role === "user" && userMessages.add(info.id),
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
    config: async (config) => addPermissionRules(config),
    event: async ({ event }) => handlers[event.type]?.(event.properties),
  };
};
